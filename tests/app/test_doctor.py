"""Everything is looked at, and what is not well says what to do."""

from dataclasses import replace

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.choices.sections import Models, TelegramChoice
from oldfriend.app.doctor import examine
from oldfriend.app.house import House
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.queues.places import close_place
from tests.app.conftest import Say
from tests.app.test_lanes_of_turns import with_model
from tests.clock import FrozenClock
from tests.fakes.telegram import World, running_telegram


async def findings(house: House) -> str:
    """What it says."""
    return "\n".join(f"{finding.is_well} {finding.text}" for finding in await examine(house))


async def test_more_is_kept_than_can_be_found_and_why_is_said(house: House, say: Say) -> None:
    """Nobody wonders where their messages are."""
    await say("My cat is called Miso.")
    await say("hello")
    text = await findings(house)

    assert "owner: 4 messages are kept, 1 of them can be found (not the companion's own" in text


async def test_the_disk_is_counted_where_there_is_a_file(house: House, engine: str) -> None:
    """A server's disk is its own business."""
    assert ("GB free" in await findings(house)) == (engine == "sqlite")


async def test_how_a_model_did_when_it_was_asked_last_is_told(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """In its own words; when it answers again, it is well."""
    name = "ollama:big"
    house = replace(house, settings=replace(house.settings, models=Models(main=(name,))))
    error = ModelUnavailable("ollama asks for fewer requests (429).", outage="busy")
    busy = ScriptedModel([error], name=name)
    await answer(with_model(house, busy), line, Said(text="hello there"))
    failed = await findings(house)
    clock.tick(minutes=1)
    await answer(with_model(house, ScriptedModel(["Yes."], name=name)), line, Said(text="hello?"))

    expected = "ollama:big did not answer when it was asked last, 0 min ago: ollama asks for fewer"
    assert f"False {expected}" in failed
    assert "True ollama:big is connected" in await findings(house)


def on_telegram(house: House, world: World, *, token: str | None = None) -> House:
    """A house that is connected to a Telegram of the test."""
    settings = replace(
        house.settings, telegram=TelegramChoice(base_url=world.url),
        environment={"OLDFRIEND_TELEGRAM_TOKEN": token or world.token},
    )  # fmt: skip
    return replace(house, settings=settings)


async def test_how_it_stands_on_telegram(house: House) -> None:
    """Its token, whom it calls, when somebody was heard, who takes nothing any more."""
    with running_telegram() as world:
        connected = on_telegram(house, world)
        async with house.db.writing() as tx:
            await close_place(tx, "telegram", "7", "they let us in no more", now=house.clock())
        well = await findings(connected)
        world.webhook = {"url": "https://elsewhere.example/api"}
        world.hook_error = "Wrong response from the webhook: 502"
        called = await findings(connected)
        wrong = await findings(on_telegram(house, world, token="1:wrong"))
    away = await findings(connected)

    assert "True Telegram knows the bot as @oldfriend_bot." in well
    assert "nobody was heard there yet" in well
    assert "nothing is sent to 7, until they write: they let us in no more" in well
    assert "False Telegram" not in well
    assert "False Telegram calls https://elsewhere.example/api, but is to be asked" in called
    assert "False Telegram could not deliver" in called
    assert "False Telegram: Telegram does not know this token" in wrong
    assert "False Telegram: Telegram cannot be reached" in away
    assert "Telegram" not in await findings(house)
