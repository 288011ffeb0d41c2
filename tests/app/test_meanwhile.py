"""A talk goes on while its store cannot be written, and is in it later: in order, and once."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from oldfriend.app import meanwhile
from oldfriend.app.accepting import Line, Said, accept, open_line
from oldfriend.app.answering import answer
from oldfriend.app.choices.database_url import file_of
from oldfriend.app.forgetting import forget
from oldfriend.app.house import House
from oldfriend.app.meanwhile import Reach, TalkPlace, bring_home, copy_life, go_on_aside
from oldfriend.cli.conversation import Conversation
from oldfriend.db.database import Transaction
from oldfriend.db.sqlite.database import SqliteDatabase
from oldfriend.domain.attachments import Attachment
from oldfriend.domain.errors import (
    InvalidInput,
    OldfriendError,
    SchemaTooNew,
    StoreDamaged,
    StoreError,
    StoreFull,
)
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import Message
from oldfriend.evals.roles import with_models
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.attachments import add_attachment, list_attachments
from oldfriend.memory.changes import check_fold
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages, list_recent
from oldfriend.memory.notes import list_notes
from oldfriend.memory.people import get_companion
from oldfriend.memory.receipts import find_receipt
from oldfriend.prompts.phrasebook import phrasebook
from oldfriend.transfer.importing import bring_in
from oldfriend.transfer.inspecting import inspect
from tests.clock import FrozenClock
from tests.conftest import EVERY_ENGINE
from tests.postgres import Server

ENGLISH, ASIDE = phrasebook("en").say, phrasebook("en").say_aside
NOT_KEPT, KEPT = "what we say now is not kept yet", "is kept now"
Broken = Callable[[], AbstractContextManager[None]]


@pytest.fixture(params=EVERY_ENGINE)
def engine(request: pytest.FixtureRequest) -> str:
    """The json store too."""
    return request.param


@pytest.fixture
def broken(house: House, engine: str, request: pytest.FixtureRequest) -> Broken:
    """The store cannot be written for a while: read only, blocked, or not reached at all."""
    if engine == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return lambda: away(server, house)
    return lambda: read_only(house) if engine == "sqlite" else blocked(house)


@contextmanager
def read_only(house: House) -> Iterator[None]:
    """The database may only be read."""
    assert isinstance(house.db, SqliteDatabase)
    connection = house.db._writer.connection
    connection.pragma("query_only", True)
    yield
    connection.pragma("query_only", False)


@contextmanager
def blocked(house: House) -> Iterator[None]:
    """Something lies where the file is to be written."""
    path = file_of(house.settings.database)
    in_the_way = path.with_name(f"{path.name}.tmp")
    in_the_way.mkdir()
    yield
    in_the_way.rmdir()


@contextmanager
def away(server: Server, house: House) -> Iterator[None]:
    """The server lets nobody in, and has cut every connection."""
    name = conninfo_to_dict(house.settings.database)["dbname"]
    server.run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
    server.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    yield
    server.run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@dataclass
class Sitting:
    """A talk, and what was shown of it."""

    house: House
    line: Line
    clock: FrozenClock
    reach: Reach | None = None
    replies: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Sit down."""

        async def speak(piece: str) -> None:
            self.replies.append(piece)

        place = TalkPlace(self.house, self.line, reach=self.reach)
        self.talk = Conversation(
            place, self.replies.append, speak, remark=self.remarks.append, end=""
        )

    async def hears(self, text: str) -> str:
        """Say something, a minute later; what is replied."""
        self.clock.tick(seconds=60)
        self.replies.clear()
        assert await self.talk.hear(text)
        return "".join(self.replies)

    async def log(self) -> list[Message]:
        """What is in the store, in the order of writing."""
        async with self.house.db.reading() as tx:
            told = await list_recent(tx, self.line.person.id, self.line.chat.id, limit=100)
        return sorted(told, key=lambda each: each.seq)


@pytest.fixture
async def sitting(house: House, clock: FrozenClock) -> AsyncIterator[Sitting]:
    """Somebody who has told one thing."""
    line = await open_line(house, person=None, channel="terminal")
    sitting = Sitting(house, line, clock)
    await sitting.hears("My cat is called Miso.")
    yield sitting


