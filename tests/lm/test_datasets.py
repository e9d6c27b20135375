"""What a model reads: the published prompts to the letter, and nothing that tells the answer."""

import json
from collections import Counter

import pytest

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.data.veryfit import INVENTED
from xfact.errors import DataError, UserError
from xfact.lm import datasets
from xfact.lm.contamination import continuation, overlaps
from xfact.lm.prompts import FOLDER, filled, read_label_names, read_prompt
from xfact.schema import LABELS
from xfact.text.normalise import normalised

FIRST = "«A Borgonuvola il canone delle altalene è stato abolito nel 2019»"
PROMPTS = {
    ("calamita", "given"): (
        "Il seguente statement nella data indicata era vero o falso? Rispondi solo 'Vero' o 'Falso'.\n"
        f"Statement: {FIRST}\nData: 2024-03-14"
    ),
    ("paper", "given"): (
        'Il seguente statement, nella data indicata, è vero o falso? Rispondi solo con "Vero" o "Falso".\n'
        f"Statement: {FIRST}\nData: 2024-03-14"
    ),
    ("paper", "none"): f'Il seguente statement è vero o falso? Rispondi solo con "Vero" o "Falso".\nStatement: {FIRST}',
}


def rows(subset="small", **given):
    return datasets.veryfit(subset, "invented", **given)["test"].to_list()


@pytest.mark.parametrize(("prompt", "dates"), PROMPTS)
def test_the_published_prompts_to_the_letter(prompt, dates):
    assert rows(prompt=prompt, dates=dates)[0]["prompt"] == PROMPTS[prompt, dates]


def test_the_papers_english_prompt_is_the_one_that_it_prints():
    question = 'The following statement, on the date indicated, is true or false? Answer only with "True" or "False".'
    assert rows(prompt="paper", language="en")[0]["prompt"] == f"{question}\nStatement: {FIRST}\nDate: 2024-03-14"


@pytest.mark.parametrize(("language", "choices"), [("it", ["Vero", "Falso"]), ("en", ["True", "False"])])
@pytest.mark.parametrize("prompt", ["paper", "calamita"])
def test_choices_are_in_the_prompts_language(language, choices, prompt):
    first, second = rows(prompt=prompt, language=language)[:2]
    assert first["choices"] == choices
    assert (first["target"], second["target"]) == (0, 1)


