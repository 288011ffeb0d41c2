"""How does what waits in a chat become an answer that is kept? The heart: claim, think, commit.

A turn reads and decides; what it decides is written here, in one transaction, by whoever holds
the chat's lane at that moment. Nothing is shown or sent that is not written.
"""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass

from oldfriend.app.accepting import Accepted, Line, Said, accept, hearer_of, take_lane
from oldfriend.app.holding import while_held
from oldfriend.app.house import House
from oldfriend.app.jobs import plan_embedding
from oldfriend.app.thinking import asker_of, mind_for
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import (
    EmbeddingFailed,
    LeaseLost,
    StaleDecision,
    StoreError,
    TurnFailed,
    TurnStopped,
)
from oldfriend.domain.ids import PersonId, ReceiptId, TurnId, new_id
from oldfriend.domain.letters import Claim, Letter
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.people import Chat
from oldfriend.ledger.tools import forget_reads, has_done_anything
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import Say
from oldfriend.memory.log import (
    Place,
    find_reply,
    get_message,
    was_anything_said,
    write_message,
)
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import (
    get_chat,
    get_companion,
    get_person_by_id,
    mark_introduced,
    set_language,
)
from oldfriend.memory.receipts import Receipt, find_receipt, write_receipt
from oldfriend.memory.search import text_to_embed
from oldfriend.memory.vectors import save_vectors
from oldfriend.queues.backoff import retry_at
from oldfriend.queues.inbox import Word, first_turn, list_notices, word_of
from oldfriend.queues.lanes import MOST_ATTEMPTS, check, fail, finish, release, waiting
from oldfriend.queues.outbox import put_reply
from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.pipeline import apologise, give_up, run_turn

