"""Another program keeps and finds words with `from oldfriend import Memory`, awaited or not."""

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from oldfriend import Hit, Memory, MemorySync, OldfriendError, StoredMessage
from oldfriend.db.sqlite.sqlite_database import open_sqlite
from oldfriend.domain.clock import from_micros, system_clock
from oldfriend.domain.errors import InvalidInput, MemoryMisused
from oldfriend.domain.messages import MAX_TEXT_CHARS, estimate_tokens
from tests.fakes.embedding_server import EmbeddingServer, embedding_server

TALK = [
    {
        "id": "m1",
        "session": "s1",
        "speaker": "Nora",
        "at": "2024-05-03T18:30",
        "text": "My cat is called Miso.",
    },
    {
        "id": "m2",
        "session": "s1",
        "speaker": "Tom",
        "at": "2024-05-03T18:31",
        "text": "Mine is Bruno, a dog.",
    },
]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A message as a program may have it."""

    text: str
    speaker: str = "Tom"
    at: datetime | None = None


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where the memory is."""
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
def memory(url: str) -> Iterator[MemorySync]:
    """Nora's memory."""
    with Memory.open(url, person="Nora") as opened:
        yield opened


def texts(memory: MemorySync) -> list[str]:
    """Everything that is kept."""
    return [words.text for words in memory.messages(limit=10_000)]


async def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Look into the store."""
    db = open_sqlite(Path(url.removeprefix("sqlite:///")))
    async with db.begin_read() as tx:
        found = await tx.rows(sql)
    await db.close()
    return found


def test_recall_returns_an_added_message_with_its_fields(memory: MemorySync) -> None:
    """By words and meaning, with all that is known of it."""
    assert memory.add(TALK) == 2

    hit = memory.recall("What is my cat's name?", limit=1)[0]

    assert isinstance(hit, Hit)
    assert (hit.external_id, hit.session, hit.channel) == ("m1", "s1", "library")
    assert (hit.speaker, hit.role, hit.trust) == ("Nora", "person", "person")
    assert hit.at.replace(tzinfo=None) == datetime(2024, 5, 3, 18, 30)  # noqa: DTZ001 - as given
    assert hit.at.tzinfo is not None
    assert 0 < hit.score <= 1
    assert hit.why


def test_recall_reports_whether_there_is_an_answer(memory: MemorySync) -> None:
    """The nearest is found even where nothing answers, and said to be no more than that."""
    memory.add(TALK)

    fitting, strange = memory.recall("What is my cat's name?"), memory.recall("volcano insurance?")

    assert fitting.has_answer
    assert not strange.has_answer
    assert 0 <= strange.answer_probability < fitting.answer_probability <= 1
    assert not memory.recall("What is my cat's name?", kinds=["event"]).has_answer


def test_recall_finds_companion_messages_with_their_role(memory: MemorySync) -> None:
    """ "What was that recipe you gave me?" asks for the companion's words, not the person's."""
    memory.add(
        [
            {"speaker": "Nora", "text": "I'm hungry, what could I cook with lentils?"},
            {"role": "companion", "text": "Try dal: red lentils, coconut milk, ginger and lime."},
            {"speaker": "Nora", "text": "Thanks, the recipe sounds great!"},
            {"speaker": "Nora", "text": "My sister moved to Bergen."},
        ]
    )

    hits = memory.recall("What was that lentil recipe you gave me?", kinds=["message"])

    hit = next(each for each in hits[:2] if "coconut" in each.text)
    assert isinstance(hit, Hit)
    assert hit.role == "companion"
    assert not [each for each in memory.beliefs() if "coconut" in each.text]


async def test_async_memory_adds_recalls_and_lists(url: str) -> None:
    """One implementation, two faces."""
    async with Memory.open(url, person="Nora") as memory:
        assert await memory.add(TALK) == 2
        assert (await memory.recall("Who is Bruno?", limit=1))[0].external_id == "m2"
        assert "My cat is called Miso." in await memory.context("cat", budget=100)
        assert [words.external_id for words in await memory.messages()] == ["m1", "m2"]


async def test_sync_memory_works_beside_a_running_event_loop(url: str) -> None:
    """From a thread of the program's, and even from the loop's own."""

    def use() -> list[str]:
        with Memory.open(url) as memory:
            memory.add([{"text": "My cat is called Miso."}])
            return [hit.text for hit in memory.recall("cat")]

    assert await asyncio.to_thread(use) == ["My cat is called Miso."]
    assert use() == ["My cat is called Miso."] * 2


def test_messages_persist_after_reopening(url: str) -> None:
    """For the next program, under the same name."""
    with Memory.open(url, person="Nora") as memory:
        memory.add(TALK)
    with Memory.open(url, person=" Nora ") as memory:
        assert memory.add(TALK) == 0
        assert texts(memory) == [TALK[0]["text"], TALK[1]["text"]]


def test_memories_of_two_people_are_isolated(url: str) -> None:
    """Nor does it matter to the one which ids the other uses."""
    with (
        Memory.open(url, person="Nora") as noras,
        Memory.open(url, person="Omar") as omars,
        Memory.open(url) as owners,
    ):
        noras.add([{"id": "1", "text": "My locker code is 4411."}])
        omars.add([{"id": "1", "text": "My locker code is 9999."}])

        assert [hit.text for hit in noras.recall("locker code")] == ["My locker code is 4411."]
        assert "4411" not in omars.context("locker code")
        assert texts(owners) == owners.recall("locker code") == []


@pytest.mark.parametrize(
    ("given", "speaker", "role"),
    [
        ({}, "Nora", "person"),
        ({"speaker": "Nora"}, "Nora", "person"),
        ({"speaker": " NORA"}, " NORA", "person"),
        ({"speaker": "Tom"}, "Tom", "other"),
        ({"speaker": "Tom", "role": "person"}, "Tom", "person"),
        ({"speaker": "Nora", "role": "other"}, "Nora", "other"),
        ({"role": "companion"}, "companion", "companion"),
        ({"speaker": 7}, "7", "other"),
    ],
)
def test_speaker_role_is_given_or_derived_from_the_name(
    memory: MemorySync, given: dict[str, object], speaker: str, role: str
) -> None:
    """Who bears the person's name, or none, is the person."""
    memory.add([{"text": "hello there", **given}])

    (words,) = memory.messages()
    assert (words.speaker, words.role, words.trust) == (speaker, role, role)


