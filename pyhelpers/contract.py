"""Every name that users, units and scripts depend on, defined once. Nothing here does anything.

`pyhelpers.stamp` writes these into scripts/lib (contract.sh, options-*.sh); the agent imports them. A path, unit
name, option or limit that stands anywhere else is a fault.
Source of the facts: the AKS Flex Node agent's public contract (Azure/AKSFlexNode).
"""

from __future__ import annotations

TOOLKIT_VERSION = "0.1.0"

# --- roots and paths -------------------------------------------------------------------------------------------
HOST_ROOT = "/opt/unbounded"
LEGACY_ROOT = "/usr/local"
BINARY_NAME = "aks-flex-node"
LIB_NAME = "aks-flex-node"  # <root>/lib/aks-flex-node holds slots, links, recovery script
SLOTS = ("blue", "green")
CURRENT = "aks-flex-node-current"
LAST_GOOD = "aks-flex-node-last-good"
RECOVERY_SCRIPT = "aks-flex-node-recovery.sh"

CONFIG_DIR = "/etc/aks-flex-node"
CONFIG_PATH = "/etc/aks-flex-node/config.json"
DAEMON_STATE = "/etc/aks-flex-node/daemon-state.json"  # with daemon-state.json.sha256
UPGRADE_SIGNAL = "/etc/aks-flex-node/agent-upgrade-signal.json"
CREDENTIALS_DIR = "/etc/aks-flex-node/credentials"
STATE_DIR = "/var/lib/aks-flex-node"
STAGING_DIR = "/var/lib/aks-flex-node/staging"
JOURNAL = "/var/lib/aks-flex-node/journal"
# The state directory is made under this temporary name and renamed, and goes the same way: with the mark below in it
# and no journal beside it, it is known to be ours after a kill, not an empty directory of somebody else.
STATE_NEW = "/var/lib/.flexnode-new.aks-flex-node"
STAGING_MARK = "staging/made-state-directory"
START_ATTEMPT = "/var/lib/aks-flex-node/start-attempt"  # there while a start of ours is unfinished
LOG_DIR = "/var/log/aks-flex-node"
SYSCTL_DIR = "/etc/sysctl.d"
LIBRARY_CONFIG_DIR = "/etc/unbounded"  # kube/, agent/
LOCK = "/run/aks-flex-node-agent-upgrade.lock"
BOOTSTRAP_LOCK = "/run/aks-flex-node-bootstrap.lock"  # bootstrap.sh, uninstall.sh: from first look to last word
# Every temporary name outside STAGING_DIR (a new file before its rename, a link, a probe), whoever makes it, starts
# with this. After a kill uninstall removes the `.flexnode-*` entries of the directories that the toolkit writes to.
TEMP_PREFIX = ".flexnode-"

# --- units -----------------------------------------------------------------------------------------------------
UNIT_DIR = "/etc/systemd/system"
AGENT_UNIT = "aks-flex-node-agent.service"
RECOVERY_UNIT = "aks-flex-node-agent-recovery.service"
FIRST_BOOT_UNIT = "aks-flex-node-bootstrap.service"
LOCALDNS_UNIT = "unbounded-localdns-network.service"
AGENT_WANTED_BY = "multi-user.target"
MACHINES = ("kube1", "kube2")

# --- obtaining the agent ---------------------------------------------------------------------------------------
BASE_URL = "https://github.com/Azure/AKSFlexNode/releases"
ARCHIVE_NAME = "aks-flex-node-linux-{ARCH}.tar.gz"  # ARCH: amd64, arm64
CHECKSUMS_NAME = "checksums.txt"
ARCHIVE_LIMIT_MIB = 256
DOWNLOAD_TIMEOUT_S = 1800  # one request, however slowly it comes
STALL_TIMEOUT_S = 60  # nothing at all comes
DOWNLOAD_ATTEMPTS = 3
RETRY_AFTER_LIMIT_S = 60  # a server that asks for more is not waited for
CANDIDATE_TIMEOUT_S = 30

# --- the journal (host-root: what uninstall works from) ----------------------------------------------------------
JOURNAL_HEADER = "flexnode-journal 1"

PRODUCT_TITLE = "AKS Flex Node Agent"


