"""People talk to it on Telegram, through `oldfriend serve` as a process and a strict fake."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.fakes.telegram import Fault, World, running_telegram
from tests.journeys.telegram_server import Home, home_on, listening
from tests.processes import Program, until

ANA, BEN, EVE, FAMILY = 7, 8, 9, -100
KEPT = "kept it"


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
def home(oldfriend: Program, world: World) -> Home:
    """The program, with a bot's token in its environment."""
    return home_on(oldfriend, world)


@pytest.mark.quick
def test_telegram_link_code_makes_a_stranger_a_known_person(home: Home, world: World) -> None:
    """From the first line of a stranger to an answer from memory; of strangers nothing is kept."""
    with listening(home) as running:
        world.says(ANA, "/start")
        home.sees(ANA, "I talk only to people")
        world.says(EVE, "let me in")
        world.says(EVE, "let me in at once")
        world.says(EVE, "000000")
        home.sees(EVE, "can't use that code")
        home.pair(ANA)
        world.says(ANA, "/zone lisbon")
        home.sees(ANA, "From now on I go by the clocks of Europe/Lisbon")
        world.says(ANA, "My cat is called Miso.")
        home.sees(ANA, KEPT)
        world.says(ANA, "What is my cat's name?")
        told = home.sees(ANA, "you said:")
        turned_away = running.number('oldfriend_rejected_messages{channel="telegram"}')

    assert "My cat is called Miso." in told
    assert home.rows("SELECT zone FROM person WHERE is_owner = 1") == [("Europe/Lisbon",)]
    assert "zone" in [each["command"] for each in world.commands["all_private_chats", ""]]
    assert len(world.texts(EVE)) == 2
    assert turned_away >= 2
    assert home.rows("SELECT channel, address FROM identity WHERE address = '7'")
    assert not home.rows("SELECT 1 FROM message WHERE text LIKE '%let me in%'")


def test_telegram_bursts_edits_forwards_photos_and_reactions_are_handled(
    home: Home, world: World
) -> None:
    """Bursts, long texts, albums, forwards, pictures, edits, reactions, buttons, stickers."""
    with listening(home):
        home.pair(ANA)
        for words in ("My sister is Lena.", "She lives in Porto.", "She has a dog."):
            world.says(ANA, words)
        home.sees(ANA, KEPT)
        answers = len(world.texts(ANA))
        number = world.says(ANA, "My locker is 4411.")
        until(lambda: len(world.texts(ANA)) > answers)
        world.edits(ANA, number, "My locker is 4412.")
        world.forwards(ANA, "Tea is poison.", origin="Uncle Bo")
        world.says(ANA, caption="us in Faro", photo=[{"file_id": "a"}], media_group_id="x")
        world.says(ANA, photo=[{"file_id": "b"}], media_group_id="x")
        world.says(ANA, sticker={"file_id": "c", "emoji": "\U0001f600"})
        world.sends_file(ANA, "photo", b"...")
        home.sees(ANA, "look into pictures")
        world.reacts(ANA, world.shown[-1].id, "\U0001f44d")
        first, second = world.presses(ANA, "yes"), world.presses(ANA, "no")
        home.comes_to_hold("SELECT 1 FROM message WHERE text = '[\U0001f44d]'")
        assert world.wait(lambda: {first, second} <= world.acknowledged)
        home.comes_to_hold("SELECT 1 FROM message WHERE text = 'My locker is 4412.'")
    said = home.rows("SELECT text, trust, turn, details FROM message WHERE role = 'person'")
    by_text = {text: (trust, turn, details or "") for text, trust, turn, details in said}

    assert len({by_text[text][1] for text in by_text if "sister" in text or "She" in text}) == 1
    assert home.rows("SELECT count(*) FROM message WHERE text LIKE 'My locker%'") == [(2,)]
    assert by_text["Tea is poison."][0] == "outside"
    assert "Uncle Bo" in by_text["Tea is poison."][2]
    assert "us in Faro" in by_text
    assert sum("[photo]" in text for text in by_text) == 1  # none of the album's
    assert by_text["\U0001f600 [sticker]"][0] == "person"
    assert by_text["[\U0001f44d]"][1] is None


def test_text_split_by_telegram_is_one_turn(home: Home, world: World) -> None:
    """And its reply is noted as it was sent."""
    with listening(home):
        home.pair(ANA)
        world.says(ANA, "x" * 4096)
        time.sleep(0.5)  # longer than the pause that ends a burst
        world.says(ANA, "y" * 3000)
        home.sees(ANA, KEPT)
        home.comes_to_hold("SELECT 1 FROM delivered")
    turns = home.rows("SELECT count(*), count(DISTINCT turn) FROM message WHERE role = 'person'")
    noted = home.rows("SELECT external_id FROM delivered")

    assert turns == [(2, 1)]
    assert noted == [(f"message:{ANA}:{world.shown[-1].id}",)]


