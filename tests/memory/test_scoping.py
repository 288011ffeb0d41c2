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
from oldfriend.db import stored_tables
from oldfriend.db.database import Database, Row, SqlValue, Transaction
from oldfriend.domain.clock import MAX_TIME
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import ChatId, PersonId, SegmentId, TurnId, new_id
from oldfriend.domain.memories import (
    Cause,
    Entity,
    JournalObject,
    Mood,
    ObjectLink,
    StoredBelief,
    Summary,
)
from oldfriend.domain.messages import Message
from oldfriend.memory import (
    attachments,
    belief_corrections,
    belief_views,
    calendar_days,
    calendar_feeds,
    change_feed,
    chat_language,
    consolidation_undo,
    core_blocks,
    credentials,
    derived_evidence,
    evidence,
    groups,
    hint_progress,
    identities,
    import_batches,
    import_writer,
    journal,
    judged_beliefs,
    learning_stats,
    limitation_store,
    message_log,
    message_metadata,
    mood,
    notes,
    oauth_grants,
    pagination,
    people,
    push_subscriptions,
    receipts,
    reflection_log,
    retraction,
    segments,
    sessions,
    table_dump,
    vectors,
    web_sessions,
    working_memory,
)
from oldfriend.memory import chat_history as windows
from oldfriend.memory import (
    journal as changes,
)
from oldfriend.memory.attachments import Attachment
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.working_memory import EMPTY_WORKING_MEMORY
from tests.two_people import Friend, Meet

WITHOUT_A_PERSON = {
    "find_owner": "finds out who the owner is",
    "find_person": "finds out who bears a name",
    "list_people": "lists who is here, for the owner of the machine; nothing that they said",
    "add_person": "makes the person",
    "find_sign_in_link": "finds out whose link it is, by its print",
    "redeem_sign_in_link": "uses a link up, by its print",
    "open_web_session": "lets go of sessions that are over, whosever they were",
    "find_principal_by_token": "finds out whose token it is, by its print",
    "move_users": "renames the users of a person's front end, whoever they are, by its token",
    "insert_grant": "lets go of codes and refresh tokens that are over, whosever they were",
    "is_grant_known": "finds out whether there is a code or token, by its print",
    "take_grant": "finds out whose code or refresh token it is, by its print",
    "revoke_grant": "finds out whose connection it is, by a print",
    "find_feed_person": "finds out whose calendar feed it is, by its print",
    "find_passkey": "finds out whose passkey it is, by its device's name of it",
    "list_invitations": "lists who is invited, for the owner; nothing that they said",
    "delete_invitation": "by its id, for the owner",
    "list_linked_people": "lists who is known on a platform, for the owner; nothing that they said",
    "insert_challenge": "lets go of challenges that are over, whosever they were",
    "save_api_token": "lets go of tokens that are over, whosever they were",
    "find_web_session": "finds out whose session it is, by its print",
    "save_push_subscription": "takes a browser from whoever was signed in there before",
    "count_receipts": "counts for the owner of the machine; nothing of what they say",
    "count_waiting_segments": "counts for the owner of the machine; nothing of what they say",
    "list_segments_ended_since": "counts for the owner of the machine; nothing of what they say",
    "count_entries_by_op": "counts for the owner of the machine; nothing of what they say",
    "list_reply_timings": "times for the owner of the machine; nothing of what they say",
    "list_similarities": "scores for the owner of the machine; nothing of what they say",
    "rename_person": "by the id of a person who was just read by name",
    "find_identity": "finds out who is at an address",
    "list_copies": "finds the copies of a message by its chat and its id there",
    "count_identities": "counts for the owner of the machine; nothing of what they say",
    "list_usable_codes": "reads prints of codes, to find out whose one is",
    "list_front_end_names": "names the chat programs that were let in; nothing of what is said",
    "move_chats": "follows a place to its new address, whoever talks there",
    "list_groups": "lists the groups it is in, for the owner; nothing that was said there",
    "list_members": "finds out who is in a group; nothing that they said",
    "find_last_message_time": "tells the owner of the machine when, not who",
    "undo_batch": "by the id of a batch that was just read for the person",
}
"""The functions whose statements may touch a person's table without ``:person``, and why."""

