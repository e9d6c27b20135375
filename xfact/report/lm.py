"""The report's section on language models: VeryfIT beside its published figures, X-Fact, and what accuracy hides."""

from collections import defaultdict
from collections.abc import Sequence

from xfact.evaluation.record import AnswerGroup, AnswerScore
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
BESIDE_CONSTANT = "accuracy", "95 %", "majority", "balanced"  # of some rows, the columns that CONSTANT names
ON_SCREEN = 4  # tables: the published figures and trial, scores, answers
GROUP_NAMES = {
    "macro_area": "macro area", "orientamento": "orientation", "year": "year",
    "cutoff": "before and after the end of the training data", "overlap": "overlap with the training data",
}  # fmt: skip

Named = Sequence[tuple[str, Run]]
Answered = Sequence[tuple[str, Run, AnswerScore]]


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
    named = list(zip(names_of(runs), runs, strict=True))
    answered = [(name, run, run.asked.answers) for name, run in named if run.asked.answers is not None]
    veryfit = any(run.asked.benchmark == "veryfit" for run in runs)
    tables = [published_table(), trial_table()] if veryfit else []
    if answered:
        tables += [score_table(answered), answer_table(answered), *group_tables(answered)]
    tables += [table for table in (pair_table(answered), probe_table(named)) if table.rows]
    tables.append(cost_table(named))
    caveats = dict.fromkeys(caveat for run in runs for caveat in run.result.caveats)
    return Section("Language models", "\n\n".join(caveats), tables)


def names_of(runs: Sequence[Run]) -> list[str]:
    """A name for each run: the model, and what it was asked where runs differ in it."""
    results = [run.result for run in runs]
    return [f"{row_name(result)}, {asked}" for result, asked in zip(results, asked_words(results), strict=True)]


def beside_constant(group: AnswerGroup) -> list[Cell]:
    """The cells of BESIDE_CONSTANT."""
    accuracy, *others = (f"{100 * share:.1f}" for share in (group.accuracy, group.majority, group.balanced_accuracy))
    return [accuracy, interval(group), *others]


def score_table(answered: Answered) -> Table:
    """Accuracy with its interval, and the macro-F1s."""
    rows: list[list[Cell]] = []
    for name, run, answers in answered:
        score = run.score(run.asked.subset)
        assert score is not None
        scores = score.macro_f1, score.macro_f1_gold, answers.accuracy_by_length, answers.accuracy_lenient
        figures = (None if value is None else f"{100 * value:.1f}" for value in scores)
        rows.append([name, score.rows, *beside_constant(answers), *figures])
    header = ["model", "rows", *BESIDE_CONSTANT, "macro_f1", "macro_f1_gold", "by length", "lenient"]
    note = (
        "x 100. 95 %: Wilson's interval. majority: always the most frequent label of the set. balanced: mean recall "
        "over labels. macro_f1: over the classes in gold or predictions, an answer without a label being wrong and no "
        "class; macro_f1_gold: over the classes in gold. Likelihoods are summed over a label's tokens; by length: the "
        "accuracy where the sum is divided by the label's characters. Free text is read strictly, the label and "
        "nothing else; lenient: the accuracy where the reader looks for the label."
    )
    return Table("Language models: scores", header, rows, note=note)


def answer_table(answered: Answered) -> Table:
    """The rate of each answer, of answers without a label, and rows without an answer."""
    rows: list[list[Cell]] = []
    for name, run, answers in answered:
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


def group_tables(answered: Answered) -> list[Table]:
    """Accuracy by group, beside the group's base rate: a table for each grouping of each set."""
    groupings: dict[tuple[str, str], list[list[Cell]]] = defaultdict(list)
    for name, run, answers in answered:
        for column, groups in answers.groups.items():
            rows = groupings[f"{run.asked.benchmark} {run.asked.subset}", column]
            for value, group in groups.items():
                gold = ", ".join(f"{label} {100 * share:.0f}" for label, share in group.base_rate.items())
                rows.append([name, value, group.rows, *beside_constant(group), gold])
    header, note = ["model", "group", "rows", *BESIDE_CONSTANT, "gold, %"], "x 100, Wilson's interval."
    return [
        Table(f"{asked} by {GROUP_NAMES[column]}", header, rows, texts=2, note=note)
        for (asked, column), rows in groupings.items()
    ]


def pair_table(answered: Answered) -> Table:
    """The two wordings of a statement."""
    rows: list[list[Cell]] = []
    for name, run, _ in answered:
        if (pairs := run.asked.pairs) is not None:
            figures = pairs.pairs, pairs.both, pairs.only_original, pairs.only_revised, pairs.neither
            rows.append([name, *figures, f"{pairs.p:.3f}"])
    header = ["model", "pairs", "both right", "only as published", "only as revised", "neither", "p"]
    note = "p: exact McNemar, of this model on these pairs."
    return Table("VeryfIT: as published and as revised", header, rows, note=note)


def probe_table(named: Named) -> Table:
    """What models complete by heart."""
    rows: list[list[Cell]] = []
    for name, run in named:
        if (probe := run.asked.probe) is not None:
            shares = probe.exact, probe.prefix, probe.control_prefix, probe.overlap, probe.control_overlap
            rows.append([name, probe.rows, *(f"{100 * share:.1f}" for share in shares)])
    header = ["model", "rows", "word for word", "from the start", "control", "in common runs", "control"]
    note = (
        "x 100: of the second half of each claim, given the first, what the model writes. control: held against "
        "another row's second half. More than the control is a sign that the claim was in the training data."
    )
    return Table("Completion of claims", header, rows, note=note)


def cost_table(named: Named) -> Table:
    """Tokens, time and price."""
    rows: list[list[Cell]] = []
    for name, run in named:
        lm = run.asked
        price = None if lm.price is None else f"{lm.price:.4f}"
        counts = lm.requests, lm.cached, lm.tokens_in, lm.tokens_out
        rows.append([name, f"{lm.prompt} v{lm.prompt_version}", *counts, f"{lm.seconds:.1f}", price])
    header = ["model", "prompt", "requests", "of them kept", "tokens in", "tokens out", "s", "price"]
    note = "kept: answered by an earlier attempt; tokens, seconds and price are of the others."
    return Table("Language models: cost", header, rows, texts=2, note=note)
