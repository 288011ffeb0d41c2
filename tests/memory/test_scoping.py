"""Nobody ever sees what belongs to somebody else: shown for every query there is.

Every statement in ``oldfriend/memory`` is run for one person while another's rows lie between
theirs. No result may hold anything of the other's, and every statement that touches a table with
a ``person`` column must name the person it is for. A statement that the tour below never runs
fails the last test: whoever adds a query adds it to the tour.
"""

import ast
import importlib
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oldfriend.memory
from oldfriend.db.database import Database, Row, SqlValue, Transaction
from oldfriend.domain.attachments import Attachment
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId, SegmentId, TurnId, new_id
from oldfriend.domain.memories import Believed, Cause, Entity, Memory, Mood, Relation, Summary
from oldfriend.domain.messages import Message
from oldfriend.domain.working import NOTHING_IN_MIND
from oldfriend.memory import (
    attachments,
    batches,
    beliefs,
    borrowing,
    changes,
    core_blocks,
    correcting,
    days,
    deriving,
    descriptions,
    dump,
    evidence,
    groups,
    identities,
    known,
    leafing,
    log,
    meanings,
    moods,
    notes,
    passkeys,
    people,
    receipts,
    segments,
    sessions,
    settling,
    sign_in,
    soul,
    suggestions,
    tallying,
    thresholds,
    ticks,
    tokens,
    turning,
    vectors,
    views,
    watching,
    withdrawing,
    working,
)
from oldfriend.memory import talk as windows
from oldfriend.memory.shelf import Shelf
from tests.memory.conftest import Friend, Meet

WITHOUT_A_PERSON = {
    "find_owner": "finds out who the owner is",
    "find_person": "finds out who bears a name",
    "list_people": "lists who is here, for the owner of the machine; nothing that they said",
    "add_person": "makes the person",
    "use_link": "finds out whose link it is, by its print",
    "open_web_session": "lets go of sessions that are over, whosever they were",
    "find_by_token": "finds out whose token it is, by its print",
    "find_passkey": "finds out whose passkey it is, by its device's name of it",
    "list_invitations": "lists who is invited, for the owner; nothing that they said",
    "end_invitation": "by its id, for the owner",
    "list_paired": "lists who is known on a platform, for the owner; nothing that they said",
    "write_challenge": "lets go of challenges that are over, whosever they were",
    "write_token": "lets go of tokens that are over, whosever they were",
    "find_web_session": "finds out whose session it is, by its print",
    "count_receipts": "counts for the owner of the machine; nothing of what they say",
    "count_waiting": "counts for the owner of the machine; nothing of what they say",
    "list_ended": "counts for the owner of the machine; nothing of what they say",
    "count_decisions": "counts for the owner of the machine; nothing of what they say",
    "list_replied": "times for the owner of the machine; nothing of what they say",
    "list_closeness": "scores for the owner of the machine; nothing of what they say",
    "rename_person": "by the id of a person who was just read by name",
    "find_identity": "finds out who is at an address",
    "count_identities": "counts for the owner of the machine; nothing of what they say",
    "list_codes": "reads prints of codes, to find out whose one is",
    "move_chats": "follows a place to its new address, whoever talks there",
    "list_groups": "lists the groups it is in, for the owner; nothing that was said there",
    "list_members": "finds out who is in a group; nothing that they said",
    "last_heard_on": "tells the owner of the machine when, not who",
    "undo_batch": "by the id of a batch that was just read for the person",
}
"""The functions whose statements may touch a person's table without ``:person``, and why."""

OF_EVERYBODY = {
    "dump_rows": "of the person through the table's own column, shown below; or a whole export",
    "has_told_anything": "of the person through the table's own column",
    "is_empty": "says of a whole store only whether it is empty",
    "clear_the_way": "works on an empty store",
    "restore_rows": "works on an empty store",
    "fill_views": "writes rows of which the person is a column, into views that are empty",
    "writing_of": "writes a row of which the person is a column, and none of another's",
}
"""The functions that build statements for whichever table they are given."""

OF_THE_PERSON = re.compile(r"\b(person|id) = :(person|whose)\b|INSERT\b.*:person\b", re.DOTALL)


