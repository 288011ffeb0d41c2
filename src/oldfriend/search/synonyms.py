"""Synonyms: words for relatives, partners and pets ("Mum" is the mother), and for keys."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from oldfriend.domain.attribute_keys import fold_key
from oldfriend.domain.memories import RelationType, StoredBelief
from oldfriend.domain.relations import PARTNER_ROLES, PET_ROLES, RELATION_BY_ROLE
from oldfriend.lang.language_pack import load_language_pack

_IDIOM = re.compile(r"\bfor a living\b", re.IGNORECASE)
"""Asks for work, although "living" is a synonym of home."""
_SAME: Final = {"diet": "dietary", "language": "languages", "pet": "pets", "origin": "birthplace"}
"""Keys that stand for another one."""


def build_search_text(memory: StoredBelief) -> str:
    """Return the text to index for a belief, with the synonyms of its key."""
    if not memory.key:
        return memory.text
    _, _, bare = memory.key.rpartition(":")
    words = list_key_synonyms(bare, memory.language)
    key_words = bare.replace("_", " ") if memory.language == "en" else ""
    return " ".join([memory.text, key_words, *words])


def list_key_synonyms(key: str, language: str) -> Sequence[str]:
    """List the words by which people ask for a key, or speak of it, in a language."""
    return _load_key_synonyms(language).get(_SAME.get(key, key), ())


def find_key_by_word(word: str, language: str) -> str | None:
    """Return the one key that a folded word is a synonym of in a language."""
    return _load_keys_by_word(language).get(word)


@lru_cache(maxsize=32)
def _load_keys_by_word(language: str) -> Mapping[str, str]:
    keys: dict[str, set[str]] = {}
    for key, words in _load_key_synonyms(language).items():
        for word in words:
            keys.setdefault(fold_key(word), set()).add(key)
    return {word: key for word, (key, *more) in keys.items() if not more}


def rewrite_idioms(question: str) -> str:
    """Replace idioms in a question by words that can be matched."""
    return _IDIOM.sub("as work", question)


@lru_cache(maxsize=32)
def _load_key_synonyms(language: str) -> Mapping[str, list[str]]:
    return load_language_pack(language).read("key_synonyms")


_FAMILY: Final[frozenset[RelationType]] = frozenset(
    {"parent_of", "child_of", "sibling_of", "relative_of"}
)
_SEVERAL: Final[Mapping[str, tuple[str, ...]]] = {
    "family": (
        *PARTNER_ROLES,
        *(part for part, tie in RELATION_BY_ROLE.items() if tie in _FAMILY),
        "children",
        "kids",
        "sister-in-law",
        "brother-in-law",
        "mother-in-law",
        "father-in-law",
    ),
    "parents": ("parents", "mother", "father"),
    "siblings": ("siblings", "sibling", "sister", "brother"),
    "children": ("children", "kids", "child", "son", "daughter"),
    "grandparents": ("grandmother", "grandfather"),
    "pets": ("pets", *sorted(PET_ROLES - {"pets"})),
    "friend": ("friend", "best friend", "best_friend"),
    **dict.fromkeys(("flatmate", "roommate"), ("flatmate", "roommate")),
    **{child: (child, "children") for child in ("son", "daughter")},
    **{pet: (pet, "pets") for pet in PET_ROLES - {"pet", "pets"}},
    **dict.fromkeys(PARTNER_ROLES, PARTNER_ROLES),
}
ROLE_KEYS: Final = frozenset((*RELATION_BY_ROLE, *PET_ROLES, "children", "parents", "siblings"))
"""All keys for the role of a relative, friend or pet."""


def list_role_keys(role: str) -> tuple[str, ...]:
    """Return the keys that a role stands for: "parents" are a mother and a father."""
    return _SEVERAL.get(role, (role,))


@lru_cache(maxsize=32)
def get_role_words(language: str) -> Mapping[str, str]:
    """Return the words of a language for relatives and pets, each with its role."""
    return load_language_pack(language).read("roles")


@lru_cache(maxsize=32)
def get_role_phrases(language: str) -> Mapping[str, str]:
    """Return what somebody is to the person in a language, by role: "your sister"."""
    pack = load_language_pack(language)
    words: Mapping[str, Sequence[str]] = (
        pack.read("address").get("kin", {}) if pack.has("address") else {}
    )
    return {role: to_person for role, (to_person, _) in words.items()}
