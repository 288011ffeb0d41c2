"""Is somebody really called that? Names stand in the words of the person or of other people."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim, Named, Sameness
from oldfriend.background.gates.harm import gives_orders, holds_secret
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import asks
from oldfriend.background.gates.talk import Talk, spoken_in
from oldfriend.domain.trust import TrustClass
from oldfriend.memory.search.words import is_stop_word, words_in

LONGEST_NAME: Final = 80
NAMING: Final[frozenset[TrustClass]] = frozenset({"person", "other", "tool"})
"""Whose words bring somebody into the person's life."""


def checked_name(named: Named, places: tuple[Place, ...], talk: Talk) -> Named | Reason:
    """Somebody with the names that were really said, or why there is nobody."""
    naming = [place for place in places if place.message.trust in NAMING]
    if not naming:
        return "not evidence"
    if not is_name(named.name, talk) or not stands_in(named.name, naming):
        return "unfit name"
    said = [message.text for message in talk.heard if message.trust in NAMING]
    aliases = dict.fromkeys(
        alias
        for alias in named.aliases
        if alias != named.name and is_name(alias, talk) and is_within(alias, said)
    )
    return replace(named, quotes=tuple(place.quote for place in naming), aliases=tuple(aliases))


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
    own = {material.person.name.casefold(), material.companion.casefold()}
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