MOST_DECISIONS = 3
"""So often a turn is decided anew because something that it rests on has changed meanwhile."""
LOOK_AGAIN_S = 0.5
"""Whoever waits for another process's reply looks this often, should no bell reach them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply as it was kept."""

    said: Message
    reply: Message
    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done in one go in a chat whose lane is held."""

    claim: Claim
    letters: tuple[Letter, ...]
    later: tuple[Letter, ...]  # what else was due when it was begun

    @property
    def words(self) -> tuple[Word, ...]:
        """What the letters are about."""
        return tuple(map(word_of, self.letters))


async def answer(house: House, line: Line, said: Said, *, say: Say | None = None) -> Answer:
    """Have one thing that a person said answered: here, or by the process that is at it.

    Raises InvalidInput for an empty or endless text, TurnFailed, StoreError.
    """
    accepted = await accept(house, line, said, to_answer=True)
    assert accepted is not None  # it has no key that could be known
    return await see_answered(house, accepted, say=say)


async def see_answered(house: House, accepted: Accepted, *, say: Say | None) -> Answer:
    """Work on the chat whenever it is free, until the message has its answer."""
    said = accepted.message
    if accepted.claim is not None:
        await work_on(house, accepted.claim, until=said.turn, say=say)
    if (given := await find_answer(house, said)) is not None:
        return given
    with house.waking.bell() as bell:
        while (given := await find_answer(house, said)) is None:
            async with house.db.writing() as tx:
                claim = await take_lane(tx, house, said.chat)
            if claim is None:
                await bell.wait(LOOK_AGAIN_S)
            else:
                await work_on(house, claim, until=said.turn, say=say)
    return given


async def find_answer(house: House, said: Message) -> Answer | None:
    """What was answered to a message. Raises TurnFailed where there will be no answer."""
    async with house.db.reading() as tx:
        reply = await find_reply(tx, said)
        receipt = None if reply is None else await find_receipt(tx, said.person, said.turn)
    if reply is None:
        return None
    if receipt is None:
        raise TurnFailed(reply.text)
    return Answer(said=said, reply=reply, receipt=receipt)


async def work_on(
    house: House, claim: Claim, *, until: TurnId | None = None, say: Say | None = None
) -> None:
    """Do what waits in a chat, turn by turn, as long as the lane is ours, or until a turn is done.

    Only the words of that turn are said. Whatever goes wrong is put off or parked, and raised;
    nothing that waits is lost.
    """
    letters, is_done = claim.letters, False
    while letters and not is_done:
        now = first_turn(letters)
        task = Task(claim=claim, letters=now, later=letters[len(now) :])
        is_done = until is not None and task.words[0].turn == until
        try:
            letters = await deal_with(house, task, say if is_done else None)
        except LeaseLost:
            return  # somebody else is at it
        except Exception as error:
            await put_off(house, task, error)
            raise
    if letters:
        async with house.db.writing() as tx:
            await release(tx, claim, now=house.clock())


async def deal_with(house: House, task: Task, say: Say | None) -> tuple[Letter, ...]:
    """Do one thing; what is left to do in the lane."""
    if task.words[0].kind != "said":  # a notice for a turn that is over
        async with house.db.writing() as tx:
            return await done_with(tx, house, task)
    heard, stale = Heard(say), StaleDecision("Nothing was decided yet.")
    for _ in range(MOST_DECISIONS):
        said = await utterance_of(house, task)
        try:
            outcome, vectors = await while_held(
                house, task.claim, decide(house, said, heard), turn=said.message.turn
            )
            return await commit(house, task, said, outcome, vectors, may_redo=not heard.text)
        except TurnStopped:
            return await commit_stop(house, task, said)
        except StaleDecision as error:
            stale = error
        async with house.db.writing() as tx:
            await forget_reads(tx, *turn_of(said))
    raise stale


def turn_of(said: Utterance) -> tuple[PersonId, TurnId]:
    """Whose turn an utterance makes, and which."""
    assert said.message.turn is not None  # what was accepted has one
    return said.person.id, said.message.turn


async def utterance_of(house: House, task: Task) -> Utterance:
    """What was said, as it reads now, and who said it to whom."""
    async with house.db.reading() as tx:
        return await utterance_in(tx, house, task)


async def utterance_in(tx: Transaction, house: House, task: Task) -> Utterance:
    """The same, as a transaction sees it."""
    person_id = task.letters[0].person
    assert person_id is not None  # the inbox holds nothing that nobody said
    person = await get_person_by_id(tx, person_id)
    messages = [await get_message(tx, person_id, word.message) for word in task.words]
    companion = await get_companion(tx)
    goes_on = await was_anything_said(tx, person_id, messages[0].chat, before=messages[0].seq)
    return Utterance(
        message=messages[-1], earlier=tuple(messages[:-1]), person=person, companion=companion,
        hearer=hearer_of(companion, person, house.settings), first_in_chat=not goes_on,
    )  # fmt: skip


async def decide(house: House, said: Utterance, heard: "Heard") -> tuple[Outcome, Vectors | None]:
    """Run the turn, and make the vectors of what was told."""
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
    try:
        return await house.on_behalf_of(asker_of(said)).embedder.embed(
            [text_to_embed(each.speaker, each.text) for each in said.messages]
        )
    except EmbeddingFailed:
        return None  # made up for later


async def commit(
    house: House, task: Task, said: Utterance, outcome: Outcome, vectors: Vectors | None,
    *, may_redo: bool,
) -> tuple[Letter, ...]:  # fmt: skip
    """Write everything that the turn decided, at once; what is left to do in the lane.

    Raises StaleDecision when it rests on what has changed meanwhile, TurnStopped, LeaseLost.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        chat = await get_chat(tx, said.person.id, said.message.chat)
        reply = await write_reply(tx, house, chat, said, outcome, now=now)
        await write_receipt(tx, receipt_of(said, reply, outcome, now=now))
        if vectors is not None:
            seqs, model = [each.seq for each in said.messages], house.embedder.model
            await save_vectors(tx, said.person.id, model, seqs, vectors)
        elif outcome.tells:
            await plan_embedding(tx, now=now)
        for note in outcome.notes:
            await learn_note(tx, note.text, source=note.source, author=note.author, now=now)
        if outcome.language and outcome.language != said.person.language:
            await set_language(tx, said.person.id, outcome.language)
        if outcome.reply.introduces and not await mark_introduced(tx, said.companion.id, now=now):
            raise StaleDecision("The companion has been introduced by another turn.")
        await check(tx, task.claim)  # from here on nothing more arrives
        await refuse_overtaken(tx, task, said, may_redo=may_redo)
        rest = await done_with(tx, house, task)
        house.reached("committing")
        await tx.wake()
    house.reached("committed")
    house.waking.ring()
    return rest


async def refuse_overtaken(tx: Transaction, task: Task, said: Utterance, *, may_redo: bool) -> None:
    """Raise TurnStopped or StaleDecision for what has arrived while the turn was being decided.

    An edit has it decided anew, unless something was shown or done already.
    """
    person, turn = turn_of(said)
    notices = [word_of(each) for each in await list_notices(tx, task.claim.lane, turn)]
    if any(word.kind == "stop" for word in notices):
        raise TurnStopped("The person said stop.")
    answered = {(each.id, each.version) for each in said.messages}
    is_edited = any((word.message, word.version) not in answered for word in notices)
    if is_edited and may_redo and not await has_done_anything(tx, person, turn):
        raise StaleDecision("What was said has been edited.")


