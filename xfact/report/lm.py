"""The report's section on language models: VeryfIT beside its published figures, X-Fact, and what accuracy hides."""

from collections.abc import Sequence

from xfact.evaluation.record import AnswerGroup, LmRecord
from xfact.io.grid import Cell, Table
from xfact.lm.tables import asked_words, interval
from xfact.report.page import Section
from xfact.report.runs import Run
from xfact.runs.tables import row_name

# Accuracy on full, small and enriched in CALAMITA's results (CLiC-it 2024), by the prompt veryfit_calamita_it.
PUBLISHED = {
    "Minerva-7B": (0.59, 0.57, 0.57),
    "ANITA-8B": (0.41, 0.43, 0.43),
    "Llama-3.1-8B": (0.52, 0.52, 0.52),
    "Llama-3.1-70B": (0.59, 0.56, 0.56),
}
SETS = ("full", "small", "enriched")
CONSTANT = (
    "Minerva's and ANITA's figures sum to 1.00 on every set, as those of two models that always give opposite answers "
    "would (our inference): accuracy alone does not tell a model from a constant. Beside it stand the majority "
    "baseline, balanced accuracy and the rate of each answer."
)
# The paper's own trial: four statements, as published and with the revised wording; how many each model judged wrongly.
TRIAL = {"Claude 3.5 Sonnet": (2, 0), "GPT-4o": (1, 0)}
ON_SCREEN = 4  # tables: the published figures and trial, scores, answers
GROUP_NAMES = {
    "macro_area": "macro area", "orientamento": "orientation", "year": "year",
    "cutoff": "before and after the end of the training data", "overlap": "overlap with the training data",
}  # fmt: skip


def published_table() -> Table:
    """VeryfIT's published accuracies."""
    rows = [[name, *(f"{100 * accuracy:.0f}" for accuracy in figures)] for name, figures in PUBLISHED.items()]
    return Table("VeryfIT: published accuracy", ["model", *SETS], rows, note=f"Accuracy x 100. {CONSTANT}")


def trial_table() -> Table:
    """What VeryfIT's paper tried itself."""
    rows: list[list[Cell]] = [[name, *figures] for name, figures in TRIAL.items()]
    header = ["model", "wrong of 4", "wrong of 4, enriched"]
    return Table("VeryfIT: the paper's own trial", header, rows, note="Four statements: a trial, and no score.")


def section(runs: Sequence[Run]) -> Section:
    """All tables of the finished runs of task=lm."""
    names = names_of(runs)
    veryfit = any(run.asked.benchmark == "veryfit" for run in runs)
    tables = [published_table(), trial_table()] if veryfit else []
    scored = [(name, run) for name, run in zip(names, runs, strict=True) if run.asked.answers is not None]
    if scored:
        tables += [score_table(scored), answer_table(scored), *group_tables(scored)]
    tables += [table for table in (pair_table(scored), probe_table(names, runs)) if table is not None]
    tables.append(cost_table(names, runs))
    caveats = dict.fromkeys(caveat for run in runs for caveat in run.result.caveats)
    return Section("Language models", "\n\n".join(caveats), tables)


def names_of(runs: Sequence[Run]) -> list[str]:
    """A name for each run: the model, and what it was asked where runs differ in it."""
    results = [run.result for run in runs]
    return [f"{row_name(result)}, {asked}" for result, asked in zip(results, asked_words(results), strict=True)]


def score_table(scored: Sequence[tuple[str, Run]]) -> Table:
    """Accuracy with its interval, and the macro-F1s."""
    rows: list[list[Cell]] = []
    for name, run in scored:
        lm = run.asked
        score, answers = run.score(lm.subset), lm.answers
        assert score is not None and answers is not None
        scores = answers.majority, answers.balanced_accuracy, score.macro_f1, score.macro_f1_gold
        readings = answers.accuracy_by_length, answers.accuracy_lenient
        figures = (None if value is None else f"{100 * value:.1f}" for value in (*scores, *readings))
        rows.append([name, score.rows, f"{100 * answers.accuracy:.1f}", interval(answers), *figures])
    header = ["model", "rows", "accuracy", "95 %", "majority", "balanced", "macro_f1", "macro_f1_gold"]
    header += ["by length", "lenient"]
    note = (
        "x 100. 95 %: Wilson's interval. majority: always the most frequent label of the set. balanced: mean recall "
        "over labels. macro_f1: over the classes in gold or predictions, an answer without a label being wrong and no "
        "class; macro_f1_gold: over the classes in gold. Likelihoods are summed over a label's tokens; by length: the "
        "accuracy where the sum is divided by the label's characters. Free text is read strictly, the label and "
        "nothing else; lenient: the accuracy where the reader looks for the label."
    )
    return Table("Language models: scores", header, rows, note=note)


