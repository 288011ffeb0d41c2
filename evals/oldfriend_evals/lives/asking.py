"""Does it come to mind when it is asked for? The questions to a life, asked of who has lived it.

Asks the product's own recall, with what it has come to believe itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.app.embed_messages import embed_missing
from oldfriend.domain.messages import Person
from oldfriend.memory.people import get_person_by_id
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.recalled import RecalledItem, RecalledMessage, RecallQuery, RecallResult
from oldfriend.turn.retrieval import recall
from oldfriend_evals.lives.judging import Held, Judge
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.living import Lived, Living
from oldfriend_evals.lives.questions import LifeQuestion

AMONG: Final = 5
BUDGET: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What became of one question."""

    question: LifeQuestion
    is_first: bool  # the best that comes to mind answers
    is_among: bool  # one of the first five does
    is_refused: bool  # nothing is held for an answer


async def ask(living: Living, lived: Lived, questions: Sequence[LifeQuestion]) -> list[Answered]:
    """All questions to a life, asked at its end."""
    person = await who_lives(living)
    judge = Judge(living.life, lived.places)
    return [
        answered(each, await recalled(living, person, each.text), lived, judge)
        for each in questions
    ]


async def told_of(living: Living, other: Life) -> list[str]:
    """All that a prompt would hold when somebody asks with the words that another has entrusted."""
    person = await who_lives(living)
    said = {line.id: line.spoken.text for line in other.lines}
    cues = [cue_of(living, said[told.line]) for told in other.truth.entrusted]
    looking = living.app.search_deps
    return [await build_context(looking, person, cue, budget=BUDGET) for cue in cues]


async def who_lives(living: Living) -> Person:
    """The person, all of whose words can be found by their meaning."""
    await embed_missing(living.app, living.person)
    async with living.app.db.begin_read() as tx:
        return await get_person_by_id(tx, living.person)


async def recalled(living: Living, person: Person, text: str) -> RecallResult:
    """What comes to mind at the end of a life."""
    return await recall(living.app.search_deps, person, cue_of(living, text), limit=AMONG)


def cue_of(living: Living, text: str) -> RecallQuery:
    """A text as a cue."""
    return RecallQuery(text=text, language=living.life.language, at=living.calendar.now)


def answered(
    question: LifeQuestion, recollection: RecallResult, lived: Lived, judge: Judge
) -> Answered:
    """What the truth says of what came to mind."""
    right = [answers(thing, question, lived, judge) for thing in recollection.ranking[:AMONG]]
    return Answered(
        question=question,
        is_first=any(right[:1]),
        is_among=any(right),
        is_refused=not (recollection.is_answerable or recollection.is_belief_answerable),
    )


def answers(thing: RecalledItem, question: LifeQuestion, lived: Lived, judge: Judge) -> bool:
    """Whether a message tells what is asked for, or a belief says it rightly."""
    if isinstance(thing, RecalledMessage):
        return lived.places.get(thing.message.id) in question.lines_in(judge.life)
    held = Held(memory=thing.state.memory, evidence=thing.evidence)
    verdict = judge.verdict_on(held)
    meant = verdict.belief if verdict.is_right else None
    return meant is not None and meant.id in question.beliefs
