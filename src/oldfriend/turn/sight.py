"""What does a turn have in view? What came to mind, what is known, what was just said here.

The offline companion has no window of recent messages, so nothing recent is left out of what it
recalls; a model does not recall what it reads anyway. Reads, and writes nothing.
"""

from dataclasses import dataclass, field, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.messages import Message
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.evidence import list_told_of
from oldfriend.memory.log import count_messages
from oldfriend.prompts.prompt import reply_prompt
from oldfriend.turn.acquaintance import NOBODY_KNOWN, Acquaintance, acquaint
from oldfriend.turn.history import NOTHING_SAID, Quoting, Window, list_around, window_of
from oldfriend.turn.inner_life import NOTHING_WITHIN, InnerLife, look_inward, manner_for
from oldfriend.turn.looking_up import (
    NO_GROUNDS,
    Grounds,
    Then,
    WouldGo,
    believed_then,
    what_it_stood_on,
    with_their_words,
    would_go,
)
from oldfriend.turn.mind import Mind
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import Perception
from oldfriend.turn.recall import (
    NOTHING,
    Cue,
    KnownNote,
    Looking,
    Recollection,
    Remembered,
    list_known_notes,
    recall,
)
from oldfriend.turn.tools.ability import NAMES
from oldfriend.turn.understanding import OwnWords, understand
from oldfriend.turn.worth_showing import without_near_repeats

MOST_RECALLED = 8
"""How many messages may come to mind for a reply that only quotes."""
MOST_CONSIDERED = 24
"""How many for one that a model writes; few more fit into its budget."""


LOOKED_UP = frozenset({"about_me", "promises", "why_so", "correct", "believed_then", "forget"})
"""For what more is looked up than what comes to mind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Everything that a reply can stand on."""

    recollection: Recollection
    acquaintance: Acquaintance = NOBODY_KNOWN
    notes: tuple[KnownNote, ...] = ()  # oldest first
    messages: int = 0  # how many are kept, where the reply says so
    before: tuple[Message, ...] = ()  # just said in this chat, oldest first
    quoting: Quoting = field(default_factory=dict)  # what of it was said by rules
    replied_to: tuple[Message, ...] = ()  # which they picked to reply to
    window: Window = NOTHING_SAID  # what of it a model may read
    familiar: tuple[Remembered, ...] = ()  # what is known without a search, with its words
    grounds: Grounds = NO_GROUNDS  # what the reply before stood on
    then: Then | None = None
    would_go: WouldGo | None = None
    inner: InnerLife = NOTHING_WITHIN  # of a companion whose words a model writes
    failure: str | None = None  # why nothing could be recalled

    @property
    def always_known(self) -> list[str]:
        """The ids of what is in view without a search."""
        known = self.acquaintance
        profile = (*known.profile.facts, *known.profile.preferences, *known.profile.promises)
        about = (each for one in known.about for each in one.told)
        return [
            *(each.memory.id for each in (*profile, *about)),
            *(note.memory.id for note in self.notes),
            *(each.memory.id for each in (*self.inner.thoughts, *self.inner.opinions)),
        ]


async def look(said: Utterance, perception: Perception, mind: Mind) -> Sight:
    """What a reply to this can stand on, with what a model needs if there is one to ask.

    Without what was just said here there is no turn; without what comes to mind there is.
    """
    if mind.model is None:
        return await look_offline(said, perception, mind.looking)
    async with mind.looking.db.reading() as tx:
        around = await list_around(tx, said)
        notes = await list_known_notes(tx, said.person)
        acquaintance = await acquaint(
            tx, mind.looking.shelf, said.person, said.text, now=said.message.at
        )
        inner = await look_inward(tx, mind.looking.shelf, said)
    if mind.resting is not None:
        return replace(await look_offline(said, perception, mind.looking), before=around.before)
    before, quoting, budget = around.before, around.quoting, mind.limits.budget
    window = window_of(before, quoting, reply_prompt(), budget=budget.recent)
    sight = Sight(
        recollection=NOTHING, acquaintance=acquaintance, notes=notes, before=before,
        quoting=quoting, replied_to=around.replied_to, window=window,
        inner=await understood(said, perception, inner, acquaintance, mind),
    )  # fmt: skip
    if not sight.inner.searches:
        return sight
    try:
        in_view = [each.seq for each in (*window.shown, *around.waiting)]
        return replace(sight, recollection=await come_to_mind(said, perception, mind, in_view))
    except OldfriendError as error:
        return replace(sight, failure=str(error))


