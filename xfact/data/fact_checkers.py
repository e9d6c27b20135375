"""Links that lead to a fact-checking site, by the list in fact_checkers.txt."""

from functools import cache
from pathlib import Path

from xfact.schema import MISSING
from xfact.text.hosts import host_and_path, parents

LIST = Path(__file__).with_name("fact_checkers.txt")


@cache
def listed() -> dict[str, list[str]]:
    """Domain -> the beginnings of the paths on it that are fact-checks; "" for all of them."""
    paths: dict[str, list[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        entry = line.partition("#")[0].strip()
        if entry:
            domain, slash, path = entry.partition("/")
            paths.setdefault(domain, []).append(slash + path)
    return paths


def fact_checker(link: str, site: str = "") -> str | None:
    """The entry of the list, or the row's own site, that a link leads to; None if it leads elsewhere.

    It leads to a domain if its host is that domain or lies below it (fr.africacheck.org below africacheck.org), and to
    an entry with a path if its own path begins so.
    """
    host, path = host_and_path(link)
    own = site.strip().casefold()
    for domain in parents(host):
        if domain == own and own not in MISSING:
            return domain
        for beginning in listed().get(domain, ()):
            if path.startswith(beginning):
                return domain + beginning
    return None
