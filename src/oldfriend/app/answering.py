"""How does what waits in a chat become an answer that is kept? The heart: claim, think, commit.

A turn reads and decides; what it decides is written here, in one transaction, by whoever holds
the chat's lane at that moment. Nothing is shown or sent that is not written.
"""

import asyncio
from dataclasses import dataclass, replace

from oldfriend.app.accepting import Accepted, Line, Said, accept, take_lane
from oldfriend.app.beside import beside
from oldfriend.app.committing import (
    Task,
    checked_and_done_with,
    commit,
    commit_stop,
    own_up_to_given_up,
    put_off,
    turn_of,
    utterance_of,
)
from oldfriend.app.forming.at_once import read_first
from oldfriend.app.holding import Hold
from oldfriend.app.house import House
from oldfriend.app.marking import STOPPED
from oldfriend.app.recordings import hear_out, is_unheard
from oldfriend.app.showing_live import live_for
from oldfriend.app.thinking import asker_of, mind_for
from oldfriend.app.waiting import Tell, tell_delays
from oldfriend.domain.errors import (
    EmbeddingFailed,
    LeaseLost,
    OldfriendError,
    StaleDecision,
    TurnFailed,
    TurnStopped,
)
from oldfriend.domain.ids import TurnId
from oldfriend.domain.letters import Claim, Letter
from oldfriend.domain.messages import Message
from oldfriend.ledger.tools import forget_reads
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import Say
from oldfriend.memory.log import find_reply
from oldfriend.memory.receipts import Receipt, find_receipt
from oldfriend.memory.search import text_to_embed
from oldfriend.queues.inbox import first_turn, is_open
from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.pipeline import give_up, run_turn, say_instead

MOST_DECISIONS = 3
"""So often a turn is decided anew because something that it rests on has changed meanwhile."""
KEPT = "What was said is kept, and it will be tried again."
LONGEST_EMBEDDING_S = 20.0
"""The reply is there already; it does not wait for long."""
LOOK_AGAIN_S = 0.5
"""Whoever waits for another process's reply looks this often, should no bell reach them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply as it was kept."""

    said: Message
    reply: Message
    receipt: Receipt


async def answer(
    house: House, line: Line, said: Said, *, say: Say | None = None, tell: Tell | None = None
) -> Answer:
    """Have one thing that a person said answered: here, or by the process that is at it.

    ``say`` hears the reply as it is written, ``tell`` why there is none yet. Raises InvalidInput
    for an empty or endless text, TurnFailed, TurnStopped, StoreError.
    """
    accepted = await accept(house, line, said, to_answer=True)
    assert accepted is not None  # it has no key that could be known
    return await see_answered(house, accepted, say=say, tell=tell)


async def see_answered(
    house: House, accepted: Accepted, *, say: Say | None, tell: Tell | None = None
) -> Answer:
    """Have a message answered, and tell why that takes so long where somebody wants to know.

    Raises TurnFailed when it cannot be answered now; its words are kept, and tried again.
    Raises TurnStopped when the person has said stop.
    """
    if tell is None:
        return await reach_answer(house, accepted, say)
    heard = Heard(say)
    telling = tell_delays(house, accepted.message, tell, has_begun=lambda: bool(heard.text))
    return await beside(telling, reach_answer(house, accepted, heard.say))


async def reach_answer(house: House, accepted: Accepted, say: Say | None) -> Answer:
    """Work on the chat whenever it is free, until the message has its answer."""
    said = accepted.message
    if accepted.claim is not None:
        await work_until(house, accepted.claim, said, say)
    if (given := await find_answer(house, said)) is not None:
        return given
    with house.waking.bell() as bell:
        while (given := await find_answer(house, said)) is None:
            async with house.db.writing() as tx:
                claim = await take_lane(tx, house, said.chat)
            if claim is not None:
                await work_until(house, claim, said, say)
            else:
                await refuse_set_aside(house, said)
                await bell.wait(LOOK_AGAIN_S)
    return given


async def work_until(house: House, claim: Claim, said: Message, say: Say | None) -> None:
    """Work on a chat until a message is answered. Raises TurnFailed."""
    try:
        await work_on(house, claim, until=said.turn, say=say)
    except OldfriendError as error:
        raise TurnFailed(f"{error} {KEPT}") from error
    except Exception as error:
        raise TurnFailed(f"Something went wrong inside ({type(error).__name__}). {KEPT}") from error


async def refuse_set_aside(house: House, said: Message) -> None:
    """Raise TurnFailed when nobody will answer a message any more."""
    assert said.turn is not None  # what was accepted has one
    async with house.db.reading() as tx:
        waits = await is_open(tx, "inbox", said.chat, said.turn)
        reply = await find_reply(tx, said)
    if not waits and reply is None:
        raise TurnFailed(f"It was set aside: oldfriend letters --parked. {KEPT}")


