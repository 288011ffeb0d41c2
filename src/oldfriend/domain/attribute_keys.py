"""Attribute keys: their form, other labels for them, and which have one value at a time."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Protocol

from oldfriend.domain.belief_kinds import KINDS_BY_NAME, MemoryKind, Subject
from oldfriend.domain.relations import EXCLUSIVE, RELATION_KEY
from oldfriend.domain.unicode_text import normalize

MAX_KEY_LENGTH: Final = 50
CAMEL_CASE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
KEY_LABELS: Final[Mapping[str, str]] = {
    "marital_status": "relationship_status",
    "civil_status": "relationship_status",
    "residence": "location",
    "home": "location",
    "date_of_birth": "birthday",
    "place_of_birth": "birthplace",
    "allergy": "allergies",
}
"""Known keys, by other labels that models use for them."""
SINGLE_VALUED_KEYS: Final = frozenset(
    {
        "name",
        "preferred_name",
        "full_name",
        "pronouns",
        "gender",
        "birthday",
        "age",
        "birthplace",
        "hometown",
        "location",
        "address",
        "timezone",
        "home_timezone",
        "occupation",
        "workplace",
        "boss",
        "employer",
        "relationship_status",
        "partner",
        "spouse",
        "wife",
        "husband",
        "mother",
        "father",
        "studies",
        "school",
        "university",
        "native_language",
        "religion",
        "diet",
        "smoking",
        "height",
        "weight",
        "blood_type",
        "handedness",
        "shoe_size",
        "clothing_size",
        "car",
        "communication_style",
        "technical_level",
        "autonomy_preference",
        RELATION_KEY,
    }
)
"""Keys of attributes that have one value at a time; all others may have several at once."""
FAVORITE: Final = ("favorite_", "favourite_")
"""Beginnings of keys for the one thing of its sort that somebody likes most."""

SINGLE_VALUED_CATEGORIES: Final = frozenset(
    {"budget", "preferred_currency", "home_timezone", "language"}
)
"""Categories of preferences that have one value at a time."""


class Keyed(Protocol):
    """Anything that may have a value under a key."""

    @property
    def kind(self) -> MemoryKind: ...
    @property
    def key(self) -> str: ...
    @property
    def subject(self) -> Subject: ...


def is_single_valued(keyed: Keyed) -> bool:
    """Return whether what has this key has one value of it at a time.

    An attribute of somebody else whom the key does not name may be several people's.
    """
    form = KINDS_BY_NAME[keyed.kind].key
    if form == "category":
        return keyed.key in SINGLE_VALUED_CATEGORIES
    if form == "relation":
        return keyed.key in EXCLUSIVE
    owner, _, bare = keyed.key.rpartition(":")
    if form != "attribute" or (keyed.subject == "other" and not owner):
        return False
    return bare in SINGLE_VALUED_KEYS or bare.startswith(FAVORITE)


def fold_key(label: str) -> str:
    """Return a label in lower case, its words joined by underscores, without Latin accents."""
    parts = normalize("NFKD", CAMEL_CASE.sub("_", label.strip()))
    plain = normalize("NFC", "".join(each for each in parts if not "\u0300" <= each <= "\u036f"))
    letters = (each if _is_part_of_word(each) else " " for each in plain.lower())
    words = "".join(letters).split()
    while len(words) > 1 and len("_".join(words)) > MAX_KEY_LENGTH:
        words.pop()
    return "_".join(words)[:MAX_KEY_LENGTH]


def _is_part_of_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
