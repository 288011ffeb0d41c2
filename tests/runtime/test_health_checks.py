"""Everything is looked at, and what is not well says what to do."""

from dataclasses import replace

from oldfriend.app.app_context import AppContext
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.config.settings_schema import ModelSettings
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.queues.outbox import mark_chat_blocked
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.learn_now import learn_now
from tests.app.test_turn_queue import with_model
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.fakes.telegram import World, running_telegram


async def findings(app: AppContext) -> str:
    """What it says."""
    return "\n".join(f"{finding.is_ok} {finding.text}" for finding in await run_checks(app))


async def test_doctor_explains_why_not_all_stored_messages_are_searchable(
    app: AppContext, say: Say
) -> None:
    """Nobody wonders where their messages are."""
    await say("My cat is called Miso.")
    await say("hello")
    text = await findings(app)

    assert "owner: 4 messages are stored, and 1 of them can be found (what the" in text


async def test_doctor_reports_free_disk_space_for_sqlite_only(app: AppContext, engine: str) -> None:
    """A server's disk is its own business."""
    assert ("GB free" in await findings(app)) == (engine == "sqlite")


async def test_doctor_reports_the_outcome_of_the_last_model_call(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In its own words; when it answers again, it is well."""
    name = "ollama:big"
    app = replace(app, settings=replace(app.settings, models=ModelSettings(main=(name,))))
    error = ModelUnavailable("ollama is limiting our requests (429).", outage="busy")
    busy = ScriptedModel([error], name=name)
    await answer_message(with_model(app, busy), chat_context, MessageSubmission(text="hello there"))
    failed = await findings(app)
    clock.tick(minutes=1)
    await answer_message(
        with_model(app, ScriptedModel(["Yes."], name=name)),
        chat_context,
        MessageSubmission(text="hello?"),
    )

    expected = (
        "ollama:big did not answer the last time it was asked, 0 min ago: ollama is limiting our"
    )
    assert f"False {expected}" in failed
    assert "True ollama:big is connected" in await findings(app)


def on_telegram(app: AppContext, world: World, *, token: str | None = None) -> AppContext:
    """A house that is connected to a Telegram of the test."""
    settings = replace(
        app.settings,
        channels={**app.settings.channels, "telegram": TelegramSettings(base_url=world.url)},
        environment={"OLDFRIEND_TELEGRAM_TOKEN": token or world.token},
    )
    return replace(app, settings=settings)


async def test_doctor_reports_telegram_token_webhook_and_blocked_chats(app: AppContext) -> None:
    """Its token, whom it calls, when somebody was heard, who takes nothing any more."""
    with running_telegram() as world:
        connected = on_telegram(app, world)
        async with app.db.begin_write() as tx:
            await mark_chat_blocked(tx, "telegram", "7", "they let us in no more", now=app.clock())
        well = await findings(connected)
        world.webhook = {"url": "https://elsewhere.example/api"}
        world.hook_error = "Wrong response from the webhook: 502"
        called = await findings(connected)
        wrong = await findings(on_telegram(app, world, token="1:wrong"))
    away = await findings(connected)

    assert "True Telegram knows the bot as @oldfriend_bot." in well
    assert "nobody has written there yet" in well
    assert "nothing is sent to 7 until they write again: they let us in no more" in well
    assert "False Telegram" not in well
    assert "False Telegram calls https://elsewhere.example/api, but is to be asked" in called
    assert "False Telegram could not deliver" in called
    assert "False Telegram: Telegram does not know this token" in wrong
    assert "False Telegram: Telegram cannot be reached" in away
    assert "Telegram" not in await findings(app)


async def test_messages_that_only_a_model_would_understand_are_counted(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Dutch and Japanese ones; English needs none, and before it is read nothing waits."""
    await say("My cat is called Miso.")
    await say("ik woon in utrecht en werk als verpleegkundige")
    await say("京都に引っ越して、本屋で働いています")
    assert "takes a model to understand" not in await findings(app)

    await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert "owner: messages in a language that takes a model to understand: 2." in await findings(
        app
    )