async def test_what_is_said_meanwhile_is_answered_and_kept_later(
    sitting: Sitting, broken: Broken, engine: str, house: House
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
    assert not sitting.talk.is_kept

    after = await sitting.hears("What do you know about me?")

    assert sitting.talk.is_kept
    assert [KEPT in each for each in sitting.remarks] == [False, True]
    assert "the key is red" in after
    log = await sitting.log()
    assert [each.text for each in log if each.role == "person"] == [
        "My cat is called Miso.", "I have a boat called Dora.", "What is my boat called?",
        "What is my cat called?", "Remember: the key is red", "What do you know about me?",
    ]  # fmt: skip
    assert [each.role for each in log] == ["person", "companion"] * 6
    said_at = [each.at for each in log if each.role == "person"]
    assert said_at == [said_at[0] + 60_000_000 * minute for minute in range(6)]
    assert [each.text for each in log if each.turn == log[4].turn] == [log[4].text, about_boat]
    async with house.db.reading() as tx:
        receipt = await find_receipt(tx, log[5].person, log[5].id)
        assert receipt is not None
        assert receipt.asked == log[4].id
        (note,) = await list_notes(tx, log[0].person)
        assert note.text == "the key is red"
        assert await check_fold(tx, log[0].person) == []
    assert "Dora" in await sitting.hears("What is my boat called?")


async def test_what_is_forgotten_meanwhile_does_not_come_home(
    sitting: Sitting, house: House
) -> None:
    """In another process; the reply keeps its place, and what it does not rest on is as it was."""
    aside = await go_on_aside(house, sitting.line)
    for text in ("What is my cat called?", "I have a boat called Dora."):
        sitting.clock.tick(seconds=60)
        given = await answer(aside.house, aside.line, Said(text=text))
        assert ("Miso" in given.reply.text) == ("cat" in text)
    cat = (await sitting.log())[0]
    await forget(house, cat.person, Wish(ids=[cat.id]))

    await bring_home(aside, house, sitting.line)
    log = (await sitting.log())[-4:]
    assert [each.role for each in log] == ["person", "companion"] * 2
    assert log[1].text == ENGLISH["taken_back"]
    assert log[3].text == given.reply.text
    async with house.db.reading() as tx:
        assert await find_receipt(tx, log[0].person, log[1].id) is None
        assert await find_receipt(tx, log[0].person, log[3].id) is not None


async def test_what_a_model_gave_aside_is_forgotten_with_the_words_it_saw(
    sitting: Sitting, house: House
) -> None:
    """They have other ids at home, and the record of the call names those."""
    boat = await told_aside(
        sitting,
        {"I have a boat called Dora.": "She sounds lovely.", "She leaks.": "A fine old lady."},
    )
    async with house.db.reading() as tx:
        assert await answers_of(tx) == ["She sounds lovely.", "A fine old lady."]

    await forget(house, boat.person, Wish(ids=[boat.id]))
    async with house.db.reading() as tx:
        assert await answers_of(tx) == [None, None]


async def test_a_note_that_was_made_aside_is_forgotten_where_it_was_shown(
    sitting: Sitting, house: House
) -> None:
    """It has another id at home, too."""
    said = await told_aside(
        sitting,
        {"Remember: the key is under the pot": "Kept.", "Where is the key?": "Under the pot."},
    )
    async with house.db.reading() as tx:
        (note,) = await list_notes(tx, said.person)
    await forget(house, said.person, Wish(ids=[note.id]))

    async with house.db.reading() as tx:
        assert (await answers_of(tx))[-1] is None


async def told_aside(sitting: Sitting, talk: Mapping[str, str]) -> Message:
    """Have things said aside, answered by a model, and brought home; the first of them there."""
    thinking = with_models(sitting.house, {"main": ScriptedModel(list(talk.values()))})
    aside = await go_on_aside(thinking, sitting.line)
    for text in talk:
        sitting.clock.tick(seconds=60)
        await answer(aside.house, aside.line, Said(text=text))
    return (await bring_home(aside, sitting.house, sitting.line))[0]


async def answers_of(tx: Transaction) -> list[str | None]:
    """What models gave, as it is kept."""
    rows = await tx.rows("SELECT answer FROM model_call ORDER BY made_at, id")
    return [answer and json.loads(answer)["text"] for (answer,) in rows]


async def test_it_is_not_written_twice_though_it_seemed_to_fail(
    sitting: Sitting, broken: Broken
) -> None:
    """A connection may break after a commit, before it is told."""
    with broken():
        await sitting.hears("I have a boat called Dora.")
    aside = sitting.talk._place._aside
    assert aside is not None
    assert len(await bring_home(aside, sitting.house, sitting.line)) == 2
    assert await bring_home(aside, sitting.house, sitting.line) == []
    await sitting.hears("Good night.")

    texts = [each.text for each in await sitting.log() if each.role == "person"]
    assert texts == ["My cat is called Miso.", "I have a boat called Dora.", "Good night."]


async def test_what_is_not_kept_at_the_end_is_said(sitting: Sitting, broken: Broken) -> None:
    """Whoever leaves knows what is lost."""
    nowhere = sitting.house.settings.data / "a file"
    nowhere.parent.mkdir(exist_ok=True)
    nowhere.write_text("in the way")
    settings = replace(sitting.house.settings, data=nowhere)
    sitting = Sitting(replace(sitting.house, settings=settings), sitting.line, sitting.clock)
    with broken():
        await sitting.hears("I have a boat called Dora.")
        await sitting.talk.finish()

        assert sitting.talk.has_failed
        assert "could not be kept, and is not: 2 messages" in sitting.replies[-1]
    await sitting.talk.finish()
    assert sitting.talk.is_kept


def kept_aside(sitting: Sitting) -> list[Path]:
    """The files in which talks lie that are in no store."""
    return sorted(sitting.house.settings.data.glob("talk-*.jsonl"))


async def test_what_is_not_kept_at_the_end_lies_in_a_file(sitting: Sitting, broken: Broken) -> None:
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
    async with sitting.house.db.reading() as tx:
        said = await list_messages(tx, sitting.line.person.id)
    theirs = [each.text for each in said if each.role == "person"]
    assert theirs[-2:] == ["I have a boat called Dora.", "She is blue, and leaks a little."]


async def brought(sitting: Sitting, file: Path) -> int:
    """How many messages the import of a file brings."""
    person, db = sitting.line.person, sitting.house.db
    async with db.reading() as tx:
        companion = await get_companion(tx)
    preview = inspect(file, me=None, person=person.name, zone=person.zone)
    made = await bring_in(db, preview, person=person, companion=companion, clock=sitting.clock)
    return made.added


async def test_once_it_is_kept_the_file_is_gone(sitting: Sitting, broken: Broken) -> None:
    """What lies about in two places is forgotten in one."""
    with broken():
        await sitting.hears("I have a boat called Dora.")
        await sitting.hears("She is blue, and leaks a little.")
        assert len(kept_aside(sitting)) == 1
    await sitting.hears("Good night.")

    assert sitting.talk.is_kept
    assert kept_aside(sitting) == []


@pytest.mark.parametrize("error", [StoreDamaged, SchemaTooNew, InvalidInput])
async def test_a_talk_whose_store_comes_back_unfit_is_not_lost(
    sitting: Sitting, house: House, error: type[OldfriendError]
) -> None:
    """It goes on, it is told once what is wrong, and it lies in a file at the end."""
    aside = await go_on_aside(house, sitting.line)

    async def reach() -> tuple[House, Line]:
        raise error("The file is not what it was.")

    sitting = Sitting(aside.house, aside.line, sitting.clock, reach=reach)
    assert await sitting.hears("I have a boat called Dora.")
    assert "Dora" in await sitting.hears("What is my boat called?")
    await sitting.talk.finish()

    assert [each for each in sitting.remarks if "not what it was" in each] == sitting.remarks[:1]
    (file,) = kept_aside(sitting)
    assert f"messages in {file}" in sitting.replies[-1]
    assert "boat called Dora" in file.read_text("utf-8")
    await aside.close()


async def test_others_do_not_count_and_sounds_stay_where_they_are(
    sitting: Sitting, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has said little is copied, however much others have said."""
    monkeypatch.setattr(meanwhile, "MOST_COPIED", 4)
    tom = await open_line(house, person="Tom", channel="terminal")
    for text in ("I have a kite.", "It is red.", "It flies high."):
        said = (await answer(house, tom, Said(text=text))).said
    mine = (await sitting.log())[0]
    async with house.db.writing() as tx:
        for each in (said, mine):
            sound = Attachment(
                id=new_id(house.clock()), person=each.person, message=each.id, kind="heard",
                voice="", mime="audio/ogg", size=3, made_at=house.clock(),
            )  # fmt: skip
            await add_attachment(tx, sound, b"abc")

    copied = house.in_memory()
    await copy_life(house.db, copied, mine.person)
    async with copied.reading() as tx:
        assert [each.text for each in await list_messages(tx, mine.person)][:1] == [mine.text]
        assert await list_attachments(tx, mine.person) == []
    with pytest.raises(StoreFull):
        await copy_life(house.db, house.in_memory(), tom.person.id)


async def test_whoever_delivers_again_is_not_told_that_it_has_arrived(
    sitting: Sitting, broken: Broken
) -> None:
    """A channel acknowledges once ``accept`` has returned; until then the platform keeps it."""
    words = Said(text="Lunch at noon.", key="telegram:1")
    with broken():
        for _ in range(2):
            with pytest.raises(StoreError):
                await accept(sitting.house, sitting.line, words, to_answer=False)
        with pytest.raises(StoreError):
            await answer(sitting.house, sitting.line, Said(text="And for a program?"))

    assert await accept(sitting.house, sitting.line, words, to_answer=False) is not None
    assert await accept(sitting.house, sitting.line, words, to_answer=False) is None
    texts = [each.text for each in await sitting.log()]
    assert texts.count("Lunch at noon.") == 1
    assert "And for a program?" not in texts