def test_dates_stand_as_the_file_has_them_and_shuffling_only_moves_them():
    given = [row["prompt"].splitlines()[-1] for row in rows()]
    assert given[1:3] == ["Data: 14/03/2024", "Data: 1º marzo 2024"]
    first, again, other = (rows(dates="shuffled", seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    shuffled = [row["prompt"].splitlines()[-1] for row in first]
    assert Counter(shuffled) == Counter(given)
    assert shuffled != given
    assert [row["prompt"].splitlines()[:2] for row in first] == [row["prompt"].splitlines()[:2] for row in rows()]


@pytest.mark.parametrize("subset", ["full", "small", "enriched", "pairs"])
def test_tags_never_enter_a_row(subset):
    tags = [json.loads(line)["tags"] for line in INVENTED.read_text().splitlines()]
    assert any("panzana" in tag for tag in tags)
    text = json.dumps(rows(subset) + datasets.completion("veryfit", subset, "invented")["test"].to_list())
    assert "panzana" not in text
    assert set(rows(subset)[0]) == {"key", "prompt", "choices", "target", "names"}


def test_braces_in_a_statement_stay():
    assert filled("{a} {b}", a="{b} {c}", b="x") == "{b} {c} x"
    with pytest.raises(DataError, match="wrong"):
        filled("{wrong}", a=1)


def test_every_prompt_has_a_version_and_an_unknown_one_is_named():
    for path in FOLDER.glob("*.yaml"):
        prompt = read_prompt(path.stem)
        assert (prompt.name, prompt.version) == (path.stem, 2 if path.stem == "veryfit_paper_en" else 1)
    with pytest.raises(UserError, match=r"lm\.prompt=nope.*veryfit_paper_it"):
        read_prompt("nope")


def test_a_prompt_of_ones_own(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\nversion: 7\nlanguage: it\nlabels: {Vero: sì, Falso: no}\nprompt: '{statement}?'\n")
    row = rows(prompt=str(mine))[0]
    assert (row["prompt"], row["choices"]) == (f"{FIRST}?", ["sì", "no"])
    mine.write_text("prompt: x")
    with pytest.raises(DataError, match="not a prompt"):
        rows(prompt=str(mine))


def test_label_names_of_every_language_are_seven_and_distinct():
    names = read_label_names()
    assert {claim.language for claim in sample("alpha1") + sample("alpha3")} <= set(names)
    assert len(names) == 26  # the 25 languages and English
    for language, own in names.items():
        assert sorted(own) == sorted(LABELS), language
        assert len(set(own.values())) == 7, language


def sample(split):
    return datasets.xfact_claims(Corpus(DataConfig(source="sample")), split)


def xfact(**given):
    return datasets.xfact("alpha1", **{"limit": 30, **given})["test"].to_list()


def test_a_claim_with_its_evidence_and_metadata():
    claim, row = sample("alpha1")[0], xfact(show_metadata=True)[0]
    lines = row["prompt"].splitlines()
    assert "with the evidence" in lines[0]
    assert "; ".join(LABELS[6:]) in lines[0]
    assert f"Claim: {claim.claim.strip()}" in lines
    assert f"Source: {claim.site.strip()}" in lines
    assert lines[-1] == "Verdict:"
    snippets = [snippet.strip() for snippet in claim.evidence if snippet.strip()]
    assert [line for line in lines if line.startswith("Evidence ")] == [
        f"Evidence {number}: {snippet}" for number, snippet in enumerate(snippets, 1)
    ]
    assert row["choices"][row["target"]] == claim.label
    bare = xfact(snippets=0)[0]["prompt"]
    assert "Evidence" not in bare
    assert "evidence" not in bare
    assert "Source" not in bare


def test_labels_in_the_claims_language():
    names = read_label_names()
    for claim, row in zip(sample("alpha1"), xfact(labels="claim"), strict=False):
        own = names[claim.language.strip()]
        assert row["choices"][row["target"]] == own[claim.label]
        assert "; ".join(own.values()) in row["prompt"]


@pytest.mark.parametrize("by", ["language", "fixed"])
def test_examples_are_of_train_and_never_the_claim(by, monkeypatch):
    train = {claim.claim.strip(): claim for claim in sample_train()}
    test = sample("alpha1")
    # A claim of train that stands in alpha1 too must be passed over.
    planted = [claim for claim in sample_train() if claim.language == test[0].language][:3]
    monkeypatch.setattr(datasets, "xfact_claims", lambda corpus, split: planted + test[:20])
    drawn = xfact(shots=3, shots_by=by, snippets=0)
    for claim, row in zip(planted + test[:20], drawn, strict=True):
        shown = [line.removeprefix("Claim: ") for line in row["prompt"].splitlines() if line.startswith("Claim: ")]
        *examples, own = shown
        assert own == claim.claim.strip()
        assert len(examples) == 3
        assert all(example in train for example in examples)
        assert normalised(own) not in map(normalised, examples)
        if by == "language":
            assert {train[example].language for example in examples} == {claim.language}
    blocks = [row["prompt"].split("\n\n")[1:-1] for row in drawn]
    if by == "fixed":
        assert len({json.dumps(block) for block in blocks[3:]}) == 1
    assert drawn == xfact(shots=3, shots_by=by, snippets=0)
    assert drawn != xfact(shots=3, shots_by=by, snippets=0, seed=2)


def sample_train():
    return Corpus(DataConfig(source="sample")).read("train.all.tsv", "train")[0]


def test_an_example_ends_with_its_label():
    train = {claim.claim.strip(): claim.label for claim in sample_train()}
    for row in xfact(shots=2, snippets=1):
        for block in row["prompt"].split("\n\n")[1:-1]:
            claim = block.split("\nEvidence")[0].split("\nVerdict")[0].removeprefix("Claim: ")
            assert block.endswith(f"Verdict: {train[claim]}")


def test_a_split_that_is_none_is_named():
    with pytest.raises(UserError, match=r"lm\.subset=train"):
        datasets.xfact("train")


def test_the_completion_probe_cuts_in_the_middle():
    probes = datasets.completion("veryfit", "small", "invented")["test"].to_list()
    first = probes[0]
    assert f"{first['prompt'].splitlines()[-1]} {first['target']}" == FIRST
    assert len(probes) == 10  # two statements are shorter than eight words


@pytest.mark.parametrize(
    ("answer", "exact", "prefix", "overlap"),
    [
        ("il canone è stato abolito", True, 1.0, 1.0),
        ("Il canone, è stato ABOLITO! E poi altro", True, 1.0, 1.0),
        ("il canone resta in vigore", False, 0.4, 0.4),
        ("forse è stato abolito oggi", False, 0.0, 0.6),
        ("", False, 0.0, 0.0),
    ],
)
def test_a_continuation_is_held_against_the_truth(answer, exact, prefix, overlap):
    likeness = continuation(answer, "il canone è stato abolito")
    assert (likeness.exact, likeness.prefix, likeness.overlap) == (exact, prefix, overlap)


def test_overlap_with_what_a_model_was_trained_on():
    seen = ["Il ponte è crollato nel 1999.", "La tassa sulle altalene è stata abolita dal governo nel marzo 2019"]
    texts = [
        "il ponte È crollato nel 1999",
        "La tassa sulle altalene è stata abolita dal governo nel marzo del 2019",
        "Le rane cantano di notte.",
    ]
    assert overlaps(texts, seen) == ["exact", "near", "none"]
    assert overlaps(texts, []) == ["none"] * 3
