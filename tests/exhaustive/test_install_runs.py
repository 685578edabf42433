"""install.sh in motion: piped, locked, two at a time, stopped by a signal, killed."""

from __future__ import annotations

import signal

import pytest

from tests.scripts.install import FRESH, JOURNAL, PATH, ROOT_BINARY, SCRIPT, SHELLS, STAGING, Install, archive

LOCK = "/run/aks-flex-node-agent-upgrade.lock"
# A stand-in for an agent that takes its time: says on a pipe that it has begun, and waits.
SLOW = b"#!/bin/sh\necho begun >/tmp/begun\nexec sleep 60\n"
DRAINS = b"""#!/bin/sh
# Stands in front of every command: takes what the script's own stdin still holds, and notes that there was something.
[ ! -p /dev/stdin ] || [ "$(/usr/bin/head -c 1 | /usr/bin/wc -c)" = 0 ] || echo "${0##*/}" >>/root/drained
PATH=${PATH#/tmp/drains:} exec "${0##*/}" "$@"
"""
# Starts install.sh in the sandbox, sends SIGNAL when the agent that is asked has begun, prints the exit status.
STOP = """
import os, signal, subprocess, sys
os.mkfifo("/tmp/begun")
process = subprocess.Popen(sys.argv[2:])
open("/tmp/begun").read()
process.send_signal(int(sys.argv[1]))
print(process.wait())
"""
# Holds the lock, starts install.sh, lets go when it says that it waits, prints the exit status.
HOLD = """
import fcntl, subprocess, sys
with open(sys.argv[1], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    process = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE, text=True)
    print(process.stderr.readline())
print(process.stderr.read(), process.wait())
"""


@pytest.mark.parametrize("shell", SHELLS)
def test_it_works_piped_and_no_command_reads_its_stdin(install: Install, shell: str) -> None:
    """punt-labs/prfaq 81, almogdepaz/wolfpack 119: a child ate the rest of the piped script."""
    install.box.write("/root/drain", DRAINS, 0o755)
    tools = "cat chmod cp expr flock gzip id mkdir mv od readlink rm rmdir sha256sum stat sync tar timeout tr uname"
    install.sh(f"mkdir /tmp/drains; for t in {tools}; do ln -s /root/drain /tmp/drains/$t; done")
    words = " ".join(SHELLS[shell])
    rest = "head -c 200000 /dev/zero | tr '\\\\0' '#'"
    pipe = f"{{ cat {SCRIPT}; {rest}; }} | PATH=/tmp/drains:{PATH} {words} -s -- --archive {archive('current')}"
    install.sh(pipe)
    assert install.paths() == FRESH
    assert install.sh("cat /root/drained 2>/dev/null || :") == ""
    assert install.sh(f"echo more | PATH=/tmp/drains:{PATH} uname >/dev/null; cat /root/drained") == "uname\n"


def test_stdin_may_be_closed(install: Install) -> None:
    install.sh(f"dash {SCRIPT} --archive {archive('current')} <&-")
    assert install.paths() == FRESH


def test_stdout_and_stderr_may_be_closed(install: Install) -> None:
    install.sh(f"dash {SCRIPT} --archive {archive('current')} >&- 2>&-")
    assert install.paths() == FRESH


def test_another_run_that_holds_the_lock_is_an_error(install: Install) -> None:
    command = f"flock {LOCK} dash {SCRIPT} --archive {archive('current')}"
    result = install.box.run(["sh", "-c", command])
    assert f"another run holds {LOCK}" in install.refused(result, "E_LOCKED", 8)


def test_wait_gives_up_after_its_seconds(install: Install) -> None:
    command = f"flock {LOCK} dash {SCRIPT} --wait 1 --archive {archive('current')}"
    result = install.box.run(["sh", "-c", command])
    install.refused(result, "E_LOCKED", 8)
    assert result.seconds >= 1


@pytest.mark.parametrize("shell", ["dash", "ash"])
def test_wait_goes_on_when_the_other_run_is_done(install: Install, shell: str) -> None:
    command = [*SHELLS[shell], SCRIPT, "--wait", "60", "--archive", archive("current")]
    result = install.box.run(["python3", "-c", HOLD, LOCK, *command])
    assert "waiting up to 60 s" in result.stdout and result.stdout.endswith(" 0\n"), result
    assert install.paths() == FRESH


