"""How does what was said become an answer that is kept? Accept, think, commit.

What was said is in the log before anything else happens. All that a turn decides (reply, notes,
receipt) is written in one transaction; nothing is shown that is not written.
"""

from dataclasses import dataclass, replace

from oldfriend.app.wiring import House
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.domain.ids import ReceiptId, TurnId, new_id
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.people import Chat, Person
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.log import Place, has_messages, write_message
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_identity,
    ensure_owner,
    ensure_person,
    get_person_by_id,
    mark_introduced,
    set_language,
    set_zone,
)
from oldfriend.memory.receipts import Receipt, write_receipt
from oldfriend.memory.search import text_to_embed
from oldfriend.memory.sessions import session_at
from oldfriend.memory.vectors import save_vectors
from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.perceive import Hearer, perceive
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.recall import vector_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Who is talking, and where: an open line between a person and the companion."""

    person: Person
    chat: Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply as it was kept."""

    said: Message
    reply: Message
    receipt: Receipt


async def open_line(house: House, *, person: str | None, channel: str) -> Line:
    """The line of a person (None: the owner) on a channel; made if new."""
    now, zone = house.clock(), house.settings.zone
    async with house.db.writing() as tx:
        if person is None:
            someone = await ensure_owner(tx, now=now, zone=zone)
        else:
            await ensure_owner(tx, now=now, zone=zone)
            someone = await ensure_person(tx, person, now=now, zone=zone)
        companion = await ensure_companion(tx, now=now)
        chat = await ensure_chat(
            tx, someone, companion, channel=channel, address=someone.name, title=channel, now=now
        )
        await ensure_identity(tx, someone.id, channel=chat.channel, address=someone.name, now=now)
    return Line(person=someone, chat=chat)


async def answer(
    house: House, line: Line, text: str, *, at: Micros | None = None, zone: str | None = None
) -> Answer:
    """Answer one thing that a person said. Raises InvalidInput for an empty or endless text."""
    if not text.strip():
        raise InvalidInput("There is nothing in that message. Write something.")
    said = await accept(house, line, text, at=at, zone=zone)
    try:
        return await decide(house, line, said)
    except StaleDecision:
        return await decide(house, line, await brought_up_to_date(house, said))


async def decide(house: House, line: Line, said: Utterance) -> Answer:
    """Run the turn, and commit what it decides together with the vector of what was told."""
    outcome = await run_turn(said, house.looking)
    vector = None
    if outcome.tells:
        words = text_to_embed(said.message.speaker, said.message.text)
        vector = await vector_of(house.embedder, words)
    return await commit(house, line, said, outcome, vector)


async def accept(
    house: House, line: Line, text: str, *, at: Micros | None, zone: str | None
) -> Utterance:
    """Write down what was said, before anything that can fail.

    What only asks or greets is kept like everything else, but not found: asking again must not
    find the question in place of its answer.
    """
    now = house.clock()
    turn = TurnId(new_id(now))
    async with house.db.writing() as tx:
        person = await get_person_by_id(tx, line.person.id)
        companion = await ensure_companion(tx, now=now)
        if person.zone != house.settings.zone:  # they have travelled
            await set_zone(tx, person.id, house.settings.zone)
        goes_on = await has_messages(tx, person.id, line.chat.id)
        spoken = Spoken(
            role="person", speaker=person.name, text=text, at=now if at is None else at,
            zone=zone or house.settings.zone, trust="person",
        )  # fmt: skip
        session = await session_at(tx, line.chat, spoken.at)
        place = Place(
            chat=line.chat, session=session, turn=turn,
            language=person.language or house.settings.language or "en",
        )  # fmt: skip
        hearer = Hearer(name=companion.name, languages=(person.language, house.settings.language))
        tells = not perceive(text, hearer).only_asks
        message = await write_message(tx, place, spoken, now=now, findable=tells)
    assert message is not None  # it has no external id that could be known
    return Utterance(
        message=message, person=person, companion=companion,
        hearer=hearer, first_in_chat=not goes_on,
    )  # fmt: skip


async def brought_up_to_date(house: House, said: Utterance) -> Utterance:
    """The same words, with who hears them as they are now."""
    async with house.db.writing() as tx:
        return replace(
            said,
            person=await get_person_by_id(tx, said.person.id),
            companion=await ensure_companion(tx, now=house.clock()),
        )


async def commit(
    house: House, line: Line, said: Utterance, outcome: Outcome, vector: Vectors | None
) -> Answer:
    """Write everything that the turn decided, at once.

    Raises StaleDecision when it rests on what another turn has changed meanwhile.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        reply = await write_reply(tx, line, said, outcome, now=now)
        receipt = receipt_of(said, reply, outcome, now=now)
        await write_receipt(tx, receipt)
        if vector is not None:
            seqs, model = [said.message.seq], house.embedder.model
            await save_vectors(tx, said.person.id, model, seqs, vector[None])
        for note in outcome.notes:
            await learn_note(tx, note.text, source=said.message, author=note.author, now=now)
        if outcome.language and outcome.language != said.person.language:
            await set_language(tx, said.person.id, outcome.language)
        if outcome.reply.introduces and not await mark_introduced(tx, said.companion.id, now=now):
            raise StaleDecision("The companion has been introduced by another turn.")
    return Answer(said=said.message, reply=reply, receipt=receipt)


async def write_reply(
    tx: Transaction, line: Line, said: Utterance, outcome: Outcome, *, now: Micros
) -> Message:
    """Write the reply beside what it answers; its quotes are not found in place of the words."""
    place = Place(
        chat=line.chat, session=said.message.session, turn=said.message.turn,
        language=outcome.reply.language,
    )  # fmt: skip
    spoken = Spoken(
        role="companion", speaker=said.companion.name, text=outcome.reply.text,
        at=said.message.at, zone=said.message.zone, trust="companion",
    )  # fmt: skip
    reply = await write_message(tx, place, spoken, now=now, findable=False)
    assert reply is not None
    return reply


def receipt_of(said: Utterance, reply: Message, outcome: Outcome, *, now: Micros) -> Receipt:
    """The receipt of a reply."""
    assert said.message.turn is not None
    return Receipt(
        id=ReceiptId(new_id(now)), person=said.person.id, turn=said.message.turn,
        asked=said.message.id, asked_seq=said.message.seq, replied=reply.id, made_at=now,
        details=outcome.reply.details,
        items=outcome.reply.items,
    )  # fmt: skip
