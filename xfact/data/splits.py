"""The splits of a config, read by name: which file each is of, each file once."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from xfact.data.corpus import Corpus
from xfact.errors import DataError
from xfact.io.screen import counted, say
from xfact.schema import Claim


def split_files(sections: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Split -> file of the config's splits: train and dev of `fit`, and each test set."""
    files = {}
    for name, section in sections.items():
        roles = {"train": "train", "dev": "dev", "file": name}
        files.update({split: section[key] for key, split in roles.items() if key in section})
    return files


def distinct_files(corpus: Corpus, sections: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Split -> file of those that the source has; of splits of one file, as alpha1 and alpha1_empty, the first."""
    firsts: dict[Path | str, tuple[str, str]] = {}
    for split, file in split_files(sections).items():
        if corpus.has(file):
            path = corpus.path(file)
            firsts.setdefault(file if path is None else path.resolve(), (split, file))
    return dict(firsts.values())


def check_all(corpus: Corpus, sections: Mapping[str, Mapping[str, str]]) -> None:
    """DataError for a file of the splits that cannot be read; nothing is said."""
    for file in distinct_files(corpus, sections).values():
        list(corpus.rows(file, Counter()))


def read_all(corpus: Corpus, sections: Mapping[str, Mapping[str, str]]) -> dict[str, list[Claim]]:
    """Split -> kept claims of all files that the source has, each file once; said in one line.

    DataError if none is left.
    """
    dropped: Counter[str] = Counter()
    emptied: Counter[str] = Counter()
    claims_of = {
        split: list(corpus.filtered(corpus.rows(file, dropped), dropped, "test", emptied))
        for split, file in distinct_files(corpus, sections).items()
    }
    kept = sum(map(len, claims_of.values()))
    text = f"data {corpus.name}: {kept:,} claims"
    if kept:
        text += f" ({', '.join(f'{split} {len(claims):,}' for split, claims in claims_of.items())})"
    if dropped:
        text += f"; left out: {counted(dropped)}"
    say(text)
    if not kept:
        raise DataError(f"data.source={corpus.data.source}: no claim is left to use; loosen the filters of data")
    return claims_of
