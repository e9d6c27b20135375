"""A claim's text and language as sources write them, made plain by written rules."""

import html
import re
import unicodedata
from collections.abc import Callable

from xfact.extras import needs
from xfact.text.normalise import visible

# A tag has a name and attributes with values or of these names: `<b 5 y c>` is a comparison.
BARE = (
    "allowfullscreen|async|autoplay|checked|controls|defer|disabled|download|hidden|loop|muted|noshade|nowrap|selected"
)
ATTRIBUTE = rf"""(?:[\w:.@-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+)|{BARE})"""
TAG = re.compile(rf"</?([a-zA-Z][\w:-]*)(?:\s+{ATTRIBUTE})*\s*/?>", re.IGNORECASE)
NEWER = {
    "article", "aside", "audio", "bdi", "data", "figcaption", "figure", "footer", "header", "hgroup", "main", "mark",
    "nav", "picture", "section", "source", "svg", "time", "track", "video", "wbr",
}  # fmt: skip
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
HANDLE = re.compile(r"(?<![\w@./])@\w{2,}")
# Codes that sources use for X-Fact's: macrolanguages, old codes.
CODES = {"nb": "no", "nn": "no", "in": "id", "iw": "he", "sh": "sr", "hbs": "sr", "fas": "fa", "prs": "fa", "sin": "si"}


def plain_text(text: str) -> str:
    """Without markup, entities, invisible marks and control characters; NFC; white space as single spaces."""
    once = html.unescape(text)
    bare = without_tags(once)
    if bare != once:
        bare = html.unescape(bare)  # what was escaped twice
    seen = visible(unicodedata.normalize("NFC", bare))
    return " ".join("".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in seen).split())


def without_tags(text: str, between: str = " ") -> str:
    """The text without HTML's tags; what else stands between angle brackets stays."""
    return TAG.sub(lambda found: between if is_element(found[1].lower()) else found[0], text)


def is_element(name: str) -> bool:
    """Whether HTML, or a word processor's namespace (`o:p`), has this element."""
    from lxml.html.defs import tags

    return name in tags or name in NEWER or ":" in name


def masked(text: str) -> str:
    """E-mail addresses and handles replaced by <email> and @user."""
    return HANDLE.sub("@user", EMAIL.sub("<email>", text))


def language_code(text: str) -> str:
    """The two letters of a BCP 47 tag, as X-Fact has them; "" for what is no tag."""
    code = re.split(r"[-_]", text.strip().casefold())[0]
    code = CODES.get(code, code)
    return code if re.fullmatch(r"[a-z]{2,3}", code) else ""


def identifier() -> Callable[[str], tuple[str, float]]:
    """text -> (language, probability), by py3langid."""
    with needs("corpus"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def identify(text: str) -> tuple[str, float]:
        code, probability = found.classify(text)
        return language_code(code), float(probability)

    return identify
