"""Invented fact-checks: pages with JSON-LD, Google's responses and a feed, in several languages, from a seed."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

# site -> (language, its ratings with what they come to)
SITES = {
    "aosfatos.org": ("pt", {"falso": "false", "distorcido": "partly true/misleading", "verdadeiro": "true"}),
    "poligrafo.sapo.pt": ("pt", {"falso": "false", "verdadeiro": "true", "impreciso": "partly true/misleading"}),
    "agi.it": ("it", {"falso": "false", "vero": "true", "controverso": "complicated/hard to categorise"}),
    "teyit.org": ("tr", {"yanlış": "false", "karma": "partly true/misleading", "doğru": "true"}),
    "faktisk.no": ("no", {"helt feil": "false", "delvis sant": "partly true/misleading", "helt sant": "true"}),
}
WORDS = {
    "pt": "o governo federal anunciou que ministro saúde vacina imposto escola cidade brasil água preço "
    "trabalho deputado lei hospital energia dinheiro população estrada",
    "it": "il governo italiano ha detto che le tasse sono aumentate scuola sanità regione lavoro pensioni "
    "immigrazione energia prezzi ministro legge ospedale giovani strada",
    "tr": "hükümet yeni vergi okul sağlık bakanı açıkladı şehir enerji fiyat işsizlik yasa hastane köprü "
    "yardım gençler maaş seçim belediye toplantı",
    "no": "regjeringen sier at skatten har økt skole helse kommune arbeid pensjon innvandring strøm priser "
    "minister lov sykehus ungdom vei ferge",
}


def claims(number: int, seed: int = 0, sites: dict = SITES) -> Iterator[dict]:
    """Reviews as plain facts: site, language, claim, rating, days; the claims of a language are unlike each other."""
    rng = random.Random(seed)
    for count in range(number):
        site = rng.choice(list(sites))
        language, ratings = sites[site]
        rating = rng.choice(list(ratings))
        words = rng.choices(WORDS[language].split(), k=14)
        year, month, day = rng.randint(2018, 2023), rng.randint(1, 12), rng.randint(1, 28)
        yield {
            "site": site,
            "language": language,
            "claim": f"{' '.join(words)} {rng.randint(2, 10**6)}.",
            "rating": rating,
            "claimant": f"Persona {count % 50}",
            "claim_date": f"{year}-{month:02}-{day:02}",
            "review_date": f"{year}-{month:02}-{day:02}T12:00:00+00:00",
            "url": f"https://www.{site}/check/{count}",
        }


def json_ld(one: dict) -> dict:
    """A fact-check as schema.org has it."""
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": one["url"],
        "inLanguage": one["language"],
        "claimReviewed": one["claim"],
        "datePublished": one["review_date"],
        "author": {"@type": "Organization", "name": one["site"], "url": f"https://{one['site']}"},
        "itemReviewed": {
            "@type": "Claim",
            "author": {"@type": "Person", "name": one["claimant"]},
            "datePublished": one["claim_date"],
        },
        "reviewRating": {"@type": "Rating", "ratingValue": 1, "bestRating": 5, "worstRating": 1,
                         "alternateName": one["rating"]},
    }  # fmt: skip


def page(*blocks: str) -> str:
    """A page with these JSON-LD blocks."""
    scripts = "".join(f'<script type="application/ld+json">{block}</script>' for block in blocks)
    return f"<!doctype html><html><head><meta charset='utf-8'>{scripts}</head><body><h1>Check</h1></body></html>"


def google(ones: list[dict]) -> dict:
    """A response of the Fact Check Tools API."""
    return {
        "claims": [
            {
                "text": one["claim"],
                "claimant": one["claimant"],
                "claimDate": f"{one['claim_date']}T00:00:00Z",
                "claimReview": [
                    {
                        "publisher": {"name": one["site"], "site": one["site"]},
                        "url": one["url"],
                        "title": "Check",
                        "reviewDate": one["review_date"],
                        "textualRating": one["rating"],
                        "languageCode": one["language"],
                    }
                ],
            }
            for one in ones
        ],
        "nextPageToken": "CAo",
    }


def write_pages(folder: Path, ones: list[dict]) -> Path:
    """A page for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(ones):
        text = page(json.dumps(json_ld(one), ensure_ascii=False))
        (folder / f"{number:05}.html").write_text(text, encoding="utf-8")
    return folder


def write_lines(path: Path, ones: Iterator[dict] | list[dict]) -> Path:
    """JSON lines, one review each."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(json_ld(one), ensure_ascii=False) + "\n" for one in ones)
    return path