def answer_table(scored: Sequence[tuple[str, Run]]) -> Table:
    """The rate of each answer, of answers without a label, and rows without an answer."""
    rows: list[list[Cell]] = []
    for name, run in scored:
        answers = run.asked.answers
        assert answers is not None
        given = ", ".join(f"{label} {100 * share:.1f}" for label, share in answers.given.items() if share)
        silent = ", ".join(f"{number} {reason}" for reason, number in answers.unanswered.items())
        counts = answers.no_label, sum(answers.cut.values()), run.asked.shortened
        rows.append([name, given or "-", "yes" if answers.constant else "", *counts, silent or "-"])
    header = ["model", "answers, %", "constant", "without a label", "cut", "prompts shortened", "without an answer"]
    note = (
        "constant: one answer on 99 % of the rows or more. Rows without a label or an answer count as wrong. cut: "
        "answers at lm.max_tokens. prompts shortened: too long for the model, without evidence, examples or metadata."
    )
    return Table("Language models: answers", header, rows, texts=7, note=note)


def group_tables(scored: Sequence[tuple[str, Run]]) -> list[Table]:
    """A table for each grouping of each set."""
    groupings: dict[tuple[str, str], list[tuple[str, dict[str, AnswerGroup]]]] = {}
    for name, run in scored:
        lm = run.asked
        assert lm.answers is not None
        for column, groups in lm.answers.groups.items():
            groupings.setdefault((f"{lm.benchmark} {lm.subset}", column), []).append((name, groups))
    return [group_table(asked, column, runs) for (asked, column), runs in groupings.items()]


def group_table(asked: str, column: str, runs: Sequence[tuple[str, dict[str, AnswerGroup]]]) -> Table:
    """Accuracy by group, beside the group's base rate."""
    rows: list[list[Cell]] = []
    for name, groups in runs:
        for value, group in groups.items():
            gold = ", ".join(f"{label} {100 * share:.0f}" for label, share in group.base_rate.items())
            others = f"{100 * group.majority:.1f}", f"{100 * group.balanced_accuracy:.1f}", gold
            rows.append([name, value, group.rows, f"{100 * group.accuracy:.1f}", interval(group), *others])
    header = ["model", "group", "rows", "accuracy", "95 %", "majority", "balanced", "gold, %"]
    return Table(f"{asked} by {GROUP_NAMES[column]}", header, rows, texts=2, note="x 100, Wilson's interval.")


def pair_table(scored: Sequence[tuple[str, Run]]) -> Table | None:
    """The two wordings of a statement."""
    rows: list[list[Cell]] = []
    for name, run in scored:
        pairs = run.asked.pairs
        if pairs is not None:
            figures = pairs.pairs, pairs.both, pairs.only_original, pairs.only_revised, pairs.neither
            rows.append([name, *figures, f"{pairs.p:.3f}"])
    header = ["model", "pairs", "both right", "only as published", "only as revised", "neither", "p"]
    note = "p: exact McNemar, of this model on these pairs."
    return Table("VeryfIT: as published and as revised", header, rows, note=note) if rows else None


def probe_table(names: Sequence[str], runs: Sequence[Run]) -> Table | None:
    """What models complete by heart."""
    rows: list[list[Cell]] = []
    for name, run in zip(names, runs, strict=True):
        probe = run.asked.probe
        if probe is not None:
            shares = probe.exact, probe.prefix, probe.control_prefix, probe.overlap, probe.control_overlap
            rows.append([name, probe.rows, *(f"{100 * share:.1f}" for share in shares)])
    header = ["model", "rows", "word for word", "from the start", "control", "in common runs", "control"]
    note = (
        "x 100: of the second half of each claim, given the first, what the model writes. control: held against "
        "another row's second half. More than the control is a sign that the claim was in the training data."
    )
    return Table("Completion of claims", header, rows, note=note) if rows else None


def cost_table(names: Sequence[str], runs: Sequence[Run]) -> Table:
    """Tokens, time and price."""
    rows: list[list[Cell]] = [[name, *cost(run.asked)] for name, run in zip(names, runs, strict=True)]
    header = ["model", "prompt", "requests", "of them kept", "tokens in", "tokens out", "s", "price"]
    note = "kept: answered by an earlier attempt; tokens, seconds and price are of the others."
    return Table("Language models: cost", header, rows, texts=2, note=note)


def cost(lm: LmRecord) -> list[Cell]:
    """A run's row of it."""
    price = None if lm.price is None else f"{lm.price:.4f}"
    asked = lm.requests, lm.cached, lm.tokens_in, lm.tokens_out
    return [f"{lm.prompt} v{lm.prompt_version}", *asked, f"{lm.seconds:.1f}", price]
