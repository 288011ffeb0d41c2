"""How readily it speaks first is chosen by commands and in words (ACCEPTANCE L19)."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.proactive.proactive_settings import ProactiveSettings, load_proactive_settings
from oldfriend.proactive.quiet_hours import QuietHours
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.proactive.lived_time import at, list_unasked, live_until, tell


async def settings_of(app: AppContext, chat_context: ChatContext) -> ProactiveSettings:
    """Return what is stored."""
    async with app.db.begin_read() as tx:
        return await load_proactive_settings(tx, chat_context.person.id)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("/active off", {"level": "off"}),
        ("/ACTIVE@friend_bot Lively", {"level": "lively"}),
        ("/active normal", {"level": "normal"}),
        ("/quiet 23:30-7", {"quiet": QuietHours(begins=23 * 60 + 30, ends=7 * 60)}),
        ("/quiet off", {"quiet": QuietHours(begins=0, ends=0)}),
        ("/digest weekly", {"digest": "weekly"}),
        ("Don't write to me first.", {"level": "off"}),
        ("You can write to me first!", {"level": "normal"}),
        ("Don't message me between 10pm and 9am", {"quiet": QuietHours(begins=1320, ends=540)}),
        ("don't message me before 10", {"quiet": QuietHours(begins=1320, ends=600)}),
        ("Please don't text me after 9", {"quiet": QuietHours(begins=1260, ends=480)}),
        ("no messages before 9:30am", {"quiet": QuietHours(begins=1320, ends=570)}),
        ("no me escribas antes de las 10", {"quiet": QuietHours(begins=1320, ends=600)}),
        ("schreib mir nicht vor 10 Uhr", {"quiet": QuietHours(begins=1320, ends=600)}),
        ("ne m'écris pas avant 10h", {"quiet": QuietHours(begins=1320, ends=600)}),
        ("早上10点前不要给我发消息", {"quiet": QuietHours(begins=1320, ends=600)}),
        ("晚上9点以后别打扰我", {"quiet": QuietHours(begins=1260, ends=480)}),
        ("No me escribas primero.", {"level": "off"}),
        ("Schreib mir nicht mehr von dir aus.", {"level": "off"}),
        ("Ne m'écris plus en premier.", {"level": "off"}),
        ("别主动给我发消息。", {"level": "off"}),
        ("/recap@friend weekly", {"recap": "weekly", "level": "shy"}),
        ("Send me a weekly recap every Sunday", {"recap": "weekly"}),
        ("Schick mir jede Woche einen Rückblick", {"recap": "weekly"}),
        ("Mándame cada semana un repaso.", {"recap": "weekly"}),
        ("Envoie-moi chaque dimanche un bilan de la semaine", {"recap": "weekly"}),
        ("每周给我发一份回顾", {"recap": "weekly"}),
        ("no more good mornings", {"muted": frozenset({"day_opening"})}),
    ],
)
async def test_choice_is_stored_and_told_from_what_is_stored(
    app: AppContext, chat_context: ChatContext, say: Say, text: str, changed: dict[str, object]
) -> None:
    """By command on every channel alike, and in five languages (ACCEPTANCE L19)."""
    await say("Hello.")
    await say(text)

    settings = await settings_of(app, chat_context)
    assert {name: getattr(settings, name) for name in changed} == changed


@pytest.mark.parametrize(
    "text", ["/recap off", "No more recaps", "/active off", "no más repasos", "不要再回顾了"]
)
async def test_recap_ends(app: AppContext, chat_context: ChatContext, say: Say, text: str) -> None:
    """By itself, or with all that is said unasked."""
    await say("/recap weekly")
    assert "Sunday evenings" in (await say("/active")).reply.text
    await say(text)
    assert (await settings_of(app, chat_context)).recap == "off"


@pytest.mark.parametrize("text", ["stop messaging me at night", "晚上别给我发消息"])
async def test_night_is_quiet_again(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """In words (ACCEPTANCE L14, L19)."""
    await say("/quiet off")
    reply = await say(text)

    assert (await settings_of(app, chat_context)).quiet == QuietHours()
    assert "22:00" in reply.reply.text


async def test_new_quiet_hours_say_how_to_undo_them(say: Say) -> None:
    """Once, where they are set."""
    reply = await say("don't message me before 10")
    assert "between 22:00 and 10:00" in reply.reply.text
    assert "/quiet off" in reply.reply.text


async def test_confirmation_is_told_in_the_language_of_the_person(say: Say) -> None:
    """And says what remains (ACCEPTANCE L9)."""
    reply = await say("Schreib mir nicht mehr von dir aus.")

    assert "Erinnerungen, um die du bittest, kommen weiter" in reply.reply.text


@pytest.mark.parametrize(
    "text",
    [
        "I don't write first drafts.",
        "stop asking me that",  # nothing was said unasked
        "My boss told me: don't write to me first.",
        "别担心",
        "不要发",
    ],
)
async def test_other_messages_change_nothing(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """They are answered like any other (ACCEPTANCE L8)."""
    await say("Hello.")
    await say(text)

    assert await settings_of(app, chat_context) == ProactiveSettings()


async def test_unknown_argument_explains_the_commands(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Nothing is guessed."""
    reply = await say("/active sometimes")

    assert "/quiet 22-8" in reply.reply.text
    assert await settings_of(app, chat_context) == ProactiveSettings()


async def test_command_without_argument_shows_how_things_stand(say: Say) -> None:
    """And what can be said."""
    reply = await say("/active")

    assert "only about what you told me of" in reply.reply.text
    assert "/digest" in reply.reply.text


async def test_what_was_just_said_unasked_can_be_refused_for_good(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """ "Don't do this again" as words ends its kind, and no other."""
    clock.now = at("2026-11-18T15:00")
    await tell(app, clock, chat_context, clock.now, "My exam is on November 22nd.")
    await tell(app, clock, chat_context, clock.now, "My interview is on November 26th.")
    await tell(app, clock, chat_context, at("2026-11-23T10:30"), "Stop asking me that!")

    assert (await settings_of(app, chat_context)).muted == {"follow_up"}
    before = len(await list_unasked(app, chat_context))
    assert before == 1
    await live_until(app, clock, at("2026-11-30T12:00"))
    assert len(await list_unasked(app, chat_context)) == before
