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
from oldfriend.memory.search.words import is_stop_word, is_unspaced, words_in

LONGEST_NAME: Final = 80
BEGINNING: Final = 2
"""Letters that the forms of one name begin with."""
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
    return any(
        stands_in(alias, places) and any(is_form_of(alias, form) for form in forms)
        for alias in named.aliases
    )


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
