"""The report's page: its data round the encoding, and the page itself in a real browser."""

import base64
import csv
import io
import json
import re
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from report.browser import ENTER, ESCAPE, MISSING, chromium, problems, requests, show

from xfact.errors import UserError
from xfact.io.grid import Table, csv_text
from xfact.report.behaviour import confusion_figure
from xfact.report.page import Browser, Figure, Page, Section, write_page
from xfact.schema import Claim

LABELS = ["true", "partly true/misleading", "false"]
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>window.broken = 1</script>",
    "<!-- <script>",
    '"><img src=x onerror="window.broken = 1">',
    "a\u2028b\u2029c & &amp; \\u003c 'q' `${1}` $claims",
]
ARABIC = "الرئيس الروسي فلاديمير بوتين قدم الطعام إلى صدام حسين"
SVG = '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg width="9" height="9"><g style="fill: red"/></svg>'


def claim(id: str, text: str, label: str, language: str = "it", site: str = "agi.it", **others: Any) -> Claim:
    fields: dict[str, Any] = {"evidence": ("",) * 5, "links": ("",) * 5, "claim_date": "None", "claimant": "none"}
    return Claim(id=id, language=language, site=site, review_date="", claim=text, label=label, **(fields | others))


def predictions(attention: bool = True, **by_id: tuple[str, str, list[float]]) -> pd.DataFrame:
    """A predictions table from id = (split, pred, probabilities); claim c has attention to its first three snippets."""
    rows = []
    for id, (split, pred, probabilities) in by_id.items():
        row: dict[str, Any] = {"id": id, "split": split, "pred": pred}
        row |= {f"p_{label}": p for label, p in zip(LABELS, probabilities, strict=False)}
        weights = (0.5, 0.3, 0.2, 0, 0) if id == "c" else (0, 0, 0, 0, 1)
        rows.append(row | ({f"attention_{n}": a for n, a in enumerate(weights, 1)} if attention else {}))
    return pd.DataFrame(rows)


def small() -> Browser:
    """Five claims in two splits; two models, the second without attention and without a word on the last claim."""
    evidence = ("قدم الطعام", "A page in English", "", "", "")
    links = ("https://example.org/a?b=<c>", "javascript:alert(1)", "", "", "")
    claims = {
        "dev": [
            claim("a", "Il cielo è verde", "false"),
            claim("b", "İSTANBUL'da kar", "true", language="tr", site="None", claimant="Ayşe", claim_date="2020-05-12"),
        ],
        "alpha1": [
            claim("c", ARABIC, "false", language="ar", site="misbar.com", evidence=evidence, links=links),
            claim("d", "Il mare è blu", "true"),
            claim("a", "Il cielo è blu", "true"),
        ],
    }
    wide = predictions(
        a=("dev", "false", [0.1, 0.2, 0.7]),
        b=("dev", "false", [0.2, 0.2, 0.6]),
        c=("alpha1", "true", [0.8004, 0.0, 0.1996]),
        d=("alpha1", "true", [0.9, 0.05, 0.05]),
    )
    wide = wide.assign(votes_true=[0, 1, 3, 4], votes_false=[4, 3, 1, 0])
    last = predictions(a=("alpha1", "true", [0.5, 0.25, 0.25]))
    narrow = predictions(
        attention=False,
        a=("dev", "false", [0.4]),
        b=("dev", "true", [0.7]),
        c=("alpha1", "true", [0.9]),
        d=("alpha1", "false", [0.3]),
    )
    return Browser(LABELS, claims, {"attn_ea": pd.concat([wide, last]), "claim_only": narrow})


def many(number: int) -> Browser:
    claims = [claim(f"test.all:{n}", f"claim number {n}", "false") for n in range(number)]
    return Browser(LABELS, {"alpha1": claims}, {})


