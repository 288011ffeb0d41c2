"""What would a replay take? How much is read and by whom, before anybody is paid. At most."""

from dataclasses import dataclass, replace

from oldfriend.app.choices.settings import Settings
from oldfriend.app.forming.rereading import foresee
from oldfriend.app.replaying.carrying import people_among
from oldfriend.app.replaying.steps import Step, past_of, steps_of
from oldfriend.app.replaying.wanting import RULES, Wanted
from oldfriend.app.wiring import likely_cost
from oldfriend.background.compacting import count_words
from oldfriend.background.consolidating import asks_somebody
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.answers import list_answered
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import (
    Segment,
    list_messages_in,
    list_uncut,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What is to be read again, and what of it a model would read at most."""

    stretches: int = 0
    words: int = 0
    by_model: int = 0  # stretches
    thoughts: int = 0  # so often it is thought about
    tokens_in: int = 0
    tokens_out: int = 0
    decisions: int = 0  # of the person
    answers: int = 0  # that this model has given before
    unread: int = 0  # messages that are in no stretch yet, and stay so
    cost: int | None = 0  # millionths of a dollar; None: unknown

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out

    def plus(self, other: "Estimate") -> "Estimate":
        """Both together, but for the cost."""
        return Estimate(
            stretches=self.stretches + other.stretches, words=self.words + other.words,
            by_model=self.by_model + other.by_model, thoughts=self.thoughts + other.thoughts,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            decisions=self.decisions + other.decisions, answers=self.answers + other.answers,
            unread=self.unread + other.unread,
        )  # fmt: skip


async def estimate(
    tx: Transaction, settings: Settings, wanted: Wanted, *, model: str | None
) -> Estimate:
    """What a replay of the first database takes; ``model`` is who would be asked, if anybody."""
    total = Estimate()
    asked = None if wanted.model == RULES else model
    for person in people_among([each.id for each in await list_people(tx)], wanted.person):
        total = total.plus(await estimate_for(tx, settings, wanted, person, model=asked))
    if asked is None or not total.tokens:
        return total
    cost = likely_cost(settings, asked, tokens_in=total.tokens_in, tokens_out=total.tokens_out)
    return replace(total, cost=cost)


async def estimate_for(
    tx: Transaction, settings: Settings, wanted: Wanted, person: PersonId, *, model: str | None
) -> Estimate:
    """What is to be read again of one person."""
    past = await past_of(tx, person)
    segments = {each.id: each for each in past.segments}
    steps = steps_of(past, reader=wanted.reader, since=wanted.since)
    words, by_model = 0, list[Segment]()
    for step in steps:
        if step.segment is None:
            continue
        messages = await list_messages_in(tx, segments[step.segment])
        words += sum(count_words(each.text) for each in messages)
        if model is not None and step.by != "rules" and asks_somebody(messages):
            by_model.append(segments[step.segment])
    foreseen = foresee(by_model, passes=settings.memory.passes)
    is_thought = model is not None and bool(settings.models.for_role("reflect"))
    thoughts = [each for each in past.ticks if is_thought and each.ran_at >= (wanted.since or 0)]
    answered = await list_answered(tx, person)
    return Estimate(
        stretches=sum(is_reading(step) for step in steps), words=words, by_model=len(by_model),
        thoughts=len(thoughts),
        tokens_in=foreseen.tokens_in + sum(each.tokens_in for each in thoughts),
        tokens_out=foreseen.tokens_out + sum(each.tokens_out for each in thoughts),
        decisions=sum(step.kind in {"carry", "uphold"} for step in steps),
        answers=sum(asked.model == model for asked in answered),
        unread=sum(each.messages for each in await list_uncut(tx, person)),
    )  # fmt: skip


def is_reading(step: Step) -> bool:
    """Whether a stretch of talk is read."""
    return step.kind == "read"
