"""A talk goes on while its store cannot be written, and is in it later: in order, and once."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from oldfriend.app.app_context import AppContext
from oldfriend.cli.conversation import Conversation
from oldfriend.config.settings import parse_database_path
from oldfriend.db.database import Transaction
from oldfriend.db.message_numbers import unpack_ids
from oldfriend.db.sqlite.sqlite_database import SqliteDatabase
from oldfriend.domain.errors import (
    InvalidInput,
    OldfriendError,
    SchemaTooNew,
    StoreCorrupt,
    StoreError,
    StoreFull,
)
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.attachments import Attachment, add_attachment, list_attachments
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages, list_recent_messages
from oldfriend.memory.notes import list_notes
from oldfriend.memory.people import get_companion
from oldfriend.memory.receipts import find_receipt
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.replies import offline_spool as meanwhile
from oldfriend.replies.offline_spool import (
    ConversationStore,
    OpenStore,
    copy_person,
    replay_session,
    start_offline_session,
)
from oldfriend.replies.reply_worker import answer_message
from oldfriend.transfer.import_run import import_messages
from oldfriend.transfer.preview import build_preview
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.engines import every_engine
from tests.postgres import Server

ENGLISH, ASIDE = load_phrases("en").phrases, load_phrases("en").read_only_phrases
NOT_KEPT, KEPT = "what we say now is not kept yet", "is kept now"
Broken = Callable[[], AbstractContextManager[None]]


engine = every_engine


@pytest.fixture
def broken(app: AppContext, engine: str, request: pytest.FixtureRequest) -> Broken:
    """The store cannot be written for a while: read only, blocked, or not reached at all."""
    if engine == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return lambda: away(server, app)
    return lambda: read_only(app) if engine == "sqlite" else blocked(app)


@contextmanager
def read_only(app: AppContext) -> Iterator[None]:
    """The database may only be read."""
    assert isinstance(app.db, SqliteDatabase)
    connection = app.db._writer.connection
    connection.pragma("query_only", True)
    yield
    connection.pragma("query_only", False)


@contextmanager
def blocked(app: AppContext) -> Iterator[None]:
    """Something lies where the file is to be written."""
    path = parse_database_path(app.settings.database)
    in_the_way = path.with_name(f"{path.name}.tmp")
    in_the_way.mkdir()
    yield
    in_the_way.rmdir()


@contextmanager
def away(server: Server, app: AppContext) -> Iterator[None]:
    """The server lets nobody in, and has cut every connection."""
    name = conninfo_to_dict(app.settings.database)["dbname"]
    server.run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
    server.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    yield
    server.run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@dataclass
class Sitting:
    """A talk, and what was shown of it."""

    app: AppContext
    chat_context: ChatContext
    clock: FrozenClock
    reach: OpenStore | None = None
    replies: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Sit down."""

        async def speak(piece: str) -> None:
            self.replies.append(piece)

        place = ConversationStore(self.app, self.chat_context, open_store=self.reach)
        self.talk = Conversation(
            place, self.replies.append, speak, write_notice=self.remarks.append, end=""
        )

    async def hears(self, text: str) -> str:
        """Say something, a minute later; what is replied."""
        self.clock.tick(seconds=60)
        self.replies.clear()
        assert await self.talk.handle_line(text)
        return "".join(self.replies)

    async def log(self) -> list[Message]:
        """What is in the store, in the order of writing."""
        async with self.app.db.begin_read() as tx:
            told = await list_recent_messages(
                tx, self.chat_context.person.id, self.chat_context.chat.id, limit=100
            )
        return sorted(told, key=lambda each: each.seq)


