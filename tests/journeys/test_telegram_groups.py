"""Several people and the companion in one group, through `oldfriend serve` as a process."""

from collections.abc import Iterator

import pytest

from tests.fakes.telegram import World, running_telegram
from tests.journeys.telegram_server import Home, home_on, listening
from tests.processes import Program, until

ANA, BEN, EVE, FAMILY, MOVED = 7, 8, 9, -100, -1009
OF_GROUP = "FROM message m JOIN person p ON p.id = m.person WHERE p.name = 'Family (group)'"


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram on which the bot hears all that is said in a group with topics."""
    with running_telegram() as world:
        world.group(FAMILY, "Family", is_forum=True)
        world.has_privacy = False
        yield world


@pytest.fixture
def home(oldfriend: Program, world: World) -> Home:
    """The program, with a bot's token in its environment."""
    return home_on(oldfriend, world)


def test_group_members_talk_with_the_companion_and_private_facts_stay_private(
    home: Home, world: World
) -> None:
    """Let in, called, answered in the topic; what is said in private stays there."""
    with listening(home):
        home.pair(ANA)
        home.pair(BEN, "--person", "Ben", "--new-person")
        world.says(BEN, "My doctor is called Alvarez.")
        home.sees(BEN, "kept it")
        world.says(BEN, "can you hear us, Oldfriend?", chat=FAMILY)
        home.sees(FAMILY, "unless my owner")
        world.says(ANA, "/allow", chat=FAMILY)
        home.sees(FAMILY, "From now on I keep")
        food = world.opens_topic(FAMILY, "Food")
        world.says(EVE, "My oven breaks above 300 degrees.", chat=FAMILY, topic=food)
        world.forwards(BEN, "Ovens are a hoax.", origin="Uncle Bo", chat=FAMILY)
        home.comes_to_hold(f"SELECT 1 {OF_GROUP} AND m.text LIKE '%hoax%' AND m.trust = 'outside'")
        world.says(
            BEN, "@oldfriend_bot at how many degrees does the oven break?", chat=FAMILY, topic=food
        )
        answer = home.sees(FAMILY, "300 degrees")
        place = next(each for each in world.shown if each.text == answer)
        world.says(BEN, "What is my doctor called?", chat=FAMILY, reply_to=place.id)
        until(lambda: len(home.rows(f"SELECT 1 {OF_GROUP} AND m.role = 'companion'")) == 2)
        until(lambda: len(world.texts(FAMILY)) == 4)
        world.says(ANA, "At how many degrees does the oven break?")
        home.sees(ANA, "300 degrees")
        world.says(BEN, "What is my doctor called?")
        home.sees(BEN, "Alvarez")

    assert place.topic == food
    assert not any("Alvarez" in text for text in world.texts(FAMILY))
    assert not home.rows("SELECT 1 FROM person WHERE name LIKE 'User%'")
    assert "Family (group)" in home.program.done("person", "list").stdout
    recalled = home.program.done("recall", "--person", "Family (group)", "oven").stdout
    assert "User 9" in recalled


def test_privacy_mode_bot_receives_only_messages_addressed_to_it(home: Home, world: World) -> None:
    """As Telegram has it for a new bot; then it is moved, and put out, and silent."""
    world.has_privacy = True
    with listening(home):
        home.pair(ANA)
        world.says(ANA, "/allow@oldfriend_bot", chat=FAMILY)
        home.sees(FAMILY, "From now on I keep")
        world.says(EVE, "nobody hears this", chat=FAMILY)
        world.says(EVE, "@oldfriend_bot remember that the cake is vegan", chat=FAMILY)
        home.comes_to_hold(f"SELECT 1 {OF_GROUP} AND m.role = 'companion'")
        world.migrates(FAMILY, MOVED)
        home.comes_to_hold(f"SELECT 1 FROM identity WHERE address = '{MOVED}'")
        world.says(EVE, "@oldfriend_bot what do you know about the cake?", chat=MOVED)
        home.sees(MOVED, "vegan")
        world.puts_out(EVE, MOVED)
        home.comes_to_hold(f"SELECT 1 FROM closed_place WHERE address = '{MOVED}'")
        status = home.program.done("status").stdout
        world.lets_in(ANA, MOVED)
        world.says(EVE, "@oldfriend_bot is the cake vegan?", chat=MOVED)
        until(lambda: sum("vegan" in text for text in world.texts(MOVED)) > 1)

    assert not home.rows("SELECT 1 FROM message WHERE text LIKE '%nobody hears%'")
    assert "1 chat closed" in status