OF_EVERYBODY = {
    "dump_rows": "of the person through the table's own column, shown below; or a whole export",
    "has_any_content": "of the person through the table's own column",
    "is_store_empty": "says of a whole store only whether it is empty",
    "delete_dumped_tables": "works on an empty store",
    "restore_rows": "works on an empty store",
    "insert_views": "writes rows of which the person is a column, into views that are empty",
    "build_upsert": "writes a row of which the person is a column, and none of another's",
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
    async with friend.db.begin_write() as tx:
        yield Recorder(tx, friend.person.id)


async def talk(tx: Recorder, friend: Friend, secret: str) -> None:
    """Everything that writes."""
    said = await friend.says_in(tx, f"Remember: {secret}", external_id="same id for all")
    if said is None:
        ids = ["same id for all"]
        found = await import_writer.load_known_messages(tx, friend.person.id, friend.chat.id, ids)
        said = await message_log.edit_message(
            tx, friend.person.id, found[ids[0]].id, f"{secret} now", now=1
        )
    await notes.learn_note(tx, secret, source=said, author="rules/1", now=friend.clock())
    await receipts.write_receipt(
        tx,
        receipts.Receipt(
            id=new_id(friend.clock()),
            person=friend.person.id,
            turn=new_id(friend.clock()),
            asked=said.id,
            asked_seq=said.seq,
            replied=said.id,
            made_at=friend.clock(),
            details={},
            items=(
                receipts.ReceiptItem(
                    kind="message", object=said.id, version=1, used=True, score=1.0, reasons=()
                ),
            ),
        ),
    )
    last = await receipts.find_receipt(tx, friend.person.id)
    assert last is not None
    await table_dump.append_receipt_items(tx, friend.person.id, last.id, [])
    await believe(tx, friend, said, secret)
    await say_aloud(tx, friend, said)
    await write_about_themselves(tx, friend, secret)
    await think(tx, friend, secret)
    embedding = np.full((1, 384), 0.05, dtype=np.float32)
    await vectors.save_message_vectors(tx, friend.person.id, "m", [said.seq], embedding)
    await people.set_language(tx, friend.person.id, "en")
    await hint_progress.begin_hints(tx, friend.person.id, now=0)
    await hint_progress.save_hint_progress(tx, friend.person.id, hint_progress.HintProgress())
    await hint_progress.find_hint_progress(tx, friend.person.id)
    await people.fix_language(tx, friend.person.id, None)
    await people.find_fixed_language(tx, friend.person.id)
    await people.set_zone(tx, friend.person.id, "UTC")
    await people.ensure_identity(tx, friend.person.id, channel="web", address=secret, now=0)


async def say_aloud(tx: Recorder, friend: Friend, said: Message) -> None:
    """What belongs to a message as it was said or spoken."""
    person, now = friend.person.id, friend.clock()
    heard = Attachment(
        id=new_id(now),
        person=person,
        message=said.id,
        kind="heard",
        voice="",
        mime="audio/ogg",
        size=3,
        made_at=now,
    )
    spoken = [replace(heard, id=new_id(now), kind="spoken", voice=voice) for voice in "ab"]
    for sound in (heard, *spoken):
        await attachments.add_attachment(tx, sound, b"Ogg")
    assert await attachments.find_attachment(tx, person, said.id, "heard") is not None
    await attachments.remove_attachments(tx, person, spoken[:1])
    await attachments.delete_spoken_replies(tx, person, before=now + 1)
    assert {each.kind for each in await attachments.list_attachments(tx, person)} == {"heard"}
    await message_log.list_answered_messages(tx, said)


async def believe(tx: Recorder, friend: Friend, said: Message, secret: str) -> None:
    """Everything that the reading of a segment writes, and what takes it back."""
    person, now = friend.person.id, friend.clock()
    await segments.list_waiting_segments(tx, person)
    await segments.save_learning_threshold(tx, person, 7)
    assert await segments.find_learning_threshold(tx, person) == 7
    await segments.count_uncut_turns(tx, person, said.session)
    await segments.count_segments_up_to(tx, person, limit=4)
    for uncut in await segments.list_uncut_spans(tx, person, session_id=said.session):
        await segments.list_message_sizes(tx, person, uncut)
        cut = await segments.cut_segment(tx, person, uncut, cut_by="asked", now=now)
        await segments.set_segment_status(tx, cut, "done", outcome={"told": secret}, now=now)
        await mood.set_mood(tx, cut, Mood(phrase=secret, energy=5))
        await working_memory.load_working_memory(tx, person, said.session, now=now)
        await working_memory.save_working_memory(
            tx, person, said.session, EMPTY_WORKING_MEMORY, now=now
        )
        causes = (Cause(message=said.id, version=said.version),)
        ground = changes.Provenance(author="rules/1", segment=cut.id, causes=causes)
        believed: list[JournalObject] = [
            StoredBelief(
                id=new_id(now),
                person=person,
                kind="fact",
                text=secret,
                language="en",
                learned_at=now,
            ),
            Entity(id=new_id(now), person=person, name=secret, kind="person", learned_at=now),
            Summary(
                id=new_id(now),
                person=person,
                level=1,
                text=secret,
                language="en",
                from_at=now,
                until_at=now,
                learned_at=now,
            ),
        ]
        for each in believed:
            first = await changes.record_decision(
                tx, each, op="learned", base=0, provenance=ground, now=now
            )
            await changes.record_decision(
                tx, each, op="revised", base=first.seq, provenance=ground, now=now
            )
            await retraction.has_only_edited_causes(tx, first)
        (memory, entity, _) = (each.id for each in believed)
        words = evidence.NewEvidence(source=said, quote=secret)
        await evidence.add_evidence(
            tx, person, memory, [words], extractor="rules/1", now=now, segment=cut.id
        )
        await evidence.list_object_evidence(tx, person, [memory])
        await evidence.list_supported_objects(tx, person, [said.id])
        await evidence.move_evidence(
            tx, person, source_id=memory, target=entity, message_ids=[said.id]
        )
        await evidence.move_evidence(tx, person, source_id=memory, target=entity)
        for pieces in (await evidence.list_segment_evidence(tx, person, cut.id)).values():
            await evidence.withdraw_evidence(tx, person, pieces, now=now)
        await consolidation_undo.restore_evidence(tx, person, cut.id, withdrawn_at=now)
        await consolidation_undo.list_standing_decisions(tx, person, cut.id)
    await changes.rebuild_views(tx, person)
    for reopened in await segments.reopen_segments(tx, person, [said.id]):
        segment = await segments.get_segment(tx, person, reopened)
        await segments.reopen_segment(tx, segment)
    await segments.remove_empty_segments(tx, person)
    await working_memory.clear_working_memory(tx, person)


async def think(tx: Recorder, friend: Friend, secret: str) -> None:
    """Everything that thinking writes, and what takes it back."""
    person, now = friend.person.id, friend.clock()
    ground = changes.Provenance(author="reflect/1")
    event = StoredBelief(
        id=new_id(now), person=person, kind="event", text=secret, language="en", learned_at=now
    )
    thought = replace(
        event,
        id=new_id(now),
        kind="thought",
        relations=(ObjectLink(kind="rests_on", target=event.id),),
    )
    said = await friend.says_in(tx, f"{secret} again")
    for each in (event, thought):
        await changes.record_decision(tx, each, op="learned", base=0, provenance=ground, now=now)
    if said is not None:
        words = evidence.NewEvidence(source=said, quote=secret)
        await evidence.add_evidence(tx, person, event.id, [words], extractor="rules/1", now=now)
    await derived_evidence.derive_evidence(
        tx, person, thought.id, [event.id], extractor="reflect/1", now=now
    )
    await derived_evidence.rederive_evidence(tx, person, [thought.id], now=now)
    tick = reflection_log.ReflectionRecord(
        id=new_id(now),
        person=person,
        kind="reflection",
        why="timer",
        ran_at=now,
        shown=(event.id,),
        transcript=reflection_log.ReflectionTranscript(shown=(secret,), answered=(secret,)),
    )
    await reflection_log.save_reflection_record(tx, tick)
    await derived_evidence.cascade_retraction(tx, person, now=now, retracted=[event.id])


async def look_at_thinking(tx: Recorder, friend: Friend) -> None:
    """Everything that reads what was thought."""
    person = friend.person.id
    await reflection_log.clamp_future_reflections(tx, person, now=0)
    await reflection_log.find_last_reflection(tx, person, "reflection")
    await reflection_log.list_reflections(tx, person, since=0)
    await reflection_log.sum_reflection_usage(tx, person, "reflection", 0)
    await reflection_log.find_next_transcript_expiry(tx, person)
    await reflection_log.delete_expired_transcripts(tx, person, now=0)
    await derived_evidence.list_description_candidates(tx, person)
    await belief_views.list_memories_rescored_since(tx, person, 0)
    await belief_views.list_memories_by_key(tx, person, "triple", "plans_for")
    await belief_views.list_facts_with_end(tx, person)
    await changes.has_corrections_since(tx, person, 0)


async def write_about_themselves(tx: Recorder, friend: Friend, secret: str) -> None:
    """What only a person writes."""
    renamed = await people.rename_person(tx, friend.person, new_id(0), platforms=())
    await people.rename_person(tx, renamed, friend.person.name, platforms=())
    await core_blocks.write_block(tx, friend.person.id, "user", secret, now=0)
    await core_blocks.list_blocks(tx, friend.person.id)
    what = core_blocks.Proposal(block="style", text=secret, reason=secret, author="reflect/1")
    made = await core_blocks.suggest(tx, friend.person.id, what, now=0)
    if made is not None:  # it was not suggested before
        await core_blocks.get_pending_suggestion(tx, friend.person.id, made.id)
        await core_blocks.delete_suggestion(tx, made)
        again = await core_blocks.suggest(tx, friend.person.id, what, now=0)
        assert again is not None
        await core_blocks.resolve_suggestion(tx, again, "declined", now=0)


async def bring_in(tx: Recorder, friend: Friend, secret: str) -> None:
    """Everything that an import does, once finished, once undone, once without anything new."""
    at = friend.clock.tick(minutes=500)
    for number in range(3):
        reading = import_batches.ImportSource(
            file=secret, format="text", sha256=f"{at}{number}", me=secret, zone="UTC"
        )
        batch = await import_batches.start_or_resume_batch(tx, friend.person.id, reading, now=at)
        again = await import_batches.start_or_resume_batch(tx, friend.person.id, reading, now=at)
        assert again == batch
        session = await import_writer.ensure_session_covering(
            tx, friend.chat, opened_at=at, closed_at=at + number, batch_id=batch.id
        )
        gone = replace(friend.chat, id=ChatId(new_id(at)))
        await people.restore_chat(tx, gone, now=at)
        await sessions.ensure_closed_session(
            tx, friend.chat, external_id=secret, opened_at=at, closed_at=at, batch_id=batch.id
        )
        if number < 2:
            place = message_log.WriteTarget(chat=friend.chat, session=session, batch=batch.id)
            spoken = message_log.UnloggedMessage(
                role="person",
                speaker="x",
                text=secret,
                at=at,
                trust="person",
                external_id=f"{at} {number}",
            )
            (message,) = await message_log.write_messages(tx, place, [spoken], now=at)
            assert message is not None
            edited = await message_log.edit_message(
                tx, friend.person.id, message.id, secret * 2, now=at
            )
            await message_log.update_message_keys(tx, edited)
            await import_writer.set_version_batch(tx, edited, batch_id=batch.id, details={})
            await import_batches.advance_batch(tx, batch, added=1, known=0)
        await import_batches.finish_batch(tx, batch, now=at)
        if number == 1:
            await import_batches.undo_batch(tx, friend.person.id, batch.number, now=at)


async def look(tx: Recorder, friend: Friend, others: Friend, shelf: IndexCache) -> None:
    """Everything that reads, also with the ids of somebody else."""
    person, chats = friend.person.id, (friend.chat.id, others.chat.id)
    await watch(tx, person)
    async with others.db.begin_read() as reader:
        of_others = [m.id for m in await message_log.list_messages(reader, others.person.id)]
        his_notes = [
            k.memory.id for k in await belief_views.list_memories(reader, others.person.id)
        ]
    await message_metadata.find_seqs_with_metadata(tx, person, {"topic": ("boats",)})
    await windows.find_edit_time(tx, person, "terminal", "", ("one", "other"))
    for chat in chats:
        await message_log.list_recent_messages(tx, person, chat, limit=50)
        await message_log.get_last_seq(tx, person)
        await chat_language.find_chat_language(tx, person, chat)
        await windows.has_earlier_messages(tx, person, chat, before=100)
        await message_log.list_messages_after_seq(tx, person, chat, after=0)
        await import_writer.load_known_messages(tx, person, chat, ["same id for all"])
        await import_writer.list_current_versions(tx, person, chat, ["same id for all"])
        await import_writer.find_chat_span(tx, person, chat)
    for message in of_others:
        with pytest.raises(OldfriendError):
            await message_log.get_message(tx, person, message)
        with pytest.raises(OldfriendError):
            await message_log.edit_message(tx, person, message, "his now", now=0)
        assert await receipts.find_receipt(tx, person, message) is None
        assert await receipts.find_receipt_by_partial_id(tx, person, message) is None
    assert not await receipts.count_source_messages(tx, person, of_others, author="rules/1")
    for memory in his_notes:
        assert await receipts.find_memory_usage(tx, person, memory) is None
        with pytest.raises(OldfriendError):
            await belief_views.get_memory(tx, person, memory)
        with pytest.raises(OldfriendError):
            await belief_views.get_memory_state(tx, person, memory)
        with pytest.raises(OldfriendError):
            await belief_views.get_object_by_partial_id(tx, person, memory)
        assert await changes.list_object_journal(tx, person, memory) == []
    for said in await message_log.list_messages(tx, person):
        await message_log.find_reply(tx, said)
        await message_log.list_surrounding_messages(tx, said, each_side=2)
        await receipts.find_receipt(tx, person, said.id)
    await message_log.list_messages_by_seq(tx, person, range(1, 60))
    await message_log.count_messages(tx, person)
    await notes.list_notes(tx, person)
    await evidence.list_evidence(tx, person)
    await evidence.list_entities_mentioned_by_person(tx, person)
    await look_at_beliefs(tx, friend, others)
    await look_at_meanings(tx, friend, others)
    await look_at_thinking(tx, friend)
    await receipts.find_receipt(tx, person)
    await vectors.list_unembedded_messages(tx, person, "other model")
    await vectors.count_searchable_messages(tx, person, "m")
    await vectors.load_message_vectors(tx, person, "m", [1, 2, 3])
    await import_batches.list_batches(tx, person)
    await import_writer.list_chats(tx, person, channel="terminal")
    await import_writer.list_external_ids(tx, person)
    async with others.db.begin_read() as reader:
        for sound in await attachments.list_attachments(reader, others.person.id):
            assert await attachments.find_attachment(tx, person, sound.message, "heard") is None
    await people.get_person_by_id(tx, person)
    await people.get_chat(tx, person, friend.chat.id)
    with pytest.raises(OldfriendError):
        await people.get_chat(tx, person, others.chat.id)
    assert (
        await message_log.find_message_by_external_id(tx, person, friend.chat.id, "no such key")
        is None
    )
    for table in stored_tables.EXPORTED_TABLES:
        _ = [row async for row in table_dump.dump_rows(tx, table, person)]
    await shelf.get_message_index(tx, person)


async def link(tx: Recorder, friend: Friend) -> None:
    """What joins an address on a platform to a person, and lets it go again."""
    person, channel, place = friend.person.id, "platform", f"at {friend.person.id}"
    await identities.save_link_code(tx, person, "123456", now=0)
    (code,) = [
        each for each in await identities.list_usable_codes(tx, now=0) if each.person == person
    ]
    await identities.mark_code_shown(tx, code, place)
    assert await identities.redeem_link_code(tx, code, now=0)
    attempt = await identities.begin_code_attempt(tx, channel, place, is_known=False, now=0)
    assert attempt is not None
    await identities.delete_code_attempt(tx, attempt)
    await identities.assign_identity(tx, person, channel=channel, address=place, now=0)
    found = await identities.find_identity(tx, channel, place)
    assert found is not None
    assert found.id == person
    await identities.count_identities(tx, channel)
    await message_log.find_last_message_time(tx, channel)
    await groups.list_groups(tx, channel)
    await groups.list_members(tx, channel, place)
    await groups.join_group(tx, person, channel=channel, address=f"group {place}", now=0)
    assert await groups.is_group(tx, person)
    await groups.list_group_chats(tx, person)
    assert await groups.leave_group(tx, person, channel) == 1
    companion = await people.ensure_companion(tx, now=0)
    await people.ensure_chat(
        tx,
        friend.person,
        companion,
        channel=channel,
        address=f"group {place}",
        title="group",
        now=0,
    )
    await groups.record_member_left(tx, person, channel=channel, address=f"group {place}", now=0)
    assert [each.id for each, _ in await identities.list_linked_people(tx, channel)] == [person]
    assert await identities.has_any_content(tx, person)
    await people.move_chats(tx, channel, old_address=place, new_address=f"now {place}")
    assert await identities.list_identities(tx, person)
    assert not await identities.remove_identity(tx, person, channel=channel, address="none")
    await identities.unlink_identities_since(tx, person, 0)
    await identities.unlink_identities(tx, person, channel)
    await identities.end_access(tx, person, since=MAX_TIME)


async def go_again(tx: Recorder) -> None:
    """Somebody who has said nothing is let go."""
    empty = await people.ensure_person(tx, f"Empty {new_id(0)}", now=0, zone="UTC")
    assert not await identities.has_any_content(tx, empty.id)
    await identities.remove_person(tx, empty.id)


async def sign_in_and_out(tx: Recorder, friend: Friend) -> None:
    """Everything by which a browser becomes somebody's."""
    person, secret, later = friend.person.id, new_id(0), web_sessions.LINK_TTL
    await web_sessions.save_sign_in_link(tx, person, secret, now=later)
    found_link = await web_sessions.find_sign_in_link(tx, secret, now=later)
    assert found_link is not None
    assert (found_link[0].id, found_link[1]) == (person, "link")
    assert await web_sessions.redeem_sign_in_link(tx, secret, now=later)
    assert not await web_sessions.redeem_sign_in_link(tx, secret, now=0)
    await web_sessions.open_web_session(tx, person, secret, f"page of {secret}", now=0)
    found = await web_sessions.find_web_session(tx, web_sessions.hash_secret(secret), now=0)
    assert found is not None
    assert found.person.id == person
    assert len(await web_sessions.list_web_sessions(tx, person, now=0)) == 1
    await web_sessions.record_session_use(tx, person, found.digest, now=0)
    await web_sessions.extend_web_session(tx, person, found.digest, now=0)
    assert await web_sessions.can_sign_in(tx, person)
    subscription = push_subscriptions.PushSubscription(
        session=found.digest, person=friend.person.id, print=secret, sealed=b"s", shows="words"
    )
    await push_subscriptions.save_push_subscription(tx, subscription, now=0)
    assert await push_subscriptions.list_push_sessions(tx, person, now=0) == [found.digest]
    told = await push_subscriptions.find_push_subscription(tx, person, found.digest, now=0)
    assert told == subscription
    await push_subscriptions.delete_foreign_subscriptions(tx, person)
    await push_subscriptions.delete_push_subscription(tx, person, found.digest)
    await web_sessions.end_other_web_sessions(tx, person, "another")
    assert not await web_sessions.end_web_session(tx, person, found.digest)
    await web_sessions.record_failed_sign_in(tx, secret, "link", now=0)
    await web_sessions.check_attempt_limit(tx, secret, "link", now=0)
    invitation = await web_sessions.save_invitation(tx, person, f"for {secret}", now=0)
    assert [each.person.id for each in await web_sessions.list_invitations(tx, now=0)] == [person]
    assert await web_sessions.delete_invitation(tx, invitation) == person


async def show_keys(tx: Recorder, friend: Friend) -> None:
    """Everything by which programs and devices come in."""
    person, secret = friend.person.id, new_id(0)
    token = await credentials.save_api_token(
        tx, person, secret, name="script", scope="read", days=1, now=0
    )
    found = await credentials.find_principal_by_token(tx, web_sessions.hash_secret(secret), now=0)
    assert found is not None
    assert found.person.id == person
    await credentials.record_token_use(tx, person, found.digest, now=0)
    front_end = await credentials.save_api_token(
        tx, person, f"{secret}1", name="chats", scope="frontend", days=1, now=0
    )
    await credentials.renew_api_token(tx, person, front_end.id, f"{secret}2", days=1, now=0)
    await credentials.list_front_end_names(tx)
    await credentials.revoke_api_token(tx, person, token.id)
    feed = await calendar_feeds.renew_feed(tx, person, now=0)
    reader = await calendar_feeds.find_feed_person(tx, feed)
    assert reader is not None
    assert reader.id == person
    assert await calendar_feeds.find_feed_time(tx, person) == 0
    await calendar_feeds.revoke_feed(tx, person)
    await credentials.insert_challenge(tx, secret, person, now=0)
    assert await credentials.redeem_challenge(tx, secret, person, now=0)
    passkey = await credentials.save_passkey(
        tx,
        credentials.Passkey(
            id=secret, person=person, name="laptop", public_key=b"p", sign_count=0, made_at=0
        ),
    )
    assert await credentials.find_passkey(tx, secret) == passkey
    assert await credentials.record_passkey_use(tx, passkey, sign_count=1, now=0)
    await credentials.delete_passkey(tx, person, passkey.id)
    await let_in(tx, person, f"client of {secret}")


async def let_in(tx: Recorder, person: PersonId, client: str) -> None:
    """Everything by which a hosted program comes in."""
    known = oauth_grants.OAuthClient(id=client, name="Claude", redirects=("https://a.test/cb",))
    await oauth_grants.register_client(tx, known, now=0)
    assert await oauth_grants.find_client(tx, client) == known
    consent = oauth_grants.Consent(
        client=client, name="Claude", redirect="https://a.test/cb", challenge="c", scope="read"
    )
    code = await oauth_grants.save_code(tx, person, consent, now=0)
    assert await oauth_grants.is_grant_known(tx, code)
    issued = await oauth_grants.redeem_code(
        tx, code, client=client, redirect=consent.redirect, challenge="c", now=0
    )
    assert issued is not None
    renewed = await oauth_grants.redeem_refresh_token(tx, issued.refresh, client=client, now=0)
    assert renewed is not None
    again = await oauth_grants.redeem_refresh_token(tx, issued.refresh, client=client, now=1)
    assert again is not None
    await oauth_grants.revoke_grant(tx, again.access)
    await oauth_grants.end_all_connections(tx, person)


async def watch(tx: Recorder, person: PersonId) -> None:
    """Everything that a page hears."""
    await change_feed.get_feed_position(tx, person)
    await change_feed.list_appended_messages(tx, person, after=0, limit=50)
    await change_feed.list_journal_after(tx, person, after=0, limit=50)
    await change_feed.list_latest_entries(tx, person, kinds=["note"], before=None, limit=50)
    await windows.list_messages_before(tx, person, at=1 << 60, seq=0, limit=50)
    await windows.list_said_texts(tx, person, before=1 << 60)
    await windows.list_messages_containing(tx, person, "safe", limit=50)
    await windows.list_turns_without_reply(tx, person, since=0, until=1 << 60)
    await windows.list_recently_used_chats(tx, person)
    await windows.has_message_with_key(tx, person, "same id for all")
    for said in await windows.list_messages_after(tx, person, at=0, seq=0, limit=5):
        await windows.list_turn_messages(tx, said)
        await windows.list_turn_message_ids(tx, person, said.turn or TurnId("none"))
        await windows.list_messages_with_audio(tx, person, [said.id])
    await receipts.delete_turn_receipt(tx, person, TurnId("none"))
    await receipts.delete_receipts(tx, person, ["none"])
    await receipts.find_next_trace_expiry(tx, person)
    await receipts.delete_expired_traces(tx, person, now=0)
    if (kept := await receipts.find_receipt(tx, person)) is not None:
        await receipts.delete_expired_traces(tx, person, now=2**60)
        details = '{"understood": {"emotion": "sad"}}'
        record = {"id": kept.id, "person": person, "details": details}
        await table_dump.restore_trace_details(tx, [record])
    await calendar_days.find_first_message_time(tx, person)
    await evidence.list_entity_mention_times(tx, person)
    await calendar_days.count_messages_by_quarter_hour(tx, person, since=0, until=1 << 60)
    await calendar_days.list_session_spans(tx, person, since=0, until=1 << 60)
    await calendar_days.list_summaries_between(tx, person, since=0, until=1 << 60)
    await calendar_days.list_due_between(tx, person, since=0, until=1 << 60)
    await calendar_days.find_last_due_time(tx, person)
    await calendar_days.list_events_between(tx, person, since=0, until=1 << 60)
    await calendar_days.list_grave_events(tx, person, since=0, impact=0)
    await segments.count_segments_ended_since(tx, person, 0)


async def look_at_beliefs(tx: Recorder, friend: Friend, others: Friend) -> None:
    """Everything that reads what is believed."""
    person = friend.person.id
    await changes.list_view_mismatches(tx, person)
    await changes.list_journal_as_of(tx, person, 1 << 60)
    await changes.get_memory_version(tx, person)
    await changes.list_segment_journal(tx, person, SegmentId("none"))
    await changes.list_decisions_at(tx, person, 0)
    await evidence.list_stats_mismatches(tx, person)
    await belief_views.list_entities(tx, person)
    await belief_views.list_summaries(tx, person)
    await belief_views.list_written_summaries(tx, person)
    await belief_views.list_rejected_memories(tx, person)
    await belief_views.list_merged_memories(tx, person)
    await judged_beliefs.list_judged_beliefs(tx, person, SegmentId("none"))
    await belief_views.list_unconfirmed_memories(tx, person)
    for known_one in await belief_views.list_memories(tx, person):
        assert await belief_views.list_superseding_memories(tx, person, known_one.memory.id) == []
        await belief_corrections.load_correction_times(tx, person, [known_one.memory.id])
    await evidence.list_segment_evidence(tx, person, SegmentId("none"))
    await receipts.list_receipts(tx, person, limit=5)
    await sessions.count_sessions(tx, person)
    await segments.count_segments(tx, person)
    await segments.find_last_read_segment(tx, person)
    await segments.list_segments_read_since(tx, person, 0)
    await mood.find_mood(tx, person, at=friend.clock())
    await mood.list_moods(tx, person, until=friend.clock(), limit=5)
    await leaf_through(tx, friend, others)
    await segments.list_uncut_spans(tx, person)
    for segment in await segments.list_segments(tx, person, status=["waiting", "done"]):
        await segments.list_segment_messages(tx, segment)
        await segments.list_messages_before_segment(tx, segment, limit=5)
    async with others.db.begin_read() as reader:
        of_others = await segments.list_segments(reader, others.person.id)
    for segment in of_others:
        with pytest.raises(OldfriendError):
            await segments.get_segment(tx, person, segment.id)
        assert await segments.find_segment_by_partial_id(tx, person, segment.id) is None


async def leaf_through(tx: Recorder, friend: Friend, others: Friend) -> None:
    """All of it, now and then; nothing of somebody else by their ids."""
    person, now = friend.person.id, friend.clock()
    for wanted in (
        pagination.BeliefFilter(),
        pagination.BeliefFilter(as_of=now),
        pagination.BeliefFilter(said_until=now),
        pagination.BeliefFilter(tag="joy"),
    ):
        places = await pagination.list_page_cursors(tx, person, wanted, after=None, limit=5)
        await pagination.list_page_cursors(tx, person, wanted, after=(*places, None)[0], limit=5)
        await pagination.count_by_kind(tx, person, wanted)
        await pagination.list_belief_texts(tx, person, wanted)
    async with others.db.begin_read() as reader:
        of_others = await belief_views.list_memories(reader, others.person.id)
    ids = [each.memory.id for each in of_others]
    assert await pagination.load_entries_as_of(tx, person, ids, as_of=now) == {}
    await pagination.count_tags(tx, person)
    await pagination.count_said_by_day(tx, person, zone="UTC")
    await journal.count_changes_by_day(tx, person, zone="UTC")
    await journal.list_changed_beliefs(tx, person, since=0, until=now, kinds=["note"])


async def look_at_meanings(tx: Recorder, friend: Friend, others: Friend) -> None:
    """What stands ready to be searched of what is believed; also with beliefs of somebody else."""
    person = friend.person.id
    async with others.db.begin_read() as reader:
        of_others = [
            k.memory.id for k in await belief_views.list_memories(reader, others.person.id)
        ]
    own = [known_one.memory.id for known_one in await belief_views.list_memories(tx, person)]
    vector = np.full(8, 0.05, dtype=np.float32)
    await vectors.save_belief_vectors(tx, person, "m", dict.fromkeys([*own, *of_others], vector))
    assert await vectors.load_belief_vectors(tx, person, "m", of_others) == {}
    assert set(await vectors.load_belief_vectors(tx, person, "m")) == set(own)
    await vectors.list_unembedded_beliefs(tx, person, "other", limit=5)
    index = await IndexCache("m").get_belief_index(tx, person)
    assert {each.memory.id for each in index.live} <= set(own)


async def rarely(tx: Recorder, friend: Friend, shelf: IndexCache) -> None:
    """What only happens now and then: the first start, a late vector, an outdated imprint."""
    await sign_in_and_out(tx, friend)
    await show_keys(tx, friend)
    companion = await people.ensure_companion(tx, now=0)
    await core_blocks.save_global_persona(tx, companion.id, "You are kind.", now=0)
    await core_blocks.get_global_persona_text(tx)
    limitation = limitation_store.Limitation(
        id=new_id(0), person=friend.person.id, title="Sing", created_at=0, changed_at=0
    )
    await limitation_store.save_limitation(tx, limitation)
    assert await limitation_store.list_limitations(tx, friend.person.id) == [limitation]
    await people.ensure_owner(tx, now=0, zone="UTC")
    await people.ensure_owner(tx, now=0, zone="UTC")
    await people.get_person(tx, None)
    await people.get_person(tx, friend.person.name)
    await people.list_people(tx)
    await receipts.count_receipts(tx, since=0)
    await segments.count_waiting_segments(tx)
    await learning_stats.count_read_messages(tx, friend.person.id, by="rules", not_in=["en"])
    await learning_stats.list_segments_ended_since(tx, since=0)
    await learning_stats.count_entries_by_op(tx, since=0)
    await learning_stats.list_reply_timings(tx, since=0)
    await learning_stats.list_similarities(tx, since=0)
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
    await shelf.get_message_index(tx, friend.person.id)
    embedding = np.full((1, 384), 0.05, dtype=np.float32)
    await vectors.save_message_vectors(tx, friend.person.id, "m", [late.seq], embedding)
    await shelf.get_message_index(tx, friend.person.id)
    await vectors.record_model_choice(tx, vectors.EmbeddingModelChoice(model="other", chosen_at=0))
    await vectors.find_newest_model_choice(tx)
    standing = await vectors.get_embedding_status(tx, friend.person.id, "m")
    await vectors.save_embedding_progress(tx, friend.person.id, "m", standing.done)
    await vectors.delete_embedding_progress(tx, friend.person.id, "m")
    await IndexCache("other").get_message_index(tx, friend.person.id)
    await IndexCache("other").list_own_speakers(tx, friend.person.id)
    await vectors.count_legacy_only_messages(tx, friend.person.id, "other", "m")
    await vectors.delete_legacy_vectors(tx, friend.person.id, "other", "m", after=0, limit=1)
    await tx.tx.run(
        "UPDATE message SET imprint = :zeros WHERE length(imprint) > 0", zeros=bytes(12)
    )
    await IndexCache("m").get_message_index(tx, friend.person.id)


async def derive_anew(tx: Recorder, friend: Friend) -> None:
    """What is done with a copy of their memory before it is derived anew."""
    person = friend.person.id
    journal = await changes.list_journal(tx, person)
    await consolidation_undo.rewind_memory(tx, person, journal, since=friend.clock())
    for segment in await segments.list_segments(tx, person):
        await consolidation_undo.requeue_segment(tx, person, segment.id, keep_generation=False)
    await consolidation_undo.reset_journal_counters(tx, person)


async def ids_of(db: Database, person: str) -> set[str]:
    """Every id and every text in the rows of one person."""
    found: set[str] = set()
    async with db.begin_read() as tx:
        for table in await tables_of_people(tx):
            key = "id" if table == "person" else "person"
            rows = await tx.rows(f"SELECT * FROM {table} WHERE {key} = :person", person=person)
            found |= {cell for row in rows for cell in row if isinstance(cell, str)}
    return found


async def tables_of_people(tx: Transaction) -> list[str]:
    """The tables whose rows belong to a person, and the one of the persons."""
    owned = [table.name for table in await tx.list_tables() if "person" in table.columns]
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
            str(part.value)
            if isinstance(part, ast.Constant)
            else str(module.get(ast.unparse(part.value), "…"))
            for part in node.values
        )
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


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(order=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=10))
async def test_queries_of_one_person_never_return_rows_of_another(
    meet: Meet, order: list[tuple[bool, bool]]
) -> None:
    """Their messages, notes, receipts, vectors and imports lie between each other's."""
    friends = [await meet(new_id(0)), await meet(new_id(0))]
    shelf = IndexCache("m")
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