@pytest.fixture
async def sitting(app: AppContext, clock: FrozenClock) -> AsyncIterator[Sitting]:
    """Somebody who has told one thing."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    sitting = Sitting(app, chat_context, clock)
    await sitting.hears("My cat is called Miso.")
    yield sitting


async def test_messages_during_a_store_outage_are_answered_and_stored_later(
    sitting: Sitting, broken: Broken, engine: str, app: AppContext
) -> None:
    """Both sides, with their times, in order, once; it is said once that it is not kept, and once
    that it is."""
    with broken():
        thanks = await sitting.hears("I have a boat called Dora.")
        about_boat = await sitting.hears("What is my boat called?")
        about_cat = await sitting.hears("What is my cat called?")
        noted = await sitting.hears("Remember: the key is red")
    assert thanks.endswith(ASIDE["acknowledgement"])
    assert noted == ASIDE["noted"].format(note="the key is red")
    assert [NOT_KEPT in each for each in sitting.remarks] == [True]
    assert "Dora" in about_boat
    assert ("Miso" in about_cat) == (engine != "postgres")
    assert not sitting.talk.is_saved

    after = await sitting.hears("What do you know about me?")

    assert sitting.talk.is_saved
    assert [KEPT in each for each in sitting.remarks] == [False, True]
    assert "the key is red" in after
    log = await sitting.log()
    assert [each.text for each in log if each.role == "person"] == [
        "My cat is called Miso.",
        "I have a boat called Dora.",
        "What is my boat called?",
        "What is my cat called?",
        "Remember: the key is red",
        "What do you know about me?",
    ]
    assert [each.role for each in log] == ["person", "companion"] * 6
    said_at = [each.at for each in log if each.role == "person"]
    assert said_at == [said_at[0] + 60_000_000 * minute for minute in range(6)]
    assert [each.text for each in log if each.turn == log[4].turn] == [log[4].text, about_boat]
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, log[5].person, log[5].id)
        assert receipt is not None
        assert receipt.asked == log[4].id
        (note,) = await list_notes(tx, log[0].person)
        assert note.text == "the key is red"
        assert await list_view_mismatches(tx, log[0].person) == []
    assert "Dora" in await sitting.hears("What is my boat called?")


async def test_spooled_reply_based_on_a_forgotten_message_is_removed_on_replay(
    sitting: Sitting, app: AppContext
) -> None:
    """In another process; the reply keeps its place, and what it does not rest on is as it was."""
    aside = await start_offline_session(app, sitting.chat_context)
    for text in ("What is my cat called?", "I have a boat called Dora."):
        sitting.clock.tick(seconds=60)
        given = await answer_message(aside.app, aside.chat_context, MessageSubmission(text=text))
        assert ("Miso" in given.reply.text) == ("cat" in text)
    cat = (await sitting.log())[0]
    await forget(app, cat.person, DeletionRequest(ids=[cat.id]))

    await replay_session(aside, app, sitting.chat_context)
    log = (await sitting.log())[-4:]
    assert [each.role for each in log] == ["person", "companion"] * 2
    assert log[1].text == ENGLISH["taken_back"]
    assert log[3].text == given.reply.text
    async with app.db.begin_read() as tx:
        assert await find_receipt(tx, log[0].person, log[1].id) is None
        assert await find_receipt(tx, log[0].person, log[3].id) is not None


async def test_spooled_model_call_is_forgotten_with_its_messages(
    sitting: Sitting, app: AppContext
) -> None:
    """They have other ids at home, and the record of the call names those."""
    boat = await told_aside(
        sitting,
        {"I have a boat called Dora.": "She sounds lovely.", "She leaks.": "A fine old lady."},
    )
    async with app.db.begin_read() as tx:
        assert [boat.id in shown for shown in await shown_in(tx, boat.person)] == [True, True]

    report = await forget(app, boat.person, DeletionRequest(ids=[boat.id]))
    async with app.db.begin_read() as tx:
        assert not any(boat.id in shown for shown in await shown_in(tx, boat.person))
    assert report.is_proved


async def test_spooled_note_is_forgotten_from_model_call_records(
    sitting: Sitting, app: AppContext
) -> None:
    """It has another id at home, too."""
    said = await told_aside(
        sitting,
        {"Remember: the key is under the pot": "Kept.", "Where is the key?": "Under the pot."},
    )
    async with app.db.begin_read() as tx:
        (note,) = await list_notes(tx, said.person)
        assert note.id in (await shown_in(tx, said.person))[-1]
    await forget(app, said.person, DeletionRequest(ids=[note.id]))

    async with app.db.begin_read() as tx:
        assert note.id not in (await shown_in(tx, said.person))[-1]


async def told_aside(sitting: Sitting, talk: Mapping[str, str]) -> Message:
    """Have things said aside, answered by a model, and brought home; the first of them there."""
    thinking = with_models(sitting.app, {"main": ScriptedModel(list(talk.values()))})
    aside = await start_offline_session(thinking, sitting.chat_context)
    for text in talk:
        sitting.clock.tick(seconds=60)
        await answer_message(aside.app, aside.chat_context, MessageSubmission(text=text))
    return (await replay_session(aside, sitting.app, sitting.chat_context))[0]


async def shown_in(tx: Transaction, person: PersonId) -> list[tuple[str, ...]]:
    """What models were shown, as it is kept."""
    rows = await tx.rows("SELECT shown FROM model_call ORDER BY made_at, id")
    return [await unpack_ids(tx, person, shown) for (shown,) in rows]


async def test_spooled_session_is_replayed_only_once(sitting: Sitting, broken: Broken) -> None:
    """A connection may break after a commit, before it is told."""
    with broken():
        await sitting.hears("I have a boat called Dora.")
    aside = sitting.talk._store._offline
    assert aside is not None
    assert len(await replay_session(aside, sitting.app, sitting.chat_context)) == 2
    assert await replay_session(aside, sitting.app, sitting.chat_context) == []
    await sitting.hears("Good night.")

    texts = [each.text for each in await sitting.log() if each.role == "person"]
    assert texts == ["My cat is called Miso.", "I have a boat called Dora.", "Good night."]


async def test_unsaved_messages_are_reported_at_the_end(sitting: Sitting, broken: Broken) -> None:
    """Whoever leaves knows what is lost."""
    nowhere = sitting.app.settings.data / "a file"
    nowhere.parent.mkdir(exist_ok=True)
    nowhere.write_text("in the way")
    settings = replace(sitting.app.settings, data=nowhere)
    sitting = Sitting(replace(sitting.app, settings=settings), sitting.chat_context, sitting.clock)
    with broken():
        await sitting.hears("I have a boat called Dora.")
        await sitting.talk.finish()

        assert sitting.talk.has_failed
        assert "could not be kept, and is not: 2 messages" in sitting.replies[-1]
    await sitting.talk.finish()
    assert sitting.talk.is_saved


def kept_aside(sitting: Sitting) -> list[Path]:
    """The files in which talks lie that are in no store."""
    return sorted(sitting.app.settings.data.glob("talk-*.jsonl"))


async def test_unsaved_messages_are_written_to_an_importable_private_file(
    sitting: Sitting, broken: Broken
) -> None:
    """Whoever leaves knows where, and can bring it in later; nobody else reads it."""
    with broken():
        await sitting.hears("I have a boat called Dora.")
        await sitting.hears("She is blue, and leaks a little.")
        await sitting.talk.finish()

    assert sitting.talk.has_failed
    (file,) = kept_aside(sitting)
    assert f"4 messages in {file}" in sitting.replies[-1]
    assert file.stat().st_mode & 0o777 == 0o600
    assert await brought(sitting, file) == 4
    async with sitting.app.db.begin_read() as tx:
        said = await list_messages(tx, sitting.chat_context.person.id)
    theirs = [each.text for each in said if each.role == "person"]
    assert theirs[-2:] == ["I have a boat called Dora.", "She is blue, and leaks a little."]


async def brought(sitting: Sitting, file: Path) -> int:
    """How many messages the import of a file brings."""
    person, db = sitting.chat_context.person, sitting.app.db
    async with db.begin_read() as tx:
        companion = await get_companion(tx)
    preview = build_preview(file, me=None, person=person.name, zone=person.zone)
    made = await import_messages(
        db, preview, person=person, companion=companion, clock=sitting.clock
    )
    return made.added


async def test_spool_file_is_deleted_once_the_messages_are_stored(
    sitting: Sitting, broken: Broken
) -> None:
    """What lies about in two places is forgotten in one."""
    with broken():
        await sitting.hears("I have a boat called Dora.")
        await sitting.hears("She is blue, and leaks a little.")
        assert len(kept_aside(sitting)) == 1
    await sitting.hears("Good night.")

    assert sitting.talk.is_saved
    assert kept_aside(sitting) == []


@pytest.mark.parametrize("error", [StoreCorrupt, SchemaTooNew, InvalidInput])
async def test_session_is_kept_in_a_file_if_the_store_returns_unusable(
    sitting: Sitting, app: AppContext, error: type[OldfriendError]
) -> None:
    """It goes on, it is told once what is wrong, and it lies in a file at the end."""
    aside = await start_offline_session(app, sitting.chat_context)

    async def reach() -> tuple[AppContext, ChatContext]:
        raise error("The file is not what it was.")

    sitting = Sitting(aside.app, aside.chat_context, sitting.clock, reach=reach)
    assert await sitting.hears("I have a boat called Dora.")
    assert "Dora" in await sitting.hears("What is my boat called?")
    await sitting.talk.finish()

    assert [each for each in sitting.remarks if "not what it was" in each] == sitting.remarks[:1]
    (file,) = kept_aside(sitting)
    assert f"messages in {file}" in sitting.replies[-1]
    assert "boat called Dora" in file.read_text("utf-8")
    await aside.close()


async def test_offline_copy_counts_own_messages_only_and_omits_attachments(
    sitting: Sitting, app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has said little is copied, however much others have said."""
    monkeypatch.setattr(meanwhile, "MAX_COPIED_MESSAGES", 4)
    tom = await open_local_chat(app.db, app.clock, app.settings, person="Tom", channel="terminal")
    for text in ("I have a kite.", "It is red.", "It flies high."):
        said = (await answer_message(app, tom, MessageSubmission(text=text))).message
    mine = (await sitting.log())[0]
    async with app.db.begin_write() as tx:
        for each in (said, mine):
            sound = Attachment(
                id=new_id(app.clock()),
                person=each.person,
                message=each.id,
                kind="heard",
                voice="",
                mime="audio/ogg",
                size=3,
                made_at=app.clock(),
            )
            await add_attachment(tx, sound, b"abc")

    copied = app.open_in_memory()
    await copy_person(app.db, copied, mine.person)
    async with copied.begin_read() as tx:
        assert [each.text for each in await list_messages(tx, mine.person)][:1] == [mine.text]
        assert await list_attachments(tx, mine.person) == []
    with pytest.raises(StoreFull):
        await copy_person(app.db, app.open_in_memory(), tom.person.id)


async def test_message_is_not_acknowledged_during_a_store_outage(
    sitting: Sitting, broken: Broken
) -> None:
    """A channel acknowledges once ``accept`` has returned; until then the platform keeps it."""
    words = MessageSubmission(text="Lunch at noon.", external_id="telegram:1")
    with broken():
        for _ in range(2):
            with pytest.raises(StoreError):
                await accept_message(sitting.app, sitting.chat_context, words, claim_now=False)
        with pytest.raises(StoreError):
            await answer_message(
                sitting.app, sitting.chat_context, MessageSubmission(text="And for a program?")
            )

    assert (
        await accept_message(sitting.app, sitting.chat_context, words, claim_now=False) is not None
    )
    assert await accept_message(sitting.app, sitting.chat_context, words, claim_now=False) is None
    texts = [each.text for each in await sitting.log()]
    assert texts.count("Lunch at noon.") == 1
    assert "And for a program?" not in texts