@dataclass(slots=True)
class Recorder:
    """A transaction that remembers each statement, for whom it was run, and what it gave back."""

    tx: Transaction
    person: str
    seen: list[tuple[str, Mapping[str, SqlValue], list[Row]]] = field(default_factory=list)

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """All rows of a query."""
        found = await self.tx.rows(sql, **values)
        self.seen.append((sql, values, found))
        return found

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        found = await self.tx.row(sql, **values)
        self.seen.append((sql, values, [] if found is None else [found]))
        return found

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement."""
        self.seen.append((sql, values, []))
        return await self.tx.run(sql, **values)

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Lock rows."""
        self.seen.append((sql, values, []))
        await self.tx.lock(sql, **values)

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement many times."""
        kept = list(each)
        self.seen += [(sql, values, []) for values in kept]
        await self.tx.run_many(sql, kept)


@asynccontextmanager
async def recorded(friend: Friend) -> AsyncIterator[Recorder]:
    """A writing transaction for one person, recorded."""
    async with friend.db.writing() as tx:
        yield Recorder(tx, friend.person.id)


async def talk(tx: Recorder, friend: Friend, secret: str) -> None:
    """Everything that writes."""
    said = await friend.says_in(tx, f"Remember: {secret}", external_id="same id for all")
    if said is None:
        ids = ["same id for all"]
        found = await known.known_messages(tx, friend.person.id, friend.chat.id, ids)
        said = await log.edit_message(
            tx, friend.person.id, found[ids[0]].id, f"{secret} now", now=1
        )
    await notes.learn_note(tx, secret, source=said, author="rules/1", now=friend.clock())
    await receipts.write_receipt(
        tx,
        receipts.Receipt(
            id=new_id(friend.clock()), person=friend.person.id, turn=new_id(friend.clock()),
            asked=said.id, asked_seq=said.seq, replied=said.id, made_at=friend.clock(), details={},
            items=(
                receipts.ReceiptItem(
                    kind="message", object=said.id, version=1, used=True, score=1.0, why=()
                ),
            ),
        ),
    )  # fmt: skip
    await believe(tx, friend, said, secret)
    await say_aloud(tx, friend, said)
    await write_about_themselves(tx, friend, secret)
    await think(tx, friend, secret)
    embedding = np.full((1, 384), 0.05, dtype=np.float32)
    await vectors.save_vectors(tx, friend.person.id, "m", [said.seq], embedding)
    await people.set_language(tx, friend.person.id, "en")
    await people.set_zone(tx, friend.person.id, "UTC")
    await people.ensure_identity(tx, friend.person.id, channel="web", address=secret, now=0)


async def say_aloud(tx: Recorder, friend: Friend, said: Message) -> None:
    """What belongs to a message as it was said or spoken."""
    person, now = friend.person.id, friend.clock()
    heard = Attachment(
        id=new_id(now), person=person, message=said.id, kind="heard", voice="", mime="audio/ogg",
        size=3, made_at=now,
    )  # fmt: skip
    spoken = [replace(heard, id=new_id(now), kind="spoken", voice=voice) for voice in "ab"]
    for sound in (heard, *spoken):
        await attachments.add_attachment(tx, sound, b"Ogg")
    assert await attachments.find_attachment(tx, person, said.id, "heard") is not None
    await attachments.remove_attachments(tx, person, spoken[:1])
    await attachments.remove_spoken(tx, person, before=now + 1)
    assert {each.kind for each in await attachments.list_attachments(tx, person)} == {"heard"}
    await log.list_asked(tx, said)


async def believe(tx: Recorder, friend: Friend, said: Message, secret: str) -> None:
    """Everything that the reading of a segment writes, and what takes it back."""
    person, now = friend.person.id, friend.clock()
    await segments.list_waiting(tx, person)
    await thresholds.set_threshold(tx, person, 7)
    assert await thresholds.find_threshold(tx, person) == 7
    await thresholds.measure_uncut_turns(tx, person, said.session)
    await segments.count_first_segments(tx, person, most=4)
    for uncut in await segments.list_uncut(tx, person, session=said.session):
        await segments.measure_uncut(tx, person, uncut)
        cut = await segments.cut_segment(tx, person, uncut, cut_by="asked", now=now)
        await segments.set_status(tx, cut, "done", outcome={"told": secret}, now=now)
        await moods.set_mood(tx, cut, Mood(phrase=secret, energy=5))
        await working.load_working(tx, person, said.session, now=now)
        await working.save_working(tx, person, said.session, NOTHING_IN_MIND, now=now)
        causes = (Cause(message=said.id, version=said.version),)
        ground = changes.Ground(author="rules/1", segment=cut.id, causes=causes)
        believed: list[Believed] = [
            Memory(id=new_id(now), person=person, kind="fact", text=secret, language="en",
                   learned_at=now),
            Entity(id=new_id(now), person=person, name=secret, kind="person", learned_at=now),
            Summary(id=new_id(now), person=person, level=1, text=secret, language="en",
                    from_at=now, until_at=now, learned_at=now),
        ]  # fmt: skip
        for each in believed:
            first = await changes.decide(tx, each, op="learned", base=0, ground=ground, now=now)
            await changes.decide(tx, each, op="revised", base=first.seq, ground=ground, now=now)
            await withdrawing.was_edited(tx, first)
        (memory, entity, summary) = (each.id for each in believed)
        words = evidence.Words(source=said, quote=secret)
        await evidence.add_evidence(
            tx, person, memory, [words], extractor="rules/1", now=now, segment=cut.id
        )
        await evidence.list_evidence_of(tx, person, [memory])
        await evidence.move_evidence(tx, person, source=memory, target=entity, messages=[said.id])
        await evidence.move_evidence(tx, person, source=memory, target=entity)
        await evidence.withdraw_evidence(tx, person, cut.id, now=now)
        await views.remove_view(tx, person, summary)
    await changes.rebuild(tx, person)
    for reopened in await segments.reopen_segments(tx, person, [said.id]):
        segment = await segments.get_segment(tx, person, reopened)
        await segments.reopen_segment(tx, segment)
    await segments.remove_empty_segments(tx, person)
    await working.clear_working(tx, person)


async def think(tx: Recorder, friend: Friend, secret: str) -> None:
    """Everything that thinking writes, and what takes it back."""
    person, now = friend.person.id, friend.clock()
    ground = changes.Ground(author="reflect/1")
    event = Memory(id=new_id(now), person=person, kind="event", text=secret, language="en",
                   learned_at=now)  # fmt: skip
    thought = replace(event, id=new_id(now), kind="thought", relations=(
        Relation(kind="rests_on", other=event.id),
    ))  # fmt: skip
    said = await friend.says_in(tx, f"{secret} again")
    for each in (event, thought):
        await changes.decide(tx, each, op="learned", base=0, ground=ground, now=now)
    if said is not None:
        words = evidence.Words(source=said, quote=secret)
        await evidence.add_evidence(tx, person, event.id, [words], extractor="rules/1", now=now)
    await borrowing.borrow(tx, person, thought.id, [event.id], extractor="reflect/1", now=now)
    await borrowing.borrow_again(tx, person, [thought.id], now=now)
    tick = ticks.Tick(
        id=new_id(now), person=person, kind="reflection", why="timer", ran_at=now,
        shown=(event.id,), transcript=ticks.Transcript(shown=(secret,), answered=(secret,)),
    )  # fmt: skip
    await ticks.write_tick(tx, tick)
    await settling.end_what_was_made(tx, person, now=now, fallen=[event.id])


async def look_at_thinking(tx: Recorder, friend: Friend) -> None:
    """Everything that reads what was thought."""
    person = friend.person.id
    await ticks.find_last_tick(tx, person, "reflection")
    await ticks.list_ticks(tx, person, since=0)
    await ticks.thinking_since(tx, person, "reflection", 0)
    await ticks.next_fading(tx, person)
    await ticks.let_transcripts_go(tx, person, now=0)
    await descriptions.list_indescribed(tx, person)
    await beliefs.list_weighed_since(tx, person, 0)
    await beliefs.list_of_key(tx, person, "triple", "plans_for")
    await beliefs.list_until(tx, person)
    await changes.was_set_right_since(tx, person, 0)


async def write_about_themselves(tx: Recorder, friend: Friend, secret: str) -> None:
    """What only a person writes."""
    renamed = await people.rename_person(tx, friend.person, new_id(0), platforms=())
    await people.rename_person(tx, renamed, friend.person.name, platforms=())
    await core_blocks.write_block(tx, friend.person.id, "user", secret, now=0)
    await core_blocks.list_blocks(tx, friend.person.id)
    what = suggestions.Proposal(block="style", text=secret, reason=secret, author="reflect/1")
    made = await suggestions.suggest(tx, friend.person.id, what, now=0)
    if made is not None:  # it was not suggested before
        await suggestions.get_pending(tx, friend.person.id, made.id)
        await suggestions.take_away(tx, made)
        again = await suggestions.suggest(tx, friend.person.id, what, now=0)
        assert again is not None
        await suggestions.settle(tx, again, "declined", now=0)


async def bring_in(tx: Recorder, friend: Friend, secret: str) -> None:
    """Everything that an import does, once finished, once undone, once without anything new."""
    at = friend.clock.tick(minutes=500)
    for number in range(3):
        reading = batches.Reading(
            file=secret, format="text", sha256=f"{at}{number}", me=secret, zone="UTC"
        )
        batch = await batches.begin_batch(tx, friend.person.id, reading, now=at)
        again = await batches.begin_batch(tx, friend.person.id, reading, now=at)
        assert again == batch
        session = await known.ensure_session_around(
            tx, friend.chat, opened_at=at, closed_at=at + number, batch=batch.id
        )
        await sessions.ensure_closed_session(
            tx, friend.chat, external_id=secret, opened_at=at, closed_at=at, batch=batch.id
        )
        if number < 2:
            place = log.Place(chat=friend.chat, session=session, batch=batch.id)
            spoken = log.Spoken(
                role="person", speaker="x", text=secret, at=at, trust="person",
                external_id=f"{at} {number}",
            )  # fmt: skip
            (message,) = await log.write_messages(tx, place, [spoken], now=at)
            assert message is not None
            edited = await log.edit_message(tx, friend.person.id, message.id, secret * 2, now=at)
            await known.claim_version(tx, edited, batch=batch.id, details={})
            await batches.advance_batch(tx, batch, added=1, known=0)
        await batches.finish_batch(tx, batch, now=at)
        if number == 1:
            await batches.undo_batch(tx, friend.person.id, batch.number, now=at)


async def look(tx: Recorder, friend: Friend, others: Friend, shelf: Shelf) -> None:
    """Everything that reads, also with the ids of somebody else."""
    person, chats = friend.person.id, (friend.chat.id, others.chat.id)
    await watch(tx, person)
    async with others.db.reading() as reader:
        of_others = [m.id for m in await log.list_messages(reader, others.person.id)]
        his_notes = [k.memory.id for k in await beliefs.list_memories(reader, others.person.id)]
    for chat in chats:
        await log.list_recent(tx, person, chat, limit=50)
        await log.was_anything_said(tx, person, chat, before=100)
        await log.list_written_since(tx, person, chat, after=0)
        await known.known_messages(tx, person, chat, ["same id for all"])
        await known.span_of(tx, person, chat)
    for message in of_others:
        with pytest.raises(OldfriendError):
            await log.get_message(tx, person, message)
        with pytest.raises(OldfriendError):
            await log.edit_message(tx, person, message, "his now", now=0)
        assert await receipts.find_receipt(tx, person, message) is None
        assert await receipts.find_receipt_named(tx, person, message) is None
    assert not await receipts.count_quoted(tx, person, of_others, author="rules/1")
    for memory in his_notes:
        assert await receipts.find_uses(tx, person, memory) is None
        with pytest.raises(OldfriendError):
            await beliefs.get_memory(tx, person, memory)
        with pytest.raises(OldfriendError):
            await beliefs.get_known(tx, person, memory)
        with pytest.raises(OldfriendError):
            await beliefs.find_object(tx, person, memory)
        assert await changes.list_changes_of(tx, person, memory) == []
    for said in await log.list_messages(tx, person):
        await log.find_reply(tx, said)
        await log.list_beside(tx, said, each_side=2)
        await receipts.find_receipt(tx, person, said.id)
    await log.list_by_seq(tx, person, range(1, 60))
    await log.count_messages(tx, person)
    await notes.list_notes(tx, person)
    await evidence.list_evidence(tx, person)
    await evidence.list_told_of(tx, person)
    await look_at_beliefs(tx, friend, others)
    await look_at_meanings(tx, friend, others)
    await look_at_thinking(tx, friend)
    await receipts.find_receipt(tx, person)
    await vectors.list_unembedded(tx, person, "other model")
    await vectors.count_findable(tx, person, "m")
    await vectors.vectors_of(tx, person, "m", [1, 2, 3])
    await batches.list_batches(tx, person)
    await known.list_chats(tx, person, channel="terminal")
    async with others.db.reading() as reader:
        for sound in await attachments.list_attachments(reader, others.person.id):
            assert await attachments.find_attachment(tx, person, sound.message, "heard") is None
    await people.get_person_by_id(tx, person)
    await people.get_chat(tx, person, friend.chat.id)
    with pytest.raises(OldfriendError):
        await people.get_chat(tx, person, others.chat.id)
    assert await log.find_by_key(tx, person, friend.chat.id, "no such key") is None
    for table in dump.TABLES:
        _ = [row async for row in dump.dump_rows(tx, table, person)]
    await shelf.index_of(tx, person)


async def link(tx: Recorder, friend: Friend) -> None:
    """What joins an address on a platform to a person, and lets it go again."""
    person, channel, place = friend.person.id, "platform", f"at {friend.person.id}"
    await identities.write_code(tx, person, "123456", now=0)
    (code,) = [
        each for each in await identities.list_codes(tx, channel, place, now=0)
        if each.person == person
    ]  # fmt: skip
    assert await identities.use_code(tx, code, now=0)
    await identities.note_attempt(tx, channel, place, now=0)
    await identities.join_identity(tx, person, channel=channel, address=place, now=0)
    found = await identities.find_identity(tx, channel, place)
    assert found is not None
    assert found.id == person
    await identities.count_identities(tx, channel)
    await log.last_heard_on(tx, channel)
    await groups.list_groups(tx, channel)
    await groups.list_members(tx, channel, place)
    await groups.be_in_group(tx, person, channel=channel, address=f"group {place}", now=0)
    assert await groups.is_group(tx, person)
    await groups.list_chats_in_groups(tx, person)
    assert await groups.be_out_of_group(tx, person, channel) == 1
    companion = await people.ensure_companion(tx, now=0)
    await people.ensure_chat(
        tx, friend.person, companion, channel=channel, address=f"group {place}", title="group",
        now=0,
    )  # fmt: skip
    await groups.leave_group(tx, person, channel=channel, address=f"group {place}", now=0)
    assert [each.id for each, _ in await identities.list_paired(tx, channel)] == [person]
    assert await identities.has_told_anything(tx, person)
    await people.move_chats(tx, channel, before=place, now=f"now {place}")
    await identities.take_identities(tx, person, channel)


async def go_again(tx: Recorder) -> None:
    """Somebody who has said nothing is let go."""
    empty = await people.ensure_person(tx, f"Empty {new_id(0)}", now=0, zone="UTC")
    assert not await identities.has_told_anything(tx, empty.id)
    await identities.remove_person(tx, empty.id)


async def sign_in_and_out(tx: Recorder, friend: Friend) -> None:
    """Everything by which a browser becomes somebody's."""
    person, secret, later = friend.person.id, new_id(0), sign_in.LINK_GOOD_FOR
    await sign_in.write_link(tx, person, secret, now=later)
    assert await sign_in.use_link(tx, secret, now=later) == (person, "link")
    assert await sign_in.use_link(tx, secret, now=0) is None
    await sign_in.open_web_session(tx, person, secret, now=0)
    found = await sign_in.find_web_session(tx, sign_in.print_of(secret), now=0)
    assert found is not None
    assert found.person.id == person
    assert len(await sign_in.list_web_sessions(tx, person, now=0)) == 1
    await sign_in.note_use_of_session(tx, person, found.print, now=0)
    await sign_in.prolong_web_session(tx, person, found.print, now=0)
    assert await sign_in.has_way_in(tx, person)
    await sign_in.end_other_sessions(tx, person, "another")
    assert not await sign_in.end_web_session(tx, person, found.print)
    await sign_in.note_attempt(tx, secret, now=0)
    await sign_in.refuse_guessing(tx, secret, now=0)
    invitation = await sign_in.write_invitation(tx, person, f"for {secret}", now=0)
    assert [each.person.id for each in await sign_in.list_invitations(tx, now=0)] == [person]
    assert await sign_in.end_invitation(tx, invitation) == person