def test_known_id_with_new_text_adds_a_version_instead_of_a_message(memory: MemorySync) -> None:
    """Also back to an earlier text, and within one call; the last word holds."""
    for text, added in (("one", 1), ("one", 0), ("two", 0), ("one", 0)):
        assert memory.add([{"id": 1, "text": text}]) == added
        assert texts(memory) == [text]

    again = [{"id": id_, "text": text} for id_, text in ((1, "x"), (2, "y"), (2, "z"), (1, "w"))]
    assert memory.add(again) == 1
    assert sorted(texts(memory)) == ["w", "z"]


def test_add_accepts_objects_and_generators(memory: MemorySync) -> None:
    """And a generator as good as a list."""
    at = datetime(2024, 5, 3, 18, 30, tzinfo=UTC)
    memory.add(line for line in [Line(text="Bruno barks.", at=at), {"text": "Miso sleeps."}])

    bruno, miso = memory.messages()
    assert (bruno.speaker, bruno.at, bruno.external_id) == ("Tom", at, None)
    assert miso.at > datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2024-05-03T18:30:00+02:00", "2024-05-03T18:30:00+02:00"),
        ("2024-05-03T18:30:00Z", "2024-05-03T18:30:00+00:00"),
        (datetime(2024, 5, 3, 18, 30, tzinfo=UTC), "2024-05-03T18:30:00+00:00"),
        ("2024-05-03T18:30", "2024-05-03T18:30:00"),
        (datetime(2024, 5, 3, 18, 30), "2024-05-03T18:30:00"),  # noqa: DTZ001 - naive on purpose
    ],
)
def test_message_times_keep_their_given_offset(memory: MemorySync, at: object, shown: str) -> None:
    """Without an offset they are by the person's clocks."""
    memory.add([{"text": "hello", "at": at}])

    assert memory.messages()[0].at.isoformat().startswith(shown)


