"""Attribute lookup: beliefs that are values of the attribute a question asks for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.domain.relations import RELATION_KEY_SUFFIX
from oldfriend.domain.supersession import is_or_was_true
from oldfriend.search.question_patterns import RequestedAttribute, has_any_word
from oldfriend.search.subject_query import SubjectQuery
from oldfriend.search.tense import TimeFrame

_END_PREFIX: Final = re.compile(
    r"no longer |ya no |plus |nicht mehr |不再|(?:none|ninguno|aucun|keine) \(|无（"
)
"""How the value of an ended belief begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeValues:
    """Values of the attribute that a question asks for."""

    requested: RequestedAttribute | None = None  # None: the question asks for no attribute
    matching: tuple[MemoryState, ...] = ()  # values that held at the time asked about
    other_times: tuple[MemoryState, ...] = ()  # values of other times, if none matches
    superseded: tuple[MemoryState, ...] = ()  # ended values, if a current one matches


def collect_attribute_values(
    requested: RequestedAttribute | None,
    known: Iterable[MemoryState],
    time_frame: TimeFrame,
    subject: SubjectQuery,
) -> AttributeValues:
    """Collect the values of the requested attribute at the time that is asked about."""
    if requested is None:
        return AttributeValues()
    known = list(known)
    kin, former_kin = resolve_kin(known, requested, time_frame)
    values = [
        each
        for each in known
        if parse_key_owner(each.memory) not in former_kin
        and is_requested_value(each.memory, requested, subject, kin)
    ]
    matching = select_likeliest_values(
        [each for each in values if time_frame.is_answer(each)], requested
    )
    other_times = () if matching else tuple(each for each in values if is_or_was_true(each.memory))
    ended = (each for each in values if each.memory.ended_at is not None)
    superseded = tuple(ended) if matching and not time_frame.is_past else ()
    return AttributeValues(
        requested=requested,
        matching=tuple(matching),
        other_times=other_times,
        superseded=superseded,
    )


def list_kin_names(known: Iterable[MemoryState], requested: RequestedAttribute) -> frozenset[str]:
    """List the names of the relatives the question means: the mother's name for "my mother"."""
    return frozenset(
        parse_key_owner(each.memory)
        for each in known
        if each.memory.value in requested.kin_keys and each.memory.key.endswith(RELATION_KEY_SUFFIX)
    ) - {""}


def resolve_kin(
    known: Sequence[MemoryState], requested: RequestedAttribute, time_frame: TimeFrame
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the relatives meant at the time asked about, and of former ones."""
    if time_frame.is_past:  # "my wife" means today's, even in a question about the past
        current = list_kin_names(
            (each for each in known if each.memory.ended_at is None), requested
        )
        kin = current or list_kin_names(filter(time_frame.is_valid, known), requested)
    else:
        kin = list_kin_names(filter(time_frame.is_answer, known), requested)
    return kin, list_kin_names(known, requested) - kin


def parse_key_owner(memory: StoredBelief) -> str:
    """Return the name of the key's owner; "" if the value is the person's own."""
    return memory.key.rpartition(":")[0]


def is_requested_value(
    memory: StoredBelief, requested: RequestedAttribute, subject: SubjectQuery, kin: frozenset[str]
) -> bool:
    """Tell whether a belief is a value of the requested attribute, of the right owner."""
    if requested.find_key(memory) is None:
        return False
    if requested.is_promise and requested.is_own:
        is_match = requested.can_match_text(memory.text) and subject.can_be_addressed_to(memory)
        return has_any_word(kin, memory.text) or is_match
    if requested.is_own or requested.is_of_third_party:
        return requested.is_own
    return parse_key_owner(memory) in kin or subject.is_about(memory)


def is_end_statement(memory: StoredBelief) -> bool:
    """Tell whether a belief says no more than that something has ended."""
    return _END_PREFIX.match(memory.value) is not None


def select_likeliest_values(
    values: Sequence[MemoryState], requested: RequestedAttribute
) -> list[MemoryState]:
    """Select values of the likeliest key, or of another one if all of those state an end.

    Then only values said together with the latest end, or since, count: "I'm no longer a teacher, I
    work in a bookshop now" answers a question for the job with the bookshop.
    """
    likeliest = filter_by_likeliest_key(values, requested)
    end_statements = [each for each in likeliest if is_end_statement(each.memory)]
    if len(end_statements) < len(likeliest) or not likeliest:
        return [each for each in likeliest if each not in end_statements]
    ended = max(each.stats.last_seen for each in end_statements)
    since = [
        each
        for each in values
        if each.stats.last_seen >= ended and not is_end_statement(each.memory)
    ]
    return filter_by_likeliest_key(since, requested) or likeliest


def filter_by_likeliest_key(
    values: Sequence[MemoryState], requested: RequestedAttribute
) -> list[MemoryState]:
    """Return the values of the first key that has any, or all values if all keys are asked for."""
    if requested.is_multi_key:
        return list(values)
    for key in requested.keys:
        if found := [each for each in values if requested.find_key(each.memory) == key]:
            return found
    return []
