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
    decided, notes = [], Counter[str]()
    for record in records:
        claim, claimant = plain_text(record.claim), plain_text(record.claimant)
        notes["claim repaired"] += claim != record.claim.strip()
        if mask:
            hidden = masked(claim)
            notes["claim masked"] += hidden != claim
            claim, claimant = hidden, masked(claimant)
        reason = "" if any(sign.isalnum() for sign in claim) else "empty claim"
        decided.append((replace(record, claim=claim, claimant=claimant), reason))
    return Step("clean", decided, notes=dict(notes))


def languages(
    records: Records, left_out: Collection[str], answers: Answers, identify: Callable[[str], tuple[str, float]]
) -> Step[Record]:
    """Each claim's language: a person's, else as declared, else its source's, else the one identified.

    A claim whose identified language is another stays and is listed.
    """
    given = answers.values
    for key, answer in given.items():
        if answer != DROP and language_code(answer) != answer:
            row = answers.lines[key]
            raise DataError(f"{answers.path}: row {row}: {answer!r} is no language code (as pt), nor {DROP}")
    identified = [identify(record.claim) for record in tracked(records, "languages", len(records))]
    declared = [language_code(record.language) for record in records]
    own = source_languages(records, declared, identified)
    decided, asked, notes = [], [], Counter[str]()
    for record, code, (likely, probability) in zip(records, declared, identified, strict=True):
        sure = likely if probability >= SURE else ""
        language = language_code(given.get(record.key, "")) or code or own.get(record.site, "") or sure
        if sure and language != sure:
            notes["another language identified"] += 1
            asked.append(shown(record) | {"language": language, "identified": sure})
        notes["language not declared"] += not code
        if given.get(record.key) == DROP:
            reason = "dropped by a person"
        elif not language:
            reason = "unknown language"
        else:
            reason = f"language {language}" if language in left_out else ""
        decided.append((replace(record, language=language), reason))
    return Step("languages", decided, [review(LANGUAGES, asked, answers)], dict(notes))


