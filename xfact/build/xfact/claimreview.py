"""ClaimReview read from JSON: schema.org's JSON-LD, Data Commons' feed, Google's Fact Check Tools API.

schema.org/ClaimReview: claimReviewed, reviewRating (alternateName, or ratingValue from worstRating to bestRating),
itemReviewed (author, datePublished), author, url, datePublished, inLanguage. The API: claims[].text, claimant,
claimDate and claimReview[] with publisher (name, site), url, reviewDate, textualRating, languageCode.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from xfact.build.xfact.record import Record
from xfact.text.hosts import site_of
from xfact.text.normalise import writable

COMMENT = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|(?://\s*)?\]\]>)\s*$")
SCRIPT = re.compile(r"<!--|<script\b[^<>]*>", re.IGNORECASE)
NONE = "no ClaimReview"
DEEP = "JSON in JSON without end"
TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class Rejected(Exception):
    """Why something is no usable review; the review if it lacks its rating alone."""

    def __init__(self, reason: str, unrated: Record | None = None) -> None:
        super().__init__(reason)
        self.unrated = unrated


def json_ld(page: str) -> Iterator[str]:
    """The JSON-LD blocks of a page, but for those in a comment: found by their tags alone, so that no page is slow to
    read, however broken."""
    place = 0
    while tag := SCRIPT.search(page, place):
        comment = tag[0] == "<!--"
        start = tag.start() + 2 if comment else tag.end()  # <!--> is a whole comment
        end = page.find("-->" if comment else "</script", start)
        place = len(page) if end < 0 else end
        block = "" if comment else page[start:place]
        if "ld+json" in tag[0].lower() and block.strip():
            yield block


def loads(text: str) -> tuple[Any, bool]:
    """JSON, and whether it had to be mended: comment marks around it, bare control characters, commas before an end.

    Rejected if that does not make it JSON.
    """
    try:
        return json.loads(text), False
    except RecursionError:
        raise Rejected(DEEP) from None
    except ValueError:
        bare = COMMENT.sub("", COMMENT.sub("", text))
    for attempt in (bare, TRAILING_COMMA.sub(r"\1", bare)):
        try:
            return json.loads(attempt, strict=False), True
        except RecursionError:
            raise Rejected(DEEP) from None
        except ValueError:
            continue
    raise Rejected("broken JSON")


def nodes(thing: Any) -> Iterator[dict[str, Any]]:
    """Every ClaimReview, or claim of Google's API, anywhere in a JSON value, outermost first, in its order."""
    waiting = [thing]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            if is_review(value) or isinstance(value.get("claimReview"), list):
                yield value
            else:
                waiting.extend(reversed(list(value.values())))


def is_review(node: dict[str, Any]) -> bool:
    kinds = node.get("@type", node.get("type"))
    return any(
        str(kind).rpartition("/")[2] == "ClaimReview" for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


def records(node: dict[str, Any], place: str) -> Iterator[Record | Rejected]:
    """The reviews of a node: one, or those of each publisher of Google's."""
    try:
        if is_review(node):
            yield from schema_records(node, place)
            return
        for review in node["claimReview"]:
            yield attempt(google_fields(node, review), place) if isinstance(review, dict) else Rejected(NONE)
    except RecursionError:  # a property of objects in objects
        yield Rejected(DEEP)


def attempt(fields: dict[str, str], place: str) -> Record | Rejected:
    """The record, or why it can be none."""
    for name, reason in (("claim", "no claim"), ("rating", "no rating"), ("site", "no site")):
        if not fields[name].strip():
            rest = all(fields[other].strip() for other in ("claim", "site"))
            return Rejected(reason, Record(place, **fields) if rest else None)  # type: ignore[arg-type]
    return Record(place, **fields)  # type: ignore[arg-type] # they are all texts


def schema_records(node: dict[str, Any], place: str) -> Iterator[Record | Rejected]:
    """A record for each claim that a schema.org ClaimReview is of; with two ratings it is none, as which is whose?"""
    items = several(node.get("itemReviewed"))
    ratings = list(dict.fromkeys(filter(None, map(rating_of, several(node.get("reviewRating"))))))
    if len(ratings) > 1:
        yield Rejected("several ratings")
        return
    author = first(node.get("author"))
    url = text(node.get("url") or node.get("mainEntityOfPage") or node.get("@id"))
    fields = {
        "url": url,
        "site": site_of(url) or site_of(text(author.get("url"))),
        "language": text(node.get("inLanguage")),
        "review_date": text(node.get("datePublished")),
        "rating": "".join(ratings),
    }
    said = list(dict.fromkeys(texts(node.get("claimReviewed")))) or [text(item.get("name")) for item in items] or [""]
    for number, claim in enumerate(said):
        item = items[number] if len(items) == len(said) else items[0] if items else {}
        about = {"claimant": names(item.get("author")), "claim_date": text(item.get("datePublished"))}
        yield attempt(fields | about | {"claim": claim}, place)


def rating_of(rating: dict[str, Any]) -> str:
    """A rating's words, or its number."""
    words = list(dict.fromkeys(texts(rating.get("alternateName")) or texts(rating.get("name"))))
    return " / ".join(words) or grade(rating)  # two words for one rating are for a person to map


def google_fields(claim: dict[str, Any], review: dict[str, Any]) -> dict[str, str]:
    """A Record's fields of a claim of Google's API and one of its reviews."""
    url, publisher = text(review.get("url")), first(review.get("publisher"))
    return {
        "url": url,
        "site": site_of(url) or site_of(text(publisher.get("site"))),
        "language": text(review.get("languageCode")),
        "claim": text(claim.get("text")),
        "claimant": text(claim.get("claimant")),
        "claim_date": text(claim.get("claimDate")),
        "review_date": text(review.get("reviewDate")),
        "rating": text(review.get("textualRating")),
    }


def grade(rating: dict[str, Any]) -> str:
    """A rating without words: `2 of 1-5`, or the value where it is no number or has no ends; "" without a value."""
    value, worst, best = (text(rating.get(name)) for name in ("ratingValue", "worstRating", "bestRating"))
    return f"{value} of {worst}-{best}" if value and worst and best and re.fullmatch(r"-?[\d.,]+", value) else value


def several(value: Any) -> list[dict[str, Any]]:
    """The objects of a property that may be one, several, a text or nothing."""
    objects = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            objects.append(item)
        elif isinstance(item, str) and item.strip():
            objects.append({"name": item, "url": item})
    return objects


def first(value: Any) -> dict[str, Any]:
    """The first object of such a property."""
    return next(iter(several(value)), {})


def texts(value: Any) -> list[str]:
    """The texts of a property that may be one or several."""
    return list(filter(None, map(text, value if isinstance(value, list) else [value])))


def text(value: Any) -> str:
    """A property's text: of the first of several, of a JSON-LD value, of an object its @id, URL or name."""
    if isinstance(value, list):
        return next((said for item in value if (said := text(item))), "")
    if isinstance(value, dict):
        return next((said for key in ("@value", "@id", "url", "name") if (said := text(value.get(key)))), "")
    return "" if value is None or isinstance(value, bool) else writable(str(value).strip())


def names(value: Any) -> str:
    """The names of one author or several."""
    people = value if isinstance(value, list) else [value]
    named = [text(person.get("name")) if isinstance(person, dict) else text(person) for person in people]
    return ", ".join(filter(None, named))
