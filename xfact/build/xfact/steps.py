"""The steps from fact-checks to X-Fact's rows, each with what it kept, what it left out and why.

Source: X-Fact paper, section 2 and appendix A. Nothing is guessed: a rating that no map has stays out until a person
places it.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from xfact.annotation.reviews import Answers, Cells, Form, review
from xfact.build.step import Step
from xfact.build.xfact.cleaning import language_code, masked, plain_text
from xfact.build.xfact.ratings import SENTENCE, RatingMaps, rating_key
from xfact.build.xfact.record import Record
from xfact.data.headlines import headline_marker
from xfact.errors import DataError
from xfact.io.progress import tracked
from xfact.schema import LABELS, Claim
from xfact.text.normalise import folded, normalised
from xfact.text.written_dates import iso_date

DROP = "drop"
RATINGS = Form("ratings", "unmapped_ratings.csv", "source_rating", "label", (*LABELS, DROP), loose=False)
LANGUAGES = Form("languages", "other_language.csv", "key", "language_reviewed", loose=False)
SURE = 0.9  # probability from which the identified language counts
MAIN = 0.8  # share of a source's claims that its language has at least

Records = Sequence[Record]


def clean(records: Records, mask: bool) -> Step[Record]:
    """Claims and claimants without markup and marks, personal handles and addresses masked if asked."""
    kept, removed, notes = [], [], Counter[str]()
    for record in records:
        claim, claimant = plain_text(record.claim), plain_text(record.claimant)
        notes["claim repaired"] += claim != record.claim.strip()
        if mask:
            hidden = masked(claim)
            notes["claim masked"] += hidden != claim
            claim, claimant = hidden, masked(claimant)
        one = replace(record, claim=claim, claimant=claimant)
        if any(sign.isalnum() for sign in claim):
            kept.append(one)
        else:
            removed.append((one, "empty claim"))
    return Step("clean", len(records), kept, removed, notes=dict(notes))


def languages(
    records: Records, left_out: Collection[str], answers: Answers, identify: Callable[[str], tuple[str, float]]
) -> Step[Record]:
    """Each claim's language: a person's, else as declared, else its source's, else the one identified.

    A claim whose identified language is another stays and is listed.
    """
    for key, answer in answers.values.items():
        if answer != DROP and language_code(answer) != answer:
            row = answers.lines[key]
            raise DataError(f"{answers.path}: row {row}: {answer!r} is no language code (as pt), nor {DROP}")
    identified = [identify(record.claim) for record in tracked(records, "languages", len(records))]
    declared = [language_code(record.language) for record in records]
    own = source_languages(records, declared, identified)
    kept, removed, asked, notes = [], [], [], Counter[str]()
    for record, code, (found, probability) in zip(records, declared, identified, strict=True):
        sure = found if probability >= SURE else ""
        language = language_code(answers.values.get(record.key, "")) or code or own.get(record.site, "") or sure
        if sure and language != sure:
            notes["another language identified"] += 1
            asked.append(shown(record) | {"language": language, "identified": sure})
        notes["language not declared"] += not code
        one = replace(record, language=language)
        if answers.values.get(record.key) == DROP:
            removed.append((one, "dropped by a person"))
        elif not language:
            removed.append((one, "unknown language"))
        elif language in left_out:
            removed.append((one, f"language {language}"))
        else:
            kept.append(one)
    return Step("languages", len(records), kept, removed, [review(LANGUAGES, asked, answers)], dict(notes))


def source_languages(
    records: Records, declared: Sequence[str], identified: Sequence[tuple[str, float]]
) -> dict[str, str]:
    """Site -> the language of at least MAIN of its claims, by declaration or else surely identified."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record, code, (found, probability) in zip(records, declared, identified, strict=True):
        counts[record.site][code or (found if probability >= SURE else "")] += 1
    main = {}
    for site, languages in counts.items():
        del languages[""]
        for language, number in languages.most_common(1):
            if number >= MAIN * languages.total():
                main[site] = language
    return main


def dates(records: Records) -> Step[Record]:
    """Dates as 2021-05-30; one that cannot be read is left empty, and counted."""
    kept, notes = [], Counter[str]()
    for record in records:
        days = [iso_date(text, record.language) for text in (record.claim_date, record.review_date)]
        for name, day in zip(("claim date", "review date"), days, strict=True):
            notes[f"{name} unreadable"] += day is None
            notes[f"no {name}"] += day == ""
        claim_date, review_date = (day or "" for day in days)
        notes["claim dated after its review"] += bool(claim_date and review_date and claim_date > review_date)
        kept.append(replace(record, claim_date=claim_date, review_date=review_date))
    return Step("dates", len(records), kept, notes=dict(notes))