def source_languages(
    records: Records, declared: Sequence[str], identified: Sequence[tuple[str, float]]
) -> dict[str, str]:
    """Site -> the language of at least MAIN of its claims, by declaration or else surely identified."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record, code, (likely, probability) in zip(records, declared, identified, strict=True):
        counts[record.site][code or (likely if probability >= SURE else "")] += 1
    main = {}
    for site, languages in counts.items():
        del languages[""]
        for language, number in languages.most_common(1):
            if number >= MAIN * languages.total():
                main[site] = language
    return main


def dates(records: Records) -> Step[Record]:
    """Dates as 2021-05-30; one that cannot be read is left empty, and counted."""
    decided, notes = [], Counter[str]()
    for record in records:
        days = [iso_date(text, record.language) for text in (record.claim_date, record.review_date)]
        for name, day in zip(("claim date", "review date"), days, strict=True):
            notes[f"{name} unreadable"] += day is None
            notes[f"no {name}"] += day == ""
        claim_date, review_date = (day or "" for day in days)
        notes["claim dated after its review"] += bool(claim_date and review_date and claim_date > review_date)
        decided.append((replace(record, claim_date=claim_date, review_date=review_date), ""))
    return Step("dates", decided, notes=dict(notes))


def ratings(records: Records, maps: RatingMaps, answers: Answers) -> Step[Record]:
    """The label of each rating; those that nobody mapped, or two ways, stay out and are listed by frequency."""
    decided, notes = [], Counter[str]()
    given = answers.values
    asked: dict[str, Cells] = {}
    waiting: Counter[str] = Counter()
    for record in records:
        key = rating_key(record.site, record.rating)
        mapped = maps.map(record.site, record.rating, given)
        rated = replace(record, rating=mapped.text, english=mapped.english, label=mapped.label)
        reason = "dropped by a person" if mapped.label == DROP else mapped.reason
        decided.append((rated, reason))
        if not reason:
            notes["a sentence behind the rating"] += mapped.cut
        if not mapped.label or given.get(key):
            waiting[key] += 1
            asked.setdefault(key, {"source_rating": key, "english": mapped.english, "example": record.claim})
    listed = [asked[key] | {"number": str(number)} for key, number in waiting.most_common()]
    return Step("ratings", decided, [review(RATINGS, listed, answers)], dict(notes))


def rating_in_claim(records: Records) -> Step[Record]:
    """Claims that hold their own rating, as their source words it, go."""

    def reason(record: Record) -> str:
        return "the rating is in the claim" if contains(record.claim, record.rating, record.language) else ""

    return Step("rating in claim", [(record, reason(record)) for record in records])


def headlines(records: Records) -> Step[Record]:
    """Claims that are the headline of the fact-check itself go."""

    def reason(record: Record) -> str:
        return "a fact-check's headline" if headline_marker(record.claim, record.language) else ""

    return Step("headlines", [(record, reason(record)) for record in records])


def contains(claim: str, rating: str, language: str = "") -> bool:
    """Whether a rating (no sentence) stands in a claim as whole words, case folded."""
    if not any(sign.isalpha() for sign in rating) or len(rating) > SENTENCE:
        return False
    text = folded(claim, language)
    ends = (match.end() for match in re.finditer(rf"(?<!\w){re.escape(rating)}(?!\w)", text))
    return any(unicodedata.category(text[end : end + 1] or " ")[0] != "M" for end in ends)  # a vowel sign goes on


def duplicates(records: Records, old: Mapping[str, str]) -> Step[Record]:
    """Of equal claims (normalised, same language) the earliest review stays; with two labels among them, none.

    `old` has the label of each key that an earlier build has: a claim of it that comes again goes.
    """
    equal: dict[tuple[str, str], list[Record]] = defaultdict(list)
    kept, removed = [], []
    for record in records:
        if record.key in old:
            other = "" if old[record.key] == record.label else ", other label"
            removed.append((record, f"in the earlier build{other}"))
        else:
            equal[record.language, normalised(record.claim, record.language)].append(record)
    for same in equal.values():
        same.sort(key=lambda record: (record.review_date or "9999", record.site, record.url, record.place))
        if len({record.label for record in same}) > 1:
            removed += [(record, "equal claims with other labels") for record in same]
        else:
            kept.append(same[0])
            removed += [(record, "duplicate") for record in same[1:]]
    kept.sort(key=lambda record: (record.day or "9999", record.key))
    return Step("duplicates", [(record, "") for record in kept] + removed)


def with_evidence(records: Records, searched: Mapping[str, Claim] | None) -> Step[Record]:
    """Snippets and links that a search found, by key; if there was a search, claims without any go."""
    if searched is None:
        return Step("evidence", [(record, "") for record in records], notes={"no search yet": len(records)})
    decided = []
    for record in records:
        claim = searched.get(record.key)
        if claim is None:
            decided.append((record, "not searched"))
        elif not any(snippet.strip() for snippet in claim.evidence):
            decided.append((record, "nothing found"))
        else:
            decided.append((replace(record, evidence=claim.evidence, links=claim.links), ""))
    return Step("evidence", decided)


def sources(records: Records, old: Records, max_label_share: float, min_examples: int) -> Step[Record]:
    """Sources with too few claims, or with nearly all of one label, go; `old` claims count and stay."""
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for record in (*old, *records):
        labels[record.site][record.label] += 1

    def reason(record: Record) -> str:
        counts = labels[record.site]
        if counts.total() < min_examples:
            return f"a source of under {min_examples} claims"
        one_label = max(counts.values()) > max_label_share * counts.total()
        return f"a source with over {100 * max_label_share:.0f} % of one label" if one_label else ""

    return Step("sources", [(record, reason(record)) for record in records])


def shown(record: Record) -> Cells:
    """What a person sees of a record."""
    return {"key": record.key, "site": record.site, "language": record.language, "claim": record.claim}
