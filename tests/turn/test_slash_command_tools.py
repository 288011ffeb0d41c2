"""Commands that a model uses for what the person has just asked in words that rules do not read."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.proactive.proactive_settings import load_proactive_settings
from oldfriend.turn.tools.slash_command_tools import build_use_command
from tests.turn.conftest import Talk, wants
from tests.turn.test_measurement_requests import apply


async def use(talk: Talk, said: str, command: str, argument: str) -> None:
    """Have a model use a command, and make what it decides."""
    call = wants("use_command", command=command, argument=argument, words=said)
    deps = talk.mind(call, "Fine.")
    heard = await talk.hears(said)
    await apply(talk, heard, await talk.turn(heard, deps))


@pytest.mark.parametrize(
    ("said", "command", "argument", "told"),
    [
        ("I wish you were livelier with me", "active", "lively", "lively"),
        ("A word every Monday on how the week looks would be lovely", "digest", "weekly", "weekly"),
        ("And one on how it went", "recap", "weekly", "weekly"),
    ],
)
async def test_model_changes_when_it_may_speak_first(
    talk: Talk, said: str, command: str, argument: str, told: str
) -> None:
    """As the person's own command would."""
    await use(talk, said, command, argument)
    async with talk.app.db.begin_read() as tx:
        settings = await load_proactive_settings(tx, talk.chat_context.person.id)
    values = {"active": settings.level, "digest": settings.digest, "recap": settings.recap}

    assert values[command] == told


@pytest.mark.parametrize(
    ("said", "command", "argument"),
    [
        ("Please speak German from now on", "language", "German"),
        ("Letters should be shorter", "skill", "Letters: + shorter"),
        ("Look whether the oven is off", "heartbeat", "add Look whether the oven is off"),
    ],
)
async def test_nothing_that_stays_is_set_after_reading_outside(
    talk: Talk, said: str, command: str, argument: str
) -> None:
    """What others have written may have asked for it."""
    context = talk.tool_context(await talk.hears(said))
    context.outside_tools.append("read_page")
    tool = build_use_command(context)
    arguments = {"command": command, "argument": argument, "words": said}

    with pytest.raises(InvalidInput, match="something outside"):
        await tool.run(arguments)