def test_messages_filters_by_since_until_and_limit(memory: MemorySync) -> None:
    """The newest of them, oldest first; the end does not belong to it."""
    memory.add({"text": str(day), "at": f"2024-05-0{day}T12:00Z"} for day in range(1, 10))
    third, sixth = (datetime(2024, 5, day, 12, tzinfo=UTC) for day in (3, 6))

    found = memory.messages(since=third, until=sixth, limit=2)

    assert [words.text for words in found] == ["4", "5"]
    assert all(type(words) is StoredMessage for words in found)


def test_message_dated_ahead_is_newer_than_nothing_said_today(memory: MemorySync) -> None:
    """The program's clock, or what it read, is wrong; what is asked for last is what was said."""
    now = from_micros(system_clock(), "UTC")
    ahead = {"text": "My new cat is called Miso.", "at": now + timedelta(days=400)}
    today = {"text": "My new cat is called Tofu.", "at": now - timedelta(hours=1)}
    memory.add([ahead, today])

    assert texts(memory) == [ahead["text"], today["text"]]
    assert memory.recall("What is the newest name of my cat?")[0].text == today["text"]


def test_since_and_until_may_be_strings(memory: MemorySync) -> None:
    """As the times in `add`: by the person's clocks where no offset is told."""
    memory.add({"text": str(day), "at": f"2024-05-0{day}T12:00"} for day in range(1, 5))

    found = memory.messages(since="2024-05-02", until="2024-05-04T12:00")

    assert [words.text for words in found] == ["2", "3"]


@pytest.mark.parametrize("wrong", ["soon", "", "0001-01-01", 1714750200, True])
def test_invalid_since_or_until_is_refused(memory: MemorySync, wrong: Any) -> None:
    """It is said which bound is wrong, or what was not understood."""
    for name in ("since", "until"):
        with pytest.raises(InvalidInput, match=rf"ISO 8601|years|{name}"):
            memory.messages(**{name: wrong})


FINE = {"text": "fine"}
WRONG = [
    {},
    {"text": 7},
    {"text": None},
    {"text": "x" * (MAX_TEXT_CHARS + 1)},
    {"text": "x", "role": "king"},
    {"text": "x", "id": 1.5},
    {"text": "x", "session": True},
    {"text": "x", "speaker": b"Tom"},
    {"text": "x", "speaker": "x" * 100_000},
    {"text": "x", "at": 1714750200},
    {"text": "x", "at": "soon"},
    {"text": "x", "at": "0001-01-01T00:00+14:00"},
    7,
    {"text": ""},
    {"text": " \n"},
    {"text": "x", "at": datetime.max.replace(tzinfo=UTC)},
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:40])
def test_add_with_an_invalid_message_names_it_and_stores_nothing(
    memory: MemorySync, wrong: object
) -> None:
    """However many stand before it."""
    with pytest.raises(InvalidInput, match=r"^Message 1500\b") as refused:
        memory.add([*[FINE] * 1500, wrong, *[FINE] * 3])

    assert isinstance(refused.value, OldfriendError)
    assert texts(memory) == []
    assert memory.add([]) == 0


def test_lone_surrogate_and_nul_are_replaced_in_texts(memory: MemorySync) -> None:
    """There they are broken, not forbidden; in ids and names they are refused."""
    half = "\ud83d\x00"
    given = {"text": f"cat {half}", "id": "1"}
    assert (memory.add([given]), memory.add([given])) == (1, 0)

    (hit,) = memory.recall(f"cat {half}")
    assert memory.context(f"cat {half}")
    assert hit.text == "cat \ufffd\ufffd"


async def test_messages_without_sessions_are_split_at_long_pauses(url: str) -> None:
    """In the order of the times, whichever way the messages come."""
    began = datetime(2019, 7, 1, 10, tzinfo=UTC)
    minutes = [0, 20, 40, 400, 410, 430, 900]
    shuffled = [minutes[place] for place in (4, 0, 6, 2, 5, 1, 3)]
    async with Memory.open(url) as memory:
        await memory.add(
            {"text": f"{after}", "at": began + timedelta(minutes=after)} for after in shuffled
        )

    found = await rows(url, "SELECT status, (closed_at - opened_at) / 60000000 FROM session")
    assert sorted(found) == [("closed", 0), ("closed", 30), ("closed", 40)]


