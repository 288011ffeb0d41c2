"""What waits or was set aside can be seen, tried again, and dropped."""

import asyncio
from pathlib import Path

import pytest

from oldfriend.app.accepting import open_line
from oldfriend.app.choices.settings import read_settings
from oldfriend.app.wiring import open_house
from oldfriend.domain.clock import DAY
from oldfriend.queues.lanes import claim, fail, put, release
from tests.cli.conftest import Call

ERROR = "ModelUnavailable: 503\nsecond line"


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """A parked letter, one for tomorrow, and a reply in two parts of which both are parked."""

    async def fill() -> None:
        settings = read_settings({}, data=str(tmp_path / "data"))
        async with open_house(settings) as house:
            line = await open_line(house, person="Nora", channel="terminal")
            now, owner = house.clock(), line.person.id
            async with house.db.writing() as tx:
                await put(tx, "inbox", "chat/1", {"text": "secret"}, person=owner, now=now)
                await put(tx, "agenda", "job", {}, person=None, now=now, due_at=now + DAY, key="k")
                for _ in range(2):
                    await put(tx, "outbox", "chat/1", {}, person=owner, now=now, group="reply")
                for queue in ("inbox", "outbox"):
                    held = await claim(tx, queue, owner="w", now=now, lease_s=30)
                    assert held is not None
                    await fail(tx, held, held.letters[0], error=ERROR, now=now, retry_at=None)
                    await release(tx, held, now=now)

    asyncio.run(fill())


def ids(call: Call, *arguments: str) -> list[str]:
    """The names of the letters that are listed."""
    return [each["id"] for each in call("letters", "--json", *arguments).json]


def test_nothing_waits_in_a_new_house(call: Call) -> None:
    """Which is said, and no error."""
    call("say", "hello")
    parked = call("letters", "--parked")

    assert (parked.code, parked.stdout) == (0, "Nothing was set aside.\n")
    assert call("letters", "--parked", "--json").json == []


def test_letters_are_listed_without_what_they_say(call: Call, filled: None) -> None:
    """Whose, since when, how often tried, what went wrong."""
    text = call("letters").stdout
    lines = {line.split()[0]: line for line in text.splitlines()}

    assert {*lines} >= {"inbox/chat/1/1", "agenda/job/1", "outbox/chat/1/1", "outbox/chat/1/2"}
    assert "set aside" in lines["inbox/chat/1/1"]
    assert "Nora" in lines["inbox/chat/1/1"]
    assert "ModelUnavailable: 503 second line" in lines["inbox/chat/1/1"]
    assert "until" in lines["agenda/job/1"]
    assert "secret" not in text
    assert "secret" not in call("letters", "--json").stdout
    assert set(ids(call, "--parked")) == {"inbox/chat/1/1", "outbox/chat/1/1", "outbox/chat/1/2"}


def test_a_parked_letter_is_tried_again(call: Call, filled: None) -> None:
    """A part of a reply with the other parts."""
    assert "waits again" in call("letters", "retry", "inbox/chat/1/1").stdout
    assert "with 1 other part of its reply" in call("letters", "retry", "outbox/chat/1/2").stdout

    assert ids(call, "--parked") == []
    again = call("letters", "retry", "agenda/job/1")
    assert (again.code, "was not set aside" in again.stdout) == (0, True)


def test_a_letter_is_dropped_only_by_somebody_who_is_sure(call: Call, filled: None) -> None:
    """In a script that is said by --yes."""
    unsure = call("letters", "drop", "inbox/chat/1/1")
    sure = call("letters", "drop", "inbox/chat/1/1", "--yes")

    assert (unsure.code, "--yes" in unsure.stderr) == (2, True)
    assert (sure.code, sure.stdout) == (0, "inbox/chat/1/1 is dropped.\n")
    assert "inbox/chat/1/1" not in ids(call)
    gone = call("letters", "drop", "inbox/chat/1/1", "--yes")
    assert (gone.code, "no such letter" in gone.stderr) == (1, True)


@pytest.mark.parametrize("verb", ["retry", "drop"])
def test_what_is_being_worked_on_is_left_alone(
    call: Call, filled: None, tmp_path: Path, verb: str
) -> None:
    """Which is said; the command was right, and may be in a moment."""

    async def work_on_it() -> None:
        settings = read_settings({}, data=str(tmp_path / "data"))
        async with open_house(settings) as house, house.db.writing() as tx:
            now = house.clock()
            await put(tx, "inbox", "chat/1", {}, person=None, now=now)
            assert await claim(tx, "inbox", owner="w", now=now, lease_s=120)

    asyncio.run(work_on_it())
    ended = call("letters", verb, "inbox/chat/1/1", "--yes")

    assert ended.code == 1
    assert "inbox chat/1 is being worked on; try again in a moment" in ended.stderr
    assert ids(call, "--parked").count("inbox/chat/1/1") == 1


@pytest.mark.parametrize(("typed", "is_dropped"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_it_asks(
    call: Call, filled: None, monkeypatch: pytest.MonkeyPatch, typed: str, is_dropped: bool
) -> None:
    """And says what that means."""
    monkeypatch.setattr("oldfriend.cli.letters.is_at_terminal", lambda: True)
    said = call("letters", "drop", "inbox/chat/1/1", stdin=f"{typed}\n")

    assert "What was said stays in the memory, but is not answered." in said.stdout
    assert said.code == (0 if is_dropped else 1)
    assert ("inbox/chat/1/1" in ids(call)) is not is_dropped


@pytest.mark.parametrize(
    "arguments",
    [("retry",), ("drop",), ("retry", "a", "b"), ("burn", "inbox/a/1"), ("retry", "inbox/a"),
     ("retry", "letterbox/a/1"), ("retry", "inbox//1"), ("drop", "inbox/a/x", "--yes"),
     ("drop", "inbox/a/" + "9" * 30, "--yes")],
)  # fmt: skip
def test_wrong_usage_is_told(call: Call, arguments: tuple[str, ...]) -> None:
    """In a sentence."""
    call("say", "hello")
    ended = call("letters", *arguments)

    assert ended.code == 2
    assert ended.stderr.startswith("oldfriend: ")
    assert "letters" in ended.stderr
