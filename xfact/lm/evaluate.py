"""task=lm: a language model asked through lm-evaluation-harness, in a run's folder like any other."""

import os
from pathlib import Path

import pandas as pd

from xfact.data import veryfit
from xfact.data.corpus import Corpus, DataConfig
from xfact.environment import masked
from xfact.evaluation.predictions import write_predictions
from xfact.evaluation.scores import split_score
from xfact.io.screen import console, name_job, say
from xfact.lm import settings
from xfact.lm.config import LmConfig, LmJob
from xfact.lm.contamination import overlaps
from xfact.lm.datasets import veryfit_items
from xfact.lm.harness import ask
from xfact.lm.samples import check_answered, predictions
from xfact.process.command import this_command
from xfact.process.lock import only_one
from xfact.process.signals import Stop
from xfact.process.threads import jobs_at_once, use_threads
from xfact.runs.attempt import keep_aside, make_folder, recorded
from xfact.runs.folder import RunFolder
from xfact.runs.identity import run_hash
from xfact.runs.identity import settings as flat
from xfact.runs.result import Result, read_result, versions
from xfact.schema import OFFICIAL


def evaluate(config: LmJob) -> Path:
    """Ask the model what the config says, unless that is done; returns the run's folder."""
    from xfact.lm.tables import one_line

    lm = settings.checked(config)
    settings.check_files(config)
    folder = settings.folder_of(config)
    if quiet(config):
        os.environ["TQDM_DISABLE"] = "1"  # read when a library first imports tqdm
    if jobs_at_once() > 1:
        name_job(folder.name)
    with only_one(RunFolder(folder).lock), Stop():
        if config.rerun:
            keep_aside(RunFolder(folder))
        result = read_result(folder)
        if result is not None and result.status == "finished":
            say(f"finished already: {folder}")
        else:
            result = run(config, lm, folder)
    say(one_line(result))
    return folder


def quiet(config: LmJob) -> bool:
    """Whether bars would be in the way."""
    return not (config.trainer.progress and console.is_terminal and jobs_at_once() == 1)


def run(config: LmJob, lm: LmConfig, folder: Path) -> Result:
    """A run in its folder; answers of an earlier attempt are taken from where they are kept."""
    from xfact.runs.loggers import opened

    make_folder(config, folder)
    result = opening(config, lm)
    with recorded(folder, result), opened(config, folder, result.identity) as loggers:
        say(f"run {folder}")
        result.threads = use_threads(config.trainer.threads)
        facts = facts_of(lm)
        samples, result.lm = ask(config, lm, quiet(config), result)
        table = predictions(lm, samples, facts)
        check_answered(lm, table["unanswered"].tolist())
        write_predictions(table, RunFolder(folder).predictions(lm.subset))
        score(lm, table, result)
        result.status = "finished"
        loggers.scores(result)
    return result


def opening(config: LmJob, lm: LmConfig) -> Result:
    """The result of a run that has just begun."""
    decisive = settings.identity(config)
    file, data_version = settings.data_file(lm)
    return Result(
        status="running",
        identity=run_hash(decisive),
        seed=config.seed,
        model=Path(lm.model).name,
        metadata=lm.show_metadata,
        metadata_fields=[],
        missing="given",
        evidence="own" if lm.benchmark == "xfact" and lm.snippets else "none",
        evidence_within=None,
        num_snippets=lm.snippets if lm.benchmark == "xfact" else 0,
        augment="none",
        encoder=None,
        data=lm.benchmark if lm.benchmark == "veryfit" else settings.corpus_of(lm).name,
        caveats=caveats(lm),
        settings=masked(flat(decisive)),
        precision=lm.dtype or "default",
        threads=0,
        command=this_command(),
        versions=versions({file: data_version}),
    )


def caveats(lm: LmConfig) -> list[str]:
    """What must stand beside every score."""
    if lm.benchmark == "xfact":
        of_data = settings.corpus_of(lm).caveats
    else:
        of_data = [veryfit.CAVEAT] if veryfit.place_of(lm.data, lm.subset) == veryfit.INVENTED else []  # type: ignore[arg-type]
    return [*of_data, *([f"The first {lm.limit:,} rows only."] if lm.limit else [])]


def facts_of(lm: LmConfig) -> pd.DataFrame:
    """One row a claim, by its key: text, language, source, and the groups that scores are given by."""
    if lm.benchmark == "veryfit":
        items = veryfit_items(lm.subset, lm.data, lm.limit)  # type: ignore[arg-type]
        rows = [
            {
                "id": item.key,
                "text": item.statement,
                "language": "it",
                "site": "pagellapolitica.it",
                "article": item.row.id,
                "macro_area": item.row.macro_area,
                "orientamento": item.row.orientation,
                "year": str(item.row.date.year),
                "cutoff": "" if lm.cutoff is None else side(item.row.date.isoformat(), lm.cutoff),
            }
            for item in items
        ]
    else:
        from xfact.evaluation.behaviour import year

        rows = []
        for claim in settings.corpus_of(lm).read(OFFICIAL[lm.subset][0])[0][: lm.limit]:
            when = year(claim.claim_date) or year(claim.review_date)
            rows.append(
                {
                    "id": claim.id,
                    "text": claim.claim,
                    "language": claim.language,
                    "site": claim.site,
                    "year": "" if when is None else str(when),
                    "cutoff": "" if lm.cutoff is None or when is None else side(str(when), lm.cutoff),
                }
            )
    table = pd.DataFrame(rows)
    if lm.trained_on:
        seen, _ = Corpus(DataConfig(source=lm.trained_on)).read(OFFICIAL["train"][0], "train")
        table["overlap"] = overlaps(table["text"].tolist(), [claim.claim for claim in seen])
        counts = table["overlap"].value_counts().to_dict()
        say(f"of {len(table):,} rows, {counts.get('exact', 0):,} stand in {lm.trained_on}'s train, "
            f"{counts.get('near', 0):,} nearly")  # fmt: skip
    return table if lm.cutoff else table.drop(columns="cutoff")


def side(when: str, cutoff: str) -> str:
    """before or after the cut-off; the cut-off's own year, where no day is known, is neither."""
    if len(when) == 4 and when == cutoff[:4]:
        return ""
    return "before" if when <= cutoff else "after"


def score(lm: LmConfig, table: pd.DataFrame, result: Result) -> None:
    """Fill the result's scores from the predictions table."""
    from xfact.lm.scores import scored

    assert result.lm is not None
    result.lm = scored(result.lm, table)
    if lm.mode == "completion":
        return
    file, data_version = settings.data_file(lm)
    known = veryfit.ROWS.get(lm.subset) or OFFICIAL[lm.subset][1]
    counts = "official" if len(table) == known and lm.languages is None else "other"
    if counts == "other" and lm.benchmark == "veryfit" and veryfit.CAVEAT not in result.caveats and not lm.limit:
        result.caveats.append(f"{file} has {len(table):,} rows where VeryfIT's {lm.subset} has {known:,}.")
    result.splits[lm.subset] = split_score(table).model_copy(
        update={"file": file, "version": data_version, "counts": counts, "evidence": result.evidence}
    )
