"""Commands do the same on every channel, and ask no model."""

import pytest

from oldfriend.diary.diary_reader import read_entry
from oldfriend.domain.clock import from_micros
from oldfriend.lang.command_menu import OFFERED_COMMANDS
from oldfriend.lang.language_pack import list_languages, load_language_pack
from oldfriend.replies.edited_requests import read_goals
from oldfriend.tasks.task_store import list_tasks
from oldfriend.turn.request_handlers.registry import COMMANDS, OTHER_COMMANDS, is_command
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


def test_every_offered_command_is_handled() -> None:
    """Nothing is offered that would be taken for talk."""
    assert {f"/{each}" for each in OFFERED_COMMANDS} <= COMMANDS


@pytest.mark.parametrize("text", ["/help", " /Help@friend ", "/start"])
async def test_help_lists_all_commands_without_a_model(talk: Talk, text: str) -> None:
    """As somebody writes it."""
    said = await talk.hears(text)
    deps = talk.mind("I help you.")
    outcome = await talk.turn(said, deps)

    assert deps.model.requests == []
    named = {each for each in outcome.reply.text.split() if each.startswith("/")}
    assert named == {f"/{each}" for each in OFFERED_COMMANDS}


async def test_help_tells_more_of_one_command(talk: Talk) -> None:
    """With or without its slash."""
    told = (await say(talk, "/help /Snooze")).reply.text
    assert told.endswith("/snooze: Put one off: /snooze 1 tomorrow")


@pytest.mark.parametrize(
    ("text", "near"), [("/task", "/tasks"), ("/foobarbaz", None), ("/remnd me", "/remind")]
)
async def test_unknown_command_is_no_talk(talk: Talk, text: str, near: str | None) -> None:
    """It is said that nothing was done; what is near is named."""
    outcome = await say(talk, text)
    assert "so I have done nothing" in outcome.reply.text
    assert ("Did you mean" in outcome.reply.text) == (near is not None)
    assert near is None or f" {near}?" in outcome.reply.text


@pytest.mark.parametrize("text", ["/home/nora is where my files are", "/s of course I am kidding"])
async def test_remark_that_begins_with_a_slash_is_talk(talk: Talk, text: str) -> None:
    """A path, or a mark of irony."""
    assert "done nothing" not in (await say(talk, text)).reply.text


def test_commands_hold_nothing_to_find_later() -> None:
    """But a diary entry does."""
    assert is_command("/Tasks@friend")
    assert is_command("/foo")
    assert not is_command("/journal Today it rained")
    assert not is_command("/home/nora is where my files are")


@pytest.mark.parametrize("command", ["/todo", "/remind", "/goal", "/schedule", "/cancel", "/done"])
async def test_command_that_is_too_long_is_refused_and_not_kept_as_talk(
    talk: Talk, command: str
) -> None:
    """It says so, and does nothing."""
    words = "tomorrow at nine I live in Porto with my sister Ana and her kiln " * 40
    outcome = await say(talk, f"{command} {words}")

    assert f"too long for {command}" in outcome.reply.text
    assert not outcome.is_informative
    assert outcome.notes == ()
    async with talk.app.db.begin_read() as tx:
        assert await tx.rows("SELECT id FROM task UNION SELECT id FROM goal") == []


@pytest.mark.parametrize("text", ["/帮助", "/ayuda", "/Hilfe", "/aide@friend"])
async def test_command_is_known_by_its_name_in_each_language(talk: Talk, text: str) -> None:
    """As somebody guesses it."""
    outcome = await say(talk, text)
    assert outcome.reply.details["handled"] == ["help"]
    assert is_command(text)


@pytest.mark.parametrize("name", ["/ziel", "/meta", "/objectif", "/goal"])
def test_goal_of_a_translated_command_is_read_by_every_reader(name: str) -> None:
    """One that is too long is refused, and one that is edited is found again."""
    assert is_command(f"{name} {'run ' * 150}")
    assert read_goals(f"{name} run twice a week", "en") == ["run twice a week"]


@pytest.mark.parametrize("name", ["/tagebuch", "/journal"])
def test_entry_of_a_translated_command_is_read_without_it(name: str) -> None:
    """It stands in the diary as it was written."""
    entry = read_entry(f"{name} Heute Regen", "de")
    assert entry is not None
    assert (entry.text, entry.is_command) == ("Heute Regen", True)


async def test_translated_command_does_the_same_with_what_follows_it(talk: Talk) -> None:
    """The words behind it are read as ever."""
    told = (await say(talk, "/erinnere morgen um 10 Uhr an Eva")).reply
    assert told.details["handled"] == ["tasks"]
    assert "Eva" in (await say(talk, "/aufgaben")).reply.text


@pytest.mark.parametrize(
    ("text", "what", "hour"),
    [
        ("/erinnere mich morgen um 9 Uhr an Tom", "Tom", 9),
        ("/rappelle moi demain à 9h d'appeler Tom", "appeler Tom", 9),
        ("/提醒 明天9点开会", "开会", 9),
        ("/提醒 明天下午3点开会", "开会", 15),
        ("/remind me tomorrow at 9am to call Tom", "call Tom", 9),
    ],
)
async def test_reminder_of_a_command_has_its_time_and_no_pronoun(
    talk: Talk, text: str, what: str, hour: int
) -> None:
    """Whom to remind is said by the command."""
    await say(talk, text)
    async with talk.app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, talk.chat_context.person.id)
    assert (task.text, task.status) == (what, "open")
    assert from_micros(task.due_at or 0, task.zone).hour == hour


def test_translated_names_are_of_one_command_each_and_none_of_another() -> None:
    """So that none hides a command, nor means two."""
    named = [
        (called, name)
        for each in list_languages("commands")
        for name, names in load_language_pack(each).read("commands").get("names", {}).items()
        for called in names
    ]
    assert {name for _, name in named} <= {each.removeprefix("/") for each in COMMANDS}
    assert {f"/{called}" for called, _ in named}.isdisjoint(COMMANDS | OTHER_COMMANDS)
    assert len(dict(named)) == len(set(named))
