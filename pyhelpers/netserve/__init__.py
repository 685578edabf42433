"""Servers on the loopback interface of another network namespace (a sandbox's, a host's), run from outside.

`ReleaseServer` serves releases as the official site does; `HostileServer` answers as badly as servers and portals do;
`Proxy` is an HTTP proxy; `authority.Authority` (imported by itself: it needs trustme) makes certificates for them.
"""

from pyhelpers.netserve.hostile import Answer, HostileServer
from pyhelpers.netserve.proxy import Proxy
from pyhelpers.netserve.releases import ReleaseServer, Request

__all__ = ["Answer", "HostileServer", "Proxy", "ReleaseServer", "Request"]