async def find_answer(house: House, said: Message) -> Answer | None:
    """What was answered to a message. Raises TurnFailed, TurnStopped where there will be none."""
    async with house.db.reading() as tx:
        reply = await find_reply(tx, said)
        receipt = None if reply is None else await find_receipt(tx, said.person, said.turn)
    if reply is None:
        return None
    if reply.role == "marker" and reply.text == STOPPED:
        raise TurnStopped("You stopped the reply.")
    if receipt is None:
        raise TurnFailed(reply.text)
    return Answer(said=said, reply=reply, receipt=receipt)


async def work_on(
    house: House, claim: Claim, *, until: TurnId | None = None, say: Say | None = None,
    stopping: asyncio.Event | None = None,
) -> None:  # fmt: skip
    """Do what waits in a chat, turn by turn, until a turn is done, or as long as the lane is ours.

    Only the words of that turn are said. Whatever goes wrong is put off or parked, and raised;
    nothing that waits is lost.
    """
    hold, letters, is_done = Hold(house, claim), claim.letters, False
    await own_up_to_given_up(house, hold)
    while letters and not (is_done or (stopping and stopping.is_set())):
        now = first_turn(letters)
        task = Task(hold=hold, letters=now, later=letters[len(now) :])
        is_done = until is not None and task.words[0].turn == until
        try:
            letters = await deal_with(house, task, say if is_done else None)
        except LeaseLost:
            return  # somebody else is at it
        except asyncio.CancelledError:
            await hold.give_back(task.letters[0])
            raise
        except Exception as error:
            await put_off(house, task, error)
            raise
    if letters or not claim.letters:
        await hold.give_back()


async def deal_with(house: House, task: Task, say: Say | None) -> tuple[Letter, ...]:
    """Do one thing; what is left to do in the lane."""
    if task.words[0].kind != "said":  # a notice for a turn that is over
        async with house.db.writing() as tx:
            return await checked_and_done_with(tx, house, task)
    heard, stale = Heard(say), StaleDecision("Nothing was decided yet.")
    for _ in range(MOST_DECISIONS):
        said = await utterance_of(house, task)
        live = await live_for(house, task.claim, task.letters, said) if say is None else None
        heard = heard if live is None else Heard(live.say)  # a draft can be taken back
        deciding = hear_and_decide(house, task, said, heard)
        work = deciding if live is None else live.during(deciding)
        try:
            said, outcome, vectors = await task.hold.during(work, turn=said.message.turn)
            may_redo = live is not None or not heard.text
            return await commit(house, task, said, outcome, vectors, may_redo=may_redo)
        except TurnStopped:
            return await commit_stop(house, task, said)
        except StaleDecision as error:
            stale = error
        async with house.db.writing() as tx:
            await forget_reads(tx, *turn_of(said))
    raise stale


async def hear_and_decide(
    house: House, task: Task, said: Utterance, heard: "Heard"
) -> tuple[Utterance, Outcome, Vectors | None]:
    """Write down what was said aloud, and run the turn; where there are no words, say why."""
    said, unheard = await hear_out(house, task.claim, said)
    if unheard is None:
        return said, *await decide(house, said, heard)
    excuse = unheard.in_words(said.person.language, said.message.language)
    written = tuple(each for each in said.messages if not is_unheard(each.details))
    if not written:
        return said, say_instead(said, excuse, trouble=f"not heard: {unheard.reason}"), None
    outcome, vectors = await decide(house, said, heard)
    reply = replace(outcome.reply, text=f"{excuse}\n\n{outcome.reply.text}")
    return said, replace(outcome, reply=reply), vectors


async def decide(house: House, said: Utterance, heard: "Heard") -> tuple[Outcome, Vectors | None]:
    """Run the turn, and make the vectors of what was told."""
    await read_first(house, said)
    mind = await mind_for(house, said)
    house.reached("thinking")
    try:
        async with asyncio.timeout(house.settings.limits.turn_timeout_s):
            outcome = await run_turn(said, mind, say=heard.say)
    except TimeoutError:
        outcome = await give_up(said, mind, trouble="slow", spoken=heard.text, say=heard.say)
    vectors = await vectors_of(house, said) if outcome.tells else None
    house.reached("decided")
    return outcome, vectors


async def vectors_of(house: House, said: Utterance) -> Vectors | None:
    """The vectors of what was told; None where they cannot be had now."""
    texts = [text_to_embed(each.speaker, each.text) for each in said.messages]
    try:
        async with asyncio.timeout(LONGEST_EMBEDDING_S):
            return await house.on_behalf_of(asker_of(said)).embedder.embed(texts)
    except (EmbeddingFailed, TimeoutError):
        return None  # made up for later


class Heard:
    """Passes on a reply as it is being written, and knows what was shown of it."""

    def __init__(self, say: Say | None) -> None:
        """Pass on to this one, where anybody listens."""
        self._say = say
        self.text = ""

    @property
    def say(self) -> Say | None:
        """What the turn speaks into."""
        return None if self._say is None else self._pass_on

    async def _pass_on(self, piece: str) -> None:
        assert self._say is not None
        self.text += piece
        await self._say(piece)
