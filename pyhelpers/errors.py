"""Every error of the toolkit: id, exit code, what it means, what to do. What is refused reads as a list here.

`pyhelpers.stamp` writes the ids and exit codes into scripts/lib/errors.sh, and docs/errors.md is made from them.
"""

from __future__ import annotations

from typing import NamedTuple

EXIT_CODES = {
    0: "done, or nothing to do",
    1: "internal error",
    2: "usage error",
    3: "not root",
    4: "unsupported platform or missing tool",
    5: "download failed",
    6: "verification failed: checksum, archive, or the binary does not run",
    7: "the target cannot be written: read-only, noexec, full, not a directory",
    8: "another run holds the lock",
    9: "configuration or credentials",
    10: "preflight refused the host",
    11: "the agent did not start",
    12: "an existing deployment is in the way",
    13: "finished, but something was left behind",
}


class ErrorKind(NamedTuple):
    """One kind of error: its stable id (shown as [E_…]), its exit code and what a user can do about it."""

    id: str
    exit_code: int
    meaning: str
    remedy: str


ERRORS = (
    ErrorKind("E_INTERNAL", 1, "a fault of the toolkit itself", "report it with the transcript of --log"),
    ErrorKind("E_USAGE", 2, "the call is wrong", "see --help"),
    ErrorKind("E_CONFIRM", 2, "a question that cannot be asked", "give --yes"),
    ErrorKind("E_NOT_ROOT", 3, "not run as root", "run it with sudo"),
    ErrorKind("E_PLATFORM", 4, "the platform is not supported", "use a supported Linux host"),
    ErrorKind("E_TOOL", 4, "a tool is missing", "install the named package"),
    ErrorKind("E_NO_SYSTEMD", 4, "systemd is not running", "run it on a host that systemd booted"),
    ErrorKind("E_VERSION", 5, "the version cannot be resolved", "pin a version"),
    ErrorKind("E_DOWNLOAD", 5, "a download failed", "check network and URL, or install from a local file"),
    ErrorKind("E_URL", 5, "the URL is refused", "use https, or http to a loopback address"),
    ErrorKind("E_CHECKSUM", 6, "the checksum is missing or wrong", "download again, or check the sum"),
    ErrorKind("E_ARCHIVE", 6, "the archive is damaged or not an agent archive", "download again"),
    ErrorKind("E_CANDIDATE", 6, "the agent does not run on this host", "use a build for this host"),
    ErrorKind("E_HOST_ROOT", 6, "the agent reports an invalid host root", "use an official release"),
    ErrorKind("E_TARGET", 7, "the target cannot be written or executed", "make the named mount writable"),
    ErrorKind("E_STATE", 7, "the state directory cannot be written or executed", "make /var writable"),
    ErrorKind("E_LAYOUT", 7, "what is installed cannot be replaced", "upgrade or reset as the message says"),
    ErrorKind("E_DOWNGRADE", 7, "an older version would replace a newer one", "leave out --no-downgrade"),
    ErrorKind("E_LOCKED", 8, "another run holds the lock", "try again later, or give --wait"),
    ErrorKind("E_CONFIG", 9, "the configuration is wrong", "correct the named keys"),
    ErrorKind("E_CREDENTIALS", 9, "a credential file is refused", "correct the named file"),
    ErrorKind("E_PREFLIGHT", 10, "preflight refused the host", "do what each named check says"),
    ErrorKind("E_START", 11, "the agent did not start", "see journalctl -u aks-flex-node-agent"),
    ErrorKind("E_EXISTS", 12, "an existing deployment is in the way", "uninstall it first"),
    ErrorKind("E_RESET", 13, "the agent's reset failed", "run it again, or give --ignore-reset-failure"),
    ErrorKind("E_LEFT", 13, "something was left behind", "look at the listed paths"),
)
BY_ID = {e.id: e for e in ERRORS}


class FlexError(Exception):
    """An error with an id of ERRORS; `str()` is the whole line a user sees after `error: `."""

    def __init__(self, error_id: str, step: str, cause: str, remedy: str = "") -> None:
        self.kind = BY_ID[error_id]
        self.step, self.cause, self.remedy = step, cause, remedy or self.kind.remedy
        super().__init__(f"{step}: {cause}; {self.remedy} [{error_id}]")