async def show_keys(tx: Recorder, friend: Friend) -> None:
    """Everything by which programs and devices come in."""
    person, secret = friend.person.id, new_id(0)
    token = await tokens.write_token(tx, person, secret, name="script", scope="read", days=1, now=0)
    found = await tokens.find_by_token(tx, sign_in.print_of(secret), now=0)
    assert found is not None
    assert found.person.id == person
    await tokens.note_use_of_token(tx, person, found.print, now=0)
    await tokens.end_token(tx, person, token.id)
    await passkeys.write_challenge(tx, secret, person, now=0)
    assert await passkeys.use_challenge(tx, secret, person, now=0)
    passkey = await passkeys.write_passkey(
        tx, passkeys.Passkey(
            id=secret, person=person, name="laptop", public_key=b"p", sign_count=0, made_at=0
        ),
    )  # fmt: skip
    assert await passkeys.find_passkey(tx, secret) == passkey
    assert await passkeys.note_use_of_passkey(tx, passkey, sign_count=1, now=0)
    await passkeys.take_passkey(tx, person, passkey.id)


async def watch(tx: Recorder, person: PersonId) -> None:
    """Everything that a page hears."""
    await watching.position_of(tx, person)
    await watching.list_appended(tx, person, after=0, limit=50)
    await watching.list_decided(tx, person, after=0, limit=50)
    await watching.list_standing(tx, person, kinds=["note"], before=None, limit=50)
    await windows.list_said_before(tx, person, at=1 << 60, seq=0, limit=50)
    await windows.list_saying(tx, person, "safe", at=1 << 60, seq=0, limit=50)
    await windows.list_endings(tx, person, since=0, until=1 << 60)
    for said in await windows.list_said_after(tx, person, at=0, seq=0, limit=5):
        await windows.list_said_with(tx, said)
        await windows.list_sounding(tx, person, [said.id])
    await receipts.remove_receipt(tx, person, TurnId("none"))
    await days.find_first_said(tx, person)
    await evidence.list_last_said(tx, person)
    await days.count_said(tx, person, since=0, until=1 << 60)
    await days.list_talks(tx, person, since=0, until=1 << 60)
    await days.list_summaries_of(tx, person, since=0, until=1 << 60)
    await days.list_due_in(tx, person, since=0, until=1 << 60)
    await days.find_last_due(tx, person)
    await days.list_events_in(tx, person, since=0, until=1 << 60)
    await segments.count_ended_since(tx, person, 0)


