"""What rules do is in the log of tools, like what a model does, and without any words."""

import pytest

from oldfriend.tasks.task_store import list_tasks
from oldfriend.usage.tool_log import list_tool_uses
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Remind me tomorrow at 15:00 to call Eva", "set_reminder"),
        ("what's on my list?", "list_tasks"),
        ("71.4 kg this morning", "log_measurement"),
        ("Dear diary, today it rained.", "diary"),
        ("(12+7)*3", "calculate"),
        ("what time is it?", "current_time"),
        ("Don't write to me first.", "speaking_first"),
        ("I like the rain.", None),
        ("/help", None),
    ],
)
async def test_rules_are_logged_as_tools(talk: Talk, text: str, tool: str | None) -> None:
    """One use for each thing that was asked for."""
    await say(talk, text)

    async with talk.app.db.begin_read() as tx:
        uses = await list_tool_uses(tx, talk.chat_context.person.id, limit=9)
    assert [each.name for each in uses] == ([] if tool is None else [tool])
    async with talk.app.db.begin_read() as tx:
        tasks = await list_tasks(tx, talk.chat_context.person.id)
    for each in uses:
        about = {"task": tasks[0].id} if each.name == "set_reminder" else {}
        assert (each.arguments, each.result) == ({"by": "rules", **about}, "")


async def test_ended_reminder_is_logged_as_a_change(talk: Talk) -> None:
    """Not as one that is set."""
    await say(talk, "Remind me tomorrow at 15:00 to call Eva")
    await say(talk, "cancel the reminder about Eva")

    async with talk.app.db.begin_read() as tx:
        uses = await list_tool_uses(tx, talk.chat_context.person.id, limit=9)
    assert {each.name for each in uses} == {"set_reminder", "update_task"}