async def test_every_sql_statement_is_restricted_to_one_person(db: Database) -> None:
    """Read from the source, also what no test would ever run."""
    async with db.begin_read() as tx:
        tables = await tables_of_people(tx)
    nameless = {name for name, sql in statements() if not names_the_person(sql, tables)}

    assert nameless == WITHOUT_A_PERSON.keys() | OF_EVERYBODY.keys()
    assert {
        table.name: table.person_column
        for table in stored_tables.EXPORTED_TABLES
        if table.person_column
    } == {
        name: "id" if name == "person" else "person"
        for name in tables
        if not stored_tables.TABLES_BY_NAME[name].not_exported
    }


async def test_scoping_test_executes_every_sql_statement(db: Database, meet: Meet) -> None:
    """A new query is only safe once it is shown to be."""
    shelf = IndexCache("m")
    async with db.begin_write() as first:
        beginning = Recorder(first, "nobody yet")
        await people.ensure_companion(beginning, now=0)
        assert await message_log.list_copies(beginning, "terminal", "", "no such key") == []
    run = {plain(sql) for sql, _, _ in beginning.seen}
    nora, omar = await meet("Nora"), await meet("Omar")
    for friend, other in ((nora, omar), (omar, nora)):
        async with recorded(friend) as tx:
            await talk(tx, friend, "secret")
            await talk(tx, friend, "secret")
            await bring_in(tx, friend, "secret")
            await shelf.get_message_index(tx, friend.person.id)
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
