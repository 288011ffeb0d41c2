"""How is what a turn decided written down? All of it, in one transaction, or nothing.

So is what became of a turn that decided nothing: stopped by the person, put off, given up.
"""

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from oldfriend.app.accepting import hearer_of
from oldfriend.app.embedding import plan_embedding
from oldfriend.app.forming.tending import note_talk
from oldfriend.app.holding import Hold
from oldfriend.app.house import House
from oldfriend.app.marking import STOPPED, place_beside, write_marker
from oldfriend.app.speaking import is_wanted, words_of
from oldfriend.app.thinking import asker_of
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import (
    LeaseLost,
    StaleDecision,
    StoreError,
    TurnStopped,
)
from oldfriend.domain.ids import PersonId, ReceiptId, TurnId, new_id
from oldfriend.domain.letters import Claim, Letter
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.people import Chat
from oldfriend.ledger.calls import list_completions
from oldfriend.ledger.tools import has_done_anything
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.changes import revision_of
from oldfriend.memory.forgetting.overtaking import all_are_kept, read_as_before
from oldfriend.memory.log import get_message, was_anything_said, write_message
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import (
    get_chat,
    get_companion,
    get_person_by_id,
    mark_introduced,
    set_language,
)
from oldfriend.memory.receipts import Receipt, write_receipt
from oldfriend.memory.vectors import save_vectors
from oldfriend.memory.working import save_working
from oldfriend.queues.backoff import retry_at
from oldfriend.queues.inbox import Word, find_shown, first_turn, list_notices, word_of
from oldfriend.queues.lanes import (
    MOST_ATTEMPTS,
    check,
    fail,
    finish_checked,
    refuse_taken_over,
    release,
    take_away,
)
from oldfriend.queues.outbox import put_reply
from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.pipeline import apologise


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done in one go in a chat whose lane is held."""

    hold: Hold
    letters: tuple[Letter, ...]
    later: tuple[Letter, ...]  # what else was due when it was begun

    @property
    def claim(self) -> Claim:
        """By which the lane is held."""
        return self.hold.claim

    @property
    def words(self) -> tuple[Word, ...]:
        """What the letters are about."""
        return tuple(map(word_of, self.letters))


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
        reply = await write_reply(tx, house, chat, task, said, outcome, now=now)
        await refuse_forgotten(tx, said, outcome, may_redo=may_redo)  # the person is locked now
        await refuse_taken_over(tx, task.claim)  # by somebody who may have answered
        await write_receipt(tx, receipt_of(said, reply, outcome, now=now))
        if vectors is not None:
            seqs, model = [each.seq for each in said.messages], house.embedder.model
            await save_vectors(tx, said.person.id, model, seqs, vectors)
        elif outcome.tells:
            await plan_embedding(tx, now=now)
        for note in outcome.notes:
            await learn_note(tx, note.text, source=note.source, author=note.author, now=now)
        if outcome.working is not None:
            session, working = said.message.session, outcome.working.answered_by(reply.id)
            await save_working(tx, said.person.id, session, working, now=now)
        if outcome.language and outcome.language != said.person.language:
            await set_language(tx, said.person.id, outcome.language)
        await note_talk(
            tx, house, said.person.id, said.message.session, now=now,
            dropped=outcome.reply.dropped,
        )  # fmt: skip
        if outcome.reply.introduces and not await mark_introduced(tx, said.companion.id, now=now):
            raise StaleDecision("The companion has been introduced by another turn.")
        await check(tx, task.claim)  # from here on nothing more arrives
        notices = await list_notices(tx, task.claim.lane, task.words[0].turn)
        await refuse_overtaken(tx, notices, said, may_redo=may_redo)
        rest = await done_with(tx, house, task, notices)
        house.reached("committing")
        await tx.wake()
    house.reached("committed")
    house.waking.ring()
    return rest


async def refuse_overtaken(
    tx: Transaction, notices: Sequence[Letter], said: Utterance, *, may_redo: bool
) -> None:
    """Raise TurnStopped or StaleDecision for what has arrived while the turn was being decided.

    An edit has it decided anew, unless something was shown or done already.
    """
    person, turn = turn_of(said)
    words = [word_of(each) for each in notices]
    if any(word.kind == "stop" for word in words):
        raise TurnStopped("The person said stop.")
    answered = {each.id: each.version for each in said.messages}
    is_edited = any(word.version > answered.get(word.message, word.version) for word in words)
    if is_edited and may_redo and not await has_done_anything(tx, person, turn):
        raise StaleDecision("What was said has been edited.")


async def refuse_forgotten(
    tx: Transaction, said: Utterance, outcome: Outcome, *, may_redo: bool
) -> None:
    """Raise StaleDecision where something was forgotten while the reply was decided.

    TurnStopped where that is what was said, or what the reply was made from and it was shown
    already.
    """
    person = said.person.id
    if (await revision_of(tx, person)).rewritten == said.rewritten:
        return
    if not await all_are_kept(tx, person, {each.id for each in said.messages}):
        raise TurnStopped("What was said has been forgotten.")
    if may_redo:
        raise StaleDecision("Something has been forgotten that the reply may rest on.")
    is_kept = await all_are_kept(tx, person, outcome.seen)
    if not (is_kept and await read_as_before(tx, person, outcome.read)):
        raise TurnStopped("Something that the reply rests on has been forgotten.")


async def done_with(
    tx: Transaction, house: House, task: Task, notices: Sequence[Letter]
) -> tuple[Letter, ...]:
    """Take the letters away, and the notices about them; what is left to do in the lane.

    When nothing is left, it is free. The claim was checked in this transaction.
    """
    now = house.clock()
    done = {letter.seq: letter for letter in (*task.letters, *notices)}
    rest = tuple(each for each in task.later if each.seq not in done)
    if rest:
        await take_away(tx, list(done.values()), now=now)
    else:
        rest = await finish_checked(tx, task.claim, list(done.values()), now=now)
    if rest:
        await task.hold.keep(tx)
    return rest


async def checked_and_done_with(
    tx: Transaction, house: House, task: Task
) -> tuple[Letter, ...]:  # fmt: skip
    """The same, where nothing was looked at before. Raises LeaseLost."""
    await check(tx, task.claim)
    notices = await list_notices(tx, task.claim.lane, task.words[0].turn)
    return await done_with(tx, house, task, notices)


async def commit_stop(house: House, task: Task, said: Utterance) -> tuple[Letter, ...]:
    """Write that nothing was answered because the person said stop."""
    now = house.clock()
    async with house.db.writing() as tx:
        chat = await get_chat(tx, said.person.id, said.message.chat)
        await write_marker(tx, chat, said.message, STOPPED, now=now)
        await plan_embedding(tx, now=now)  # else the turn would have done it
        return await checked_and_done_with(tx, house, task)


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
        await write_reply(tx, house, chat, task, said, apologise(said), now=now)
        await plan_embedding(tx, now=now)


async def own_up_to_given_up(house: House, hold: Hold) -> None:
    """Tell of turns that took down whoever began them, and were parked by this claim."""
    letters = hold.claim.given_up
    while letters:
        task = Task(hold=hold, letters=first_turn(letters), later=())
        letters = letters[len(task.letters) :]
        async with house.db.writing() as tx:
            await own_up(tx, house, task, now=house.clock())


async def write_reply(
    tx: Transaction, house: House, chat: Chat, task: Task, said: Utterance, outcome: Outcome, *,
    now: Micros,
) -> Message:  # fmt: skip
    """Write the reply beside what it answers, and have it delivered where it must be.

    A marker comes after it where it is no answer. The companion's words are not found in place
    of the person's.
    """
    spoken = Spoken(
        role="companion", speaker=said.companion.name, text=outcome.reply.text,
        at=said.message.at, zone=said.message.zone, trust="companion",
    )  # fmt: skip
    place = place_beside(chat, said.message, language=outcome.reply.language)
    reply = await write_message(tx, place, spoken, now=now, findable=False)
    assert reply is not None
    if outcome.trouble is not None:
        await write_marker(tx, chat, said.message, outcome.trouble, now=now)
    if chat.channel in house.platforms:
        await put_reply(
            tx, chat, reply.id, house.parts_for(chat.channel, reply.text), now=now,
            shown=await find_shown(tx, task.letters), aloud=title_aloud(house, said, reply.text),
        )  # fmt: skip
    return reply


def title_aloud(house: House, said: Utterance, reply: str) -> str | None:
    """Under which title a reply is to be heard as well; None: it is not."""
    speaks = house.settings.speech.speaks
    if house.speaker is None or not is_wanted(speaks, said.messages) or words_of(reply) is None:
        return None
    return said.companion.name


def receipt_of(said: Utterance, reply: Message, outcome: Outcome, *, now: Micros) -> Receipt:
    """The receipt of a reply."""
    person, turn = turn_of(said)
    return Receipt(
        id=ReceiptId(new_id(now)), person=person, turn=turn,
        asked=said.message.id, asked_seq=said.message.seq, replied=reply.id, made_at=now,
        details=outcome.reply.details,
        items=outcome.reply.items,
    )  # fmt: skip


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
    revision = await revision_of(tx, person_id)
    said = Utterance(
        message=messages[-1], earlier=tuple(messages[:-1]), person=person, companion=companion,
        hearer=hearer_of(companion, person, house.settings), first_in_chat=not goes_on,
        rewritten=revision.rewritten, is_kept=house.is_kept,
    )  # fmt: skip
    given = await list_completions(tx, asker_of(said))
    return replace(said, given=given) if given else said


def turn_of(said: Utterance) -> tuple[PersonId, TurnId]:
    """Whose turn an utterance makes, and which."""
    assert said.message.turn is not None  # what was accepted has one
    return said.person.id, said.message.turn
