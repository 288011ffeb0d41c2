"""How is something answered after all that got no answer? In the same turn, once.

Set aside: it is opened again. Put off: it is tried now. Ended in a trouble, or stopped: it is put
into the inbox anew, and what its failed reply stood on makes room for what the new one stands on.
"""

from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.app.accepting import Accepted, Line, take_lane
from oldfriend.app.house import House
from oldfriend.app.marking import STOPPED
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MessageId, PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.domain.sayings import saying
from oldfriend.memory.log import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import remove_receipt
from oldfriend.memory.talk import list_endings, list_said_with
from oldfriend.queues.inbox import Word, list_unanswered, put_word
from oldfriend.queues.lanes import postpone, retry_letter
from oldfriend.queues.letters import letters_of_group

Ending = Literal["waiting", "set aside", "stopped", "failed"]
"""Why something said has no answer: none yet; none unless somebody looks after it; the person did
not want it any more; whoever was asked could not."""
ANSWERED: Final = saying(
    "answered_already", "That was answered; say it anew to have it answered again.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """That a turn has no answer, and why."""

    turn: TurnId
    ending: Ending


async def list_without_answer(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[Unanswered]:
    """What was said in a span, both ends included, and has no answer."""
    ended = await list_endings(tx, person, since=since, until=until)
    found: dict[TurnId, Ending] = {
        turn: "stopped" if why == STOPPED else "failed" for turn, why in ended.items()
    }
    for turn, is_aside in (await list_unanswered(tx, person)).items():
        found[turn] = "set aside" if is_aside else "waiting"
    return [Unanswered(turn=turn, ending=ending) for turn, ending in found.items()]


async def ask_again(house: House, line: Line, message: MessageId) -> Accepted:
    """Have something answered that got no answer; with a claim it is ours to answer.

    Raises NotFound, InvalidInput where it was answered, or is being answered.
    """
    async with house.db.writing() as tx:
        await lock_person(tx, line.person.id)
        said = await get_message(tx, line.person.id, message)
        assert said.turn is not None  # what came from elsewhere is not answered
        letters = await letters_of_group(tx, "inbox", line.chat.id, said.turn)
        if letters and letters[0].is_parked:
            await retry_letter(tx, "inbox", line.chat.id, letters[0].seq, now=house.clock())
        elif letters:
            first, now = letters[0].seq, house.clock()
            await postpone(tx, "inbox", line.chat.id, since=first, due_at=now)
        else:
            await put_again(tx, house, line, said)
        await tx.wake()
        held = await take_lane(tx, house, line.chat.id)
    house.waking.ring()
    return Accepted(message=said, claim=held)


async def put_again(tx: Transaction, house: House, line: Line, said: Message) -> None:
    """Put a turn into the inbox anew that ended without an answer. Raises InvalidInput."""
    assert said.turn is not None  # what came from elsewhere is not answered
    together = await list_said_with(tx, said)
    since, until = min(each.at for each in together), max(each.at for each in together)
    if said.turn not in await list_endings(tx, said.person, since=since, until=until):
        raise InvalidInput(ANSWERED)
    await remove_receipt(tx, said.person, said.turn)
    for each in together:
        word = Word(
            kind="said", message=each.id, version=each.version, turn=said.turn,
            chars=len(each.text),
        )  # fmt: skip
        await put_word(tx, line.chat.id, said.person, word, quiet_s=0.0, now=house.clock())