async def look_at_beliefs(tx: Recorder, friend: Friend, others: Friend) -> None:
    """Everything that reads what is believed."""
    person = friend.person.id
    await changes.check_fold(tx, person)
    await changes.believed_at(tx, person, 1 << 60)
    await changes.revision_of(tx, person)
    await changes.list_changes_by(tx, person, SegmentId("none"))
    await evidence.check_standings(tx, person)
    await beliefs.list_entities(tx, person)
    await beliefs.list_summaries(tx, person)
    await beliefs.list_rejected(tx, person)
    await beliefs.list_merged(tx, person)
    for known_one in await beliefs.list_memories(tx, person):
        assert await beliefs.list_overtaking(tx, person, known_one.memory.id) == []
        await correcting.when_set(tx, person, [known_one.memory.id])
    await evidence.list_evidence_by(tx, person, SegmentId("none"))
    await receipts.list_receipts(tx, person, limit=5)
    await sessions.count_sessions(tx, person)
    await segments.count_segments(tx, person)
    await segments.find_last_read(tx, person)
    await segments.list_read_since(tx, person, 0)
    await moods.find_mood(tx, person, at=friend.clock())
    await moods.list_moods(tx, person, until=friend.clock(), limit=5)
    await leaf_through(tx, friend, others)
    await segments.list_uncut(tx, person)
    for segment in await segments.list_segments(tx, person, status=["waiting", "done"]):
        await segments.list_messages_in(tx, segment)
        await segments.list_messages_before(tx, segment, limit=5)
    async with others.db.reading() as reader:
        of_others = await segments.list_segments(reader, others.person.id)
    for segment in of_others:
        with pytest.raises(OldfriendError):
            await segments.get_segment(tx, person, segment.id)
        assert await segments.find_segment_named(tx, person, segment.id) is None


