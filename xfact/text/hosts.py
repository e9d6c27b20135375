"""Hosts of links: the one reader of where a link leads."""

import re
from urllib.parse import urlsplit


def host_and_path(link: str) -> tuple[str, str]:
    """Host and path of a link in lower case, with or without its scheme; two empty strings if it is none."""
    text = link.strip().casefold()
    try:
        address = urlsplit(text if "//" in text else f"//{text}")
        return (address.hostname or "").rstrip("."), address.path
    except ValueError:  # a bracket that never closes, as in no address
        return "", ""


def site_of(link: str) -> str:
    """The host of a link, or a bare domain, without www; "" for what is neither."""
    host = host_and_path(link)[0].removeprefix("www.")
    return host if re.fullmatch(r"[^\s.]+(\.[^\s.]+)+", host) else ""


def parents(host: str) -> list[str]:
    """The host and the domains above it but for the last: a.b.c, b.c."""
    names = host.split(".")
    return [".".join(names[start:]) for start in range(len(names) - 1)]
