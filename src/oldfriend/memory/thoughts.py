"""Thoughts: selects the companion's thoughts for a prompt and expires old questions.

A thought is a belief like any other; its evidence is maintained elsewhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.expiry import BY_CLOCK
from oldfriend.memory.journal import record_decision

QUESTION_KEY: Final = "question"
"""The key of a thought that is a question."""
MAX_ABOUT_PERSON, MAX_ABOUT_COMPANION = 10, 5
"""The numbers of thoughts that are in every prompt."""
MAX_QUESTIONS: Final = 3
"""The number of questions among them."""
QUESTION_TTL: Final = 14 * DAY
"""An unanswered question expires after this time."""


def select_thoughts(thoughts: Sequence[MemoryState]) -> list[MemoryState]:
    """Select the live thoughts for every prompt: the newest and strongest about the person, then
    about the companion.
    """
    return [
        *rank_thoughts(filter_by_subject(thoughts, "person"), MAX_ABOUT_PERSON),
        *rank_thoughts(filter_by_subject(thoughts, "companion"), MAX_ABOUT_COMPANION),
    ]


def filter_by_subject(thoughts: Iterable[MemoryState], subject: str) -> list[MemoryState]:
    """Return the thoughts about one subject."""
    return [each for each in thoughts if each.memory.subject == subject]


def rank_thoughts(thoughts: Sequence[MemoryState], limit: int) -> list[MemoryState]:
    """Return the newest and the strongest thoughts alternately, each once."""
    questions = [each for each in thoughts if is_question(each.memory)]
    candidates = [each for each in thoughts if not is_question(each.memory)]
    candidates += sorted(questions, key=get_recency_key, reverse=True)[:MAX_QUESTIONS]
    newest = sorted(candidates, key=get_recency_key, reverse=True)
    strongest = sorted(candidates, key=get_strength_key, reverse=True)
    alternating = chain.from_iterable(zip_longest(newest, strongest))
    distinct = {each.memory.id: each for each in alternating if each is not None}
    return list(distinct.values())[:limit]


def get_recency_key(known: MemoryState) -> tuple[Micros, str]:
    """Return the sort key for recency."""
    return known.memory.learned_at, known.memory.id


def get_strength_key(known: MemoryState) -> tuple[bool, int, float, Micros]:
    """Return the sort key for strength: pinned, impact, strength of evidence, then recency."""
    memory = known.memory
    return memory.is_pinned, abs(memory.impact), known.stats.strength, memory.learned_at


def is_question(memory: Memory) -> bool:
    """Whether a thought is a question."""
    return memory.kind == "thought" and memory.key == QUESTION_KEY


async def expire_questions(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Expire old unanswered questions and return the ids. The caller holds the person's lock."""
    expired: list[MemoryId] = []
    for known in await list_memories(tx, person, kinds=["thought"]):
        is_old = known.memory.learned_at + QUESTION_TTL <= now
        if is_question(known.memory) and is_old and not known.memory.is_pinned:
            after = replace(known.memory, status="expired", ended_at=now)
            await record_decision(
                tx, after, op="expired", base=known.base_seq, provenance=BY_CLOCK, now=now
            )
            expired.append(known.memory.id)
    return expired
