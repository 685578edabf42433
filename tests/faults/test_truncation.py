"""A script that was cut off does nothing: every proper prefix, but for the one that lacks only the last newline.

And it says so: after the comments at its top the exit status is not 0.
"""

from __future__ import annotations

import pytest

from pyhelpers.sandbox import Box
from tests.scripts.install import SCRIPTS, SHELLS

NAMES = sorted(path.name for path in SCRIPTS.glob("*.sh"))
# The end of each function's name, each 97th byte, then the last 200 one by one, in dash; fewer in the other shells,
# where a parse takes longer.
STEPS = {"dash": (97, 1), "bash": (1999, 9), "ash": (997, 3)}
LAST = 200
# Runs in the sandbox, because thousands of commands through its control channel would take longer than all else.
# The part is a file on stdin: from a pipe bash reads byte by byte, which makes this a hundred times slower.
# --help is harmless and prints at once: a prefix that prints something did call main.
TRY = r"""
import os, re, sys
step, end_step, last, script, shell = *map(int, sys.argv[1:4]), sys.argv[4], sys.argv[5:]
text = open(script, "rb").read()
out, null = os.open("/tmp/out", os.O_RDWR | os.O_CREAT, 0o600), os.open("/dev/null", os.O_WRONLY)
part = os.memfd_create("part")
begin = text.index(b"\n{ ") + 1
names = [match.end() for match in re.finditer(rb"^flexnode_\w+(?=\()", text, re.M)]  # a name alone is a call
points = names + [*range(0, len(text) - last, step), *range(len(text) - last, len(text) - 1, end_step)]
for at in points + [len(text) - 1, len(text)]:
    os.pwrite(part, text[:at], 0)
    os.lseek(part, 0, 0)
    actions = [(os.POSIX_SPAWN_DUP2, a, b) for a, b in ((part, 0), (out, 1), (null, 2))]
    pid = os.posix_spawnp(shell[0], [*shell, "-s", "--", "--help"], os.environ, file_actions=actions)
    status = os.waitpid(pid, 0)[1]
    if begin < at < len(text) - 1 and status == 0:
        sys.exit(f"{at} of {len(text)} bytes: no word that it was cut off")
    if (os.fstat(out).st_size > 0) != (at >= len(text) - 1):
        sys.exit(f"{at} of {len(text)} bytes: {os.pread(out, 80, 0)!r}")
    os.ftruncate(out, 0)
    os.lseek(out, 0, 0)
print(len(points))
"""


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", NAMES)
def test_no_proper_prefix_of_a_script_does_anything(box: Box, name: str, shell: str) -> None:
    script = SCRIPTS / name
    step, end_step = STEPS[shell]
    numbers = [str(step), str(end_step), str(LAST)]
    result = box.run(["python3", "-c", TRY, *numbers, str(script), *SHELLS[shell]], timeout=120)
    assert result.code == 0, result.stderr
    assert int(result.stdout) >= 100 + (script.stat().st_size - LAST) // step + (LAST - 1) // end_step
    assert box.diff(ignore=["/tmp/**"]) == []
