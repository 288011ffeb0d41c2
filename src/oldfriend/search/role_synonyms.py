"""Role synonyms: the words for relatives, partners and pets ("Mum" is the mother)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from oldfriend.domain.memories import RelationType
from oldfriend.domain.relations import PARTNER_ROLES, PET_ROLES, RELATION_BY_ROLE
from oldfriend.lang.language_pack import load_language_pack

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
