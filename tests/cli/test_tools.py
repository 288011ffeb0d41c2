"""What tools there are and what was done can be listed, each person's own."""

import asyncio
import json
from pathlib import Path

import pytest

from oldfriend.config.settings import load_settings
from oldfriend.domain.ids import TurnId
from oldfriend.inbound.accept import open_local_chat
from oldfriend.memory.deletion.audit_log import AuditEntry, save_audit_entry
from oldfriend.memory.limitation_store import Limitation, save_limitation
from oldfriend.runtime.wiring import open_app
from oldfriend.usage.model_calls import CallContext, record_call
from oldfriend.usage.tool_log import LoggedToolUse, ToolUseStatus, log_tool_use
from tests.cli.conftest import Call
from tests.usage.conftest import call_of


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """A tool that was used, one that the person did not allow, a model call and a deletion."""

    async def fill() -> None:
        settings = load_settings({}, data=str(tmp_path / "data"))
        async with open_app(settings) as app:
            chat_context = await open_local_chat(
                app.db, app.clock, app.settings, person=None, channel="terminal"
            )
            person, now = chat_context.person.id, app.clock()
            statuses: tuple[ToolUseStatus, ...] = ("done", "declined")
            async with app.db.begin_write() as tx:
                for number, status in enumerate(statuses):
                    use = LoggedToolUse(
                        turn=TurnId("t"),
                        name="current_time",
                        status=status,
                        intent="question",
                        arguments={"zone": "Asia/Tokyo"},
                        result="07:14",
                        was_useful=True if status == "done" else None,
                        latency_us=12_000,
                        made_at=now + number,
                    )
                    await log_tool_use(tx, person, use)
                context = CallContext(person=person, turn=TurnId("t"), answered_versions="m@1")
                await record_call(tx, context, call_of(), step=0, request_hash="h", now=now + 2)
                entry = AuditEntry(
                    done_at=now + 3, what="forget", counts={"messages": 2}, digest="d"
                )
                await save_audit_entry(tx, person, entry)
                limitation = Limitation(
                    id="l", person=person, title="Read scans", created_at=1, changed_at=1
                )
                await save_limitation(tx, limitation)

    asyncio.run(fill())


@pytest.mark.usefixtures("filled")
def test_tools_are_listed_with_labels_and_last_uses(call: Call) -> None:
    """What is off is not listed."""
    ended = call("tools", "--json")
    listed = json.loads(ended.stdout)

    tools = {each["name"]: each for each in listed["tools"]}
    assert tools["current_time"]["label"] == "Tell the time"
    assert (tools["current_time"]["uses"], tools["current_time"]["useful"]) == (2, 1)
    assert "read_page" not in tools
    assert [each["status"] for each in listed["recent"]] == ["declined", "done"]
    assert [each["title"] for each in listed["limitations"]] == ["Read scans"]
    told = call("tools").stdout
    assert "Tell the time" in told
    assert "Read scans" in told


@pytest.mark.usefixtures("filled")
def test_audit_joins_model_calls_tools_and_deletions(call: Call) -> None:
    """Newest first; with costs, and what was not allowed (ACCEPTANCE P5)."""
    records = json.loads(call("audit", "--json").stdout)

    assert [(each["kind"], each["status"]) for each in records] == [
        ("deletion", "ok"),
        ("model", "ok"),
        ("tool", "denied"),
        ("tool", "ok"),
    ]
    assert records[0]["details"] == "messages: 2"
    assert (records[1]["what"], records[1]["why"], records[1]["dollars"]) == (
        "ant:big",
        "reply",
        0.001,
    )
    assert (records[3]["why"], records[3]["details"], records[3]["ms"]) == (
        "question",
        "zone: Asia/Tokyo",
        12,
    )
    assert len(json.loads(call("audit", "--json", "--limit", "1").stdout)) == 1
    assert "declined" in call("audit").stdout
