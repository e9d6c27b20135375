"""From a site's rating to one of the seven labels, through the site's map and the master map; nothing is guessed.

`label_maps/<site>.txt`: original rating, tab, English rating. `label_maps/master_mapping.tsv`: label, tab, English
ratings between bars. As the authors published them, with their faults, which `faults` lists.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from xfact.config import PACKAGE
from xfact.data.ratings import LABEL_MAPS, LANGUAGE_OF, MASTER, master_map
from xfact.schema import canonical_label
from xfact.text.normalise import folded, in_words, visible

# What may stand between a rating and the sentence that explains it; a comma or a bracket may change the verdict.
AFTER_RATING = re.compile(r"\s*(?:[.:!…]|\s[-–—]\s)")
QUOTES = "\"'“”„«»‘’` "
BUT = PACKAGE / "data" / "but_words.tsv"
FEW = 5  # words behind a rating that may be another one; more are a sentence on the claim
NO_RATING = "none"  # under `other` in the master map, but more likely a field that was empty
SENTENCE = 60  # characters: longer ratings in a site's map are the beginnings of articles


@dataclass(frozen=True)
class Mapped:
    """What a rating came to: label "" if a person must decide, for the `reason`."""

    text: str  # the rating, normalised, without a sentence behind it
    english: str
    label: str
    reason: str = ""
    cut: bool = False  # a sentence stood behind the rating


@dataclass(frozen=True)
class Fault:
    """An entry of the maps that is not used as it stands, or is no rating."""

    file: str
    rating: str
    value: str
    fault: str


def normalised_rating(rating: str, language: str = "") -> str:
    """Folded, without HTML entities, invisible marks, quotes around it and a full stop at its end."""
    text = folded(visible(html.unescape(rating)), language)
    return " ".join(text.split()).lstrip(QUOTES).rstrip(QUOTES + ".!…")


class RatingMaps:
    """Every site's map, and the master map."""

    def __init__(self) -> None:
        self.labels: dict[str, set[str]] = defaultdict(set)  # English rating -> labels
        for rating, labels in master_map().items():
            self.labels[normalised_rating(rating)].update(map(canonical_label, labels))
        self.entries = list(entries())
        self.sites: dict[str, dict[str, set[str]]] = {}  # site -> original -> English ratings
        for site, _, text, english in self.entries:
            ratings = self.sites.setdefault(site, {})
            if english and not junk(text):
                ratings.setdefault(text, set()).add(normalised_rating(english))

    def map(self, site: str, rating: str, decided: Mapping[str, str] | None = None) -> Mapped:
        """A site's rating: as a person `decided` (by rating_key), else by its map, else as the master map has it."""
        own, text = self.sites.get(site, {}), normalised_rating(rating, LANGUAGE_OF.get(site, ""))
        if label := (decided or {}).get(rating_key(site, rating)):
            return Mapped(text, label, label)
        if text not in own and (english := normalised_rating(rating)) in self.labels:
            text = english
        if text in own or text in self.labels:
            return self._mapped(text, own.get(text, {text}))
        known = [begin for begin in (*own, *self.labels) if begin and text.startswith(begin)]
        for begin in sorted(known, key=len, reverse=True):
            if after := AFTER_RATING.match(text[len(begin) :]):
                mapped = self._mapped(begin, own.get(begin, {begin}))
                if self._is_qualified(mapped, text[len(begin) + after.end() :], own):
                    return Mapped(text, "", "", "qualified rating")
                return replace(mapped, cut=True)
        return Mapped(text, "", "", "unmapped rating")

    def _is_qualified(self, mapped: Mapped, rest: str, own: Mapping[str, set[str]]) -> bool:
        """Whether what stands behind a rating says `but`, or in a few words rates otherwise."""
        words = in_words(rest).split()
        if not words or words[0] in but_words() or len(words) > FEW:
            return bool(words) and words[0] in but_words()
        spans = {" ".join(words[start:end]) for end in range(len(words) + 1) for start in range(end)}
        known = [span for span in spans if span in own or span in self.labels]
        others = [self._mapped(span, own.get(span, {span})).label for span in known]
        return any(label and label != mapped.label for label in others)

    def _mapped(self, text: str, ratings: set[str]) -> Mapped:
        labels = {label for rating in ratings for label in self.labels_of(rating)}
        english = "|".join(sorted(ratings))
        if len(labels) > 1:
            return Mapped(text, english, "", "ambiguous rating")
        return Mapped(text, english, labels.pop()) if labels else Mapped(text, english, "", "unmapped rating")

    def labels_of(self, english: str) -> set[str]:
        """The labels of an English rating; `other/cinema` is other, `none` and what nobody mapped have none."""
        if english == NO_RATING:
            return set()
        return self.labels.get(english) or self.labels.get(english.partition("/")[0], set())


@cache
def but_words() -> frozenset[str]:
    """`But`, `although` and the like in the 25 languages and English: what follows takes back a part of a rating."""
    lines = BUT.read_text(encoding="utf-8").splitlines()
    return frozenset(in_words(word) for line in lines for word in line.partition("\t")[2].split())


def rating_key(site: str, rating: str) -> str:
    """How a list for a person names a site's rating."""
    return f"{site}: {normalised_rating(rating, LANGUAGE_OF.get(site, ''))}"


def entries() -> Iterator[tuple[str, str, str, str]]:
    """Site, original rating, the same normalised, and English rating of each line of the sites' maps."""
    for path in sorted(LABEL_MAPS.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            original, _, english = line.partition("\t")
            yield path.stem, original.strip(), normalised_rating(original, LANGUAGE_OF[path.stem]), english.strip()


def faults() -> list[Fault]:
    """Entries of the maps that are ambiguous, not mapped, or no ratings, in the order of the files."""
    maps = RatingMaps()
    faulty = [
        Fault(MASTER, rating, "|".join(sorted(labels)), "two labels")
        for rating, labels in maps.labels.items()
        if len(labels) > 1
    ]
    faulty += [Fault(MASTER, rating, "other", "more likely no rating") for rating in maps.labels if rating == NO_RATING]
    for site, original, text, english in maps.entries:
        if fault := fault_of(maps, text, maps.sites[site].get(text, set())):
            faulty.append(Fault(f"{site}.txt", original, english, fault))
    return faulty


def junk(text: str) -> str:
    """What a normalised rating is that can be none, or ""."""
    if re.match(r"https?://|www\.", text):
        return "a link"
    return "a number" if re.fullmatch(r"[\d\s.,%]*", text) else ""


def fault_of(maps: RatingMaps, text: str, values: set[str]) -> str:
    """What is wrong with an entry of a site's map, or ""."""
    if kind := junk(text):
        return kind
    if not values:
        return "no English rating"
    if len({label for rating in values for label in maps.labels_of(rating)}) > 1:
        return "two labels"
    if not all(map(maps.labels_of, values)):
        return "not in the master map"
    if len(text) > SENTENCE:
        return "a sentence"
    return ""