async def leaf_through(tx: Recorder, friend: Friend, others: Friend) -> None:
    """All of it, now and then; nothing of somebody else by their ids."""
    person, now = friend.person.id, friend.clock()
    for wanted in (leafing.Wanted(), leafing.Wanted(at=now), leafing.Wanted(tag="joy")):
        places = await leafing.list_places(tx, person, wanted, after=None, limit=5)
        await leafing.list_places(tx, person, wanted, after=(*places, None)[0], limit=5)
        await leafing.count_kinds(tx, person, wanted)
        await leafing.list_texts(tx, person, wanted)
    async with others.db.reading() as reader:
        of_others = await beliefs.list_memories(reader, others.person.id)
    ids = [each.memory.id for each in of_others]
    assert await leafing.list_decided_at(tx, person, ids, at=now) == {}
    await leafing.list_tags(tx, person)
    await turning.list_turned(tx, person, zone="UTC")
    await turning.list_differing(tx, person, since=0, until=now, kinds=["note"])


async def look_at_meanings(tx: Recorder, friend: Friend, others: Friend) -> None:
    """What stands ready to be searched of what is believed; also with beliefs of somebody else."""
    person = friend.person.id
    async with others.db.reading() as reader:
        of_others = [k.memory.id for k in await beliefs.list_memories(reader, others.person.id)]
    own = [known_one.memory.id for known_one in await beliefs.list_memories(tx, person)]
    vector = np.full(8, 0.05, dtype=np.float32)
    await meanings.save_meanings(tx, person, "m", dict.fromkeys([*own, *of_others], vector))
    assert await meanings.load_meanings(tx, person, "m", of_others) == {}
    assert set(await meanings.load_meanings(tx, person, "m")) == set(own)
    await meanings.list_meaningless(tx, person, "other", limit=5)
    index = await Shelf("m").beliefs_of(tx, person)
    assert {each.memory.id for each in index.live} <= set(own)


