"""HTML's tags in a text, told from what else stands between angle brackets."""

import re

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


def without_tags(text: str, between: str = " ") -> str:
    """The text without HTML's tags; what else stands between angle brackets stays."""
    return TAG.sub(lambda tag: between if is_element(tag[1].lower()) else tag[0], text)


def is_element(name: str) -> bool:
    """Whether HTML, or a word processor's namespace (`o:p`), has this element."""
    from lxml.html.defs import tags

    return name in tags or name in NEWER or ":" in name
