"""The words in which fact-checking sites rate claims, and where a text has them.

From the authors' label maps, and from rating_words.tsv: forms and words that the maps lack and fact-checks use, chosen
for this suite (a language a line, the word, its English rating).
"""

import re
from functools import cache

from xfact.config import PACKAGE
from xfact.text.normalise import in_words

LABEL_MAPS = PACKAGE / "data" / "label_maps"
MASTER = "master_mapping.tsv"
OWN_WORDS = PACKAGE / "data" / "rating_words.tsv"
# The language of the sites that have a map (paper, Table 6; the last five are not in it).
LANGUAGE_OF = {
    "aajtak.in": "hi", "agi.it": "it", "aosfatos.org": "pt", "cekfakta.com": "id", "cekfakta.tempo.co": "id",
    "chequeado.com": "es", "correctiv.org": "de", "demagog.org.pl": "pl", "dogrulukpayi.com": "tr",
    "factcheck.ge": "ka", "factcheck.kz": "ru", "factnameh.com": "fa", "factual.ro": "ro", "faktisk.no": "no",
    "faktoje.al": "sq", "faktyoxla.info": "az", "fr.africacheck.org": "fr", "gujarati.newschecker.in": "gu",
    "hindi.newschecker.in": "hi", "istinomer.rs": "sr", "kallxo.com": "sq", "marathi.newschecker.in": "mr",
    "misbar.com": "ar", "nieuwscheckers.nl": "nl", "pagellapolitica.it": "it", "piaui.folha.uol.com.br": "pt",
    "poligrafo.sapo.pt": "pt", "punjabi.newschecker.in": "pa", "srilanka.factcrescendo.com": "si", "teyit.org": "tr",
    "youturn.in": "ta", "apublica.org": "pt", "faktistfakt.com": "de", "politifact.com": "en",
    "en.politifact.com": "en",
}  # fmt: skip
WORDS = 5  # a longer entry of a map is a sentence on one claim
# Ratings that are everyday words of their language in any text: where.
EVERYDAY = {"nl": {"waar"}}


def rating_words(text: str, language: str) -> list[str]:
    """The ratings of the language that stand in the text as whole words, each once, in order of their places."""
    language = language.strip()
    pattern = patterns().get(language)
    # English ratings stand in Turkish texts, too: IRONY has no dotless i.
    words = pattern and (pattern.findall(in_words(text, language)) or pattern.findall(in_words(text)))
    return list(dict.fromkeys(words or ()))


def labels_of(rating: str, language: str) -> set[str]:
    """The labels that the master map gives a rating of a language; it has `incomplete` under two."""
    return ratings(language).get(rating, set())


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Language -> its ratings as whole words, the longest first."""
    pattern_of = {}
    for language in sorted(set(LANGUAGE_OF.values())):
        longest = sorted(ratings(language), key=lambda words: (-len(words), words))
        pattern_of[language] = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, longest))})(?!\S)")
    return pattern_of


@cache
def ratings(language: str) -> dict[str, set[str]]:
    """The ratings of a language, in words -> their labels.

    Left out of the maps: values under `other`, links, numbers, entries of more than five words (sentences on one
    claim), and what is an everyday word in any text (`waar`, Dutch for true and for where).
    """
    master = master_map()
    known = {in_words(word, code): set(master[english]) for code, word, english in own_words() if code == language}
    for site in (site for site, code in LANGUAGE_OF.items() if code == language):
        for line in (LABEL_MAPS / f"{site}.txt").read_text(encoding="utf-8").splitlines():
            original, _, english = line.partition("\t")
            # cekfakta.com numbers its own
            rating = in_words(re.sub(r"^\d+ \[(.*)\]$", r"\1", original.strip()), language)
            english = english.strip().casefold()
            if is_rating(rating, english) and rating not in EVERYDAY.get(language, ()):
                known.setdefault(rating, set()).update(master.get(english, ()))
    return known


def own_words() -> list[list[str]]:
    """Language, word and English rating of each line of rating_words.tsv."""
    return [line.split("\t") for line in OWN_WORDS.read_text(encoding="utf-8").splitlines()]


def is_rating(rating: str, english: str) -> bool:
    """Whether an entry of a map is a rating and not a sentence, a link, a number or a value under `other`."""
    if english.partition("/")[0] == "other" or "http" in rating or any(map(str.isdigit, rating)):
        return False
    return 1 <= len(rating.split()) <= WORDS


@cache
def master_map() -> dict[str, set[str]]:
    """English rating -> its labels."""
    labels: dict[str, set[str]] = {}
    for line in (LABEL_MAPS / MASTER).read_text(encoding="utf-8").splitlines():
        label, _, listed = line.partition("\t")
        for rating in listed.split("|"):
            labels.setdefault(rating.strip().casefold(), set()).add(label)
    return labels