async def rarely(tx: Recorder, friend: Friend, shelf: Shelf) -> None:
    """What only happens now and then: the first start, a late vector, an outdated imprint."""
    await sign_in_and_out(tx, friend)
    await show_keys(tx, friend)
    companion = await people.ensure_companion(tx, now=0)
    await soul.keep_soul(tx, companion.id, "You are kind.", now=0)
    await soul.soul_text(tx)
    await people.ensure_owner(tx, now=0, zone="UTC")
    await people.ensure_owner(tx, now=0, zone="UTC")
    await people.get_person(tx, None)
    await people.get_person(tx, friend.person.name)
    await people.list_people(tx)
    await receipts.count_receipts(tx, since=0)
    await segments.count_waiting(tx)
    await tallying.list_ended(tx, since=0)
    await tallying.count_decisions(tx, since=0)
    await tallying.list_replied(tx, since=0)
    await tallying.list_closeness(tx, since=0)
    await people.ensure_person(tx, "Somebody new", now=0, zone="UTC")
    await people.lock_companion(tx)
    companion = await people.rename_companion(tx, companion, "Mira")
    await people.mark_introduced(tx, companion.id, now=0)
    await people.ensure_chat(
        tx, friend.person, companion, channel="new", address="", title="", now=0
    )
    await friend.says_in(tx, "before a long pause")
    friend.clock.tick(minutes=60)
    late = await friend.says_in(tx, "after it")
    assert late is not None
    await shelf.index_of(tx, friend.person.id)
    embedding = np.full((1, 384), 0.05, dtype=np.float32)
    await vectors.save_vectors(tx, friend.person.id, "m", [late.seq], embedding)
    await shelf.index_of(tx, friend.person.id)
    await vectors.note_choice(tx, vectors.Choice(model="other", at=0))
    await vectors.newest_choice(tx)
    await Shelf("other").index_of(tx, friend.person.id)
    await vectors.count_standing_in(tx, friend.person.id, "other", "m")
    await vectors.delete_former_vectors(tx, friend.person.id, "other", "m", after=0, limit=1)
    await tx.tx.run(
        "UPDATE message SET imprint = :zeros WHERE length(imprint) > 0", zeros=bytes(12)
    )
    await Shelf("m").index_of(tx, friend.person.id)


