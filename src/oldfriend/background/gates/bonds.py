"""Do the words tell of such a tie? They name no other one, and a couple they name as one.

Told by the words for ties, one list a language (``bonds``). Whether the right two are meant is not
known here.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final, Literal, cast, get_args

from oldfriend.background.gates.telltales import folded
from oldfriend.domain.memories import Tie
from oldfriend.prompts.phrasebook import spoken_language

Bond = Literal[
    "partner", "parent", "child", "sibling", "relative", "friend", "colleague", "home", "work"
]
OF_TIE: Final[Mapping[Tie, frozenset[Bond]]] = {
    "partner_of": frozenset({"partner"}),
    "parent_of": frozenset({"parent", "child"}),
    "child_of": frozenset({"parent", "child"}),
    "sibling_of": frozenset({"sibling"}),
    "relative_of": frozenset({"relative", "parent", "child", "sibling", "partner"}),
    "friend_of": frozenset({"friend", "colleague", "partner"}),
    "colleague_of": frozenset({"colleague", "friend", "work"}),
    "lives_in": frozenset({"home"}),
    "works_at": frozenset({"work", "colleague"}),
}
NAMED_ONLY: Final[frozenset[Tie]] = frozenset({"partner_of"})
"""What is not believed of two until it is said in so many words."""
PLACES: Final[frozenset[Bond]] = frozenset({"home", "work"})


def tells_of(tie: Tie, said: str, *, near: str, language: str) -> bool:
    """Whether words can tell of a tie: they name it, or none of its sort; ``near`` is beside."""
    wanted = OF_TIE.get(tie)
    if wanted is None:
        return True
    named = bonds_in(said, language)
    if wanted & named:
        return True
    if tie in NAMED_ONLY:
        return not named - PLACES and bool(wanted & bonds_in(near, language))
    sort = PLACES if wanted & PLACES else frozenset(bonds_of(language)) - PLACES
    return not named & sort


def is_turned(tie: Tie, said: str, *, by_first: bool, language: str) -> bool:
    """Whether who speaks would be the parent of those whom they call so, or the child."""
    named = bonds_in(said, language) & {"parent", "child"}
    if tie not in {"parent_of", "child_of"} or len(named) != 1:
        return False
    other_is_parent = (tie == "child_of") == by_first
    return other_is_parent != (named == {"parent"})


def has_borne(name: str, said: str, *, language: str) -> bool:
    """Whether words say of somebody that they had a child."""
    verb = lists_of(language)["birth"]
    return re.search(rf"{re.escape(folded(name))}{verb}", folded(said), re.IGNORECASE) is not None


def tells_parting(said: str, *, language: str) -> bool:
    """Whether words say of a couple that they are none any more."""
    return re.search(lists_of(language)["parted"], folded(said), re.IGNORECASE) is not None


def bonds_in(text: str, language: str) -> frozenset[Bond]:
    """What ties the words of a text name."""
    plain = folded(text)
    found = {bond for bond, words in bonds_of(language).items() if words.search(plain)}
    return frozenset(found)


@cache
def bonds_of(language: str) -> Mapping[Bond, re.Pattern[str]]:
    """The words for ties of a language."""
    return {
        cast(Bond, bond): re.compile(each, re.IGNORECASE)
        for bond, each in lists_of(language).items()
        if bond in get_args(Bond)
    }


@cache
def lists_of(language: str) -> Mapping[str, str]:
    """All lists of a language."""
    files = resources.files("oldfriend.background.gates") / "bonds"
    lists: Mapping[str, str] = tomllib.loads(
        (files / f"{spoken_language(language)}.toml").read_text("utf-8")
    )
    return lists
