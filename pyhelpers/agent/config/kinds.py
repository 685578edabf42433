"""What a value of config.json may be: pure functions, each with the words that follow the key in an error.

Nothing here knows a key; `rules.py` says which key is of which kind. A value that equals `zero` counts as absent,
as it does for the official agent (a Go program: "" and 0 are what an absent field has).
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

RESOURCE_ID = re.compile(
    r"/subscriptions/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/resourcegroups/([\w.()-]+)"
    r"/providers/microsoft\.containerservice/managedclusters/([\w.-]+)",
    re.IGNORECASE | re.ASCII,
)
DURATION = re.compile(r"\+?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
DNS_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
DNS_NAME = re.compile(rf"{DNS_LABEL}(\.{DNS_LABEL})*")
HOST_PORT = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>\d{1,5}))?", re.ASCII)
LABEL_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LABEL_KEY = re.compile(rf"([a-z0-9.-]{{1,253}}/)?{LABEL_NAME}")
LABEL_VALUE = re.compile(rf"({LABEL_NAME})?")
TAINT = re.compile(rf"([a-z0-9.-]{{1,253}}/)?{LABEL_NAME}(=({LABEL_NAME})?)?:(NoSchedule|PreferNoSchedule|NoExecute)")
QUANTITY = re.compile(r"\d+(\.\d+)?(%|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?", re.ASCII)
UNIT = re.compile(r"[A-Za-z0-9:_.\\@-]+\.(service|socket|mount|target|path|device|timer|slice|scope|swap|automount)")
TEMPLATE = re.compile(r"\{\{-?\s*\.(KubernetesVersion|KubernetesVersionNoV)\s*-?\}\}")


@dataclass(frozen=True)
class Kind:
    """`must`: what follows the key in an error. `accepts`: is this value one. `zero`: the value that means absent."""

    must: str
    accepts: Callable[[Any], bool]
    zero: Any = ""

    def absent(self, value: Any) -> bool:
        """Whether the value counts as not given."""
        return value is None or (type(value) is type(self.zero) and bool(value == self.zero))


def _text(test: Callable[[str], bool], must: str) -> Kind:
    return Kind(must, lambda value: isinstance(value, str) and test(value))


def pattern(expression: re.Pattern[str], must: str, limit: int = 4096) -> Kind:
    """A string that the whole expression matches."""
    return _text(lambda value: len(value) <= limit and expression.fullmatch(value) is not None, must)


def one_of(*words: str) -> Kind:
    """One of these words, in this case."""
    listed = words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
    return _text(lambda value: value in words, f"must be {listed}")


def is_integer(value: Any) -> bool:
    """JSON has no integers; true and false are none either, though Python counts them as such."""
    return isinstance(value, int) and not isinstance(value, bool)


def integer(low: int, high: int) -> Kind:
    """A whole number in this range."""
    return Kind(f"must be a whole number from {low} to {high}", lambda v: is_integer(v) and low <= v <= high, zero=0)


def is_https_base(value: str) -> bool:
    """An absolute https URL without userinfo, port, path, query and fragment; one last slash does no harm."""
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError:
        return False
    plain = value.lower().startswith("https://") and not re.search(r"[\s\x00-\x1f\x7f\\?#@]", value)
    return plain and bool(url.hostname) and port is None and not url.netloc.endswith(":") and url.path in ("", "/")


def is_url(value: str) -> bool:
    """An absolute http or https URL without userinfo."""
    return re.fullmatch(r"https?://[^\s/?#@]+(/\S*)?", value) is not None


def is_api_path(value: str) -> bool:
    """An absolute path on the API server: no scheme, no host, nothing that climbs."""
    clean = value.startswith("/") and not value.startswith("//") and not re.search(r"[\s\x00-\x1f\x7f?#\\]", value)
    return clean and ".." not in value.split("/")


def is_clean_path(value: str) -> bool:
    """Absolute, no `.`, `..`, doubled or last slash, white space, control characters or `:`."""
    parts = value.split("/")[1:]
    return (
        value.startswith("/")
        and value != "/"
        and not any(part in ("", ".", "..") for part in parts)
        and not re.search(r"[\s:\x00-\x1f\x7f]", value)
    )


def is_absolute_path(value: str) -> bool:
    """Absolute, below the root, without `..` and control characters."""
    return value.startswith("/") and value.strip("/") != "" and ".." not in value.split("/") and value.isprintable()


def is_host(value: str) -> bool:
    """A host name or address, perhaps with a port: what comes after https://."""
    found = HOST_PORT.fullmatch(value)
    return found is not None and (found["port"] is None or 0 < int(found["port"]) < 65536)


def is_base64(value: str) -> bool:
    """Standard base64 with padding; line breaks are let through, as PEM tools make them."""
    try:
        return bool(base64.b64decode("".join(value.split()), validate=True))
    except (binascii.Error, ValueError):
        return False


