"""Party -> orientation, fine and coarse. Source: VeryfIT paper, Table 2.

The paper speaks of 23 parties, 8 orientations and 4. Its table has 25 entries, of which Indipendente and Tecnico are no
parties, and none of them is far-left.
"""

from collections.abc import Mapping

from xfact.text.normalise import name_key

PARTIES = {
    "left": (
        "Alleanza Verdi e Sinistra", "Europa Verde", "Liberi e uguali", "Possibile", "Sinistra Ecologia Libertà",
        "Sinistra italiana",
    ),
    "center-left": ("Articolo Uno", "Partito Democratico"),
    "center": ("Azione", "Impegno Civico", "Italia Viva", "Più Europa", "Radicali Italiani", "Scelta Civica"),
    "center-right": ("Alternativa Popolare", "Coraggio Italia", "Nuovo Centro Destra"),
    "right": ("Forza Italia", "Popolo della Libertà"),
    "far-right": ("Fratelli d'Italia", "Italexit", "Lega Nord"),
    "transverse": ("Movimento 5 Stelle", "Indipendente", "Tecnico"),
}  # fmt: skip
COARSE = {
    "far-left": "SX", "left": "SX", "center-left": "SX",
    "center": "C",
    "center-right": "DX", "right": "DX", "far-right": "DX",
    "transverse": "T",
}  # fmt: skip
ORIENTATIONS = ("SX", "C", "DX", "T")
FINE_OF = {name_key(party): fine for fine, parties in PARTIES.items() for party in parties}


def fine_orientation(party: str, more: Mapping[str, str]) -> str:
    """One of COARSE's eight, or "" for a party that neither the paper nor `more` (by folded name) has."""
    key = name_key(party)
    return FINE_OF.get(key) or more.get(key, "")