def ratings(records: Records, maps: RatingMaps, answers: Answers) -> Step[Record]:
    """The label of each rating; those that nobody mapped, or two ways, stay out and are listed by frequency."""
    kept, removed, notes = [], [], Counter[str]()
    asked: dict[str, Cells] = {}
    waiting: Counter[str] = Counter()
    for record in records:
        key = rating_key(record.site, record.rating)
        found = maps.map(record.site, record.rating, answers.values)
        one = replace(record, rating=found.text, english=found.english, label=found.label)
        if found.label == DROP:
            removed.append((one, "dropped by a person"))
        elif found.label:
            notes["a sentence behind the rating"] += found.cut
            kept.append(one)
        else:
            removed.append((one, found.reason))
        if not found.label or answers.values.get(key):
            waiting[key] += 1
            asked.setdefault(key, {"source_rating": key, "english": found.english, "example": record.claim})
    listed = [asked[key] | {"number": str(number)} for key, number in waiting.most_common()]
    return Step("ratings", len(records), kept, removed, [review(RATINGS, listed, answers)], dict(notes))


def rating_in_claim(records: Records) -> Step[Record]:
    """Claims that hold their own rating, as their source words it, go."""
    kept, removed = [], []
    for record in records:
        if contains(record.claim, record.rating, record.language):
            removed.append((record, "the rating is in the claim"))
        else:
            kept.append(record)
    return Step("rating in claim", len(records), kept, removed)


def headlines(records: Records) -> Step[Record]:
    """Claims that are the headline of the fact-check itself go."""
    kept, removed = [], []
    for record in records:
        if headline_marker(record.claim, record.language):
            removed.append((record, "a fact-check's headline"))
        else:
            kept.append(record)
    return Step("headlines", len(records), kept, removed)


def contains(claim: str, rating: str, language: str = "") -> bool:
    """Whether a rating (no sentence) stands in a claim as whole words, case folded."""
    if not any(sign.isalpha() for sign in rating) or len(rating) > SENTENCE:
        return False
    text = folded(claim, language)
    ends = (found.end() for found in re.finditer(rf"(?<!\w){re.escape(rating)}(?!\w)", text))
    return any(unicodedata.category(text[end : end + 1] or " ")[0] != "M" for end in ends)  # a vowel sign goes on


def duplicates(records: Records, old: Mapping[str, str]) -> Step[Record]:
    """Of equal claims (normalised, same language) the earliest review stays; with two labels among them, none.

    `old` has the label of each key that an earlier build has: a claim of it that comes again goes.
    """
    equal: dict[tuple[str, str], list[Record]] = defaultdict(list)
    removed = []
    for record in records:
        if record.key in old:
            again = "in the earlier build" if old[record.key] == record.label else "in the earlier build, other label"
            removed.append((record, again))
        else:
            equal[record.language, normalised(record.claim, record.language)].append(record)
    kept = []
    for same in equal.values():
        same.sort(key=lambda one: (one.review_date or "9999", one.site, one.url, one.place))
        if len({one.label for one in same}) > 1:
            removed += [(one, "equal claims with other labels") for one in same]
        else:
            kept.append(same[0])
            removed += [(one, "duplicate") for one in same[1:]]
    kept.sort(key=lambda one: (one.day or "9999", one.key))
    return Step("duplicates", len(records), kept, removed)


def with_evidence(records: Records, found: Mapping[str, Claim] | None) -> Step[Record]:
    """Snippets and links that a search found, by key; if there was a search, claims without any go."""
    if found is None:
        return Step("evidence", len(records), list(records), notes={"no search yet": len(records)})
    kept, removed = [], []
    for record in records:
        claim = found.get(record.key)
        if claim is None:
            removed.append((record, "not searched"))
        elif not any(snippet.strip() for snippet in claim.evidence):
            removed.append((record, "nothing found"))
        else:
            kept.append(replace(record, evidence=claim.evidence, links=claim.links))
    return Step("evidence", len(records), kept, removed)


def sources(records: Records, old: Records, max_label_share: float, min_examples: int) -> Step[Record]:
    """Sources with too few claims, or with nearly all of one label, go; `old` claims count and stay."""
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for record in (*old, *records):
        labels[record.site][record.label] += 1
    kept, removed = [], []
    for record in records:
        counts = labels[record.site]
        if counts.total() < min_examples:
            removed.append((record, f"a source of under {min_examples} claims"))
        elif max(counts.values()) > max_label_share * counts.total():
            removed.append((record, f"a source with over {100 * max_label_share:.0f} % of one label"))
        else:
            kept.append(record)
    return Step("sources", len(records), kept, removed)


def shown(record: Record) -> Cells:
    """What a person sees of a record."""
    return {"key": record.key, "site": record.site, "language": record.language, "claim": record.claim}
