"""The main path of one reply: perceive, recall, respond, remember.

It reads and decides. What it decides is written elsewhere, in one transaction.
"""

from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.perceive import Perception, perceive
from oldfriend.turn.recall import NOTHING, Cue, Known, Looking, Recollection, recall, what_is_known
from oldfriend.turn.remember import remember
from oldfriend.turn.respond import respond

MOST_RECALLED = 8
"""How many messages may come to mind for one reply."""


async def run_turn(said: Utterance, looking: Looking) -> Outcome:
    """Everything that one utterance leads to."""
    perception = perceive(said)
    recollection = await recollect(said, perception, looking)
    known = await know(said, looking)
    reply = respond(said, perception, recollection, known)
    return Outcome(reply=reply, notes=remember(perception), language=perception.detected)


async def recollect(said: Utterance, perception: Perception, looking: Looking) -> Recollection:
    """What comes to mind, beside the words themselves."""
    if not perception.looks_back:
        return NOTHING
    message = said.message
    cue = Cue(
        text=message.text, language=message.language, at=message.at, exclude=[message.seq]
    )  # fmt: skip
    return await recall(looking, said.person, cue, limit=MOST_RECALLED)


async def know(said: Utterance, looking: Looking) -> Known:
    """What is known whatever is asked."""
    async with looking.db.reading() as tx:
        return await what_is_known(tx, said.person)
