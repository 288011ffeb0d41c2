"""Entity phrases: what an entity is to the person in a few words, such as "your brother"."""

from functools import lru_cache

from oldfriend.beliefs.entity_relations import EntityRelation
from oldfriend.domain.memories import EntityKind
from oldfriend.domain.relations import PET_ROLES
from oldfriend.lang.language_pack import LANGUAGES, load_language_pack


def phrase_relation(known: EntityRelation, kind: EntityKind, language: str) -> str:
    """Say in a language what an entity is to the person or somebody else; "" if nothing is known.

    A language without such words is answered in English.
    """
    words, own = _load_phrases(language) or _load_phrases(LANGUAGES[0]) or ({}, "")
    is_own_word = own and known.word and known.role not in PET_ROLES and known.other is None
    if is_own_word and known.language == language:
        return own.format(word=known.word)
    relation = "pet" if known.relation == "owns" and kind == "pet" else known.relation
    if relation is None or (relation == "owns" and kind == "person"):
        return ""
    to_person, to_other = words.get(known.role) or words[relation]
    return to_person if known.other is None else to_other.format(name=known.other)


@lru_cache(maxsize=8)
def _load_phrases(language: str) -> tuple[dict[str, list[str]], str] | None:
    """Load the words for roles and relations; None if a language has none."""
    pack = load_language_pack(language)
    told = pack.read("address") if pack.has("address") else {}
    return (told["kin"], told.get("own", "")) if "kin" in told else None