def test_two_at_the_same_time_install_once(install: Install) -> None:
    """shukiv/jabali-panel 555, 574: two installs overlapped at first boot, the loser died half-way."""
    one = f"dash {SCRIPT} --wait 60 --archive {archive('current')}"
    words = install.sh(f"{one} 2>/root/1 & first=$!; {one} 2>/root/2; wait $first; cat /root/1 /root/2")
    assert words.count("installed v0.1.0") == 1 and words.count("nothing to do") == 1
    assert install.paths() == FRESH


def test_no_child_inherits_the_lock(install: Install) -> None:
    spy = b"#!/bin/sh\nls -l /proc/self/fd >>/root/descriptors\nexit 3\n"
    install.box.write("/tmp/spy", spy, 0o755)
    assert install("--binary", "/tmp/spy").code == 6
    assert "upgrade.lock" not in install.sh("cat /root/descriptors")


@pytest.mark.parametrize(
    ("name", "shell"),
    [("INT", "dash"), ("INT", "bash"), ("TERM", "dash"), ("TERM", "bash"), ("TERM", "ash"), ("HUP", "ash")],
)
def test_a_signal_ends_it_at_once_and_leaves_no_staging(install: Install, name: str, shell: str) -> None:
    install.box.write("/tmp/slow", SLOW, 0o755)
    number = signal.Signals[f"SIG{name}"]
    result = install.box.run(
        ["python3", "-c", STOP, str(int(number)), *SHELLS[shell], SCRIPT, "--binary", "/tmp/slow"], timeout=30
    )
    assert result.stdout.strip() == str(128 + number), result
    assert f"install: warning: stopped by SIG{name}" in result.stderr
    assert install.paths() == []
    assert install.sh("pgrep -x sleep || :") == ""


def test_a_kill_leaves_what_the_next_run_sweeps(install: Install) -> None:
    install.box.write("/tmp/slow", SLOW, 0o755)
    result = install.box.run(["python3", "-c", STOP, "9", "dash", SCRIPT, "--binary", "/tmp/slow"], timeout=30)
    assert result.stdout.strip() == "-9"
    assert STAGING in install.paths()
    install.done("--archive", archive("current"))
    assert install.paths() == FRESH


def test_a_reader_never_sees_half_an_agent(install: Install) -> None:
    """gastownhall/beads 5616, linkerd/website 90: callers ran half a binary."""
    install.done("--archive", archive("current"))
    install.sh(
        f"touch /tmp/go; (while [ -e /tmp/go ]; do sha256sum <{ROOT_BINARY} >>/root/seen; done) & reader=$!; "
        f"dash {SCRIPT} --archive {archive('next')}; dash {SCRIPT} --archive {archive('current')}; "
        "rm /tmp/go; wait $reader"
    )
    assert len(install.sh("sort -u /root/seen").split("\n")) - 1 <= 2


def test_the_journal_stands_before_the_first_change(install: Install) -> None:
    install.sh(
        f"strace -f -e trace=rename,mkdir,renameat,renameat2,mkdirat -e signal=none -o /root/calls "
        f"dash {SCRIPT} --archive {archive('current')}"
    )
    calls = [line for line in install.sh("cat /root/calls").splitlines() if " = 0" in line]
    journal = next(n for n, line in enumerate(calls) if f'"{JOURNAL}"' in line)
    live = [
        n for n, line in enumerate(calls) if '"/opt/unbounded' in line or '"/etc/aks' in line or '"/var/log/aks' in line
    ]
    assert live and min(live) > journal


def test_files_and_directories_are_synced_before_they_count(install: Install) -> None:
    install.sh(
        "strace -f -y -e trace=fsync,fdatasync,syncfs,rename,renameat,renameat2 -e signal=none -o /root/calls "
        f"dash {SCRIPT} --archive {archive('current')}"
    )
    calls = install.sh("cat /root/calls").splitlines()

    def first(*words: str) -> int:
        return next(n for n, line in enumerate(calls) if all(word in line for word in words))

    assert first("sync(", ".flexnode-new.journal>") < first("rename", f'"{JOURNAL}"')
    assert first("rename", f'"{JOURNAL}"') < first("sync(", "</var/lib/aks-flex-node>")
    assert first("sync(", ".flexnode-new.aks-flex-node>") < first("rename", f'"{ROOT_BINARY}"')
    assert first("rename", f'"{ROOT_BINARY}"') < first("sync(", "</opt/unbounded/bin>") < first("sync(", f"<{JOURNAL}>")
