"""A turn uses tools of a real server process, and a slow one does not delay it."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.mcp_client.server_pool import ToolServerPool
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.model_roles import build_role
from tests.mcp_client.conftest import OpenPool, list_alive, server_settings
from tests.turn.conftest import results_in, wants

pytestmark = pytest.mark.slow


def thinking(app: AppContext, model: ScriptedModel, pool: ToolServerPool) -> AppContext:
    """The house with a model that replies, and with servers."""
    return replace(app, models={"main": build_role(app, model)}, tool_servers=pool)


async def ask(app: AppContext, text: str) -> str:
    """What the companion answers."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    return (await answer_message(app, chat_context, MessageSubmission(text=text))).reply.text


async def test_a_turn_looks_and_acts_only_at_a_yes(
    app: AppContext, open_pool: OpenPool, tmp_path: Path
) -> None:
    """From the settings' server to its file."""
    pool = open_pool(notes=server_settings(tmp_path))
    await pool.check(30)
    model = ScriptedModel(
        [
            wants("notes_search", query="plums"),
            "In August.",
            wants("notes_create", text="Plums: August"),
            "One moment.",
        ]
    )
    house = thinking(app, model, pool)

    assert await ask(house, "When are plums ripe?") == "In August."
    assert any("August" in each for each in results_in(model.requests[1]))
    asked = await ask(house, "Write that down in my notes")
    assert "May I do this?" in asked
    assert not (tmp_path / "notes").exists()
    assert "Written." in await ask(house, "yes")
    assert (tmp_path / "notes").read_text("utf-8") == "Plums: August\n"


@pytest.mark.parametrize("mode", ["mute", "crash"])
async def test_a_reply_does_not_wait_for_a_server(
    app: AppContext, open_pool: OpenPool, tmp_path: Path, mode: str
) -> None:
    """It comes as if there was none."""
    pool = open_pool(notes=server_settings(tmp_path, mode))
    model = ScriptedModel(["Hello.", "Hello again."])
    house = thinking(app, model, pool)
    began = time.monotonic()

    assert await ask(house, "Good morning!") == "Hello."
    assert await ask(house, "And now?") == "Hello again."
    assert time.monotonic() - began < 5
    assert not any(each.name.startswith("notes_") for each in model.requests[-1].tools)
    await pool.close()
    assert not list_alive(tmp_path)
