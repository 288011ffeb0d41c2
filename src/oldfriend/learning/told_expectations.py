"""Told expectations: closes what was expected or promised once somebody tells that it is over.

"I passed my exam!" closes the exam on the day it was due or later: by what is said to be done, by
shared words, or by nearness in meaning. It is checked with each message, so that nobody is asked
about what they have just told. In doubt it stays open, and is asked about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import EXPECTATION, FUTURE_KINDS
from oldfriend.domain.belief_times import get_deadline
from oldfriend.domain.clock import Micros, get_start_of_day
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import Cause, MemoryState, StoredBelief
from oldfriend.domain.messages import Message, Person
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.rule_extraction.datetimes import due_in, without_times
from oldfriend.learning.rule_extraction.promises import (
    deeds_in,
    is_kept_by,
    is_own_promise,
    matter_of,
)
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, statements_in
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.vectors import load_belief_vectors

MIN_COSINE: Final = 0.7
"""Nearness of a message to an expectation that is due, at which it tells of it."""
AUTHOR: Final = "told/1"


async def close_told(
    tx: Transaction,
    person: Person,
    messages: Sequence[Message],
    *,
    model: str,
    vectors: NDArray[np.float32] | None,
    now: Micros,
) -> list[MemoryId]:
    """Mark as fulfilled what the person's messages tell of; return the ids."""
    own = [each for each in messages if each.role == "person" and each.trust == "person"]
    if not own:
        return []
    open_states = [
        each
        for each in await list_memories(tx, person.id, kinds=FUTURE_KINDS)
        if each.memory.due_at is not None and each.memory.status != "disputed"
    ]
    if not open_states:
        return []
    known = await load_belief_vectors(
        tx, person.id, model, [each.memory.id for each in open_states]
    )
    closed: list[MemoryId] = []
    for index, message in enumerate(messages):
        vector = None if vectors is None or message not in own else vectors[index]
        for state in open_states if message in own else ():
            if state.memory.id in closed or state.stats.last_seen >= message.at:
                continue
            belief_vector = known.get(state.memory.id)
            nearness = (
                0.0
                if vector is None or belief_vector is None
                else float(np.dot(vector, belief_vector))
            )
            told = find_telling(state.memory, message, person.zone, nearness=nearness)
            if told is not None:
                await close(tx, state, message, told, now=now)
                closed.append(state.memory.id)
    return closed


def find_telling(
    memory: StoredBelief, message: Message, zone: str, *, nearness: float
) -> str | None:
    """Return the words of a message that tell how something went or that it is done, if any."""
    deadline = get_deadline(memory, zone)
    if deadline is None or message.language not in list_languages("rules"):
        return None
    book = load_rule_book(message.language)
    for sentence in statements_in(message, book):
        if sentence.is_question or due_in(sentence.plain, message, book) is not None:
            continue
        if is_told(memory, sentence, book, deadline=deadline, zone=zone, nearness=nearness):
            return sentence.words
    return None


def is_told(
    memory: StoredBelief,
    sentence: Sentence,
    book: RuleBook,
    *,
    deadline: Micros,
    zone: str,
    nearness: float,
) -> bool:
    """Whether a statement tells of something that was due: by a deed, its words or its meaning."""
    said_at = sentence.message.at
    if is_own_promise(memory):
        deeds = deeds_in(sentence, book)
        return any(is_kept_by(memory.text, memory.language, deed) for deed in deeds)
    if memory.kind != EXPECTATION.name or said_at < get_start_of_day(deadline, zone):
        return False
    matter = frozenset(find_matter(memory, book))
    if said_at <= deadline:  # on its day it may still be ahead: only a deed tells that it is over
        return any(deed.objects & matter for deed in deeds_in(sentence, book))
    shared = matter & matter_of(without_times(sentence.plain, book), book.language)
    return nearness >= MIN_COSINE or (bool(shared) and 2 * len(shared) >= len(matter))


def find_matter(memory: StoredBelief, book: RuleBook) -> Iterator[str]:
    """Yield the stems of what an expectation is about, without its date."""
    for stem in matter_of(without_times(memory.text, book), book.language):
        if not any(character.isdigit() for character in stem):
            yield stem


async def close(
    tx: Transaction, belief_state: MemoryState, message: Message, words: str, *, now: Micros
) -> None:
    """Record that something was fulfilled, and by which words."""
    memory = belief_state.memory
    quote = NewEvidence(source=message, quote=words)
    await add_evidence(tx, memory.person, memory.id, [quote], extractor=AUTHOR, now=now)
    cause = Cause(message=message.id, version=message.version)
    await record_decision(
        tx,
        replace(memory, status="fulfilled", ended_at=now),
        op="fulfilled",
        base=belief_state.base_seq,
        provenance=Provenance(author=AUTHOR, causes=(cause,)),
        now=now,
    )
