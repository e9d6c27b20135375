"""Which addresses may be connected to: public ones, and the hosts that the user named."""

import ipaddress
import socket
from collections.abc import Iterable
from contextlib import suppress

from aiohttp import ThreadedResolver
from aiohttp.abc import ResolveResult
from yarl import URL

from xfact.web.refused import Reason, Refused

NAT64 = ipaddress.ip_network("64:ff9b::/96")  # IPv6 addresses that a network's gateway turns into IPv4 ones


class CheckedResolver(ThreadedResolver):
    """Names to addresses, each connection anew; a name that has one private address is refused as a whole.

    The connection is made to what is returned here, so there is no time between check and use.
    """

    def __init__(self, allowed: Iterable[str]) -> None:
        super().__init__()
        self.allowed = frozenset(allowed)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name, all public, or of a host that is allowed; Refused for another."""
        addresses = await super().resolve(host, port, family)
        if host not in self.allowed and not all(is_public(address["host"]) for address in addresses):
            raise Refused(Reason.PRIVATE)
        return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet's: neither private, loopback, link-local, shared, multicast nor
    reserved, and no way to write such an IPv4 address as an IPv6 one."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
        if ipaddress.IPv6Address(int(ip)) in NAT64:  # without its zone
            inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
        if not all(is_public(str(ipv4)) for ipv4 in inner if ipv4 is not None):
            return False
        if ip.ipv4_mapped is not None:
            return True
    return ip.is_global and not ip.is_multicast


def checked_url(text: str, allowed: Iterable[str], base: URL | None = None) -> URL:
    """An address to be fetched, without its fragment; Refused unless it is http or https without a password, and where
    its host is a number, a public or allowed one."""
    try:
        url = (URL(text) if base is None else base.join(URL(text))).with_fragment(None)
        host = url.host
    except (ValueError, TypeError):
        raise Refused(Reason.ADDRESS) from None
    if url.scheme not in ("http", "https") or not host or url.user is not None or url.password is not None:
        raise Refused(Reason.ADDRESS)
    if host not in allowed:
        with suppress(ValueError):
            if not is_public(host):
                raise Refused(Reason.PRIVATE)
    return url