async def done_with(tx: Transaction, house: House, task: Task) -> tuple[Letter, ...]:
    """Take the letters away, and the notices about them; what is left to do in the lane.

    When nothing is left, it is free.
    """
    now = house.clock()
    notices = await list_notices(tx, task.claim.lane, task.words[0].turn)
    done = {letter.seq: letter for letter in (*task.letters, *notices)}
    await finish(tx, task.claim, list(done.values()), now=now)
    rest = tuple(each for each in task.later if each.seq not in done)
    rest = rest or await waiting(tx, task.claim, now=now)
    if not rest:
        await release(tx, task.claim, now=now)
    return rest


async def commit_stop(house: House, task: Task, said: Utterance) -> tuple[Letter, ...]:
    """Write that nothing was answered because the person said stop."""
    now = house.clock()
    async with house.db.writing() as tx:
        chat = await get_chat(tx, said.person.id, said.message.chat)
        await write_marker(tx, chat, said, "stopped by the person", now=now)
        return await done_with(tx, house, task)


async def put_off(house: House, task: Task, error: Exception) -> None:
    """Have a turn that failed tried again later; when that was done often enough, say so."""
    now, first = house.clock(), task.letters[0]
    again = retry_at(now, first.attempts, chance=random.random())
    is_hopeless = first.attempts >= MOST_ATTEMPTS
    why = f"{type(error).__name__}: {error}"
    with suppress(LeaseLost, StoreError):  # then the lease runs out by itself
        async with house.db.writing() as tx:
            if is_hopeless:
                await own_up(tx, house, task, now=now)
            for letter in task.letters if is_hopeless else task.letters[:1]:
                at = None if is_hopeless else again
                await fail(tx, task.claim, letter, error=why, now=now, retry_at=at)
            await release(tx, task.claim, now=now)


async def own_up(tx: Transaction, house: House, task: Task, *, now: Micros) -> None:
    """Tell the person that there will be no answer unless somebody looks after it."""
    if task.words[0].kind == "said":
        said = await utterance_in(tx, house, task)
        chat = await get_chat(tx, said.person.id, said.message.chat)
        await write_reply(tx, house, chat, said, apologise(said), now=now)


async def write_reply(
    tx: Transaction, house: House, chat: Chat, said: Utterance, outcome: Outcome, *, now: Micros
) -> Message:
    """Write the reply beside what it answers, and have it delivered where it must be.

    A marker comes after it where it is no answer. The companion's words are not found in place
    of the person's.
    """
    spoken = Spoken(
        role="companion", speaker=said.companion.name, text=outcome.reply.text,
        at=said.message.at, zone=said.message.zone, trust="companion",
    )  # fmt: skip
    place = place_beside(chat, said, language=outcome.reply.language)
    reply = await write_message(tx, place, spoken, now=now, findable=False)
    assert reply is not None
    if outcome.trouble is not None:
        await write_marker(tx, chat, said, outcome.trouble, now=now)
    channel = house.channels.get(chat.channel)
    if channel is not None:
        await put_reply(tx, chat, reply.id, channel.parts(reply.text), now=now)
    return reply


async def write_marker(
    tx: Transaction, chat: Chat, said: Utterance, what: str, *, now: Micros
) -> None:
    """Note in the log what became of a turn, for the turns that come after it."""
    spoken = Spoken(
        role="marker", speaker=said.companion.name, text=what, at=said.message.at,
        zone=said.message.zone, trust="tool",
    )  # fmt: skip
    place = place_beside(chat, said, language="en")
    await write_message(tx, place, spoken, now=now, findable=False)


def place_beside(chat: Chat, said: Utterance, *, language: str) -> Place:
    """Where what belongs to a turn is written."""
    return Place(chat=chat, session=said.message.session, turn=said.message.turn, language=language)


def receipt_of(said: Utterance, reply: Message, outcome: Outcome, *, now: Micros) -> Receipt:
    """The receipt of a reply."""
    person, turn = turn_of(said)
    return Receipt(
        id=ReceiptId(new_id(now)), person=person, turn=turn,
        asked=said.message.id, asked_seq=said.message.seq, replied=reply.id, made_at=now,
        details=outcome.reply.details,
        items=outcome.reply.items,
    )  # fmt: skip


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
