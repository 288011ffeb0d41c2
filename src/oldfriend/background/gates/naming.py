"""Is somebody really called that? Names stand in the words of the person or of other people."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim, Named, Sameness
from oldfriend.background.gates.harm import gives_orders, holds_secret
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import asks
from oldfriend.background.gates.talk import Talk, spoken_in
from oldfriend.background.rules.books import rule_book
from oldfriend.domain.ties import RELATION
from oldfriend.domain.trust import TrustClass
from oldfriend.memory.search.words import is_stop_word, is_unspaced, words_in
from oldfriend.prompts.phrasebook import spoken_language

LONGEST_NAME: Final = 80
FAMILY: Final = frozenset({
    "mother", "father", "grandmother", "grandfather", "sister", "brother", "son", "daughter",
    "wife", "husband", "aunt", "uncle",
})  # fmt: skip
"""Parts by which people call somebody in place of a name."""
COLLOQUIAL: Final[Mapping[str, str]] = {
    "mam": "mother", "mummy": "mother", "mommy": "mother", "old lady": "mother",
    "pa": "father", "pop": "father", "daddy": "father", "old man": "father",
    "vieja": "mother", "viejo": "father", "mami": "mother", "papi": "father",
    "jefecita": "mother", "abu": "grandmother", "yaya": "grandmother", "yayo": "grandfather",
    "mutti": "mother", "vati": "father", "alter herr": "father", "alte dame": "mother",
    "vieille": "mother", "vieux": "father", "mamie": "grandmother", "papy": "grandfather",
    "老妈": "mother", "老爸": "father", "老妈子": "mother", "老头子": "father", "老爷子": "father",
}  # fmt: skip
"""Words for them that mean something else where nobody is known so."""
BEFORE_PARTS: Final = frozenset({
    "the", "my", "our", "la", "el", "mi", "nuestra", "nuestro", "ma", "mon", "notre", "le",
    "meine", "mein", "unsere", "unser", "die", "der",
})  # fmt: skip
BEGINNING: Final = 2
"""Letters that the forms of one name begin with."""
OF_OURS: Final = re.compile("^我们?家?的?")
NAMING: Final[frozenset[TrustClass]] = frozenset({"person", "other", "tool"})
"""Whose words bring somebody into the person's life."""


def checked_name(named: Named, places: tuple[Place, ...], talk: Talk) -> Named | Reason:
    """Somebody with the names that were really said, or why there is nobody."""
    naming = [place for place in places if place.message.trust in NAMING]
    if not naming:
        return "not evidence"
    named = as_called(named, naming, talk)
    if not is_name(named.name, talk) or not has_name(named, naming, talk):
        return "unfit name"
    said = [message.text for message in talk.heard if message.trust in NAMING]
    aliases = dict.fromkeys(
        alias
        for alias in named.aliases
        if alias != named.name and is_name(alias, talk) and is_within(alias, said)
    )
    return replace(named, quotes=tuple(place.quote for place in naming), aliases=tuple(aliases))


def as_called(named: Named, places: Iterable[Place], talk: Talk) -> Named:
    """Somebody under the first of their names that was said, where they are not known by one."""
    if stands_in(named.name, places) or is_heard_of(named.name, talk):
        return named
    said = [alias for alias in named.aliases if stands_in(alias, places)]
    if not said:
        return named
    return replace(named, name=said[0], aliases=tuple(said[1:]))


def has_name(named: Named, places: Iterable[Place], talk: Talk) -> bool:
    """Whether somebody was called so; of who is known, a form of their name is enough."""
    if stands_in(named.name, places):
        return True
    if not is_heard_of(named.name, talk):
        return False
    forms = {named.name, *called_besides(named.name, talk)}
    parts = parts_of(forms, talk)
    return any(
        stands_in(alias, places)
        and (part_in(alias, talk.language) in parts or any(is_form_of(alias, f) for f in forms))
        for alias in named.aliases
    )


def parts_of(names: Collection[str], talk: Talk) -> frozenset[str]:
    """Which parts of a family somebody is known to play: mother, brother …"""
    facts = [each for each in talk.known.values() if each.kind == "fact"]
    theirs = [each for each in facts if is_within_any(names, f"{each.key} {each.value}")]
    told = [(each.key.rpartition(":")[2], each) for each in theirs]
    words = [each.value if key == RELATION else key for key, each in told]
    return frozenset(part for word in words if (part := part_in(word, talk.language)))


