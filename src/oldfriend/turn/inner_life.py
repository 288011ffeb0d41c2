"""What goes on in the companion while it answers? What it has in mind, feels, thinks and holds.

Only where a model answers: the offline companion quotes, and has no manner. Reads, and writes
nothing; what is in mind afterwards is part of what the turn decides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import Known, Mood
from oldfriend.domain.working import (
    NOTHING_IN_MIND,
    Brief,
    Emotion,
    Plan,
    Slot,
    StyleMode,
    WorkingMemory,
    in_brief,
)
from oldfriend.memory.moods import find_mood
from oldfriend.memory.search.topics import terms_of_matter
from oldfriend.memory.shelf import Shelf
from oldfriend.memory.thoughts import thoughts_at_hand
from oldfriend.memory.working import load_working
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.turn.manner import (
    HEAVY,
    OLD_FRIEND,
    Manner,
    Moment,
    Weights,
    manner_of,
    weights_in,
)
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.understanding import Understanding

MOST_OPINIONS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerLife:
    """What a turn begins with."""

    working: WorkingMemory = NOTHING_IN_MIND
    mood: Mood | None = None  # None: neutral
    thoughts: tuple[Known, ...] = ()  # at hand whatever is said
    opinions: tuple[Known, ...] = ()  # on what is talked about
    understanding: Understanding | None = None
    manner: Manner | None = None

    @property
    def searches(self) -> bool:
        """Whether memory is to be searched for the reply; the profile is there all the same."""
        return self.understanding is None or self.understanding.searches


NOTHING_WITHIN = InnerLife()


async def look_inward(tx: Transaction, shelf: Shelf, said: Utterance) -> InnerLife:
    """What goes on in it before anything is understood."""
    person, message = said.person.id, said.message
    working = await load_working(tx, person, message.session, now=message.at)
    mood = await find_mood(tx, person, at=message.at)
    beliefs = await shelf.beliefs_of(tx, person)
    return InnerLife(
        working=working,
        mood=mood,
        thoughts=tuple(thoughts_at_hand(beliefs.live_of("thought"))),
        opinions=opinions_on(beliefs.live_of("opinion"), said.text, message.language),
    )


def opinions_on(opinions: Iterable[Known], text: str, language: str) -> tuple[Known, ...]:
    """The opinions whose topic the words touch, those that were held for longest first.

    Whoever asks what it thinks may name the topic otherwise: what it has said last follows then.
    """
    held = sorted(opinions, key=lambda each: each.standing.first_seen)
    touched = [each for each in held if is_touched(each, text)]
    if phrasebook(spoken_language(language)).understand.your_view.search(text):
        latest = sorted(held, key=lambda each: each.standing.last_seen, reverse=True)
        touched += [each for each in latest if each not in touched]
    return tuple(touched[:MOST_OPINIONS])


def is_touched(opinion: Known, text: str) -> bool:
    """Whether words touch the topic of an opinion."""
    language = opinion.memory.language
    return not terms_of_matter(opinion.memory.key, language).isdisjoint(
        terms_of_matter(text, language)
    )


def manner_for(
    said: Utterance, inner: InnerLife, understanding: Understanding, written: Sequence[str]
) -> Manner:
    """How to talk now; ``written`` is what people have written about who the companion is."""
    message = said.message
    moment = Moment(
        signal=understanding.signal,
        emotion=understanding.emotion,
        trajectory=inner.working.trajectory,
        mood=inner.mood,
        local=from_micros(message.at, message.zone),
        used_tool=understanding.tool is not None,
        chance=chance_of(message.id),
    )
    return manner_of(weights_of(written), moment, inner.working.style)


def weights_of(written: Sequence[str]) -> Weights:
    """The weights that somebody has written down last; else an old friend's."""
    named = [weights for text in written if (weights := weights_in(text)) is not None]
    return named[-1] if named else OLD_FRIEND


def chance_of(message: MessageId) -> float:
    """A number from 0 to below 1 that is always the same for a message."""
    return int(message.replace("-", "")[-8:], 16) / 2**32


def in_mind_after(
    said: Utterance, inner: InnerLife, reply: str, *, result: str, seen: Sequence[str], now: Micros
) -> WorkingMemory | None:
    """What is in mind once a reply was given; None where nothing was understood.

    ``seen`` are the ids of all that a model was shown who asked for the ``result``.
    """
    understanding = inner.understanding
    if understanding is None:
        return None
    messages = tuple(each.id for each in said.messages)
    return inner.working.after(
        Brief(said=in_brief(said.own_words), replied=in_brief(reply), at=now, messages=messages),
        emotion=seemed(understanding),
        style=style_of(inner),
        plan=plan_of(inner.working, understanding),
        slots=slots_of(inner.working, understanding, now=now),
        result=in_brief(result),
        result_seen=seen,
    )


def plan_of(working: WorkingMemory, understanding: Understanding) -> Plan | None:
    """What the two are about to do; whoever puts it anew has made it of all that they saw."""
    before, plan = working.plan, understanding.plan
    if plan is None or (before is not None and before.words == plan.words):
        return plan and before
    return replace(plan, seen=understanding.saw)


def seemed(understanding: Understanding) -> Emotion:
    """How the person is kept in mind: who wrote under stress is not taken lightly later either."""
    is_heavy = understanding.emotion in HEAVY or understanding.signal != "stressed"
    return understanding.emotion if is_heavy else "overwhelmed"


def style_of(inner: InnerLife) -> StyleMode | None:
    """In which style the reply was given."""
    return None if inner.manner is None else inner.manner.style


def slots_of(
    working: WorkingMemory, understanding: Understanding, *, now: Micros
) -> tuple[Slot, ...]:  # fmt: skip
    """What is still to be known; what was asked for before is not waited for any longer by it."""
    before = {slot.name: slot for slot in working.slots}
    return tuple(
        before.get(name, Slot(name=name, asked_at=now, seen=understanding.saw))
        for name in understanding.asks_for
    )
