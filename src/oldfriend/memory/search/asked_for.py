"""Which beliefs are values of what is asked for by its key? They answer in whatever language.

Told what is believed. Knows neither words nor meanings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.overtaking import stands
from oldfriend.memory.search.past import Times
from oldfriend.memory.search.questions import Matter
from oldfriend.memory.search.values import Reason
from oldfriend.memory.search.whose import Whose

SURE: Final = 0.95  # how likely a value answers the question for its key
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
    values = [each for each in known if is_value(each.memory, matter, whose)]
    told = of_the_likeliest_key([each for each in values if times.answers(each)], matter)
    others = () if told else tuple(each for each in values if stands(each.memory))
    return Values(matter=matter, told=tuple(told), other_times=others)


def is_value(memory: Memory, matter: Matter, whose: Whose) -> bool:
    """Whether a belief is a value of what is asked for, of whom it is asked."""
    if matter.key_of(memory) is None:
        return False
    if matter.is_promise and matter.is_own:
        return whose.may_be_to(memory)
    return matter.is_own or whose.is_about(memory)


def of_the_likeliest_key(values: Sequence[Known], matter: Matter) -> list[Known]:
    """The values of the likeliest key that has any."""
    for key in matter.keys:
        if found := [each for each in values if matter.key_of(each.memory) == key]:
            return found
    return []