async def test_current_messages_continue_the_open_session(url: str) -> None:
    """One by one or two at once; what is said long ago, or later, is no part of it."""
    later = datetime(2100, 1, 1, tzinfo=UTC)
    async with Memory.open(url) as memory:
        await memory.add([{"text": "hello"}])
        await memory.add([{"text": "How are you?"}, {"text": "Fine.", "role": "companion"}])
        await memory.add([{"text": "long ago", "at": "2019-07-01"}])
        await memory.add([{"text": "far ahead", "at": later}])
        await memory.add([{"text": "bye"}])

    found = await rows(
        url,
        "SELECT s.status, count(*) FROM message m JOIN session s ON s.id = m.session "
        "GROUP BY s.id ORDER BY 1, 2",
    )
    assert found == [("closed", 1), ("closed", 1), ("open", 4)]


def test_add_of_many_messages_stores_each_once(memory: MemorySync) -> None:
    """More than one transaction holds, and each once."""
    many = [{"id": number, "text": f"word {number}"} for number in range(1_200)]

    assert (memory.add(many), memory.add(many)) == (1_200, 0)
    assert len(texts(memory)) == 1_200


def test_context_stays_within_its_token_budget(memory: MemorySync) -> None:
    """And is empty where nothing fits."""
    memory.add(TALK)

    assert "Miso" in memory.context("What is my cat called?")
    assert estimate_tokens(memory.context("What is my cat called?", budget=30)) <= 30
    assert memory.context("What is my cat called?", budget=0) == ""


USES = {
    "add": ([FINE],),
    "recall": ("cat",),
    "context": ("cat",),
    "messages": (),
}


@pytest.mark.parametrize("use", USES)
async def test_memory_used_outside_its_with_block_raises_memory_misused(url: str, use: str) -> None:
    """Before it, and after it, awaited or not."""
    opening = Memory.open(url)
    with pytest.raises(MemoryMisused, match=r"`with Memory.open\(...\) as memory:`"):
        getattr(opening, use)
    with opening as closed:
        pass
    with pytest.raises(MemoryMisused, match=r"`with Memory.open\(...\) as memory:`"):
        getattr(closed, use)(*USES[use])
    async with opening as closed_too:
        pass
    with pytest.raises(MemoryMisused, match="`async with`"):
        await getattr(closed_too, use)(*USES[use])


async def test_memory_cannot_be_entered_twice_at_once(url: str) -> None:
    """Else one of two would never be closed; one after the other is fine."""
    opening = Memory.open(url)
    with opening as memory:
        with pytest.raises(MemoryMisused, match="open already"), opening:
            pass
        with pytest.raises(MemoryMisused, match="open already"):
            async with opening:
                pass
        assert memory.add([FINE]) == 1
    async with opening as again:
        with pytest.raises(MemoryMisused, match="open already"), opening:
            pass
        assert len(await again.messages()) == 1


def test_unopened_memory_raises_attribute_error_for_unknown_names(url: str) -> None:
    """What no memory has is an ordinary mistake; and what did not open can be tried again."""
    opening = Memory.open(url, person="\n")

    with pytest.raises(AttributeError, match="forget_it"):
        opening.forget_it()
    for _ in range(2):
        with pytest.raises(InvalidInput, match="cannot be a name"), opening:
            pass


@pytest.mark.parametrize("wrong", [None, 7, b"words"])
def test_what_is_no_list_of_messages_is_refused(memory: MemorySync, wrong: Any) -> None:
    """It is said what to give."""
    with pytest.raises(InvalidInput, match="list"):
        memory.add(wrong)


@pytest.mark.parametrize("wrong", [math.nan, None, "3", True])
def test_what_is_no_number_is_refused(memory: MemorySync, wrong: Any) -> None:
    """As a limit, and as a budget."""
    for use in (
        lambda: memory.recall("cat", limit=wrong),
        lambda: memory.messages(limit=wrong),
        lambda: memory.context("cat", budget=wrong),
    ):
        with pytest.raises(InvalidInput, match="whole number"):
            use()


def test_a_question_that_is_no_text_is_refused(memory: MemorySync) -> None:
    """By what it is."""
    for use in (memory.recall, memory.context):
        with pytest.raises(InvalidInput, match="query"):
            use(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1])
def test_recall_limit_below_one_is_refused(memory: MemorySync, limit: int) -> None:
    """It would always be empty."""
    with pytest.raises(InvalidInput, match="at least 1"):
        memory.recall("cat", limit=limit)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
