"""task=build builder=xfact as a user runs it: build, look, decide, build again, train; a second crawl; wrong input."""

import csv
import json

import pytest
from build.factchecks import SITES, claims, google, json_ld, page, write_lines, write_pages
from cli.conftest import quick, succeed
from web.server import Answer, serve

from xfact.build.xfact.crawl import Crawl, followed, read_all
from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.report.audit_counts import counts
from xfact.schema import OFFICIAL
from xfact.web.config import FetchConfig

SMALL = ("builder.min_examples=20", "builder.train_languages=2", "builder.min_in_domain=100")
BUILD = ("task=build", "builder=xfact", *SMALL)


def rows_of(folder, split):
    """The claims of a built split."""
    return Corpus(DataConfig(source=str(folder))).read(OFFICIAL[split][0])[0]


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A crawl of 420 fact-checks, 20 of them of an unmapped rating, and what was built of it."""
    folder = tmp_path_factory.mktemp("built")
    some = list(claims(420))
    false = {"site": "aosfatos.org", "language": "pt", "rating": "Lorota!"}
    some[:20] = [one | false | {"url": f"https://aosfatos.org/lorota/{n}"} for n, one in enumerate(some[:20])]
    write_pages(folder / "crawl", some[:200])
    write_lines(folder / "crawl" / "feed.jsonl", some[200:300])
    (folder / "crawl" / "api.json").write_text(json.dumps(google(some[300:])))
    done = succeed(*BUILD, "input=crawl", "output=out", cwd=folder)
    return folder, some, done


def test_the_funnel_is_on_the_screen_and_in_the_datasheet(built):
    folder, _, done = built
    assert "crawl: 420 reviews in 202 files" in done.stderr
    assert "ratings 420 -> 400 (unmapped rating 20)" in done.stderr
    sheet = json.loads((folder / "out" / "datasheet.json").read_text())
    steps = {row["step"]: row for row in sheet["tables"][0]["rows"]}
    assert list(steps) == [
        "clean", "languages", "dates", "ratings", "duplicates", "rating in claim", "headlines", "evidence", "sources",
        "splits",
    ]  # fmt: skip
    assert all(row["rows in"] - row["left out"] == row["rows out"] for row in steps.values())
    assert sum(len(rows_of(folder / "out", split)) for split in OFFICIAL) == steps["splits"]["rows out"]
    assert "Table 6" in (folder / "out" / "datasheet.md").read_text()


def test_a_build_passes_its_own_audit(tmp_path):
    some = list(claims(240))
    changed = [one | {"claim": one["claim"].replace(" ", " é ", 1), "url": f"{one['url']}/again"} for one in some]
    write_lines(tmp_path / "feed.jsonl", [*some, *changed])
    succeed(*BUILD, "input=feed.jsonl", "output=out", cwd=tmp_path)
    there = [split for split, (file, _) in OFFICIAL.items() if (tmp_path / "out" / file).is_file()]
    splits = {split: rows_of(tmp_path / "out", split) for split in there}
    found = {count.name: sum(count.rows.values()) for count in counts(splits)}
    assert found["near_in_split"] > 100
    assert (found["equal_in_train"], found["near_in_train"], found["near_elsewhere"]) == (0, 0, 0)


def test_every_claim_is_in_one_place_with_its_label(built):
    folder, some, _ = built
    facts = {one["claim"]: one for one in some}
    seen = set()
    for split in OFFICIAL:
        for claim in rows_of(folder / "out", split):
            one = facts[claim.claim]
            assert (claim.language, claim.site) == (one["language"], one["site"])
            assert claim.label == SITES[one["site"]][1][one["rating"]]
            assert (claim.claim_date, claim.review_date) == (one["claim_date"], one["claim_date"])
            assert claim.claim not in seen
            seen.add(claim.claim)
    removed = table(folder / "out" / "removed" / "ratings.csv")
    assert len(seen) + len(removed) == 420
    assert {row["reason"] for row in removed} == {"unmapped rating"}
    assert all(row["place"].startswith("0") for row in removed)


def test_a_person_decides_and_the_claims_come_in(built):
    folder, _, _ = built
    listed = table(folder / "out" / "review" / "unmapped_ratings.csv")
    assert [(row["source_rating"], row["number"]) for row in listed] == [("aosfatos.org: lorota", "20")]
    answers = (folder / "out" / "review" / "unmapped_ratings.csv").read_text(encoding="utf-8")
    (folder / "ratings.csv").write_text(answers.rstrip("\n").removesuffix('""') + '"false"\n', encoding="utf-8")
    done = succeed(*BUILD, "input=crawl", "output=decided", "builder.ratings=ratings.csv", cwd=folder)
    assert "ratings 420 -> 420" in done.stderr
    assert not (folder / "decided" / "removed" / "ratings.csv").exists()
    again = quick(*BUILD, "input=crawl", "output=decided", cwd=folder)
    assert again.returncode == 2  # the list in the folder has the answer, which would be lost
    assert "give it as builder.ratings=decided/review/unmapped_ratings.csv" in again.stderr
    wrong = (folder / "ratings.csv").read_text(encoding="utf-8").replace('"false"', '"flase"')
    (folder / "wrong.csv").write_text(wrong, encoding="utf-8")
    done = quick(*BUILD, "input=crawl", "output=wrong", "builder.ratings=wrong.csv", cwd=folder)
    assert done.returncode == 2
    assert "wrong.csv: row 1: label 'flase' is none of" in done.stderr
    assert not (folder / "wrong").exists()


def test_a_second_crawl_moves_nothing(built):
    folder, _, _ = built
    before = {split: [claim.claim for claim in rows_of(folder / "out", split)] for split in OFFICIAL}
    twin = before["train"][0] + " !"  # equal to an old one
    new = [*claims(100, seed=5)]
    new[0] = new[0] | {"claim": twin, "url": f"https://{rows_of(folder / 'out', 'train')[0].site}/again"}
    write_lines(folder / "second.jsonl", new)
    done = succeed(*BUILD, "input=second.jsonl", "output=more", "builder.previous=out", cwd=folder)
    assert "400 claims of out are in their splits as before" in done.stderr
    after = {split: {claim.claim for claim in rows_of(folder / "more", split)} for split in OFFICIAL}
    assert all(set(before[split]) <= after[split] for split in OFFICIAL)
    assert sum(map(len, after.values())) == 499
    same = succeed(*BUILD, "input=crawl", "output=same", cwd=folder)
    assert same.returncode == 0
    for name, _ in OFFICIAL.values():
        assert (folder / "same" / name).read_bytes() == (folder / "out" / name).read_bytes()


def test_by_time(built):
    folder, _, _ = built
    succeed(*BUILD, "input=crawl", "output=time", "builder.before=2021-01-01", cwd=folder)
    assert max(one.claim_date for one in rows_of(folder / "time", "train")) < "2021-01-01"
    assert min(one.claim_date for one in rows_of(folder / "time", "alpha1")) >= "2021-01-01"


def test_a_model_is_trained_on_what_was_built(built):
    folder, _, _ = built
    done = succeed(
        "model=claim_only", "data.source=out", "preset=smoke", "trainer.max_epochs=1", "data.limit=40", cwd=folder
    )
    assert "macro-F1" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["input=none", "output=x"], ["input=none", "no such file or folder"]),
        (["input=empty", "output=x"], ["input=empty", "no ClaimReview in 1 files (no ClaimReview 1)"]),
        (["output=x"], ["input: a value is needed"]),
        (["input=crawl", "output=x", "builder.befor=2020-01-01"], ["builder.befor", "builder.before"]),
        (["input=crawl", "output=x", "builder.before=2020"], ["builder.before=2020"]),
        (["input=crawl", "output=x", "builder.previous=empty"], ["builder.previous=empty", "train.all.tsv"]),
        (["input=crawl", "output=x", "builder.evidence=none.tsv"], ["builder.evidence=none.tsv", "no such file"]),
        (["input=crawl", "output=x", "builder.min_examples=10000"], ["no claim is left", "x/removed"]),
    ],
)
def test_wrong_input_is_one_line(built, words, parts):
    folder, _, _ = built
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "empty" / "a.json").write_text(json.dumps({"@type": "WebPage"}))
    done = quick("task=build", "builder=xfact", *words, cwd=folder)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2, done.stderr
    assert all(part in last for part in parts), last
    assert "Traceback" not in done.stderr


def html(block: str) -> Answer:
    """A page with a JSON-LD block."""
    return Answer(page(block).encode(), headers={"Content-Type": "text/html"})


FETCH = ("fetch.allow_private=[localhost]", "fetch.delay=0", "fetch.tries=1", "fetch.timeout=5")


def test_from_pages_on_the_web_to_a_trained_model(tmp_path):
    some = list(claims(120, seed=2))
    pages = {f"check{n}": html(json.dumps(json_ld(one))) for n, one in enumerate(some)}
    (tmp_path / "documents").mkdir()
    for number, one in enumerate(some[:100]):
        (tmp_path / "documents" / f"{number}.txt").write_text(f"Documento. {one['claim']} Sim.", encoding="utf-8")
    small = ("builder=xfact", "builder.min_examples=5", "builder.train_languages=2", "builder.min_in_domain=20")
    with serve(**pages, gone=Answer(status=404), robots=Answer(b"User-agent: *\nDisallow: /check1\n")) as site:
        names = [f"/{name}" for name in (*pages, "gone")]
        (tmp_path / "addresses.txt").write_text("# checks\n" + "\n".join(map(site.address, names)) + "\n")
        done = succeed("task=build", *small, *FETCH, "input=addresses.txt", "output=first", cwd=tmp_path)
        asked = len(site.asked)
        again = succeed("task=build", *small, *FETCH, "input=addresses.txt", "output=first", cwd=tmp_path)
        assert [line for line in again.stderr.splitlines() if "->" in line] == [
            line for line in done.stderr.splitlines() if "->" in line
        ]
        kept = {request.path for request in site.asked[asked:]} - {"/robots.txt"}
        assert kept <= {"/gone", *(f"/{name}" for name in pages if name.startswith("check1"))}
    forbidden = sum(name.startswith("check1") for name in pages)
    assert f"{120 - forbidden} reviews in {120 - forbidden} pages (" in done.stderr
    assert {row["reason"] for row in table(tmp_path / "first" / "removed" / "read.csv")} == {
        "robots.txt forbids it", "HTTP 404",
    }  # fmt: skip
    found = ("provider=bm25", "provider.folder=documents", "input=first/all.tsv", "output=found.tsv")
    succeed("task=retrieve", *found, cwd=tmp_path)
    second = (
        "input=addresses.txt",
        "output=second",
        "builder.evidence=found.tsv",
    )  # the server is gone: pages are kept
    done = succeed("task=build", *small, *FETCH, *second, cwd=tmp_path)
    assert "evidence " in done.stderr
    assert all(claim.evidence[0] for claim in rows_of(tmp_path / "second", "train"))
    done = succeed(
        "model=attn_ea", "data.source=second", "preset=smoke", "trainer.max_epochs=1", "trainer.threads=1", cwd=tmp_path
    )
    (result,) = (tmp_path / "runs").glob("*/*/result.json")
    assert json.loads(result.read_text())["status"] == "finished"


def test_links_in_googles_answers_are_followed_for_what_is_missing(tmp_path):
    some = list(claims(4))
    other = json_ld(some[1] | {"claim": "Quite another claim"})
    bodies = [page(json.dumps(json_ld(some[0]))), page(json.dumps(other)), page(json.dumps(json_ld(some[3])))]
    pages = {
        f"c{number}": Answer(body.encode(), headers={"Content-Type": "text/html"}) for number, body in enumerate(bodies)
    }
    with serve(**pages) as site:
        given = google([one | {"url": site.address(f"/c{number}")} for number, one in enumerate(some)])
        for claim in given["claims"][:3]:
            claim.pop("claimant")
        given["claims"][2]["claimReview"][0]["url"] = site.address("/gone")
        path = tmp_path / "api.json"
        path.write_text(json.dumps(given))
        fetch = FetchConfig(delay=0, tries=1, allow_private=["localhost"])
        found = read_all(str(path), Crawl(), fetch, tmp_path)
        assert [one.claimant for one in found] == ["", "", "", some[3]["claimant"]]
        filled, counts = followed(found, fetch, tmp_path)
        assert [one.claimant for one in filled] == [some[0]["claimant"], "", "", some[3]["claimant"]]
        assert counts == {"pages": 3, "HTTP 404": 1, "claimant filled in": 1}
        assert [site.times(f"/{name}") for name in ("c0", "c1", "c2", "c3", "gone")] == [1, 1, 0, 0, 1]
        given["claims"][0]["claimReview"][0].pop("textualRating")
        path.write_text(json.dumps(given))
        crawl = Crawl()
        rest = read_all(str(path), crawl, fetch, tmp_path)
        assert (len(rest), crawl.reasons) == (3, {"no rating": 1})
        (rated,), counts = followed(crawl.unrated, fetch, tmp_path)
        assert (rated.rating, counts["rating filled in"]) == (some[0]["rating"], 1)
        refused, counts = followed(found, FetchConfig(delay=0, tries=1), tmp_path / "new")
        assert (refused, counts["private address"]) == (found, 3)


def test_googles_api_is_asked_page_after_page_with_the_users_key(tmp_path):
    some = list(claims(60, seed=3))

    def answer(request):
        if request.headers.get("X-Goog-Api-Key") != "secret-key":
            return Answer(status=403)
        second = request.query.get("pageToken") == "two"
        body = google(some[30:] if second else some[:30])
        body["nextPageToken"] = "" if second else "two"
        return Answer(json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    with serve(**{"v1alpha1/claims:search": answer}) as site:
        address = site.address("/v1alpha1/claims:search") + "?query=vacina&languageCode=pt"
        words = ("task=build", "builder=xfact", "builder.min_examples=1", *FETCH, f"input={address}", "output=out")
        done = succeed(*words, cwd=tmp_path, GOOGLE_API_KEY="secret-key")
        assert "60 reviews in 2 pages" in done.stderr
        assert {request.query["query"] for request in site.asked} == {"vacina"}
        without = quick(*words, cwd=tmp_path)
        assert (without.returncode, "set GOOGLE_API_KEY in the environment" in without.stderr) == (2, True)
        refused = quick(*words, cwd=tmp_path, GOOGLE_API_KEY="wrong-key")
        assert (refused.returncode, "HTTP 403" in refused.stderr) == (1, True)
    files = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any("secret-key" in text for text in [*files, done.stderr, refused.stderr])
