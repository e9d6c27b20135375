"""What a language model's run says on the screen."""

from rich.console import Console

from xfact.evaluation.record import AnswerGroup, LmRecord
from xfact.io.grid import Cell, Table, rich_table
from xfact.io.screen import console, say
from xfact.runs.result import Result


def one_line(result: Result) -> str:
    """A run's score in a line."""
    lm = record(result)
    name = f"{result.model}, {lm.benchmark} {lm.subset}, {lm.mode}"
    if lm.probe is not None:
        return f"{name}: {percent(lm.probe.prefix)} of the words, {percent(lm.probe.exact)} of the rows completed"
    return f"{name}: accuracy {accuracy(lm.answers)} ({result.seconds:.0f} s)"


def record(result: Result) -> LmRecord:
    """The record of a run of task=lm."""
    assert result.lm is not None
    return result.lm


def percent(share: float) -> str:
    """A share x 100."""
    return f"{100 * share:.1f} %"


def accuracy(group: AnswerGroup | None) -> str:
    """`58.3 (52.0-64.3)`: with the Wilson interval."""
    return "-" if group is None else f"{100 * group.accuracy:.1f} ({interval(group)})"


def interval(group: AnswerGroup) -> str:
    """`52.0-64.3`."""
    return f"{100 * group.low:.1f}-{100 * group.high:.1f}"


def print_lm(result: Result) -> None:
    """The last screen of a run: its scores, its groups, and what it cost."""
    lm = record(result)
    say("")
    print_lm_table([result])
    if lm.answers is not None:
        print_groups(lm)
    if lm.pairs is not None:
        pairs = lm.pairs
        say(
            f"{pairs.pairs} pairs: {pairs.both} right in both wordings, {pairs.only_original} only as published, "
            f"{pairs.only_revised} only as revised, {pairs.neither} in neither; exact McNemar p = {pairs.p:.3f}"
        )
    if lm.probe is not None:
        probe = lm.probe
        say(
            f"completion of {probe.rows:,} claims: {percent(probe.prefix)} of the second half's words from its start "
            f"(another row's: {percent(probe.control_prefix)}), {percent(probe.overlap)} in common runs "
            f"({percent(probe.control_overlap)}), {percent(probe.exact)} of the rows word for word"
        )
    cost = f", {lm.price:.4f} by the prices given" if lm.price is not None else ""
    say(
        f"{lm.requests:,} requests, {lm.cached:,} of them answered before; {lm.tokens_in:,} tokens in, "
        f"{lm.tokens_out:,} out, {lm.seconds:.1f} s{cost}; harness {lm.harness}, task {lm.task}, prompt {lm.prompt} "
        f"version {lm.prompt_version}"
    )


def print_lm_table(results: list[Result], out: Console | None = None) -> None:
    """One row a run: what accuracy is, and what it hides."""
    out = out or console
    scored = [result for result in results if record(result).answers is not None]
    if not scored:
        return
    out.print(
        "scores x 100 with Wilson's interval; majority: always the most frequent label; macro-F1 over the classes in "
        "gold; likelihoods are summed over a label's tokens, by length: accuracy where divided by its characters; "
        "none: rows whose answer names no label",
        markup=False,
    )
    figures = ["rows", "accuracy", "95 %", "majority", "balanced", "macro-F1", "by length", "lenient", "none"]
    rows = [[result.model, asked, *cells(result)] for result, asked in zip(scored, asked_words(scored), strict=True)]
    out.print(rich_table(Table("", ["model", "asked", *figures], rows, 2), out.width))
    for result, asked in zip(scored, asked_words(scored), strict=True):
        lm = record(result)
        assert lm.answers is not None
        name = result.model if len(scored) == 1 else f"{result.model}, {asked}"
        given = ", ".join(f"{label} {percent(share)}" for label, share in lm.answers.given.items() if share)
        note = " - a constant answer: its accuracy is the base rate's" if lm.answers.constant else ""
        out.print(f"answers of {name}: {given or 'none'}{note}", markup=False)
        for reason, number in lm.answers.unanswered.items():
            out.print(f"{number:,} rows of {name} without an answer: {reason}", style="yellow", markup=False)
        for line in notes(lm):
            out.print(f"{name}: {line}", style="yellow", markup=False)
    for caveat in dict.fromkeys(caveat for result in results for caveat in result.caveats):
        out.print(f"note: {caveat}", style="yellow", markup=False)


def notes(lm: LmRecord) -> list[str]:
    """What was cut, shortened or written otherwise."""
    lines = []
    cut = {} if lm.answers is None else lm.answers.cut
    if cut:
        inside = cut.get("thought", 0)
        lines.append(
            f"{sum(cut.values()):,} answers are cut at their length, {inside:,} of them inside the model's thought; "
            "raise lm.max_tokens"
        )
    if lm.shortened:
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in lm.left_out.items())
        lines.append(f"{lm.shortened:,} prompts are too long for the model; left out (rows): {kinds}")
    if lm.special_names:
        lines.append(f"{lm.special_names:,} prompts have a special token's name in their text, written with a space")
    return lines


def asked_words(results: list[Result]) -> list[str]:
    """What each run was asked, and the settings in which the runs differ."""
    known = {"lm.model", "lm.form", "lm.benchmark", "lm.subset", "lm.prompt", "lm.mode", "file"}
    keys = sorted({key for result in results for key in result.settings} - known)
    differ = [key for key in keys if len({str(result.settings.get(key)) for result in results}) > 1]
    asked = []
    for result in results:
        lm = record(result)
        words = [f"{lm.benchmark} {lm.subset}", lm.mode, lm.prompt.removeprefix(f"{lm.benchmark}_")]
        given = {key.rpartition(".")[2]: result.settings.get(key) for key in differ}
        words += [f"{key}={value}" for key, value in given.items() if value is not None]
        asked.append(", ".join(words))
    return asked


def cells(result: Result) -> list[str]:
    """A run's row."""
    lm = record(result)
    assert lm.answers is not None
    scores = lm.answers
    macro = result.splits[lm.subset].macro_f1_gold
    by_length, lenient = (
        "-" if share is None else f"{100 * share:.1f}" for share in (scores.accuracy_by_length, scores.accuracy_lenient)
    )
    return [
        f"{scores.rows:,}", f"{100 * scores.accuracy:.1f}",
        interval(scores), f"{100 * scores.majority:.1f}", f"{100 * scores.balanced_accuracy:.1f}",
        f"{100 * macro:.1f}", by_length, lenient, f"{scores.no_label:,}",
    ]  # fmt: skip


def print_groups(lm: LmRecord, out: Console | None = None) -> None:
    """Accuracy by group, beside the group's base rate."""
    assert lm.answers is not None
    rows: list[list[Cell]] = []
    for column, groups in lm.answers.groups.items():
        for value, group in groups.items():
            figures = accuracy(group), f"{100 * group.majority:.1f}", f"{100 * group.balanced_accuracy:.1f}"
            rows.append([column, value, group.rows, *figures])
    if rows:
        header = ["group", "", "rows", "accuracy (95 %)", "majority", "balanced"]
        out = out or console
        out.print(rich_table(Table("", header, rows, 2), out.width))