@pytest.mark.parametrize("wrong", [{"person": "\n"}, {"channel": "x" * 201}], ids=str)
async def test_failed_open_closes_the_database_file(
    url: str, tmp_path: Path, wrong: dict[str, str]
) -> None:
    """Whoever tries again and again does not run out of files."""

    def held() -> list[str]:
        files = (each.resolve() for each in Path("/proc/self/fd").iterdir())
        return [str(each) for each in files if each.is_relative_to(tmp_path)]

    with pytest.raises(InvalidInput, match="cannot be a name"):
        async with Memory.open(url, **wrong):
            pass
    with pytest.raises(InvalidInput, match="cannot be a name"), Memory.open(url, **wrong):
        pass

    assert held() == []


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    """An owner who has a provider embed what they say."""
    with embedding_server() as server:
        data = tmp_path / "owner"
        data.mkdir()
        (data / "oldfriend.toml").write_text(
            f"""[embedder]
            model = "mine:hashed"
            dimension = 512
            [providers.mine]
            base_url = "{server.url}"
            """
        )
        monkeypatch.setenv("OLDFRIEND_DATA", str(data))
        yield server


def test_other_persons_memory_does_not_use_the_owners_embedder(
    url: str, owner: EmbeddingServer
) -> None:
    """The owner has said yes for their own words only."""
    with Memory.open(url, person="Nora") as memory:
        memory.add(TALK)
        assert memory.recall("What is my cat's name?", limit=1)[0].external_id == "m1"

    assert owner.asked == []


def test_default_memory_uses_the_owners_embedder(owner: EmbeddingServer) -> None:
    """Else each would undo the other's work."""
    with Memory.open() as memory:
        memory.add(TALK)

    assert len(owner.asked) == 1


def test_default_memory_opened_by_url_uses_the_owners_embedder(
    owner: EmbeddingServer, tmp_path: Path
) -> None:
    """A program that writes the address out must not have all of it embedded anew."""
    with Memory.open(f"sqlite:///{tmp_path}/owner/../owner/oldfriend.db") as memory:
        memory.add(TALK)

    assert len(owner.asked) == 1


def test_broken_owner_settings_do_not_affect_other_memories(
    url: str, owner: EmbeddingServer, tmp_path: Path
) -> None:
    """Only to the companion's own."""
    (tmp_path / "owner" / "oldfriend.toml").write_text("nonsense\n")
    with Memory.open(url, person="Nora") as memory:
        assert memory.add(TALK) == len(TALK)

    own = f"sqlite:///{tmp_path}/owner/oldfriend.db"
    with pytest.raises(InvalidInput, match="line 1"), Memory.open(own):
        pass