def hostile() -> Browser:
    """A claim for each hostile text, which also stands in every other field of it."""
    claims = [
        claim(text, text, "true", language=text, site=text, evidence=(text,) * 5, links=(text,) * 5, claimant=text)
        for text in HOSTILE
    ]
    tables = {text: predictions(**{text: (HOSTILE[0], HOSTILE[3], [1.0, 0, 0])}) for text in HOSTILE}
    return Browser([*LABELS, HOSTILE[3]], {HOSTILE[0]: claims}, tables)


def page(claims: Browser | None = None, *tables: Table) -> Page:
    section = Section("Scores", "One.\n\nTwo.", tables, [Figure("Bars", SVG, "A note.")])
    return Page("Report", [("Data", "sample")], [section], claims)


def unpacked(path: Path) -> dict[str, Any]:
    """The claims' data as the page's script reads them."""
    (packed,) = re.findall(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', path.read_text("utf-8"))
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_the_data_come_back_from_the_page(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", page(small()))
    data = unpacked(tmp_path / "page.html")
    assert (data["splits"], data["split"]) == (["dev", "alpha1"], [0, 0, 1, 1, 1])
    assert [data["languages"][code] for code in data["language"]][1:3] == [["tr", "Turkish"], ["ar", "Arabic"]]
    assert [data["sites"][code] for code in data["site"]] == ["agi.it", "", "misbar.com", "agi.it", "agi.it"]
    assert [LABELS[code] for code in data["gold"]] == ["false", "true", "false", "true", "true"]
    assert (data["claim"][2], data["claimant"][:2], data["date"][:2]) == (ARABIC, ["", "Ayşe"], ["", "2020-05-12"])
    assert (data["snippets"][2][0], data["links"][2][1]) == ("قدم الطعام", "javascript:alert(1)")
    attn_ea, claim_only = data["predictions"]
    assert (attn_ea["pred"], claim_only["pred"]) == ([2, 2, 0, 0, 0], [2, 0, 0, 2, -1])
    assert (attn_ea["p"][6:9], attn_ea["attention"][10:15]) == ([800, 0, 200], [500, 300, 200, 0, 0])
    assert claim_only["p"] == [400, -1, -1, 700, -1, -1, 900, -1, -1, 300, -1, -1, -1, -1, -1]
    assert claim_only["attention"] is claim_only["votes"] is None
    assert attn_ea["votes"][:6] == [0, -1, 4, 1, -1, 3]


def test_hostile_text_comes_back_as_it_was(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", page(hostile()))
    data = unpacked(tmp_path / "page.html")
    assert data["claim"] == data["id"] == data["models"] == HOSTILE
    assert [data["languages"][code][0] for code in data["language"]] == HOSTILE
    assert data["snippets"] == data["links"] == [[text] * 5 for text in HOSTILE]


def test_the_same_page_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_page(tmp_path / name, page(small(), Table("T", ["a"], [["b"]])))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_page_is_whole_or_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("before", encoding="utf-8")
    with pytest.raises(ValueError, match="substring not found"):
        write_page(tmp_path / "page.html", Page("R", [], [Section("S", figures=[Figure("no picture", "")])]))
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        write_page(tmp_path / "folder", page())
    assert (tmp_path / "page.html").read_text("utf-8") == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "folder"}


def test_a_page_without_claims_has_no_browser(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", page())
    text = (tmp_path / "page.html").read_text("utf-8")
    assert 'id="claims"' not in text
    assert "#claims" not in text.partition("<body>")[2].partition("<main>")[0]
    assert "<p>One.</p>\n<p>Two.</p>" in text
    assert "<?xml" not in text
    assert text.count("<!DOCTYPE") == 1


# In a browser


def in_browser(test: Any) -> Any:
    """Marks a test that needs Chromium; it is skipped where that is missing."""
    return pytest.mark.browser(pytest.mark.skipif(bool(MISSING), reason=f"not here: {', '.join(MISSING)}")(test))


Open = Callable[..., Any]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def opened(driver: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page, at an address in it; after the test nothing may have gone wrong or been asked of the network."""
    path = tmp_path / "page.html"

    def open_page(shown: Page, address: str = "") -> Any:
        write_page(path, shown)
        show(driver, path, address)
        return driver

    problems(driver), requests(driver)
    yield open_page
    assert problems(driver) == []
    assert {url.partition("#")[0] for url in requests(driver)} <= {path.as_uri()}
    assert driver.execute_script("return performance.getEntriesByType('resource')") == []


def all_of(driver: Any, selector: str) -> list[Any]:
    return driver.find_elements("css selector", selector)


def one(driver: Any, selector: str) -> Any:
    (found,) = all_of(driver, selector)
    return found


def texts(driver: Any, selector: str) -> list[str]:
    return [found.text for found in all_of(driver, selector)]


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether something comes true within seconds: what follows a new address comes a moment later."""
    return any(condition() or time.sleep(0.02) for _ in range(250))


def shows(driver: Any, text: str) -> bool:
    """Whether the claim that is open, or soon is, is this one."""
    return eventually(lambda: one(driver, "#opened").is_displayed() and one(driver, "#opened-claim").text == text)


def closed(driver: Any) -> bool:
    return eventually(lambda: not one(driver, "#opened").is_displayed())


def choose(driver: Any, **fields: str) -> str:
    """Choose options by their text; the count that the page then shows."""
    for name, text in fields.items():
        one(driver, f"[name={name}]").send_keys(text)
    return one(driver, "#count").text


def cells(driver: Any, column: int) -> list[str]:
    return texts(driver, f".wide > table > tbody td:nth-child({column})")


SCORES = Table(
    "Scores",
    ["model", "n", "alpha1"],
    [
        ["zebra", 1234, "38.2 (0.9)"],
        ["Äpfel", None, "-"],
        ["apple", 98, "4.1 (0.2)"],
        ["run 10", -5, "101"],
        ["run 9", 0, ""],
    ],
    note="macro_f1: the mean over classes.",
)


def sort(driver: Any, column: int, keyboard: bool) -> str:
    """Sort by a column; its header's state afterwards."""
    header = one(driver, f".wide > table th:nth-child({column})")
    button = header.find_element("css selector", "button")
    button.send_keys(ENTER) if keyboard else button.click()
    return header.get_attribute("aria-sort")


@in_browser
@pytest.mark.parametrize("keyboard", [False, True])
def test_a_table_sorts_by_its_headers(opened: Open, keyboard: bool) -> None:
    driver = opened(page(None, SCORES))
    assert "macro_f1: the mean over classes." in texts(driver, ".note")
    given = cells(driver, 2)
    assert sort(driver, 2, keyboard) == "ascending"
    assert cells(driver, 2) == ["-5", "0", "98", "1,234", "-"]
    assert sort(driver, 2, keyboard) == "descending"
    assert cells(driver, 2) == ["1,234", "98", "0", "-5", "-"]
    assert sort(driver, 2, keyboard) == "none"
    assert cells(driver, 2) == given
    sort(driver, 3, keyboard)
    assert cells(driver, 3) == ["4.1 (0.2)", "38.2 (0.9)", "101", "-", ""]
    sort(driver, 3, keyboard)
    assert cells(driver, 3) == ["101", "38.2 (0.9)", "4.1 (0.2)", "-", ""]
    sort(driver, 1, keyboard)
    assert cells(driver, 1) == ["Äpfel", "apple", "run 9", "run 10", "zebra"]
    states = [header.get_attribute("aria-sort") for header in all_of(driver, ".wide > table th")]
    assert states == ["ascending", "none", "none"]


def test_every_table_and_figure_has_an_address_and_a_fold(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", page(None, SCORES, SCORES))
    text = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r'<details id="(section-1-\d)"( open)?>', text) == [
        ("section-1-1", " open"), ("section-1-2", ""), ("section-1-3", ""),
    ]  # fmt: skip


@in_browser
def test_an_address_opens_its_fold(opened: Open) -> None:
    driver = opened(page(None, SCORES, SCORES), "#section-1-2")
    assert [fold.get_attribute("open") for fold in all_of(driver, "details")] == ["true", "true", None]


@in_browser
def test_a_table_is_saved_as_it_stands(opened: Open, driver: Any, tmp_path: Path) -> None:
    cells = ['=HYPERLINK("http://127.0.0.1:9")', 'say "no", twice\nor not', "-0.4", "'＝1", ARABIC]
    table = Table("Hostile; A/B", ["model", "n"], [[cell, number] for number, cell in enumerate(cells)])
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    driver = opened(page(None, table))
    sort(driver, 2, keyboard=False), sort(driver, 2, keyboard=False)
    one(driver, "button.csv").click()
    file = tmp_path / "hostile-a-b.csv"
    assert eventually(file.is_file)
    with file.open(encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    assert header == ["model", "n"]
    safe = [row[0] for row in csv.reader(io.StringIO(csv_text(table)))][1:]
    assert rows == [[cell, str(number)] for number, cell in reversed(list(enumerate(safe)))]


@in_browser
def test_a_cell_of_a_confusion_matrix_is_a_link_to_its_claims(opened: Open) -> None:
    gold_and_pred = pd.DataFrame({"gold": ["false", "true", "true"], "pred": ["true", "true", "true"]})
    figure = confusion_figure("alpha1", "attn_ea", gold_and_pred, linked=True)
    driver = opened(Page("R", [], [Section("S", figures=[figure])], small()))
    links = all_of(driver, "svg a")
    assert len(links) == 2  # a cell without rows has none
    one(driver, "[name=words]").send_keys("nothing of before")
    links[0].click()
    assert eventually(lambda: one(driver, "#count").text == "1 of 5 claims")
    assert texts(driver, "#list .claim") == [ARABIC]
    links[1].click()
    assert eventually(lambda: one(driver, "#count").text == "2 of 5 claims")


@in_browser
def test_filters_leave_the_claims_that_they_say(opened: Open) -> None:
    driver = opened(page(small()))
    assert one(driver, "#count").text == "5 of 5 claims"
    assert texts(driver, "#list .claim")[:2] == ["Il cielo è verde", "İSTANBUL'da kar"]
    assert texts(driver, "#list .meta")[:3] == [
        "dev · Italian · agi.it · a",
        "dev · Turkish · b",
        "alpha1 · Arabic · misbar.com · c",
    ]
    assert choose(driver, language="Italian (it)") == "3 of 5 claims"
    assert choose(driver, gold="true") == "2 of 5 claims"
    assert texts(driver, "#list .claim") == ["Il mare è blu", "Il cielo è blu"]
    assert choose(driver, words="CIELO blu") == "1 of 5 claims"
    one(driver, "[type=reset]").click()
    assert choose(driver, split="alpha1") == "3 of 5 claims"
    assert choose(driver, site="misbar.com") == "1 of 5 claims"
    one(driver, "[type=reset]").click()
    assert choose(driver, site="(not given)") == "1 of 5 claims"
    one(driver, "[type=reset]").click()
    assert choose(driver, words="istanbul") == "1 of 5 claims"
    assert choose(driver, words=" nowhere") == "0 of 5 claims: none passes these filters."
    assert texts(driver, "#list li") == []


@in_browser
def test_filters_by_what_models_predict(opened: Open) -> None:
    driver = opened(page(small()))
    assert texts(driver, "#list .pred > :last-child") == ["✓ false", "✗ false", "✗ true", "✓ true", "✓ true"]
    one(driver, "[name=disagree]").click()
    assert texts(driver, "#list .claim") == ["İSTANBUL'da kar", "Il mare è blu"]
    one(driver, "[name=wrong]").click()
    assert texts(driver, "#list .claim") == ["İSTANBUL'da kar"]
    choose(driver, model="claim_only")
    assert texts(driver, "#list .claim") == ["Il mare è blu"]
    one(driver, "[name=disagree]").click()
    one(driver, "[name=wrong]").click()
    assert texts(driver, "#list .pred > :last-child") == ["✓ false", "✓ true", "✗ true", "✗ false", "-"]
    assert choose(driver, pred="false") == "2 of 5 claims"
    assert texts(driver, "#list .gold > :last-child") == ["false", "true"]


@in_browser
def test_a_claim_opens_with_its_evidence_and_what_models_make_of_it(opened: Open) -> None:
    driver = opened(page(small()))
    one(driver, "#list li:nth-child(3) .claim").send_keys(ENTER)
    assert shows(driver, ARABIC)
    assert driver.current_url.endswith("#claim=c")
    facts = dict(zip(texts(driver, "#opened dt"), texts(driver, "#opened dd"), strict=True))
    assert facts == {"Split": "alpha1", "Language": "Arabic", "Source": "misbar.com", "Id": "c", "Gold": "false"}

    heads = texts(driver, ".probabilities thead th")
    assert heads == ["attn_ea\n✗ true", "claim_only\n✗ true"]
    rows = {row.text.split("\n")[0]: row for row in all_of(driver, ".probabilities tbody tr")}
    assert list(rows) == ["true", "partly true/misleading", "false gold"]
    assert [row.find_element("css selector", ".value").text for row in rows.values()] == ["0.800", "0.000", "0.200"]
    assert texts(driver, ".probabilities td:nth-child(3) .value") == ["0.900", "-", "-"]
    assert texts(driver, ".probabilities .chosen .value") == ["0.800", "0.900"]
    assert texts(driver, ".probabilities .votes") == ["3 seeds", "1 seed"]
    assert shares(driver, ".probabilities td:nth-child(2)") == pytest.approx([0.8, 0, 0.2], abs=0.005)

    assert texts(driver, ".snippets li > p:first-child") == ["قدم الطعام", "A page in English", *["(no snippet)"] * 3]
    assert texts(driver, ".attention .value") == ["0.500", "0.300", "0.200", "0.000", "0.000"]
    assert set(texts(driver, ".attention > span:first-child")) == {"attn_ea"}
    assert shares(driver, ".attention") == pytest.approx([0.5, 0.3, 0.2, 0, 0], abs=0.005)

    assert texts(driver, ".link") == ["https://example.org/a?b=<c>", "javascript:alert(1)"]
    link = one(driver, ".link a")
    assert link.get_attribute("href") == "https://example.org/a?b=%3Cc%3E"
    assert link.get_attribute("rel") == "noopener noreferrer nofollow"


def shares(driver: Any, below: str) -> list[float]:
    """How much of each bar is filled, as drawn."""
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0] + ' .filled')].map((filled) => "
        "filled.getBoundingClientRect().width / filled.parentElement.getBoundingClientRect().width)",
        below,
    )


@in_browser
def test_arabic_stands_right_in_its_language(opened: Open) -> None:
    driver = opened(page(small()), "#claim=c")
    for selector, direction in [
        ("#opened-claim", "rtl"),
        (".snippets li:nth-child(1) p", "rtl"),
        (".snippets li:nth-child(2) p", "ltr"),
        ("#list li:nth-child(3) .claim", "rtl"),
        ("#list li:nth-child(1) .claim", "ltr"),
    ]:
        found = all_of(driver, selector)[0]
        assert driver.execute_script("return getComputedStyle(arguments[0]).direction", found) == direction, selector
    assert one(driver, "#opened-claim").get_attribute("lang") == "ar"
    assert one(driver, "#list li:nth-child(2) .claim").get_attribute("lang") == "tr"


@in_browser
def test_the_address_opens_a_claim_and_the_keys_close_it(opened: Open) -> None:
    driver = opened(page(small()), "#claim=a&split=alpha1")
    assert shows(driver, "Il cielo è blu")
    assert one(driver, "#after").get_attribute("disabled")
    one(driver, "#before").click()
    assert shows(driver, "Il mare è blu")
    assert driver.current_url.endswith("#claim=d")
    driver.switch_to.active_element.send_keys(ESCAPE)
    assert closed(driver)
    assert eventually(lambda: driver.current_url.endswith("#claims"))
    driver.execute_script("location.hash = '#claim=a'")
    assert shows(driver, "Il cielo è verde")
    driver.back()
    assert closed(driver)
    for unknown in ("z", "%ff", "a&split=train"):
        choose(driver, words=" ")
        driver.execute_script("location.hash = arguments[0]", f"#claim={unknown}")
        assert eventually(lambda: one(driver, "#count").text == "There is no claim of this address here.")


@in_browser
def test_many_claims_come_in_pages(opened: Open) -> None:
    driver = opened(page(many(1_060)))
    assert one(driver, "#count").text == "1,060 of 1,060 claims"
    assert not any(field.is_displayed() for field in all_of(driver, "#filters .models"))
    one(driver, "#on").click()
    assert (len(all_of(driver, "#list li")), one(driver, "#shown").text) == (50, "51–100 of 1,060")
    assert texts(driver, "#list .claim")[0] == "claim number 50"
    one(driver, "#back").click()
    assert texts(driver, "#list .claim")[0] == "claim number 0"
    assert choose(driver, words="number 105") == "11 of 1,060 claims"
    assert not one(driver, "#pages").is_displayed()


@in_browser
def test_hostile_text_is_text(opened: Open) -> None:
    table = Table(HOSTILE[0], HOSTILE, [HOSTILE], texts=len(HOSTILE), note=HOSTILE[1])
    sections = [Section(text, text, [table], [Figure(text, SVG, text)]) for text in HOSTILE]
    driver = opened(Page(HOSTILE[1], [(text, text) for text in HOSTILE], sections, hostile()))
    shown = [driver.execute_script("return document.getElementById('list').textContent")]
    for link in all_of(driver, "#list .claim"):
        driver.execute_script("arguments[0].click()", link)
        assert eventually(lambda: one(driver, "#opened").is_displayed())
        shown.append(driver.execute_script("return document.getElementById('opened').textContent"))
        driver.execute_script("document.getElementById('opened').close()")
        assert eventually(lambda: "#claim=" not in driver.current_url)  # the page has heard of it
    assert driver.title == HOSTILE[1]
    assert all(text in shown[0] for text in HOSTILE)
    assert all(shown[number].count(text) >= 14 for number, text in enumerate(HOSTILE, start=1))
    assert texts(driver, "h2") == [*HOSTILE[:4], one(driver, "#section-5 h2").text, "Claims"]
    options = driver.execute_script("return [...document.querySelectorAll('[name=model] option')].map((o) => o.text)")
    assert options[:4] == HOSTILE[:4]
    assert driver.execute_script("return [window.broken, document.scripts.length, document.images.length]") == [
        None,
        1,
        0,
    ]


@in_browser
def test_the_policy_refuses_other_scripts_and_any_request(driver: Any, tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", page(small()))
    show(driver, tmp_path / "page.html")
    refused = driver.execute_async_script(
        """
        const [done, refused] = [arguments[0], []];
        addEventListener("securitypolicyviolation", (event) => {
          refused.push(event.effectiveDirective);
          if (refused.length === 4) done(refused);
        });
        const script = document.createElement("script");
        script.textContent = "window.broken = 1";
        document.body.append(script);
        new Image().src = "http://127.0.0.1:9/a.png";
        fetch("http://127.0.0.1:9/b").catch(() => 0);
        document.body.style.backgroundImage = "url(http://127.0.0.1:9/c.png)";
        """
    )
    assert sorted(refused) == ["connect-src", "img-src", "img-src", "script-src-elem"]
    assert driver.execute_script("return window.broken") is None
    assert len(problems(driver)) >= 4


@in_browser
def test_the_page_fits_a_narrow_screen(opened: Open, driver: Any) -> None:
    wide = Table("Wide", [f"column {n}" for n in range(20)], [[1000 * n for n in range(20)]])
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(page(small(), wide), "#claim=c")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 400
        assert driver.execute_script("return document.getElementById('opened').scrollWidth") <= 400
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