def test_blocked_telegram_chat_gets_no_messages_until_the_person_writes(
    home: Home, world: World
) -> None:
    """Noticed, stored, stopped."""
    with listening(home):
        home.pair(ANA)
        world.says(ANA, "I like tea.")
        home.sees(ANA, KEPT)
        world.blocked.add(ANA)
        world.says(ANA, "And rain.")
        home.comes_to_hold("SELECT 1 FROM closed_place WHERE address = '7'")
        tried = len(world.called("sendMessage"))
        world.says(BEN, "hello")
        home.sees(BEN, "I talk only to people")
        assert len(world.called("sendMessage")) == tried + 1
        world.blocked.discard(ANA)
        world.says(ANA, "remember that I am back")
        home.sees(ANA, "I am back")

    assert not home.rows("SELECT 1 FROM closed_place")
    assert home.rows(
        "SELECT error FROM job WHERE queue = 'outbox' AND dead_lettered_at IS NOT NULL"
    )


def test_slow_telegram_chat_does_not_delay_other_chats(home: Home, world: World) -> None:
    """Nor do markup that is refused and floods lose anything."""
    with listening(home):
        home.pair(ANA)
        home.pair(BEN, "--person", "Ben", "--new-person")
        world.scripted["sendMessage"].append(Fault(status=200, delay_s=6))
        world.says(ANA, "remember that the tap drips")
        until(lambda: any("tap" in text for text in world.texts(ANA)))  # shown, but not answered
        began = time.monotonic()
        world.says(BEN, "remember that tea is warm")
        home.sees(BEN, "tea is warm")
        assert time.monotonic() - began < 5.5
        world.scripted["sendMessage"].extend(
            [
                Fault(status=400, description="Bad Request: can't parse entities: x"),
                Fault(status=429, retry_after=1, description="Too Many Requests: retry after 1"),
                Fault(),
            ]
        )
        world.says(BEN, "remember that **stars** are *far*")
        home.sees(BEN, "stars")

    assert [sum("drips" in text for text in world.texts(ANA))] == [1]


def test_telegram_group_without_permission_is_ignored_and_not_stored(
    home: Home, world: World
) -> None:
    """One polite line when it is spoken to; nothing of what is said there is kept."""
    world.group(FAMILY, "Family")
    with listening(home):
        home.pair(ANA)
        world.says(ANA, "who brings the cake?", chat=FAMILY)
        for _ in range(2):
            mention = {"type": "mention", "offset": 0, "length": 14}
            world.says(ANA, "@oldfriend_bot do you?", chat=FAMILY, entities=[mention])
        home.sees(FAMILY, "I don't talk in groups")
        world.says(ANA, "I like tea.")
        home.sees(ANA, KEPT)

    assert len(world.texts(FAMILY)) == 1
    assert not home.rows("SELECT 1 FROM message WHERE text LIKE '%cake%' OR text LIKE '%do you%'")


def test_allowed_telegram_user_needs_no_code_and_can_be_linked(home: Home, world: World) -> None:
    """Allowed after a reload; who has talked as somebody else is asked before two become one."""
    with listening(home) as running:
        world.says(BEN, "hello")
        home.sees(BEN, "I talk only to people")
        (home.program.data / "oldfriend.toml").write_text("[telegram]\nallowed = [8, 9]\n")
        home.program.done("reload")
        until(lambda: running.is_ready)
        world.says(BEN, "/start")
        home.sees(BEN, "Hello. What is on your mind?")
        world.says(EVE, "I like rain.")
        home.sees(EVE, KEPT)
        assert "User 8" in home.program.done("person", "list").stdout
        world.says(BEN, home.code_for("--person", "Ben", "--new-person"))
        home.sees(BEN, "Now I know")
        code = home.code_for("--person", "Ben")
        world.says(EVE, code)
        home.sees(EVE, "You have talked to me here before")
        people = home.program.done("person", "list").stdout

    assert "User 8" not in people
    assert "User 9" in people
    assert "Ben" in people


def test_wrong_telegram_token_is_reported_and_a_new_one_taken_on_reload(
    oldfriend: Program, world: World
) -> None:
    """`ready` says what to do; a token that is kept later is taken on reload, and let go of."""
    wrong = home_on(oldfriend, world, OLDFRIEND_TELEGRAM_TOKEN="1:wrong")
    ended = wrong.program("connect", "telegram")
    assert ended.code == 1
    assert "does not know this token" in ended.stderr
    with wrong.program.started("serve"):
        until(lambda: "does not know this token" in wrong.program("status").stdout, within_s=60)
    kept = home_on(oldfriend, world)
    variables = {**kept.program.environment}
    del variables["OLDFRIEND_TELEGRAM_TOKEN"]
    home = Home(replace(kept.program, environment=variables), world)
    home.program.done("say", "hello")
    with home.program.started("serve"):
        until(lambda: "It is ready" in home.program("status").stdout, within_s=60)
        shown = home.program.done("connect", "telegram", stdin=world.token + "\n").stdout
        assert world.token not in shown
        assert "@oldfriend_bot" in shown
        home.program.done("reload")
        home.pair(ANA)
        assert "Telegram: @" not in home.program.done("connect", "telegram", "--remove").stdout
    data = b"".join(each.read_bytes() for each in home.program.data.rglob("*") if each.is_file())

    assert world.token.encode() not in data
