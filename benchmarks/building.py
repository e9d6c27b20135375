"""task=build builder=xfact on many fact-checks: seconds of each step, and the peak memory.

    .venv/bin/python -m benchmarks.building [--rows 100000]

The fact-checks are the embedded claims again and again with a number behind each, as JSON lines of schema.org's
ClaimReview, each under a site of its language with a rating of the site's map.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from xfact.build.xfact.ratings import RatingMaps
from xfact.config import DataConfig
from xfact.data.corpus import Corpus

ROOT = Path(__file__).parents[1]


def reviews(rows: int) -> Iterator[dict]:
    """So many fact-checks."""
    claims, _ = Corpus(DataConfig(source="claims")).read("train.all.tsv")
    maps, rng = RatingMaps(), random.Random(0)
    ratings = {site: [one for one in own if maps.map(site, one).label] for site, own in maps.sites.items()}
    known = [claim for claim in claims if ratings.get(claim.site)]
    for number, claim in enumerate(islice(cycle(known), rows)):
        year = 2015 + number % 9
        yield {
            "@type": "ClaimReview",
            "url": f"https://{claim.site}/{number}",
            "inLanguage": claim.language,
            "claimReviewed": f"{claim.claim} {number}",
            "datePublished": f"{year}-{1 + number % 12:02}-{1 + number % 28:02}",
            "reviewRating": {"alternateName": rng.choice(ratings[claim.site])},
            "itemReviewed": {"author": {"name": f"Person {number % 1000}"}, "datePublished": f"{year}-01-01"},
        }  # fmt: skip


def main() -> None:
    """Print a line for each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    with TemporaryDirectory() as folder:
        path = Path(folder, "reviews.jsonl")
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in reviews(rows))
        words = ["run.py", "task=build", "builder=xfact", f"input={path}", f"output={folder}/built"]
        last = start = time.perf_counter()
        with subprocess.Popen([sys.executable, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr
            for line in process.stderr:
                now = time.perf_counter()
                if found := re.match(r"\S+\.jsonl: .*|[a-z ]+ [\d,]+ -> [\d,]+|written", line):
                    print(f"{now - last:6.1f} s  {found[0].removeprefix(folder)}", flush=True)
                    last = now
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{time.perf_counter() - start:6.1f} s  in all, peak {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