# --- options ---------------------------------------------------------------------------------------------------
class Option:
    """One option of a script. A plain class, because `host-root` imports this module and typing would double its time.

    kind: flag (no value), value, values (repeatable), json (repeatable, kept apart). env: the variable that
    stands in when the option is not given ("" = none); an empty variable counts as unset. variable:
    FLEXNODE_OPT_<variable> holds it; the option's name unless given.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        help: str,
        metavar: str = "",
        env: str = "",
        short: str = "",
        aliases: tuple[str, ...] = (),
        variable: str = "",
    ) -> None:
        self.name, self.kind, self.help, self.metavar = name, kind, help, metavar
        self.env, self.short, self.aliases, self.variable = env, short, aliases, variable


def _twin(name: str) -> str:
    return "AKS_FLEX_NODE_" + name[2:].upper().replace("-", "_")


def _value(name: str, metavar: str, text: str, kind: str = "value", env: str | None = None) -> Option:
    return Option(name, kind, text, metavar, _twin(name) if env is None else env)


_filled_in = "a URL may hold {{OS}} {{ARCH}} {{VERSION}} {{ARCHIVE_NAME}}"

COMMON = (
    Option("--wait", "value", "wait up to SECONDS for another run that holds the lock (0)", "SECONDS"),
    Option("--plan", "flag", "print what would be done, change nothing"),
    Option("--quiet", "flag", "print warnings and errors only"),
    Option("--verbose", "flag", "print each step"),
    Option("--log", "value", "append a transcript without secrets to FILE", "FILE"),
)
HELP = (
    Option("--help", "flag", "print this help", short="-h"),
    Option("--version", "flag", "print the version of this script", variable="SHOW_VERSION"),
)

INSTALL_OPTIONS = (
    _value("--version", "V", "install release V (the latest); without a value: print this script's version"),
    _value(
        "--archive",
        "FILE_OR_URL",
        f"take the agent from this archive; {_filled_in}",
        env="AKS_FLEX_NODE_DOWNLOAD_URL",
    ),
    _value("--binary", "FILE", "take the agent from this file", env="AKS_FLEX_NODE_LOCAL_BINARY"),
    Option("--sha256", "value", "the SHA-256 sum that the archive or binary must have", "HEX"),
    _value("--base-url", "URL", "where releases are found"),
    Option("--require-checksum", "flag", "refuse an archive that has no checksum"),
    Option(
        "--insecure-skip-verify", "flag", "take a download without a checksum: whoever can alter it runs code as root"
    ),
    Option("--no-downgrade", "flag", "refuse to replace a newer agent by an older one"),
    *COMMON,
    Option("--yes", "flag", "accepted for compatibility: there is no question", short="-y"),
    HELP[0],
)

BOOTSTRAP_OPTIONS = (
    _value("--auth", "METHOD", "msi, arc or sp (also managed-identity, service-principal); else the base config"),
    _value("--msi-client-id", "ID", "client id of a user-assigned managed identity"),
    _value("--sp-tenant-id", "ID", "tenant of the service principal (azure.tenantId)"),
    _value("--sp-client-id", "ID", "client id of the service principal"),
    _value("--sp-client-secret-file", "FILE", "file with the service principal's secret, mode 0600"),
    _value("--sp-client-certificate-file", "FILE", "file with the service principal's certificate, PEM or PFX"),
    _value("--agent-url", "URL", f"download the agent's archive from here; {_filled_in}"),
    _value("--agent-version", "V", "install release V of the agent (the latest)"),
    _value("--agent-sha256", "HEX", "the SHA-256 sum that the agent's archive must have"),
    _value("--fetch-bootstrap-data", "", "ask Azure for the bootstrap data", kind="flag"),
    _value("--bootstrap-data-api-version", "V", "API version for --fetch-bootstrap-data"),
    _value("--cluster-resource-id", "ID", "resource id of the AKS cluster to join"),
    _value("--agent-pool-name", "NAME", "agent pool to join"),
    _value("--resource-manager-endpoint", "URL", "Azure Resource Manager endpoint"),
    _value("--bootstrap-oci-image", "IMAGE", "OCI image of the machine's root file system"),
    _value("--bootstrap-offline-artifacts-source", "SOURCE", "path, file:// or oci:// of offline artifacts"),
    _value("--config-overrides", "JSON", "JSON object that goes over the base config", kind="json"),
    _value("--install-dir", "DIR", "deprecated: the directory of the agent's binary"),
    _value("--config-path", "PATH", f"where the config goes ({CONFIG_PATH})"),
    _value(
        "--use-installed-agent",
        "",
        "use the agent that is already on the host, download nothing",
        kind="flag",
    ),
    _value("--base-config", "FILE", "the base config (embedded)", env="AKS_FLEX_NODE_BASE_CONFIG_FILE"),
    _value("--ignore-preflight-errors", "LIST", "comma list of preflight checks whose errors are ignored"),
    *COMMON,
    *HELP,
)

UNINSTALL_OPTIONS = (
    Option("--force", "flag", "answer the question with yes", short="-y", aliases=("--yes",)),
    Option("--keep-config", "flag", "keep config.json and credentials"),
    Option("--ignore-reset-failure", "flag", "go on when the agent's reset fails"),
    *COMMON,
    *HELP,
)

OPTIONS = {"install": INSTALL_OPTIONS, "bootstrap": BOOTSTRAP_OPTIONS, "uninstall": UNINSTALL_OPTIONS}
ENVIRONMENT_ONLY = ("AKS_FLEX_NODE_SP_CLIENT_SECRET", "AKS_FLEX_NODE_AUTHORITY_HOST")
TEST_ENVIRONMENT = ("AKS_FLEX_NODE_IMDS_ENDPOINT", "AKS_FLEX_NODE_ALLOW_INSECURE_TEST_ENDPOINTS")
TRUE_WORDS = ("true", "1", "yes", "y")
FALSE_WORDS = ("false", "0", "no", "n")

# --- preflight (ids are the official agent's, so that ignore lists work with either) --------------------------------
PACKAGES = (  # package, the executable it exists to provide
    ("systemd-container", "systemd-nspawn"),
    ("curl", "curl"),
    ("nftables", "nft"),
    ("util-linux", "mountpoint"),
)
