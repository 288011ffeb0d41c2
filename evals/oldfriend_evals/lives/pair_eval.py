"""Scorecard of a pair: how well one store knows two who know each other, after 90 days.

As ``appraising`` does it for one life, and besides: who is who, what is due, what was so on chosen
days, what comes to mind, and what stays between one of them and the companion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from oldfriend.app.app_context import AppContext
from oldfriend.memory.belief_views import list_summaries
from oldfriend_evals.lives.adversarial_extractor import GivenClaims
from oldfriend_evals.lives.belief_eval import Judge, compute_closed_share
from oldfriend_evals.lives.entity_eval import list_confused
from oldfriend_evals.lives.group_simulation import simulate_group
from oldfriend_evals.lives.knowledge_eval import (
    Slip,
    compute_resolved_share,
    list_leaks,
    list_overdue,
    list_secrets,
    list_untrue_then,
)
from oldfriend_evals.lives.life import Called, Life
from oldfriend_evals.lives.life_files import PAIRS, load_life
from oldfriend_evals.lives.questions import load_questions
from oldfriend_evals.lives.recall_eval import AnsweredQuestion, ask_questions, list_told_secrets
from oldfriend_evals.lives.scorecard import Reader, Scorecard, build_model
from oldfriend_evals.lives.simulation import Simulation, SimulationResult


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScorecard:
    """What became of one of two, and what the truth says of it."""

    name: str  # of the life
    appraisal: Scorecard
    answered: Sequence[AnsweredQuestion]  # none, where nothing was asked
    confused: Sequence[tuple[Called, Called]]
    leaked: Sequence[Slip]  # what the other has entrusted
    secrets: Sequence[Slip]
    overdue: Mapping[str, date]
    untrue_then: Sequence[str]
    closed_share: float
    resolved_share: float

    @property
    def numbers(self) -> dict[str, float]:
        """The shares and counts by which it is measured."""
        known = [each for each in self.answered if each.question.beliefs]
        unknown = [each for each in self.answered if not each.question.beliefs]
        return {
            **self.appraisal.numbers,
            "names that are one": self.resolved_share,
            "two taken for one": len(self.confused),
            "told to the other": len(self.leaked),
            "secrets kept": len(self.secrets),
            "open though it is over": len(self.overdue),
            "ends that are marked": self.closed_share,
            "not so on a chosen day": len(self.untrue_then),
            "an answer among five": _compute_share([each.is_among for each in known]),
            "the best one answers": _compute_share([each.is_first for each in known]),
            "nothing said where nothing is known": _compute_share(
                [each.is_refused for each in unknown]
            ),
        }


async def score_pair(
    app: AppContext,
    language: str,
    *,
    reader: Reader = "a hostile model",
    seed: int = 1,
    last: date | None = None,
    asks: bool = True,
) -> list[PairScorecard]:
    """Let a pair live in an empty house, to the end or to a day, and judge what came of it."""
    names = PAIRS[language]
    lives = [load_life(name) for name in names]
    given = {life.person: GivenClaims() for life in lives}
    models = (
        {}
        if reader == "rules"
        else {
            life.person: build_model(life, reader, given=given[life.person], seed=seed)
            for life in lives
        }
    )
    livings = await simulate_group(app, lives, models=models, last=last)
    return [
        await judge_person(
            name, living, other, poison=given[living.life.person].poison_share, asks=asks
        )
        for name, living, other in zip(names, livings, reversed(lives), strict=True)
    ]


async def judge_person(
    name: str, living: Simulation, other: Life, *, poison: float, asks: bool
) -> PairScorecard:
    """What the truth says of one of two."""
    life, lived = living.life, await living.remember()
    appraisal = score_days(lived, life, poison)
    kept = [*list_texts(lived), *await list_summary_texts(living)]
    shown = await list_told_secrets(living, other) if asks else []
    return PairScorecard(
        name=name,
        appraisal=appraisal,
        answered=await ask_questions(living, lived, load_questions(name)) if asks else (),
        confused=list_confused(lived.entities, life),
        leaked=list_leaks(other, [*kept, *shown]),
        secrets=list_secrets(life, kept),
        overdue=list_overdue(lived.by_day, life),
        untrue_then=list_untrue_then(lived.by_day, life),
        closed_share=compute_closed_share(appraisal.judgement.verdicts),
        resolved_share=compute_resolved_share(lived.entities, life),
    )


def score_days(lived: SimulationResult, life: Life, poison: float) -> Scorecard:
    """What became of the days on which something was said."""
    judge = Judge(life, lived.places)
    days = [day.date for day in life.days if day.date in lived.by_day]
    return Scorecard(
        lived=lived,
        judgement=judge.judge(lived.held),
        poison_share=poison,
        as_of={day: judge.as_of(day, lived.by_day[day]) for day in days},
    )


def list_texts(lived: SimulationResult) -> list[str]:
    """All words that are believed, or were."""
    beliefs = [f"{held.memory.text} {held.memory.value}" for held in lived.held]
    names = [f"{entity.name} {entity.aliases} {entity.description}" for entity in lived.entities]
    return [*beliefs, *names]


async def list_summary_texts(living: Simulation) -> list[str]:
    """All that is kept of talk in short."""
    async with living.app.db.begin_read() as tx:
        found = await list_summaries(tx, living.person, active=False)
        return [summary.text for summary in found]


def _compute_share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 1.0
