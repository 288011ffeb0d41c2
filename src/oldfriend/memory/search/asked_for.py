"""Which beliefs are values of what is asked for by its key? They answer in whatever language.

Told what is believed. Knows neither words nor meanings.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.overtaking import stands
from oldfriend.memory.search.past import Times
from oldfriend.memory.search.questions import RELATION, Matter
from oldfriend.memory.search.values import Reason
from oldfriend.memory.search.whose import Whose

SURE: Final = 0.95  # how likely a value answers the question for its key
_NO_MORE: Final = re.compile("no longer |ya no |plus |nicht mehr |不再")
"""How the value of what has ended begins."""
ASKED_FOR: Final = Reason(cause="asked_for", strength=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of what a question asks for by its key."""

    matter: Matter | None = None  # None: it asks for nothing that has a key
    told: tuple[Known, ...] = ()  # those that held when one asks about
    other_times: tuple[Known, ...] = ()  # those that held when one does not, where none is told


def values_of(matter: Matter | None, known: Iterable[Known], times: Times, whose: Whose) -> Values:
    """What is believed of what is asked for, at the time that is asked about."""
    if matter is None:
        return Values()
    known = list(known)
    kin = names_of_kin(known, matter) if matter.of_kin else frozenset[str]()
    values = [each for each in known if is_value(each.memory, matter, whose, kin)]
    told = of_the_likeliest_key([each for each in values if times.answers(each)], matter)
    told = [each for each in told if not tells_an_end(each.memory)] or told
    others = () if told else tuple(each for each in values if stands(each.memory))
    return Values(matter=matter, told=tuple(told), other_times=others)


def names_of_kin(known: Iterable[Known], matter: Matter) -> frozenset[str]:
    """What those are called who are to the asker what the question says: the mother's name."""
    relations = (
        each.memory.key.rpartition(":") for each in known if each.memory.value in matter.of_kin
    )
    return frozenset(owner for owner, _, bare in relations if bare == RELATION)


def is_value(memory: Memory, matter: Matter, whose: Whose, kin: Collection[str] = ()) -> bool:
    """Whether a belief is a value of what is asked for, of whom it is asked."""
    if matter.key_of(memory) is None:
        return False
    if matter.is_promise and matter.is_own:
        return any(name in memory.text for name in kin) or whose.may_be_to(memory)
    return matter.is_own or memory.key.rpartition(":")[0] in kin or whose.is_about(memory)


def tells_an_end(memory: Memory) -> bool:
    """Whether it only tells that something is so no more."""
    return _NO_MORE.match(memory.value) is not None


def of_the_likeliest_key(values: Sequence[Known], matter: Matter) -> list[Known]:
    """The values of the likeliest key that has any, unless all are asked for."""
    if matter.asks_for_all:
        return list(values)
    for key in matter.keys:
        if found := [each for each in values if matter.key_of(each.memory) == key]:
            return found
    return []
