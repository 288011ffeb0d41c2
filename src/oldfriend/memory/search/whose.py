"""Whom does a question ask about: who asks it, somebody it names, or what belongs to the asker?

Goes by words alone, in each language that the companion speaks. Knows no question's answer.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Entity, Memory
from oldfriend.memory.search.mentioning import sayings_of
from oldfriend.memory.search.names import named_in
from oldfriend.memory.search.parts import keys_of, parts_in
from oldfriend.memory.search.questions import names_any, words_for
from oldfriend.memory.search.words import is_unspaced

_OWN: Final = {
    "en": r"\b(?:i|me|my|mine|myself)\b",
    "es": r"\b(?:yo|mi|mis|mí|conmigo|mío|mía|vivo|viví|trabajo|trabajé|tengo|tuve|soy|fui|estoy"
    r"|nací|estudio|estudié|hablo|toco|me llamo|prometí|dije|conté|hice|hago|voy|puedo|quiero"
    r"|necesito|debo|conozco)\b",
    "fr": r"\b(?:je|me|moi|mon|ma|mes)\b|\b[jm]['’]",
    "de": r"\b(?:ich|mich|mir|mein\w*)\b",
    "zh": r"我",
}
"""Words by which people speak of themselves; Spanish says it by the verb."""
_BELONGING: Final = {
    "en": r"\bmy (?!\w+ names?\b)(\w+)",
    "es": r"\bmis? (\w+)",
    "fr": r"\b(?:mon|ma|mes) (\w+)",
    "de": r"\bmein\w* (?!\w+ namen?\b)(\w+)",
    "zh": r"我的?(?!叫|住|在|是|做|喜欢)(\w{1,4}?)(?=的名字|叫|住|在|是|做|喜欢)",
}
_NAME: Final = re.compile(
    r"\b(?:names?|called|nombres?|llaman?|noms?|prénoms?|appell\w+|namen?s?|heißt|heißen)\b"
    r"|名字|叫"
)
_CALLS_ME: Final = re.compile(r"\bcalls? me\b|\bme llam|\bm['’]appell|叫我")
_OWN_NAMES: Final = frozenset({"name", "preferred_name"})
_CAPITALIZED: Final = re.compile(r"(?<=[\w,] )[^\W\d_a-zà-ÿ][^\W\d_]+")
_NAMES_ARE_CAPITALIZED: Final = frozenset({"en", "es", "fr"})  # and no other word


_TOO: Final = {"en": r"\b(?:we|us|our)\b", "es": r"\b(?:me|nos|nuestr\w+)\b",
               "fr": r"\b(?:on|nous|notre|nos)\b", "de": r"\b(?:wir|uns|unser\w*)\b"}  # fmt: skip
"""Words by which they speak of themselves among others."""


def tells_only_of_kin(text: str, language: str) -> bool:
    """Whether somebody tells of those who belong to them, and nothing of themselves."""
    if language not in _OWN:
        return False
    said, kin = text.lower(), parts_in(language)
    own = "|".join(filter(None, (_OWN[language], _TOO.get(language))))
    theirs = [found for found in re.finditer(_BELONGING[language], said) if found[1] in kin]
    for found in reversed(theirs):
        said = said[: found.start()] + said[found.end() :]
    return bool(theirs) and re.search(own, said) is None


class Whose:
    """Whom a question is about, and which beliefs cannot answer it for that reason."""

    __slots__ = (
        "_addressed", "_belonging", "_descriptions", "_is_for_a_name", "_kin", "_named", "_names",
        "asked", "asks_of_somebody", "is_own",
    )  # fmt: skip

    def __init__(
        self, text: str, language: str, entities: Sequence[Entity], *, names_a_time: bool,
        named: Sequence[Entity] | None = None,
    ) -> None:  # fmt: skip
        """Read it off the question; a word for a time is nobody's name.

        ``named``: whom of the entities it names, where that is known already.
        """
        said = text.lower()  # "ß" stays as it is
        known = language if language in _OWN else "en"
        self._named = named_in(text, entities) if named is None else tuple(named)
        self.asked = frozenset(each.id for each in self._named)
        self.is_own = re.search(_OWN[known], said) is not None
        self._is_for_a_name = _NAME.search(said) is not None and not _CALLS_ME.search(said)
        nouns = re.findall(_BELONGING[known], said)
        self._belonging = [each.casefold() for each in nouns if not _NAME.fullmatch(each)]
        self._kin = frozenset(
            word
            for kin, part in parts_in(known).items()
            if is_called(kin, said, self._belonging)
            for word in (kin, *words_for(keys_of(part)))
        )
        told = entities if self._belonging else ()
        self._descriptions = {each.id: each.description for each in told}
        is_of_somebody = not (self.is_own or names_a_time) and language in _NAMES_ARE_CAPITALIZED
        found = _CAPITALIZED.findall(text) if is_of_somebody and not self._named else []
        self._names = frozenset(each.casefold() for each in found)
        somebody = any(each.kind in {"person", "pet"} for each in self._named)
        self.asks_of_somebody = somebody or bool(self._names)
        self._addressed = frozenset(_CAPITALIZED.findall(text)) - {"I"}

    def fits(self, memory: Memory) -> bool:
        """Whether a belief is about whom, or what, is asked about."""
        bare = memory.key.rpartition(":")[2]
        if is_of_another(memory):
            return not self.is_own or self._names_who(memory) or self._has_what_belongs(memory)
        if memory.subject != "person":
            return True
        if self.asks_for_a_name and bare in _OWN_NAMES:
            return self._has_what_belongs(memory)
        if self._kin and memory.key and memory.kind in {"fact", "preference"}:
            return self._tells_of_kin(memory)  # where I live tells nothing of my father
        return not self.asks_of_somebody or self._mentions(sayings_of(memory), memory.entities)

    @property
    def asks_for_a_name(self) -> bool:
        """Whether it asks what somebody is called who belongs to the asker."""
        return bool(self._belonging) and self._is_for_a_name

    @property
    def words(self) -> list[str]:
        """What must stand in a belief about whom it asks about, unless that is known of it."""
        names = (name for each in self._named for name in (each.name, *each.aliases))
        folded = [name.strip().casefold() for name in names if name.strip()]
        return [*self._names, *folded, *(name.split()[0] for name in folded)]

    def is_about(self, memory: Memory) -> bool:
        """Whether a belief is about somebody whom the question names, or who is the asker's."""
        return self._names_who(memory) or self._has_what_belongs(memory)

    def may_be_to(self, memory: Memory) -> bool:
        """Whether a promise may have been made to whom the question names, if it names anybody."""
        if self._kin and not self._named:
            return self._tells_of_kin(memory)
        if not (self._named or self._addressed):
            return True
        is_named = names_any(self._addressed, memory.text)
        return is_named or self._mentions(memory.text, memory.entities)

    def _tells_of_kin(self, memory: Memory) -> bool:
        return names_any(self._kin, memory.text)

    def _names_who(self, memory: Memory) -> bool:
        text = f"{memory.text} {memory.key.replace(':', ' ').replace('_', ' ')}"
        return self._mentions(text, memory.entities)

    def _mentions(self, text: str, entities: Collection[EntityId]) -> bool:
        if not self.asked.isdisjoint(entities):
            return True
        return names_any(self._names, text) or bool(named_in(text, self._named))

    def _has_what_belongs(self, memory: Memory) -> bool:
        if not self._belonging:
            return False
        about = [self._descriptions.get(each, "") for each in memory.entities]
        text = " ".join([memory.text, memory.key.replace("_", " "), *about]).casefold()
        return any(noun in text for noun in self._belonging)


def is_called(kin: str, said: str, belonging: Collection[str]) -> bool:
    """Whether a question calls somebody so; without spaces a word is looked for anywhere."""
    return kin in said if is_unspaced(kin) else kin in belonging


def is_of_another(memory: Memory) -> bool:
    """Whether a belief is about somebody or something else than the person."""
    return memory.subject == "other" or ":" in memory.key