async def understood(
    said: Utterance, perception: Perception, inner: InnerLife, known: Acquaintance, mind: Mind
) -> InnerLife:
    """What is going on in it once it has understood what the message needs."""
    own = OwnWords(text=said.own_words, messages=tuple(each.id for each in said.messages))
    understanding = await understand(
        own, perception, inner.working, mind.small, name=said.companion.name,
        person=said.person.name, tools=NAMES,
    )  # fmt: skip
    written = [known.soul, *(block.text for block in known.blocks)]
    manner = manner_for(said, inner, understanding, written)
    return replace(inner, understanding=understanding, manner=manner)


async def come_to_mind(
    said: Utterance, perception: Perception, mind: Mind, in_view: list[int]
) -> Recollection:
    """What is remembered beside what is in view; what repeats something newer comes last."""
    cue = cue_of(said, perception, in_view)
    recollection = await recall(mind.looking, said.person, cue, limit=MOST_CONSIDERED)
    if recollection.is_empty:
        return recollection
    mixed = await without_near_repeats(mind.looking, said.person, recollection.ranking)
    return replace(recollection, mixed=mixed)


async def look_offline(said: Utterance, perception: Perception, looking: Looking) -> Sight:
    """What the offline companion's reply can stand on; each thing looked up where it needs it."""
    recollection = NOTHING
    if perception.looks_back or perception.intent == "promises":
        cue = cue_of(said, perception, [])
        recollection = await recall(looking, said.person, cue, limit=MOST_RECALLED)
    sight = Sight(recollection=recollection)
    needs_more = perception.intent in LOOKED_UP or bool(recollection.named)
    if perception.intent != "question" and perception.note is None and not needs_more:
        return sight
    async with looking.db.reading() as tx:
        return await looked_up(tx, said, perception, looking, sight)


async def looked_up(
    tx: Transaction, said: Utterance, perception: Perception, looking: Looking, sight: Sight
) -> Sight:
    """The same, with what the reply to this intent stands on."""
    person, now = said.person, said.message.at
    match perception.intent:
        case "why_so" | "correct":
            return replace(sight, grounds=await what_it_stood_on(tx, said))
        case "believed_then":
            return replace(sight, then=await believed_then(tx, said))
        case "question" if not sight.recollection.named:
            written = Acquaintance(blocks=tuple(await list_blocks(tx, person.id)))
            notes = () if perception.note is None else await list_known_notes(tx, person)
            return replace(sight, acquaintance=written, notes=notes)
    known = await acquaint(tx, looking.shelf, person, said.text, now=now)
    sight = replace(sight, acquaintance=known)
    if perception.intent == "forget":
        return replace(sight, would_go=await would_go(tx, said, known.entities))
    if perception.intent == "about_me":
        told_of = await list_told_of(tx, person.id)
        by_them = tuple(each for each in known.entities if each.id in told_of or each.is_by_person)
        sight = replace(sight, acquaintance=replace(known, entities=by_them))
    profile = known.profile
    told = (*profile.facts, *profile.preferences, *profile.promises)
    about = (each for one in known.about for each in one.told)
    return replace(
        sight,
        familiar=await with_their_words(tx, person.id, [*told, *about, *known.between]),
        notes=await list_known_notes(tx, person),
        messages=await count_messages(tx, person.id),
    )


def cue_of(said: Utterance, perception: Perception, in_view: list[int]) -> Cue:
    """What makes the companion remember: what was asked, or all that was said."""
    answered = [each.seq for each in said.messages]
    return Cue(
        text=perception.question or said.text,
        language=said.message.language,
        at=said.message.at,
        exclude=[*in_view, *answered],
        answered=answered,
    )
