"""The list of fact-checking sites and the links that lead to one."""

import re

import pytest

from xfact.data.fact_checkers import LIST, fact_checker, listed
from xfact.data.ratings import LABEL_MAPS, LANGUAGE_OF


@pytest.mark.parametrize(
    ("link", "site", "expected"),
    [
        ("https://www.politifact.com/factchecks/2020/", "", "politifact.com"),
        ("HTTP://FR.AFRICACHECK.ORG/x", "", "africacheck.org"),
        ("hindi.newschecker.in/a", "", "newschecker.in"),
        ("https://notpolitifact.com/a", "", None),
        ("https://politifact.com.example.org/", "", None),
        ("https://x.com/?u=https://politifact.com", "", None),
        ("https://www.agi.it/fact-checking/news/2020", "", "agi.it/fact-checking"),
        ("https://www.agi.it/cronaca/news/2020", "", None),
        ("https://www.agi.it/cronaca/news/2020", "agi.it", "agi.it"),
        ("https://www.agi.it/cronaca/news/2020", "pagellapolitica.it", None),
        ("https://none.example.org", "None", None),
        ("https://user@teyit.org:443/x", "", "teyit.org"),
        ("http://[broken", "", None),
        ("None", "None", None),
        ("", "", None),
    ],
)
def test_a_link_leads_to_a_site_of_the_list_or_the_rows_own(link, site, expected):
    assert fact_checker(link, site) == expected


def test_every_entry_has_a_source_and_stands_once():
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9.-]+\.[a-z]+(/[\w./-]+)? # (Table 6|label map|IFCN).*", line) for line in lines)
    entries = [line.partition(" ")[0] for line in lines]
    assert len(set(entries)) == len(entries) > 100


def test_the_sites_of_the_label_maps_are_in_the_list():
    sites = {path.stem for path in LABEL_MAPS.glob("*.txt")}
    assert sites == set(LANGUAGE_OF)
    roots = set(listed())
    assert [
        site for site in sorted(sites) if not any(site == root or site.endswith(f".{root}") for root in roots)
    ] == []
