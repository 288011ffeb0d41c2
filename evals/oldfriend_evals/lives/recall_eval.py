"""Recall of a life: its questions, asked of a store that has lived it.

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
from oldfriend_evals.lives.belief_eval import Held, Judge
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.questions import LifeQuestion
from oldfriend_evals.lives.simulation import Simulation, SimulationResult

AMONG: Final = 5
BUDGET: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """What became of one question."""

    question: LifeQuestion
    is_first: bool  # the best that comes to mind answers
    is_among: bool  # one of the first five does
    is_refused: bool  # nothing is held for an answer


async def ask_questions(
    living: Simulation, lived: SimulationResult, questions: Sequence[LifeQuestion]
) -> list[AnsweredQuestion]:
    """All questions to a life, asked at its end."""
    person = await load_person(living)
    judge = Judge(living.life, lived.places)
    return [
        judge_recall(each, await recall_text(living, person, each.text), lived, judge)
        for each in questions
    ]


async def list_told_secrets(living: Simulation, other: Life) -> list[str]:
    """All that a prompt would hold when somebody asks with the words that another has entrusted."""
    person = await load_person(living)
    said = {line.id: line.spoken.text for line in other.lines}
    cues = [build_query(living, said[told.line]) for told in other.truth.entrusted]
    looking = living.app.search_deps
    return [await build_context(looking, person, cue, budget=BUDGET) for cue in cues]


async def load_person(living: Simulation) -> Person:
    """The person, all of whose words can be found by their meaning."""
    await embed_missing(living.app, living.person)
    async with living.app.db.begin_read() as tx:
        return await get_person_by_id(tx, living.person)


async def recall_text(living: Simulation, person: Person, text: str) -> RecallResult:
    """What comes to mind at the end of a life."""
    return await recall(living.app.search_deps, person, build_query(living, text), limit=AMONG)


def build_query(living: Simulation, text: str) -> RecallQuery:
    """A text as a cue."""
    return RecallQuery(text=text, language=living.life.language, at=living.calendar.now)


def judge_recall(
    question: LifeQuestion, recollection: RecallResult, lived: SimulationResult, judge: Judge
) -> AnsweredQuestion:
    """What the truth says of what came to mind."""
    right = [is_answer(thing, question, lived, judge) for thing in recollection.ranking[:AMONG]]
    return AnsweredQuestion(
        question=question,
        is_first=any(right[:1]),
        is_among=any(right),
        is_refused=not (recollection.is_answerable or recollection.is_belief_answerable),
    )


def is_answer(
    thing: RecalledItem, question: LifeQuestion, lived: SimulationResult, judge: Judge
) -> bool:
    """Whether a message tells what is asked for, or a belief says it rightly."""
    if isinstance(thing, RecalledMessage):
        return lived.places.get(thing.message.id) in question.lines_in(judge.life)
    held = Held(memory=thing.state.memory, evidence=thing.evidence)
    verdict = judge.judge_memory(held)
    meant = verdict.belief if verdict.is_right else None
    return meant is not None and meant.id in question.beliefs
