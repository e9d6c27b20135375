"""A claim's text and language as sources write them, made plain by written rules."""

import html
import re
import unicodedata
from collections.abc import Callable

from xfact.extras import needs
from xfact.text.markup import without_tags
from xfact.text.normalise import visible

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
    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def identify(text: str) -> tuple[str, float]:
        code, probability = model.classify(text)
        return language_code(code), float(probability)

    return identify
