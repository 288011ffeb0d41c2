"""The main path of one reply: perceive, recall, respond, remember.

It reads and decides. What it decides is written elsewhere, in one transaction.
"""

from oldfriend.memory.log import count_messages
from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.perceive import Perception, perceive
from oldfriend.turn.recall import NOTHING, Cue, Looking, Recollection, list_known_notes, recall
from oldfriend.turn.remember import remember
from oldfriend.turn.respond import Known, respond

MOST_RECALLED = 8
"""How many messages may come to mind for one reply."""


async def run_turn(said: Utterance, looking: Looking) -> Outcome:
    """Everything that one utterance leads to."""
    perception = perceive(said.message.text, said.hearer)
    recollection = await recollect(said, perception, looking)
    known = await know(said, perception, looking)
    reply = respond(said, perception, recollection, known)
    return Outcome(
        reply=reply,
        notes=remember(perception),
        language=perception.detected,
        tells=not perception.only_asks,
    )


async def recollect(said: Utterance, perception: Perception, looking: Looking) -> Recollection:
    """What comes to mind, beside the words themselves."""
    if not perception.looks_back:
        return NOTHING
    message = said.message
    text = perception.question or message.text
    cue = Cue(text=text, language=message.language, at=message.at, exclude=[message.seq])
    return await recall(looking, said.person, cue, limit=MOST_RECALLED)


async def know(said: Utterance, perception: Perception, looking: Looking) -> Known:
    """What is known whatever the words are; looked up where the reply needs it."""
    if perception.note is None and perception.intent != "about_me":
        return Known(notes=(), messages=0)
    async with looking.db.reading() as tx:
        return Known(
            notes=await list_known_notes(tx, said.person),
            messages=await count_messages(tx, said.person.id),
        )
