"""How well does one house know two who know each other, after 90 days? In numbers.

As ``appraising`` does it for one life, and besides: who is who, what is due, what was so on chosen
days, what comes to mind, and what stays between one of them and the companion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from oldfriend.app.app_context import AppContext
from oldfriend.memory.belief_views import list_summaries
from oldfriend_evals.lives.acquaintance import confused_in
from oldfriend_evals.lives.appraising import Appraisal, Reader, model_for
from oldfriend_evals.lives.asking import Answered, ask, told_of
from oldfriend_evals.lives.hostile import Given
from oldfriend_evals.lives.judging import Judge, closed_share
from oldfriend_evals.lives.knowing import (
    Slip,
    leaks_from,
    overdue_in,
    resolved_share,
    secrets_in,
    untrue_then,
)
from oldfriend_evals.lives.life import Called, Life
from oldfriend_evals.lives.living import Lived, Living
from oldfriend_evals.lives.loading import PAIRS, load_life
from oldfriend_evals.lives.questions import load_questions
from oldfriend_evals.lives.together import live_together


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """What became of one of two, and what the truth says of it."""

    name: str  # of the life
    appraisal: Appraisal
    answered: Sequence[Answered]  # none, where nothing was asked
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
            "an answer among five": _share([each.is_among for each in known]),
            "the best one answers": _share([each.is_first for each in known]),
            "nothing said where nothing is known": _share([each.is_refused for each in unknown]),
        }


async def appraise_pair(
    app: AppContext,
    language: str,
    *,
    reader: Reader = "a hostile model",
    seed: int = 1,
    last: date | None = None,
    asks: bool = True,
) -> list[Acquaintance]:
    """Let a pair live in an empty house, to the end or to a day, and judge what came of it."""
    names = PAIRS[language]
    lives = [load_life(name) for name in names]
    given = {life.person: Given() for life in lives}
    models = (
        {}
        if reader == "rules"
        else {
            life.person: model_for(life, reader, given=given[life.person], seed=seed)
            for life in lives
        }
    )
    livings = await live_together(app, lives, models=models, last=last)
    return [
        await judged(name, living, other, poison=given[living.life.person].poison_share, asks=asks)
        for name, living, other in zip(names, livings, reversed(lives), strict=True)
    ]


async def judged(
    name: str, living: Living, other: Life, *, poison: float, asks: bool
) -> Acquaintance:
    """What the truth says of one of two."""
    life, lived = living.life, await living.remember()
    appraisal = appraised(lived, life, poison)
    kept = [*texts_of(lived), *await summaries_of(living)]
    shown = await told_of(living, other) if asks else []
    return Acquaintance(
        name=name,
        appraisal=appraisal,
        answered=await ask(living, lived, load_questions(name)) if asks else (),
        confused=confused_in(lived.entities, life),
        leaked=leaks_from(other, [*kept, *shown]),
        secrets=secrets_in(life, kept),
        overdue=overdue_in(lived.by_day, life),
        untrue_then=untrue_then(lived.by_day, life),
        closed_share=closed_share(appraisal.judgement.verdicts),
        resolved_share=resolved_share(lived.entities, life),
    )


def appraised(lived: Lived, life: Life, poison: float) -> Appraisal:
    """What became of the days on which something was said."""
    judge = Judge(life, lived.places)
    days = [day.date for day in life.days if day.date in lived.by_day]
    return Appraisal(
        lived=lived,
        judgement=judge.judge(lived.held),
        poison_share=poison,
        as_of={day: judge.as_of(day, lived.by_day[day]) for day in days},
    )


def texts_of(lived: Lived) -> list[str]:
    """All words that are believed, or were."""
    beliefs = [f"{held.memory.text} {held.memory.value}" for held in lived.held]
    names = [f"{entity.name} {entity.aliases} {entity.description}" for entity in lived.entities]
    return [*beliefs, *names]


async def summaries_of(living: Living) -> list[str]:
    """All that is kept of talk in short."""
    async with living.app.db.begin_read() as tx:
        found = await list_summaries(tx, living.person, active=False)
        return [summary.text for summary in found]


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 1.0
