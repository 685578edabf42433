"""A certificate authority for tests: certificates that a host trusts only when it was told to."""

from __future__ import annotations

import datetime
import ssl

import trustme

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"  # read by curl and wget on Debian and Ubuntu


class Authority:
    """One CA. A host trusts it when `pem` is appended to its BUNDLE."""

    def __init__(self) -> None:
        self._ca = trustme.CA()
        self.pem = self._ca.cert_pem.bytes()

    def server(self, *names: str, expired: bool = False) -> ssl.SSLContext:
        """What a server of these names or addresses needs; expired: its certificate ran out yesterday."""
        end = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert(*names, not_after=end if expired else None).configure_cert(context)
        return context