def part_in(alias: str, language: str) -> str | None:
    """Which part of a family a word for somebody names, with "the" or "my" before it or without."""
    words = [each for each in words_in(alias.casefold()) if each not in BEFORE_PARTS]
    is_wide = any(map(is_unspaced, alias))
    word = OF_OURS.sub("", alias.strip()) if is_wide else " ".join(words)
    if word in FAMILY:
        return word
    part = rule_book(spoken_language(language)).parts.get(word)
    found = COLLOQUIAL.get(word) if part is None else part.relation
    return found if found in FAMILY else None


def is_within_any(names: Iterable[str], text: str) -> bool:
    """Whether any of some names stands in a text."""
    return any(is_within(name, (text,)) for name in names)


def called_besides(name: str, talk: Talk) -> set[str]:
    """The other names of whoever is known by a name."""
    return {
        each
        for entity in talk.material.entities
        if name.casefold() in map(str.casefold, (entity.name, *entity.aliases))
        for each in (entity.name, *entity.aliases)
    }


def is_heard_of(name: str, talk: Talk) -> bool:
    """Whether a name is known, by who is known or by what is known of them."""
    known = [name for each in talk.material.entities for name in (each.name, *each.aliases)]
    return is_within(name, (*known, *(each.text for each in talk.known.values())))


def is_form_of(alias: str, name: str) -> bool:
    """Whether one name is short for another, or made of it: Jo, Josie; Tom B; 小雨, 桂香奶奶."""
    ours, theirs = alias.casefold(), name.casefold()
    if any(map(is_unspaced, theirs)):
        return any(ours[at : at + BEGINNING] in theirs for at in range(len(ours) - 1))
    first, *rest = words_in(ours) or [ours]
    begins = theirs.startswith(first[:BEGINNING])
    return begins and all(any(word.startswith(each) for word in words_in(theirs)) for each in rest)


def checked_sameness(
    sameness: Sameness, places: tuple[Place, ...], talk: Talk
) -> Sameness | Reason:
    """Whether two are the same, as the person said it, or why it is not known."""
    own = [place for place in places if place.message.trust == "person"]
    if not own:
        return "not evidence"
    if all(asks(place.said, spoken_in(place), place.message.language) for place in own):
        return "question"
    both_known = is_known(sameness.one, talk) and is_known(sameness.other, talk)
    if not both_known or sameness.one == sameness.other:
        return "unfit name"
    return replace(sameness, quotes=tuple(place.quote for place in own))


def is_name(name: str, talk: Talk) -> bool:
    """Whether it can be the name of somebody in the person's life: no pronoun, not their own."""
    material = talk.material
    own = {each.casefold() for each in (material.person.name, *material.companion_names)}
    words = words_in(name)
    return (
        len(name) <= LONGEST_NAME
        and name.casefold() not in own
        and any(character.isalpha() for character in name)
        and not all(is_stop_word(word, talk.language) for word in words)
        and not gives_orders(name)
        and not holds_secret(name)
    )


def is_known(name: str, talk: Talk) -> bool:
    """Whether somebody is known by this id or name, or was named in the talk."""
    entities = talk.material.entities
    called = {each for entity in entities for each in (entity.id, entity.name, *entity.aliases)}
    return name in called or is_within(name, (message.text for message in talk.heard))


def stands_in(name: str, places: Iterable[Place]) -> bool:
    """Whether a name stands in a message that is quoted for it, or is its speaker's."""
    messages = [place.message for place in places]
    return is_within(name, [text for each in messages for text in (each.text, each.speaker)])


def is_within(name: str, texts: Iterable[str]) -> bool:
    """Whether a name stands in one of the texts, in whatever letter case."""
    return any(name.casefold() in text.casefold() for text in texts)


def names_in_text(claim: Claim) -> tuple[str, ...]:
    """Those of a claim's names that stand in its text (ACCEPTANCE H3)."""
    return tuple(dict.fromkeys(name for name in claim.names if name and name in claim.text))