async def derive_anew(tx: Recorder, friend: Friend) -> None:
    """What is done with a copy of their memory before it is derived anew."""
    person = friend.person.id
    journal = await changes.list_changes(tx, person)
    await deriving.go_back(tx, person, journal, since=friend.clock())
    for segment in await segments.list_segments(tx, person):
        await deriving.read_anew(tx, person, segment.id, is_again=False)
    await deriving.believe_nothing_yet(tx, person)


async def ids_of(db: Database, person: str) -> set[str]:
    """Every id and every text in the rows of one person."""
    found: set[str] = set()
    async with db.reading() as tx:
        for table in await tables_of_people(tx):
            key = "id" if table == "person" else "person"
            rows = await tx.rows(f"SELECT * FROM {table} WHERE {key} = :person", person=person)
            found |= {cell for row in rows for cell in row if isinstance(cell, str)}
    return found


async def tables_of_people(tx: Transaction) -> list[str]:
    """The tables whose rows belong to a person, and the one of the persons."""
    owned = [table.name for table in await tx.tables() if "person" in table.columns]
    return ["person", *owned]


def statements() -> list[tuple[str, str]]:
    """All SQL in oldfriend/memory, each with the function or constant in which it stands."""
    found: list[tuple[str, str]] = []
    for path in sorted(Path(oldfriend.memory.__path__[0]).glob("*.py")):
        module = vars(importlib.import_module(f"oldfriend.memory.{path.stem}"))
        for part in ast.parse(path.read_text("utf-8")).body:
            name = getattr(part, "name", path.stem)
            found += [(name, sql) for sql in sql_in(part, module)]
    return found


