"""Size and speed of the report's page with 10,000 claims and five models, in headless Chromium.

    .venv/bin/python -m benchmarks.page

On two busy cores: a page of 9.0 MB (18.3 MB without deflate, no faster), its claims shown after 0.6 to 1.2 s, a filter
in 4 to 60 ms (median of five; the slowest 83 ms).
"""

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.evaluation.predictions import predictions_table
from xfact.report.page import Browser, Page, columns, write_page
from xfact.schema import LABELS, OFFICIAL, SNIPPETS, Claim

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from report.browser import chromium, show

CLAIMS, MODELS = 10_000, 5
FILTERS = {
    "language": "form.language.value = '2'",
    "wrong only": "form.wrong.checked = true",
    "models disagree": "form.disagree.checked = true",
    "words": "form.words.value = 'er'",
    "words found nowhere": "form.words.value = 'qqqq'",
    "all at once": "form.gold.value = '1'; form.wrong.checked = form.disagree.checked = true; form.words.value = 'a e'",
}


def claims() -> list[Claim]:
    """The sample's claims over and over, with ids of their own and links as long as real ones."""
    corpus = Corpus(DataConfig(source="sample"))
    real = [claim for file, _ in OFFICIAL.values() for claim in corpus.read(file)[0]]
    draw = np.random.default_rng(1)

    def link() -> str:
        return f"https://www.{draw.bytes(6).hex()}.example/{draw.bytes(20).hex()}.html"

    rows = [real[number % len(real)] for number in range(CLAIMS)]
    return [
        Claim(
            id=f"test.all:{number}",
            language=claim.language,
            site=claim.site,
            evidence=claim.evidence,
            links=tuple(link() for _ in range(SNIPPETS)),
            claim_date=f"2020-{1 + number % 12:02}-{1 + number % 28:02}",
            review_date="",
            claimant=claim.claim.split()[0],
            claim=claim.claim,
            label=claim.label,
        )
        for number, claim in enumerate(rows)
    ]


def browser() -> Browser:
    """Every claim with predictions of five models."""
    draw, rows = np.random.default_rng(2), claims()
    predictions = {}
    for model in range(1, MODELS + 1):
        logits = 2 * draw.standard_normal((CLAIMS, len(LABELS)))
        attention = draw.dirichlet(np.ones(SNIPPETS), CLAIMS)
        predictions[f"attn_ea, seed {model}"] = predictions_table("alpha1", rows, list(LABELS), logits, attention)
    return Browser(LABELS, {"alpha1": rows}, predictions)


def filter_times(driver: Any, change: str) -> list[float]:
    """Milliseconds from a filter's event until the list stands and is laid out, five times."""
    return driver.execute_script(
        f"""
        const form = document.getElementById("filters").elements, times = [];
        for (let i = 0; i < 5; i++) {{
          document.getElementById("filters").reset();
          const start = performance.now();
          {change};
          document.getElementById("filters").dispatchEvent(new Event("input"));
          document.body.getBoundingClientRect();
          times.push(performance.now() - start);
        }}
        return times;
        """
    )


def main() -> None:
    """Print the figures."""
    data = browser()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        start = time.perf_counter()
        write_page(path, Page("Benchmark", [], [], data))
        print(f"{CLAIMS:,} claims, {CLAIMS * MODELS:,} predictions, written in {time.perf_counter() - start:.1f} s")
        plain = json.dumps(columns(data), ensure_ascii=False, separators=(",", ":"))
        print(f"page {path.stat().st_size / 1e6:.1f} MB; its claims as plain JSON {len(plain.encode()) / 1e6:.1f} MB")
        with chromium() as driver:
            loads = []
            for _ in range(5):
                show(driver, path)
                loads.append(driver.execute_script("return performance.getEntriesByName('claims shown')[0].startTime"))
            print("claims shown after", ", ".join(f"{load / 1000:.2f}" for load in loads), "s")
            for name, change in FILTERS.items():
                times = sorted(filter_times(driver, change))
                count = driver.execute_script("return document.getElementById('count').textContent")
                print(f"filter, {name}: median {times[2]:.0f} ms, slowest {times[-1]:.0f} ms ({count})")


if __name__ == "__main__":
    main()
