"""Exports become part of the memory: once, whole, and so that it can be undone."""

import asyncio
import json
import multiprocessing
import os
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.errors import ImportRefused, NotFound
from oldfriend.memory.people import ensure_companion, ensure_person
from oldfriend.runtime.wiring import open_database
from oldfriend.transfer.import_run import import_messages
from oldfriend.transfer.preview import build_preview
from oldfriend.transfer.restore import restore
from tests.engines import SEVERAL_PROCESSES
from tests.transfer.conftest import NOW

CHAT = (
    "31/12/2023, 21:05 - Ana: shall we swim?\n"
    "31/12/2023, 21:06 - Ben: yes\n"
    "31/12/2023, 22:30 - Ben: where?\n"
    "13/01/2024, 09:00 - Ana: the lake\n"
)


def jsonl(count, start=0):
    lines = (
        {
            "id": f"m{n}",
            "speaker": ("Ana", "Ben")[n % 2],
            "text": f"message {n}",
            "at": f"2024-01-{n // 1440 % 28 + 1:02d}T{n // 60 % 24:02d}:{n % 60:02d}:00",
        }
        for n in range(start, start + count)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


async def test_messages_keep_their_times_speakers_and_roles(install, write):
    brought = await install.bring_in(write("WhatsApp Chat with Ben.txt", CHAT))

    rows = await install.rows(
        "SELECT speaker, role, trust, said_at, zone, author FROM message ORDER BY seq"
    )
    assert (brought.number, brought.added, brought.already_known) == (1, 4, 0)
    assert rows[0][:3] == ("Ana", "person", "person")
    assert rows[0][5] == install.person.id
    assert rows[1][:3] == ("Ben", "other", "other")
    assert from_micros(rows[0][3], rows[0][4]).isoformat() == "2023-12-31T21:05:00+00:00"
    assert {row[4] for row in rows} == {"Europe/Lisbon"}


@pytest.mark.parametrize("ids", [{}, {"id": "m1", "session": "s"}], ids=["bare", "with ids"])
async def test_words_dated_ahead_are_older_than_those_of_today(install, write, ids):
    """They count as said the day before, are told, keep the file's date, and come in once."""
    ahead = datetime.fromtimestamp(NOW / 1e6, UTC) + timedelta(days=3_650)
    today = datetime.fromtimestamp(NOW / 1e6, UTC)
    lines = [
        {"speaker": "owner", "at": ahead.isoformat(), "text": "I live in Faro.", **ids},
        {"speaker": "owner", "at": today.isoformat(), "text": "I live in Porto."},
    ]
    path = write("ahead.jsonl", "\n".join(map(json.dumps, lines)))

    await install.bring_in(path)
    again = await install.bring_in(path)

    rows = await install.rows("SELECT text, said_at, details FROM message ORDER BY said_at")
    assert [(text, at) for text, at, _ in rows] == [
        ("I live in Faro.", NOW - DAY),
        ("I live in Porto.", NOW),
    ]
    assert json.loads(rows[0][2])["dated"].startswith(str(ahead.year))
    assert (again.added, again.number) == (0, None)
    assert any("dated in the future: 1." in each for each in install.inspect(path).notices)


async def test_imported_messages_are_split_into_closed_sessions_at_pauses(install, write):
    await install.bring_in(write("chat.txt", CHAT))

    rows = await install.rows("SELECT status, close_trigger, closed_at - opened_at FROM session")
    assert sorted(rows) == [
        ("closed", "imported", 0),
        ("closed", "imported", 0),
        ("closed", "imported", 60_000_000),
    ]


async def test_session_ids_given_in_the_file_are_kept(install, write):
    lines = [
        {"id": n, "session": n // 2, "speaker": "Ana", "at": f"2024-01-0{n + 1}", "text": "x"}
        for n in range(4)
    ]
    path = write("talk.jsonl", "\n".join(json.dumps(line) for line in lines))
    await install.bring_in(path)

    rows = await install.rows(
        """SELECT s.external_id, count(*) FROM message m JOIN session s ON s.id = m.session
           GROUP BY 1 ORDER BY 1"""
    )
    assert rows == [("0", 2), ("1", 2)]
    assert install.inspect(path).sessions == 2


async def test_reimport_of_the_same_file_adds_nothing(install, write):
    path = write("chat.txt", CHAT)
    await install.bring_in(path)
    before = await install.rows("SELECT * FROM message")
    again = await install.bring_in(path)

    assert (again.number, again.added, again.already_known) == (None, 0, 4)
    assert await install.rows("SELECT * FROM message") == before
    assert await install.rows("SELECT number FROM import_batch") == [(1,)]


@pytest.mark.parametrize("name", ["WhatsApp Chat with Ben.txt", "WhatsApp Chat with Benny.txt"])
async def test_newer_export_adds_only_new_messages_even_if_renamed(install, write, name):
    await install.bring_in(write("WhatsApp Chat with Ben.txt", CHAT))
    newer = await install.bring_in(write(name, f"{CHAT}13/01/2024, 09:20 - Ben: I come\n"))

    assert (newer.added, newer.already_known) == (1, 4)
    assert await install.rows("SELECT count(*) FROM chat") == [(1,)]
    assert await install.rows("SELECT count(*) FROM session") == [(3,)]


async def test_newer_export_that_begins_later_is_added_to_the_same_chat(install, write):
    """Phones export only the newest messages of a long chat."""
    old = [f"{day:02d}/01/2024, 10:00 - Ana: day {day}\n" for day in range(1, 20)]
    new = [f"{day:02d}/02/2024, 10:00 - Ana: day {day}\n" for day in range(1, 20)]
    await install.bring_in(write("WhatsApp Chat with Ben.txt", "".join(old)))
    newer = await install.bring_in(write("WhatsApp Chat with Eve.txt", "".join(old[-4:] + new)))

    assert (newer.added, newer.already_known) == (19, 4)
    assert await install.rows("SELECT count(*) FROM chat") == [(1,)]


async def test_same_text_in_two_groups_is_imported_as_two_messages(install, write):
    """A greeting sent to everybody must not be lost."""
    greeting = "31/12/2023, 23:59 - Ana: Happy new year!\n"
    await install.bring_in(write("Family.txt", f"{greeting}01/01/2024, 10:00 - Mum: you too\n"))
    brought = await install.bring_in(
        write("Friends.txt", f"{greeting}01/01/2024, 11:00 - Ben: hey\n")
    )

    assert (brought.added, brought.already_known) == (2, 0)
    assert (await install.texts()).count("Happy new year!") == 2


async def test_files_with_the_same_message_ids_become_separate_chats(install, write, tmp_path):
    """Ids such as m1 come again in every file."""
    (tmp_path / "other").mkdir()
    await install.bring_in(write("talk.jsonl", jsonl(4)))
    for name in ("other/talk.jsonl", "another.jsonl"):
        brought = await install.bring_in(write(name, jsonl(4).replace("message", name)))
        assert (brought.added, brought.already_known) == (4, 0)

    assert await install.rows("SELECT count(*) FROM chat") == [(3,)]


async def test_exports_with_the_same_file_name_become_separate_chats(install, write):
    """An iPhone calls every unpacked chat _chat.txt."""
    days = range(1, 9)
    for hour, name in ((10, "Ben"), (11, "Eve")):
        lines = (f"[{day:02d}/01/2024, {hour}:00:00] {name}: {name} {day}\n" for day in days)
        await install.bring_in(write("_chat.txt", "".join(lines)))

    assert await install.rows("SELECT count(*) FROM chat") == [(2,)]


async def test_reimported_edit_adds_a_version_and_undo_reverts_it(install, write):
    await install.bring_in(write("talk.jsonl", jsonl(5)))
    newer = await install.bring_in(write("talk.jsonl", jsonl(5).replace("message 2", "edited 2")))

    assert (newer.added, newer.already_known, newer.changed) == (0, 4, 1)
    assert "edited 2" in await install.texts()

    await install.undo(newer.number)
    assert "message 2" in await install.texts()
    assert await install.rows("SELECT count(*) FROM message") == [(5,)]


@pytest.mark.parametrize("name", ["talk.jsonl", "another.jsonl"])
@pytest.mark.parametrize("start", [2, 3, 4])
async def test_partial_export_is_matched_to_known_messages_and_adds_versions(
    install, write, name, start
):
    """One message, two, or one and a new one; their ids, speakers and moments are evidence."""
    await install.bring_in(write("talk.jsonl", jsonl(5)))
    lines = jsonl(2, start).replace("message 3", "corrected 3").replace("message 4", "corrected 4")
    newer = await install.bring_in(write(name, lines))

    assert (newer.added, newer.already_known, newer.changed) == {
        2: (0, 1, 1),
        3: (0, 0, 2),
        4: (1, 0, 1),
    }[start]
    assert await install.rows("SELECT count(*) FROM chat") == [(1,)]
    assert len(await install.texts()) == 5 + newer.added
    assert await install.rows("SELECT max(version) FROM message") == [(2,)]


@pytest.mark.parametrize(
    ("known", "told"),
    [('"at": "2024-01-01T', '"at": "2024-03-01T'), ('"speaker": "Ana"', '"speaker": "Eve"')],
)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", ["talk.jsonl", "other.jsonl"])
async def test_same_message_id_alone_does_not_merge_two_chats(
    install, write, known, told, count, name
):
    """Files of different chats count their messages from 1."""
    await install.bring_in(write("talk.jsonl", jsonl(count)))
    other = jsonl(count).replace("message", "another").replace(known, told)
    brought = await install.bring_in(write(name, other))

    assert (brought.added, brought.changed) == (count, 0)
    assert await install.rows("SELECT count(*) FROM chat") == [(2,)]
    assert len(await install.texts()) == 2 * count


async def test_older_export_does_not_overwrite_newer_text(install, write):
    def export(text, **fields):
        message = {
            "id": 1,
            "type": "message",
            "date": "2024-01-01T10:00:00",
            "from": "Ben",
            "from_id": "user7",
            "text": text,
        } | fields
        return {"name": "Ben", "type": "personal_chat", "id": 7, "messages": [message]}

    await install.bring_in(write("result.json", export("new", edited="2024-01-01T11:00:00")))
    await install.bring_in(write("result.json", export("old")))
    assert await install.texts() == ["new"]

    await install.bring_in(write("result.json", export("newest", edited="2024-01-01T12:00:00")))
    assert await install.texts() == ["newest"]


@pytest.mark.slow
async def test_notices_and_placeholders_are_stored_but_not_searchable(
    install, write, empty, tmp_path
):
    """Notices and placeholders; also after they came again, and in another house."""
    head = "31/12/2023, 21:05 - "
    lines = [
        "Messages and calls are end-to-end encrypted.",
        "Ana added Ben",
        "Ben: <Media omitted>",
        "Ben: <Media omitted>\nour boat",
        "Ana: lovely",
    ]
    path = write("WhatsApp Chat with Ben.txt", "".join(f"{head}{line}\n" for line in lines))
    await install.bring_in(path)
    service = {
        "id": 1,
        "type": "service",
        "date": "2024-01-01T10:00:00",
        "actor": "Ben",
        "action": "invite_members",
    }
    for members in (["Ana"], ["Ana", "Eve"]):
        await install.bring_in(
            write(
                "result.json",
                {
                    "name": "We",
                    "type": "private_group",
                    "id": 7,
                    "messages": [{**service, "members": members}],
                },
            )
        )
    findable = """SELECT text FROM message WHERE length(imprint) > 0 ORDER BY seq"""
    assert len(await install.texts()) == 6
    assert await install.rows(findable) == [("<Media omitted>\nour boat",), ("lovely",)]

    moved = replace(install, db=empty)
    await restore(empty, await install.export_to(tmp_path / "all.jsonl"))
    again = await moved.bring_in(path)
    assert (again.added, again.already_known) == (0, 5)
    assert await moved.rows(findable) == [("<Media omitted>\nour boat",), ("lovely",)]


@pytest.mark.slow
async def test_undo_removes_exactly_what_the_import_added(install, write):
    await install.bring_in(write("WhatsApp Chat with Ben.txt", CHAT))
    seqs = await install.rows("SELECT seq FROM message")
    async with install.db.begin_write() as tx:
        for (seq,) in seqs:
            await tx.run(
                "INSERT INTO message_vector VALUES (:person, 'm', :seq, :bytes)",
                person=install.person.id,
                seq=seq,
                bytes=bytes(1),
            )
    await install.bring_in(write("talk.jsonl", jsonl(3)))
    undone = await install.undo(1)

    assert (undone.messages, undone.sessions, undone.chats) == (4, 3, 1)
    assert len(await install.texts()) == 3
    assert await install.rows("SELECT count(*) FROM message_vector") == [(0,)]
    assert await install.rows("SELECT rewritten FROM person") == [(1,)]
    with pytest.raises(NotFound, match="undone already"):
        await install.undo(1)
    with pytest.raises(NotFound):
        await install.undo(9)

    again = await install.bring_in(write("WhatsApp Chat with Ben.txt", CHAT))
    assert (again.number, again.added) == (3, 4)


async def test_an_import_of_another_person_cannot_be_undone(install, write):
    await install.bring_in(write("chat.txt", CHAT))
    async with install.db.begin_write() as tx:
        ben = await ensure_person(tx, "Ben", now=0, zone="UTC")

    with pytest.raises(NotFound):
        await replace(install, person=ben).undo(1)
    brought = await replace(install, person=ben).bring_in(write("chat.txt", CHAT))
    assert brought.added == 4


async def test_interrupted_import_resumes_where_it_stopped(install, write):
    path = write("talk.jsonl", jsonl(2500))

    def stop(progress):
        if progress.done == 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await install.bring_in(path, progress=stop)
    told = []
    brought = await install.bring_in(path, progress=told.append)

    assert (brought.number, brought.added, brought.resumed_at) == (1, 2500, 1000)
    assert [p.done for p in told] == [2000, 2500]
    assert len(await install.texts()) == 2500
    assert await install.rows("SELECT status, position, added FROM import_batch") == [
        ("done", 2500, 2500)
    ]


@pytest.mark.slow
async def test_interrupted_import_cannot_resume_with_other_speaker_roles(install, write):
    """Else half of one chat would be the person's words, and half somebody else's."""
    path = write("talk.jsonl", jsonl(1500))

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await install.bring_in(path, progress=stop)
    with pytest.raises(ImportRefused, match=r"1 of .*--me 'Ana' --zone Europe/Lisbon.*undo 1"):
        await install.bring_in(path, me="Ben")
    assert await install.rows("SELECT count(*) FROM message") == [(1000,)]

    await install.undo(1)
    await install.bring_in(path, me="Ben")
    assert await install.rows(
        "SELECT speaker, role, count(*) FROM message GROUP BY 1, 2 ORDER BY 1"
    ) == [("Ana", "other", 750), ("Ben", "person", 750)]


@pytest.mark.slow
async def test_reimport_with_other_speaker_roles_changes_nothing_and_reports_it(install, write):
    """What is here stays as it was read; whoever wants it otherwise must know the way."""
    path = write("chat.txt", CHAT)
    first = await install.bring_in(path)
    same = await install.bring_in(path)
    before = await install.rows("SELECT * FROM message")
    other = await install.bring_in(path, me="Ben")

    assert (first.differing_import, same.differing_import) == (None, None)
    assert (other.differing_import.number, other.differing_import.source.me) == (1, "Ana")
    assert await install.rows("SELECT * FROM message") == before

    await install.undo(1)
    assert (await install.bring_in(path, me="Ben")).differing_import is None


@pytest.mark.parametrize("name", ["caf\udce9.txt", "caf\udce9.md", "caf\udce9.jsonl"])
async def test_file_with_a_non_utf8_name_is_imported(install, write, name):
    """Old disks hold such; the name is kept as far as it is one."""
    path = write(name, jsonl(4) if name.endswith("jsonl") else CHAT)
    brought = await install.bring_in(path)

    assert brought.number == 1
    assert await install.rows("SELECT file FROM import_batch") == [
        (name.replace("\udce9", "\ufffd"),)
    ]
    assert (await install.bring_in(path)).added == 0


def import_in_a_process(store, path, bell):
    async def run():
        db = await open_database(store)
        async with db.begin_write() as tx:
            person = await ensure_person(tx, "Ana", now=0, zone="UTC")
            companion = await ensure_companion(tx, now=0)
        await import_messages(
            db,
            build_preview(path, me="Ana", person="Ana", zone="Europe/Lisbon"),
            person=person,
            companion=companion,
            clock=lambda: 0,
            progress=lambda told: bell.send(told.done),
        )

    asyncio.run(run())


@pytest.mark.slow
@SEVERAL_PROCESSES
async def test_import_killed_while_writing_resumes_without_loss_or_duplicates(
    install, write, database_url
):
    path = write("talk.jsonl", jsonl(6_000))
    processes = multiprocessing.get_context("spawn")
    bell, ringing = processes.Pipe(duplex=False)
    killed = processes.Process(target=import_in_a_process, args=(database_url, path, ringing))
    killed.start()
    await asyncio.to_thread(bell.recv)
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    written = (await install.rows("SELECT count(*) FROM message"))[0][0]
    brought = await install.bring_in(path)

    assert 0 < written < 6_000
    assert (brought.resumed_at, brought.added) == (written, 6_000)
    rows = await install.rows("SELECT count(*), count(DISTINCT external_id) FROM message")
    assert rows == [(6_000, 6_000)]
    assert await install.db.check_integrity() == []


def test_preview_lists_messages_sessions_speakers_dates_and_chats(install, write):
    preview = install.inspect(write("WhatsApp Chat with Ben.txt", CHAT))

    assert (preview.messages, preview.sessions) == (4, 3)
    assert [(s.name, s.role, s.messages) for s in preview.speakers] == [
        ("Ana", "person", 2),
        ("Ben", "other", 2),
    ]
    assert (preview.first.isoformat(), preview.last.isoformat()) == (
        "2023-12-31T21:05:00+00:00",
        "2024-01-13T09:00:00+00:00",
    )
    assert [chat.title for chat in preview.chats] == ["Ben"]


@pytest.mark.parametrize("me", ["ben", "BEN "])
def test_owner_can_be_chosen_by_speaker_name_in_any_case(install, write, me):
    preview = install.inspect(write("chat.txt", CHAT), me=me)

    assert preview.speaker_roles.me == {"Ben"}
    assert preview.speaker_roles.is_clear
    assert {s.name: s.role for s in preview.speakers} == {"Ben": "person", "Ana": "other"}


def test_unknown_owner_name_is_refused_listing_the_speakers(install, write):
    with pytest.raises(ImportRefused, match=r"called 'Eve'. Speakers: Ana, Ben."):
        install.inspect(write("chat.txt", CHAT), me="Eve")


def test_no_speaker_is_the_owner_when_no_name_matches(install, write):
    preview = install.inspect(write("chat.txt", CHAT.replace("Ana", "Anna")))

    assert not preview.speaker_roles.is_clear
    assert {s.role for s in preview.speakers} == {"other"}


async def test_owner_unnamed_in_the_export_gets_the_persons_name(install, write):
    nodes = {
        "a": {
            "parent": None,
            "message": {
                "id": "a",
                "author": {"role": "user"},
                "create_time": 1704056733,
                "content": {"content_type": "text", "parts": ["hi"]},
            },
        },
    }
    path = write("c.json", [{"title": "t", "id": "c", "mapping": nodes, "current_node": "a"}])
    assert install.inspect(path, me="Ana").speaker_roles.is_clear
    await install.bring_in(path)

    assert await install.rows("SELECT speaker, role, zone FROM message") == [
        ("Ana", "person", "Europe/Lisbon")
    ]


def test_a_file_without_messages_is_refused(install, write):
    with pytest.raises(ImportRefused, match="no message"):
        install.inspect(
            write("result.json", {"name": "x", "type": "saved_messages", "messages": []})
        )


async def test_file_with_a_malformed_line_imports_nothing(install, write):
    """The whole file is checked first."""
    with pytest.raises(ImportRefused, match="line 3001"):
        await install.bring_in(write("talk.jsonl", jsonl(3000) + "{broken\n"))

    assert await install.rows("SELECT count(*) FROM message") == [(0,)]
    assert await install.rows("SELECT count(*) FROM import_batch") == [(0,)]