def is_address(value: str) -> bool:
    """One IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def is_ipv4_network(value: str) -> bool:
    """An IPv4 network with its prefix length."""
    try:
        ipaddress.IPv4Network(value, strict=False)
    except ValueError:
        return False
    return "/" in value


def is_ipv4(value: str) -> bool:
    """One IPv4 address."""
    return is_address(value) and ":" not in value


def is_artifact_source(value: str) -> bool:
    """An absolute path, file:// or oci:// after the two known template fields; anything else in braces is none."""
    rendered = TEMPLATE.sub("v0", value)
    if "{{" in rendered or "}}" in rendered or re.search(r"[\s\x00-\x1f\x7f]", rendered):
        return False
    if rendered.startswith("oci://"):
        return re.fullmatch(r"oci://[^/]+/.+", rendered) is not None
    return is_absolute_path(rendered[len("file://") :] if rendered.startswith("file://") else rendered)


def is_image(value: str) -> bool:
    """An image: a registry reference, an OCI layout or a tar; no white space, no scheme but docker:// or oci."""
    return bool(re.fullmatch(r"[!-~]+", value)) and not value.startswith(("-", "http://", "https://"))


def _strings(key: re.Pattern[str], entry: re.Pattern[str]) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        return isinstance(value, dict) and all(
            key.fullmatch(k) and isinstance(v, str) and entry.fullmatch(v) for k, v in value.items()
        )

    return accepts


_ANY = re.compile(r"(?s).+")

STRING = _text(str.isprintable, "must be a string without control characters")
SECRET = _text(lambda value: "\x00" not in value, "must be a string")
BOOL = Kind("must be true or false", lambda value: isinstance(value, bool), zero=None)
CLUSTER_ID = pattern(
    RESOURCE_ID,
    "must be the id of an AKS cluster: /subscriptions/<uuid>/resourceGroups/<name>"
    "/providers/Microsoft.ContainerService/managedClusters/<name>",
)
ENDPOINT = _text(is_https_base, "must be an https URL without user, port, path and query")
TOKEN = pattern(re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}"), "must be 6 and 16 of a-z and 0-9 with a dot between them")
DIRECTORY = _text(is_absolute_path, "must be an absolute path other than / and without ..")
NODE_NAME = pattern(DNS_NAME, "must be a DNS-1123 subdomain: a-z, 0-9, - and ., at most 253 characters", limit=253)
HOST_NAME = _text(is_host, "must be a host name or address, with :port if need be")
MACHINE_ENDPOINT = _text(lambda v: is_api_path(v) or is_url(v), "must be an absolute API path or an absolute URL")
DURATION_GO = Kind(
    "must be a Go duration such as 10m or 1h30m, or a number of nanoseconds, and not negative",
    lambda v: bool(DURATION.fullmatch(v)) if isinstance(v, str) else is_integer(v) and v >= 0,
)
IMAGE = _text(is_image, "must be an OCI image: a registry reference, or the path of an OCI layout or tar")
ARTIFACTS = _text(
    is_artifact_source,
    "must be an absolute path, file:// or oci://, with no template but {{ .KubernetesVersion }} and "
    "{{ .KubernetesVersionNoV }}",
)
DEVICE = _text(lambda v: is_clean_path(v) and v.startswith("/dev/"), "must be a clean absolute path below /dev")
CLEAN_PATH = _text(is_clean_path, "must be a clean absolute path without white space, control characters and :")
SERVICE = pattern(UNIT, "must be the name of a systemd unit, such as openibd.service", limit=255)
IPV4_NETWORK = _text(is_ipv4_network, "must be an IPv4 network such as 172.16.1.0/24")
IPV4 = _text(is_ipv4, "must be an IPv4 address")
ADDRESS = _text(is_address, "must be an IP address")
ADDRESSES = _text(
    lambda value: all(is_address(part.strip()) for part in value.split(",")), "must be a comma list of IP addresses"
)
BASE64 = _text(is_base64, "must be base64")
ABSOLUTE_PATH = _text(is_absolute_path, "must be an absolute path")
INTERFACE = pattern(re.compile(r"[^\s/:]{1,15}"), "must be the name of a network interface")
LABELS = Kind("must be an object of Kubernetes labels (strings)", _strings(LABEL_KEY, LABEL_VALUE), zero=None)
TAGS = Kind("must be an object of strings", _strings(_ANY, re.compile(r"(?s).*")), zero=None)
QUANTITIES = Kind('must be an object of quantities, such as {"cpu": "100m"}', _strings(_ANY, QUANTITY), zero=None)
TAINT_TEXT = pattern(TAINT, "must be key[=value]:NoSchedule, PreferNoSchedule or NoExecute", limit=400)
OBJECT = Kind("must be an object", lambda value: isinstance(value, dict), zero=None)
