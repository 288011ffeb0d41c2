"""Which beliefs are values of what is asked for by its key? They answer in whatever language.

Told what is believed. Knows neither words nor meanings.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.memories import Known, Memory
from oldfriend.domain.ties import RELATION_OF
from oldfriend.memory.overtaking import stands
from oldfriend.memory.search.past import Times
from oldfriend.memory.search.questions import Matter, names_any
from oldfriend.memory.search.values import Reason
from oldfriend.memory.search.whose import Whose

SURE: Final = 0.95  # how likely a value answers the question for its key
_NO_MORE: Final = re.compile(
    r"no longer |ya no |plus |nicht mehr |不再|(?:none|ninguno|aucun|keine) \(|无（"
)
"""How the value of what has ended begins."""
ASKED_FOR: Final = Reason(cause="asked_for", strength=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of what a question asks for by its key."""

    matter: Matter | None = None  # None: it asks for nothing that has a key
    told: tuple[Known, ...] = ()  # those that held when one asks about
    other_times: tuple[Known, ...] = ()  # those that held when one does not, where none is told
    overtaken: tuple[Known, ...] = ()  # those that are over, where one is told that holds now


def values_of(matter: Matter | None, known: Iterable[Known], times: Times, whose: Whose) -> Values:
    """What is believed of what is asked for, at the time that is asked about."""
    if matter is None:
        return Values()
    known = list(known)
    kin, parted = kin_then(known, matter, times)
    values = [
        each
        for each in known
        if owner_of(each.memory) not in parted and is_value(each.memory, matter, whose, kin)
    ]
    told = likeliest([each for each in values if times.answers(each)], matter)
    others = () if told else tuple(each for each in values if stands(each.memory))
    over = (each for each in values if each.memory.ended_at is not None)
    overtaken = tuple(over) if told and not times.is_past else ()
    return Values(matter=matter, told=tuple(told), other_times=others, overtaken=overtaken)


def names_of_kin(known: Iterable[Known], matter: Matter) -> frozenset[str]:
    """What those are called who are to the asker what the question says: the mother's name."""
    return frozenset(
        owner_of(each.memory)
        for each in known
        if each.memory.value in matter.of_kin and each.memory.key.endswith(RELATION_OF)
    ) - {""}


def kin_then(
    known: Sequence[Known], matter: Matter, times: Times
) -> tuple[frozenset[str], frozenset[str]]:
    """Who is to the asker what the question says, or was at its time; and who is so no more."""
    if times.is_past:  # who is so today is meant, though it asks of what was
        today = names_of_kin((each for each in known if each.memory.ended_at is None), matter)
        kin = today or names_of_kin(filter(times.fits, known), matter)
    else:
        kin = names_of_kin(filter(times.answers, known), matter)
    return kin, names_of_kin(known, matter) - kin


def owner_of(memory: Memory) -> str:
    """Whose value it is, by name; nothing, where it is the person's."""
    return memory.key.rpartition(":")[0]


def is_value(memory: Memory, matter: Matter, whose: Whose, kin: frozenset[str]) -> bool:
    """Whether a belief is a value of what is asked for, of whom it is asked."""
    if matter.key_of(memory) is None:
        return False
    if matter.is_promise and matter.is_own:
        is_to_kin = matter.may_be_told_by(memory.text) and whose.may_be_to(memory)
        return names_any(kin, memory.text) or is_to_kin
    if matter.is_own or matter.is_of_another_s:
        return matter.is_own
    return owner_of(memory) in kin or whose.is_about(memory)


def tells_an_end(memory: Memory) -> bool:
    """Whether it only tells that something is so no more."""
    return _NO_MORE.match(memory.value) is not None


def likeliest(values: Sequence[Known], matter: Matter) -> list[Known]:
    """The values of the likeliest key; where they only tell an end, what was told with it or since.

    "I'm no longer a teacher, I work in a bookshop now": of the job, that it is in a bookshop.
    """
    told = of_the_likeliest_key(values, matter)
    over = [each for each in told if tells_an_end(each.memory)]
    if len(over) < len(told) or not told:
        return [each for each in told if each not in over]
    ended = max(each.standing.last_seen for each in over)
    since = [
        each
        for each in values
        if each.standing.last_seen >= ended and not tells_an_end(each.memory)
    ]
    return of_the_likeliest_key(since, matter) or told


def of_the_likeliest_key(values: Sequence[Known], matter: Matter) -> list[Known]:
    """The values of the likeliest key that has any, unless all are asked for."""
    if matter.asks_for_all:
        return list(values)
    for key in matter.keys:
        if found := [each for each in values if matter.key_of(each.memory) == key]:
            return found
    return []