IS_SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s")


def sql_in(node: ast.AST, module: Mapping[str, object]) -> list[str]:
    """The SQL below a node, with the module's constants filled in and variables as "…"."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(
            str(part.value) if isinstance(part, ast.Constant)
            else str(module.get(ast.unparse(part.value), "…"))
            for part in node.values
        )  # fmt: skip
    else:
        below = ast.iter_child_nodes(node)
        return [sql for child in below for sql in sql_in(child, module)]
    return [plain(text)] if IS_SQL.match(text) else []


def plain(sql: str) -> str:
    """A statement without its line breaks."""
    return " ".join(sql.split())


def names_the_person(sql: str, tables: Iterable[str]) -> bool:
    """Whether a statement either touches nobody's table or says whose rows it means."""
    touched = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([\w…]+)", sql)
    return not set(touched) & {*tables, "…"} or OF_THE_PERSON.search(sql) is not None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(order=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=10))
async def test_whatever_two_people_do_neither_sees_the_other(
    meet: Meet, order: list[tuple[bool, bool]]
) -> None:
    """Their messages, notes, receipts, vectors and imports lie between each other's."""
    friends = [await meet(new_id(0)), await meet(new_id(0))]
    shelf = Shelf("m")
    for which, imports in order:
        friend = friends[which]
        async with recorded(friend) as tx:
            await (bring_in if imports else talk)(tx, friend, f"{friend.person.name}'s secret")
    for friend, other in (friends, reversed(friends)):
        async with recorded(friend) as tx:
            await look(tx, friend, other, shelf)
            tables = await tables_of_people(tx.tx)
        foreign = await ids_of(friend.db, other.person.id) - await ids_of(
            friend.db, friend.person.id
        )

        assert tx.seen
        for sql, values, rows in tx.seen:
            assert names_the_person(sql, tables), sql
            assert {values.get("person"), values.get("whose")} <= {friend.person.id, None}
            leaked = {cell for row in rows for cell in row if isinstance(cell, str)} & foreign
            assert not leaked, (sql, leaked)


async def test_every_statement_says_whose_rows_it_means(db: Database) -> None:
    """Read from the source, also what no test would ever run."""
    async with db.reading() as tx:
        tables = await tables_of_people(tx)
    nameless = {name for name, sql in statements() if not names_the_person(sql, tables)}

    assert nameless == WITHOUT_A_PERSON.keys() | OF_EVERYBODY.keys()
    assert {table.name: table.person for table in dump.TABLES if table.person} == {
        name: "id" if name == "person" else "person" for name in tables if name not in dump.LEFT_OUT
    }


async def test_the_tour_leaves_no_statement_out(db: Database, meet: Meet) -> None:
    """A new query is only safe once it is shown to be."""
    shelf = Shelf("m")
    async with db.writing() as first:
        beginning = Recorder(first, "nobody yet")
        await people.ensure_companion(beginning, now=0)
    run = {plain(sql) for sql, _, _ in beginning.seen}
    nora, omar = await meet("Nora"), await meet("Omar")
    for friend, other in ((nora, omar), (omar, nora)):
        async with recorded(friend) as tx:
            await talk(tx, friend, "secret")
            await talk(tx, friend, "secret")
            await bring_in(tx, friend, "secret")
            await shelf.index_of(tx, friend.person.id)
            await talk(tx, friend, "secret")
        run |= {plain(sql) for sql, _, _ in tx.seen}
        async with recorded(friend) as tx:
            await look(tx, friend, other, shelf)
            await link(tx, friend)
            await go_again(tx)
            await rarely(tx, friend, shelf)
            await derive_anew(tx, friend)
        run |= {plain(sql) for sql, _, _ in tx.seen}

    never = [
        (name, sql)
        for name, sql in statements()
        if name not in OF_EVERYBODY
        and not any(re.search(re.escape(sql).replace("…", ".*"), each) for each in run)
    ]
    assert not never, never
