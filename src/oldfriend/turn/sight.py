"""What does a turn have in view? What came to mind, what is known, what was just said here.

The offline companion has no window of recent messages, so nothing recent is left out of what it
recalls; a model does not recall what it reads anyway. Reads, and writes nothing.
"""

from dataclasses import dataclass, field, replace

from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.messages import Message
from oldfriend.memory.log import count_messages
from oldfriend.prompts.prompt import reply_prompt
from oldfriend.turn.context import without_near_repeats
from oldfriend.turn.history import NOTHING_SAID, Quoting, Window, list_around, window_of
from oldfriend.turn.mind import Mind
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import Perception
from oldfriend.turn.recall import (
    NOTHING,
    Cue,
    KnownNote,
    Looking,
    Recollection,
    list_known_notes,
    recall,
)

MOST_RECALLED = 8
"""How many messages may come to mind for a reply that only quotes."""
MOST_CONSIDERED = 24
"""How many for one that a model writes; few more fit into its budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Everything that a reply can stand on."""

    recollection: Recollection
    notes: tuple[KnownNote, ...] = ()  # oldest first
    messages: int = 0  # how many are kept, where the reply says so
    before: tuple[Message, ...] = ()  # just said in this chat, oldest first
    quoting: Quoting = field(default_factory=dict)  # what of it was said by rules
    window: Window = NOTHING_SAID  # what of it a model may read
    failure: str | None = None  # why nothing could be recalled


async def look(said: Utterance, perception: Perception, mind: Mind) -> Sight:
    """What a reply to this can stand on, with what a model needs if there is one to ask.

    Without what was just said here there is no turn; without what comes to mind there is.
    """
    if mind.model is None:
        return await look_offline(said, perception, mind.looking)
    async with mind.looking.db.reading() as tx:
        around = await list_around(tx, said)
        notes = await list_known_notes(tx, said.person)
    if mind.resting is not None:
        return replace(await look_offline(said, perception, mind.looking), before=around.before)
    before, quoting, budget = around.before, around.quoting, mind.limits.budget
    window = window_of(before, quoting, reply_prompt(), budget=budget.recent)
    sight = Sight(recollection=NOTHING, notes=notes, before=before, quoting=quoting, window=window)
    try:
        in_view = [each.seq for each in (*window.shown, *around.waiting)]
        return replace(sight, recollection=await come_to_mind(said, perception, mind, in_view))
    except OldfriendError as error:
        return replace(sight, failure=str(error))


async def come_to_mind(
    said: Utterance, perception: Perception, mind: Mind, in_view: list[int]
) -> Recollection:
    """What is remembered beside what is in view; what repeats something newer comes last."""
    if perception.is_small_talk:
        return NOTHING
    cue = cue_of(said, perception, in_view)
    recollection = await recall(mind.looking, said.person, cue, limit=MOST_CONSIDERED)
    if not recollection.found:
        return recollection
    found = await without_near_repeats(mind.looking, said.person, recollection.found)
    return replace(recollection, found=tuple(found))


async def look_offline(said: Utterance, perception: Perception, looking: Looking) -> Sight:
    """What the offline companion's reply can stand on; each thing looked up where it needs it."""
    recollection = NOTHING
    if perception.looks_back:
        cue = cue_of(said, perception, [])
        recollection = await recall(looking, said.person, cue, limit=MOST_RECALLED)
    if perception.note is None and perception.intent != "about_me":
        return Sight(recollection=recollection)
    async with looking.db.reading() as tx:
        return Sight(
            recollection=recollection,
            notes=await list_known_notes(tx, said.person),
            messages=await count_messages(tx, said.person.id),
        )


def cue_of(said: Utterance, perception: Perception, in_view: list[int]) -> Cue:
    """What makes the companion remember: what was asked, or all that was said."""
    return Cue(
        text=perception.question or said.text,
        language=said.message.language,
        at=said.message.at,
        exclude=[*in_view, *(each.seq for each in said.messages)],
    )
