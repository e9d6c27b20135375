"""A TSV's tokenising beside the tokenizer's own rate, its memory, and how soon it is there again.

    .venv/bin/python -m benchmarks.tokenising [--rows 1000000]

The file is the sample's train again and again, each claim with its number in it. Ours goes from the TSV to the token
arrays of Attn-EA (a claim and five snippets), as a process of its own, whose peak memory is printed beside that of a
tenth of the rows; the baseline is the tokenizer's encode_batch_fast on the first of the same texts, in chunks of the
same size and on all cores, in the same process before and after. Again: the file of arrays opened by its name, and
found by its text (which reads all of the TSV).
"""

import argparse
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.data.text import Sequence, TextOptions
from xfact.data.tokens import CLAIMS_PER_CHUNK, TokenArrays, Tokeniser, token_arrays
from xfact.data.tsv import read_tsv
from xfact.process.threads import available_cores, limit_tokenizer_threads

ROOT = Path(__file__).parents[1]
CHUNKS = 10  # of the baseline, before and after


def write(path: Path, rows: int) -> None:
    """A file of so many rows."""
    source = Corpus(DataConfig(source="sample")).path("train.all.tsv")
    assert source is not None
    header, *lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(header)
        for number in range(rows):
            *before, claim, label = lines[number % len(lines)].split("\t")
            file.write("\t".join([*before, f"{claim} {number}", label]))


def sequences(path: Path) -> Iterator[list[Sequence]]:
    """A claim and its snippets, straight from the file."""
    return (TextOptions().sequences(claim, "claim+snippets") for claim in read_tsv(path, Counter()))


def own_rate(tokeniser: Tokeniser, path: Path) -> float:
    """Claims a second of the tokenizer alone."""
    rows = list(islice(sequences(path), CHUNKS * CLAIMS_PER_CHUNK))
    starts = range(0, len(rows), CLAIMS_PER_CHUNK)
    chunks = [[text for row in rows[start : start + CLAIMS_PER_CHUNK] for text, _ in row] for start in starts]
    start = time.perf_counter()
    for chunk in chunks:
        tokeniser.backend.encode_batch_fast(chunk)
    return len(rows) / (time.perf_counter() - start)


def measure(path: Path, rows: int) -> None:
    """Print this process's figures."""
    limit_tokenizer_threads(available_cores())
    tokeniser = Tokeniser("tiny", 360)
    before = own_rate(tokeniser, path)
    cache = path.parent / f"cache-{rows}"
    start = time.perf_counter()
    token_arrays(lambda: sequences(path), rows, 6, tokeniser, cache, progress=True)
    made = time.perf_counter()
    token_arrays(lambda: sequences(path), rows, 6, tokeniser, cache, progress=True)
    found = time.perf_counter()
    arrays = TokenArrays(next(cache.iterdir()))
    arrays.sequence(rows - 1, 5)
    opened = time.perf_counter() - found
    rate, own = rows / (made - start), (before + own_rate(tokeniser, path)) / 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{rows:,} rows, {arrays.lengths.sum():,} tokens: {made - start:.1f} s, {rate:,.0f} claims/s, the tokenizer "
        f"alone {own:,.0f}, ratio {rate / own:.2f}; peak {peak:,.0f} MiB; again: opened in {opened:.2f} s, found by "
        f"its text in {found - made:.1f} s"
    )


def main() -> None:
    """Print a line for a tenth of the rows and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file:
        measure(options.file, options.rows)
        return
    with TemporaryDirectory() as folder:
        for rows in (options.rows // 10, options.rows):
            path = Path(folder, f"{rows}.tsv")
            write(path, rows)
            words = ["-m", "benchmarks.tokenising", "--rows", str(rows), "--file", str(path)]
            subprocess.run([sys.executable, *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
