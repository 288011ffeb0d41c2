"""Which of the companion's thoughts are at hand, and which questions has it let go?

A thought is believed like anything else; that it rests on live words is seen to elsewhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import decide
from oldfriend.memory.expiring import CLOCK

QUESTION: Final = "question"
"""The key of a thought that asks something."""
OF_PERSON, OF_COMPANION = 10, 5
"""So many thoughts come to mind in any case (ACCEPTANCE G16) …"""
QUESTIONS: Final = 3
"""… and of them so many that ask."""
ASKED_FOR: Final = 14 * DAY
"""After so long a question is let go that nothing has answered."""


def thoughts_at_hand(thoughts: Sequence[Known]) -> list[Known]:
    """What comes to mind whatever is said: the newest and strongest of the person's and its own.

    Of all thoughts that are believed now; those about the person first.
    """
    return [
        *foremost(about(thoughts, "person"), OF_PERSON),
        *foremost(about(thoughts, "companion"), OF_COMPANION),
    ]


def about(thoughts: Iterable[Known], subject: str) -> list[Known]:
    """Those about one of the two."""
    return [each for each in thoughts if each.memory.subject == subject]


def foremost(thoughts: Sequence[Known], most: int) -> list[Known]:
    """In turn the newest and the strongest of them, each once."""
    questions = [each for each in thoughts if is_question(each.memory)]
    held = [each for each in thoughts if not is_question(each.memory)]
    held += sorted(questions, key=newness, reverse=True)[:QUESTIONS]
    newest = sorted(held, key=newness, reverse=True)
    strongest = sorted(held, key=force, reverse=True)
    in_turn = chain.from_iterable(zip_longest(newest, strongest))
    once = {each.memory.id: each for each in in_turn if each is not None}
    return list(once.values())[:most]


def newness(known: Known) -> tuple[Micros, str]:
    """How new a thought is."""
    return known.memory.learned_at, known.memory.id


def force(known: Known) -> tuple[bool, int, float, Micros]:
    """How strong a thought is: kept by the person, felt, borne out."""
    memory = known.memory
    return memory.is_pinned, abs(memory.impact), known.standing.strength, memory.learned_at


def is_question(memory: Memory) -> bool:
    """Whether a thought asks something."""
    return memory.kind == "thought" and memory.key == QUESTION


async def let_questions_go(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """End the questions that nobody has answered for long; which those are.

    The caller holds the person's lock.
    """
    gone: list[MemoryId] = []
    for known in await list_memories(tx, person, kinds=["thought"]):
        is_old = known.memory.learned_at + ASKED_FOR <= now
        if is_question(known.memory) and is_old and not known.memory.is_pinned:
            after = replace(known.memory, status="expired", ended_at=now)
            await decide(tx, after, op="expired", base=known.base, ground=CLOCK, now=now)
            gone.append(known.memory.id)
    return gone
