"""The last screens of runs at narrow widths: a number is whole, or its column stands below."""

import io

import pytest
from runs.test_result import result

from xfact.evaluation.record import LmRecord, SplitScore
from xfact.io.screen import SafeConsole
from xfact.lm.tables import print_groups, print_lm_table
from xfact.report.last_screen import print_mean_table
from xfact.runs.tables import print_scores

WIDTHS = [60, 80, 100]


def score(place: int) -> SplitScore:
    figures = {
        name: (place * 10 + number + 0.1) / 100
        for number, name in enumerate(("macro_f1", "macro_f1_gold", "macro_f1_7", "accuracy"))
    }
    empty = {"classes": {}, "labels": [], "confusion": [], "languages": {}, "sites": {}, "macro_f1_groups": 0.0}
    return SplitScore(rows=12_345, **figures, **empty)


def printed(columns: int, show) -> str:
    """What `show` prints on a console of so many columns."""
    file = io.StringIO()
    show(SafeConsole(file=file, width=columns, highlight=False))
    text = file.getvalue()
    assert max(map(len, table_lines(text)), default=0) <= columns
    return text


def table_lines(text: str) -> list[str]:
    """The lines of tables: not the sentences beside them, which a screen breaks itself."""
    return [line for line in text.splitlines() if "─" in line or line.startswith(("alpha", "Attn", "Claim", "dev"))]


SPLITS = {f"alpha{place}": score(place) for place in range(1, 7)}


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_scores_of_a_run(columns):
    text = printed(columns, lambda out: print_scores(SPLITS, score(7), out))
    for split in [*SPLITS.values(), score(7)]:
        for figure in (split.macro_f1, split.macro_f1_gold, split.macro_f1_7, split.accuracy):
            assert f"{100 * figure:.1f}" in text
    assert text.count("12,345") >= 7


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_table_of_a_sweep(columns):
    runs = [
        result(model=model, seed=seed, splits=SPLITS, dev=score(7), seconds=1234.0)
        for model in ("attn_ea", "claim_only")
        for seed in (1, 2)
    ]
    text = printed(columns, lambda out: print_mean_table(runs, out))
    for split in [*SPLITS.values(), score(7)]:
        assert text.count(f"{100 * split.macro_f1:.1f} (0.0)") == 2


def asked(**changes) -> LmRecord:
    group = {"rows": 1234, "accuracy": 0.512, "low": 0.501, "high": 0.523, "balanced_accuracy": 0.499, "majority": 0.57}
    group |= {"base_rate": {"Vero": 0.57, "Falso": 0.43}}
    groups = {"macro_area": {"questioni sociali": group, "economia": group | {"rows": 4321, "majority": 0.613}}}
    answers = group | {"given": {"Vero": 1.0}, "no_label": 17, "unanswered": {}, "constant": False, "groups": groups}
    answers |= {"accuracy_by_length": 0.487, "accuracy_lenient": 0.523}
    given = {
        "benchmark": "veryfit", "subset": "small", "backend": "hf", "model": "m", "mode": "likelihood",
        "prompt": "calamita", "prompt_version": 1, "prompt_digest": "0", "chat_template": False, "task": "t",
        "harness": "0", "harness_scores": {}, "requests": 1, "cached": 0, "tokens_in": 1, "tokens_out": 1,
        "seconds": 1.0, "answers": answers,
    }  # fmt: skip
    return LmRecord.model_validate(given | changes)


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_tables_of_a_language_model(columns):
    scored = result(model="a-language-model-of-a-long-name", lm=asked(), splits={"small": score(3)})
    text = printed(columns, lambda out: print_lm_table([scored], out))
    for figure in ("1,234", "51.2", "57.0", "49.9", "48.7", "52.3"):
        assert figure in text
    text = printed(columns, lambda out: print_groups(asked(), out))
    for figure in ("1,234", "4,321", "57.0", "61.3", "49.9"):
        assert figure in text


def test_a_pipe_has_whole_numbers(capsys):
    print_scores(SPLITS, score(7))
    text = capsys.readouterr()
    assert all(f"{100 * split.macro_f1_7:.1f}" in text.out + text.err for split in SPLITS.values())
