"""The 25 languages of X-Fact with their families (paper, Table 6)."""

# code -> (name, family as the paper's Table 6 has it)
LANGUAGES = {
    "ar": ("Arabic", "Afro-Asiatic"),
    "az": ("Azerbaijani", "Turkic"),
    "bn": ("Bengali", "Indo-Aryan"),
    "de": ("German", "Germanic"),
    "es": ("Spanish", "Romance"),
    "fa": ("Persian", "Iranian"),
    "fr": ("French", "Romance"),
    "gu": ("Gujarati", "Indo-Aryan"),
    "hi": ("Hindi", "Indo-Aryan"),
    "id": ("Indonesian", "Austronesian"),
    "it": ("Italian", "Romance"),
    "ka": ("Georgian", "Kartvelian"),
    "mr": ("Marathi", "Indo-Aryan"),
    "nl": ("Dutch", "Germanic"),
    "no": ("Norwegian", "Germanic"),
    "pa": ("Punjabi", "Indo-Aryan"),
    "pl": ("Polish", "Slavic"),
    "pt": ("Portuguese", "Romance"),
    "ro": ("Romanian", "Romance"),
    "ru": ("Russian", "Slavic"),
    "si": ("Sinhala", "Indo-European"),
    "sq": ("Albanian", "Albanian"),
    "sr": ("Serbian", "Slavic"),
    "ta": ("Tamil", "Dravidian"),
    "tr": ("Turkish", "Turkic"),
}
UNKNOWN = ("", "")


def name_and_family(code: str) -> tuple[str, str]:
    """Name and family of a language code; two empty strings for one that is none of the 25."""
    return LANGUAGES.get(code, UNKNOWN)
