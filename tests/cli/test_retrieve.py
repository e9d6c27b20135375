"""task=retrieve as a user runs it: over a folder, and with a search API and pages on localhost."""

import json

from cli.conftest import quick, succeed
from web.server import Answer, Request, page, serve

from xfact.data.corpus import EMBEDDED
from xfact.data.tsv import read_tsv
from xfact.schema import COLUMNS

ROWS = [
    ("it", "check.example", "None", "Il ponte di Vallefinta è chiuso", "true"),
    ("it", "None", "2020-03-15", 'Le barche sono "rare"', "false"),
    ("hi", "None", "None", "पुल बंद है", "mostly true"),
    ("de", "None", "None", "Zebras", "false"),
]


def claims_tsv() -> str:
    """Claims with evidence that is to be replaced."""
    rows = [
        "\t".join([language, site, *["old"] * 10, day, "None", "someone", claim, label])
        for language, site, day, claim, label in ROWS
    ]
    return "\n".join(["\t".join(COLUMNS), *rows]) + "\n"


def documents(folder) -> None:
    folder.mkdir()
    (folder / "ponte.txt").write_text("Il ponte di Vallefinta è stato chiuso lunedì.")
    (folder / "hi.html").write_text(page("पुल सोमवार को बंद हुआ। " * 9).body.decode())
    rows = [
        {
            "text": f"Le barche sono {word} sui fiumi.",
            "link": f"https://boats.example/{word}",
            "date": f"2020-0{month}-01",
        }
        for month, word in enumerate(["rare", "molte", "poche", "nuove", "belle", "antiche", "care", "ferme"], start=1)
    ]
    (folder / "barche.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_folder_gives_evidence_that_other_tasks_read(tmp_path):
    documents(tmp_path / "my docs")
    (tmp_path / "claims.tsv").write_text(claims_tsv())
    words = ("task=retrieve", "provider=bm25", "provider.folder=my docs", "input=claims.tsv", "retrieve.k=7")
    done = succeed(*words, "output=data/train.all.tsv", cwd=tmp_path)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert "my docs: 10 documents indexed" in lines
    assert "4 claims: 3 with evidence, 1 without; 9 results" in lines
    assert "searches: 4 asked" in lines
    assert "written: data/train.all.tsv and train.all.evidence.jsonl" in lines
    bridge, boats, hindi, zebras = read_tsv(tmp_path / "data" / "train.all.tsv", {})
    assert (bridge.links[0], bridge.evidence[0]) == ("ponte.txt", "Il ponte di Vallefinta è stato chiuso lunedì.")
    assert [
        (one.language, one.site, one.claim_date, one.claim, one.label) for one in (bridge, boats, hindi, zebras)
    ] == ROWS
    assert all(boats.evidence) and all(link.startswith("https://boats.example/") for link in boats.links)
    assert "पुल सोमवार को बंद हुआ।" in hindi.evidence[0]
    assert zebras.evidence == zebras.links == ("",) * 5
    side = [json.loads(line) for line in (tmp_path / "data" / "train.all.evidence.jsonl").read_text().splitlines()]
    ours = [one for one in side if one["claim"] == "claims:3"]
    assert [one["rank"] for one in ours] == list(range(1, 8))
    assert set(ours[0]) == {"claim", "rank", "link", "title", "snippet", "date", "passage"}

    before = ("provider.before=claim_date", "output=past.tsv")
    done = succeed(*words, *before, cwd=tmp_path)
    assert "indexed" not in done.stderr
    assert "5 not from before the date" in done.stderr
    assert "3 claims have no date that can be read" in done.stderr
    assert len([link for link in list(read_tsv(tmp_path / "past.tsv", {}))[1].links if link]) == 3

    succeed("task=stats", "data.source=data", cwd=tmp_path)


def test_a_data_set_gives_a_data_set(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("vaccine virus presidente governo covid video foto")
    succeed("task=retrieve", "provider.folder=docs", "input=sample", "output=new", "data.limit=40", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "new").glob("*.tsv")} == {
        path.name for path in EMBEDDED["sample"].glob("*.tsv")
    }
    done = succeed(
        "model=attn_ea",
        "preset=smoke",
        "data.source=new",
        "split=[alpha1]",
        "data.limit=16",
        "trainer.threads=1",
        cwd=tmp_path,
    )
    assert "alpha1" in done.stdout + done.stderr


def test_an_api_and_its_pages_give_evidence_and_an_interrupted_run_goes_on(tmp_path):
    (tmp_path / "claims.tsv").write_text(claims_tsv())
    with serve(
        story=page("Il sindaco parla del tempo. " * 9 + "\nIl ponte di Vallefinta è stato chiuso lunedì per le crepe."),
        closed=page("Il ponte è chiuso."),
        robots=Answer(b"User-agent: *\nDisallow: /closed", headers={"Content-Type": "text/plain"}),
    ) as site:
        down = [True]

        def search(request: Request) -> Answer:
            if down[0] and request.query["q"] == "पुल बंद है":
                return Answer(status=500)
            found = [
                {"title": "A", "url": "https://www.check.example/own", "description": "own"},
                {"title": "B", "url": site.address("/story"), "description": "a <strong>snippet</strong>"},
                {"title": "C", "url": site.address("/closed"), "description": "another"},
                {"title": "D", "url": "http://169.254.169.254/latest", "description": "inside"},
            ]
            return Answer(json.dumps({"web": {"results": found}}).encode())

        site.routes["/search"] = search
        words = (
            "task=retrieve", "provider=brave", f"provider.url={site.address('/search')}", "provider.per_second=1000",
            "provider.tries=1", "provider.failures=1", "retrieve.pages=true", "fetch.delay=0", "fetch.tries=1",
            "fetch.allow_private=[localhost]", "input=claims.tsv", "output=found.tsv", "passages.words=12",
            "fetch.concurrent=1",
        )  # fmt: skip
        done = quick(*words, cwd=tmp_path)
        assert (done.returncode, site.asked) == (2, [])
        assert "\nerror: BRAVE_API_KEY: not in the environment; export the key before the command\n" in done.stderr
        done = quick(*words, cwd=tmp_path, BRAVE_API_KEY="b-secret")
        assert done.returncode == 1
        assert "no answer 1 times in a row (last: HTTP 500); what was answered is kept, and the same" in done.stderr
        assert not (tmp_path / "found.tsv").exists()
        down[0] = False
        asked = [one.query["q"] for one in site.asked if one.path == "/search"]
        done = succeed(*words, cwd=tmp_path, BRAVE_API_KEY="b-secret")
        queries = [one.query["q"] for one in site.asked if one.path == "/search"]
        assert asked == ["Il ponte di Vallefinta è chiuso", "Le barche sono rare", "पुल बंद है"]
        assert queries == [*asked, "पुल बंद है", "Zebras"]
        assert (site.times("/story"), site.times("/closed")) == (1, 0)
    lines = done.stderr.splitlines()
    assert "4 claims: 4 with evidence, 0 without; 15 results" in lines
    assert "searches: 2 cached, 2 asked" in lines
    assert any(
        line.startswith("pages: ") and "4 robots.txt forbids it" in line and "4 private address" in line
        for line in lines
    )
    assert any("1 of the claim's own site" in line for line in lines)
    first, *_, last = read_tsv(tmp_path / "found.tsv", {})
    assert first.evidence == ("Il ponte di Vallefinta è stato chiuso lunedì per le crepe.", "another", "inside", "", "")
    assert last.evidence[:3] == ("own", "a snippet", "another")
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"b-secret" not in kept


def test_what_is_missing_or_wrong_is_one_line(tmp_path):
    (tmp_path / "claims.tsv").write_text(claims_tsv())
    documents(tmp_path / "docs")
    base = ("task=retrieve", "provider.folder=docs")
    for words, expected in (
        (("task=retrieve", "input=claims.tsv", "output=o.tsv"), "provider.folder: a value is needed"),
        ((*base, "input=claims.tsv", "output=claims.tsv"), "output=claims.tsv: is the input; choose another"),
        ((*base, "input=claims.tsv", "output=o.csv"), "output=o.csv: the name must end in .tsv"),
        ((*base, "input=sample", "output=o.tsv"), "output=o.tsv: a folder is needed"),
        ((*base, "input=absent.tsv", "output=o.tsv"), "input=absent.tsv: no such file"),
        ((*base, "input=claims.tsv", "output=o.tsv", "retrieve.kk=3"), "retrieve.kk: unknown; did you mean retrieve.k"),
        ((*base, "input=claims.tsv", "output=o.tsv", "provider=bing"), "provider=bing: unknown"),
        (
            (*base, "input=claims.tsv", "output=o.tsv", "passages.by=encoder"),
            "encoder.name=tiny: has no trained weights",
        ),
    ):
        done = quick(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        *before, last = done.stderr.splitlines()
        assert last.startswith("error: ") and expected in last, done.stderr
        assert set(before) <= {"input: claims.tsv: 4 rows, 4 kept", "docs: 10 documents indexed"}
    assert not (tmp_path / "o.tsv").exists()