async def test_embedder_set_by_environment_is_used_and_recorded(
    url: str, owner: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the environment; what that costs is in its own ledger, under the person's name."""
    monkeypatch.setenv("OLDFRIEND_EMBEDDER_MODEL", "other:hashed")
    monkeypatch.setenv("OLDFRIEND_EMBEDDER_DIMENSION", "512")
    with embedding_server() as server:
        monkeypatch.setenv("OLDFRIEND_PROVIDERS_OTHER_BASE_URL", server.url)
        async with Memory.open(url, person="Nora") as memory:
            await memory.add(TALK)
            await memory.recall("What is my cat's name?", limit=1)
    kept = await rows(
        url,
        """SELECT person.name, model, is_background FROM model_call
           JOIN person ON person.id = model_call.person ORDER BY made_at, model_call.id""",
    )

    assert owner.asked == []
    assert len(server.asked) == 2
    assert kept == [("Nora", "other:hashed", 1), ("Nora", "other:hashed", 0)]


def test_forgotten_messages_are_erased_and_not_added_again(
    memory: MemorySync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By id, by name, or by time; until they are said anew."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    memory.add([{**each, "text": f"{each['text']} It is seven years old."} for each in TALK])
    words = memory.messages()[0]
    forgot = memory.forget(words.id)

    assert (forgot.messages, forgot.is_proved) == (1, True)
    assert memory.add([{**TALK[0], "text": words.text}]) == 0
    assert memory.forget(about="Bruno").messages == 1
    assert texts(memory) == []
    with pytest.raises(InvalidInput, match="Name what to forget"):
        memory.forget()


def test_messages_can_be_added_after_forgetting_everything(memory: MemorySync) -> None:
    """In one open memory, whose chat went with its last session."""
    memory.add(TALK)
    memory.forget(everything=True)

    assert memory.add([{"session": "s2", "text": "I like tea."}]) == 1
    assert texts(memory) == ["I like tea."]


def test_an_assistant_is_known_without_roles_by_how_it_writes(memory: MemorySync) -> None:
    """Long answers to short requests, turn by turn; whoever gives roles is believed."""
    asked = [f"and what about step {number}?" for number in range(4)]
    answer = "First of all, this depends on the wood, the weather and the glue that you have. " * 6
    messages = [
        {"speaker": speaker, "text": f"{text} {number}", "session": "s"}
        for number, request in enumerate(asked)
        for speaker, text in (("User", request), ("Bot", answer))
    ]
    memory.add(messages)
    assert {(each.speaker, each.role) for each in memory.messages()} == {
        ("User", "person"),
        ("Bot", "companion"),
    }
    memory.add([{**each, "role": "other", "session": "t"} for each in messages])
    assert [each.role for each in memory.messages(limit=8)] == ["other"] * 8


def test_two_friends_are_not_taken_for_person_and_assistant(memory: MemorySync) -> None:
    """They take turns, too, but none of them answers at length."""
    memory.add(
        {"speaker": speaker, "text": f"{text} {number}", "session": "s"}
        for number in range(6)
        for speaker, text in (("Ana", "have you seen the boat?"), ("Bo", "yes, on the lake, why"))
    )
    assert {each.role for each in memory.messages()} == {"other"}


def test_tasks_are_kept_once_listed_and_completed(memory: MemorySync) -> None:
    """On the list of the person; what cannot be is refused."""
    call = memory.add_task("Call mum", due="2035-11-24T10:00", rrule="FREQ=WEEKLY;BYDAY=SA")
    again = memory.add_task("Call mum", due="2035-11-24T10:00", rrule="FREQ=WEEKLY;BYDAY=SA")
    bike = memory.add_task("Fix the bike")

    assert again == call
    assert [each.text for each in memory.tasks()] == ["Call mum", "Fix the bike"]
    assert memory.complete_task(bike.id[:8]).status == "done"
    assert [each.text for each in memory.tasks()] == ["Call mum"]
    assert len(memory.tasks(ended=True)) == 2
    with pytest.raises(InvalidInput):
        memory.add_task("Late", due="2001-01-01T10:00")
    with pytest.raises(InvalidInput):
        memory.add_task("Often", rrule="FREQ=DAILY")
    with pytest.raises(OldfriendError):
        memory.complete_task("%")


def test_goals_are_set_once_counted_for_and_reached(memory: MemorySync) -> None:
    """How often each is wanted is read from its text (ACCEPTANCE L20)."""
    run = memory.add_goal("Run twice a week", deadline="2035-12-31")
    again = memory.add_goal("run twice a week")
    counted = memory.count_for_goal(run.id[:8])

    assert (again.id, run.times, run.period) == (run.id, 2, "week")
    assert (counted.done_in_period, counted.told) == (1, 1)
    assert memory.complete_goal(run.id).status == "completed"
    assert memory.goals() == []
    assert [each.status for each in memory.goals(ended=True)] == ["completed"]
    with pytest.raises(InvalidInput):
        memory.drop_goal(run.id)
    with pytest.raises(InvalidInput):
        memory.add_goal("Late", deadline="2001-01-01")
    with pytest.raises(OldfriendError):
        memory.drop_goal("%")


def test_watches_are_kept_once_listed_and_ended(memory: MemorySync) -> None:
    """Only addresses of the public web (ACCEPTANCE L21)."""
    watch = memory.add_watch("https://shop.example/", above=5)

    assert memory.add_watch("https://shop.example/", above=5) == watch
    assert [each.url for each in memory.watches()] == ["https://shop.example/"]
    assert memory.end_watch(watch.id[:8]).status == "ended"
    assert memory.watches() == []
    assert len(memory.watches(ended=True)) == 1
    with pytest.raises(InvalidInput):
        memory.add_watch("nowhere")
    with pytest.raises(OldfriendError):
        memory.end_watch("%")
