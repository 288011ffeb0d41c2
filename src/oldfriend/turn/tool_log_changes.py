"""Tool log changes: what a turn writes into the log of tools, with its reply."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.json import JsonValue
from oldfriend.turn.receipt_items import TOOLS_KEY, USEFUL_KEY
from oldfriend.turn.request_handlers.goal_requests import GoalChange
from oldfriend.turn.request_handlers.handler import HandledRequest
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.task_changes import SaveTask
from oldfriend.turn.tools.tool_executor import ToolUse
from oldfriend.usage.tool_log import LoggedToolUse, log_tool_use

RULE_TOOLS: Final[Mapping[str, tuple[str, str]]] = {
    "agenda": ("", "list_tasks"),
    "calculator": ("", "calculate"),
    "checklist": ("use_command", ""),
    "clock": ("", "current_time"),
    "diary": ("diary", "diary"),
    "goal progress": ("update_goal", ""),
    "goals": ("update_goal", "list_goals"),
    "measurement": ("log_measurement", "measurements"),
    "speaking first": ("speaking_first", ""),
    "actions": ("schedule_action", ""),
    "watches": ("watch_page", "watch_page"),
    "tasks": ("update_task", "list_tasks"),
}
"""The tools that do the same as the handlers: where something is changed, and where it is read."""
NEW_TASK: Final = "set_reminder"
NEW_GOAL: Final = "set_goal"
BY_RULES: Final = {"by": "rules"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogToolUse:
    """The change that logs a use of a tool.

    Of records of the memory only their number is kept: their words stand in the memory itself.
    """

    use: ToolUse
    intent: str
    was_useful: bool | None

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Write it into the log."""
        use = self.use
        assert scope.message.turn is not None
        logged = LoggedToolUse(
            turn=scope.message.turn,
            name=use.call.name,
            status=use.status,
            intent=self.intent,
            arguments=use.call.arguments,
            result=f"{len(use.seen_ids)} records" if use.seen_ids else use.summary or use.result,
            sources=use.sources,
            was_useful=self.was_useful,
            latency_us=use.latency_us,
            made_at=scope.now,
        )
        await log_tool_use(tx, scope.person.id, logged)


def build_tool_log(
    uses: Sequence[ToolUse], details: Mapping[str, JsonValue], *, intent: str
) -> Iterator[LogToolUse]:
    """Yield the log of a turn's tools; the details of its receipt tell which were useful."""
    listed = details.get(TOOLS_KEY)
    known = listed if isinstance(listed, list) else []
    for number, use in enumerate(uses):
        entry = known[number] if number < len(known) else None
        useful = entry.get(USEFUL_KEY) if isinstance(entry, dict) else None
        yield LogToolUse(
            use=use, intent=intent, was_useful=useful if isinstance(useful, bool) else None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHandledRequest:
    """The change that logs what rules did as the tool that does the same; without any words.

    ``about``: the ids of the reminder or the goal, and of what was counted for it.
    """

    tool: str
    intent: str
    about: Mapping[str, JsonValue]

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Write it into the log."""
        assert scope.message.turn is not None
        logged = LoggedToolUse(
            turn=scope.message.turn,
            name=self.tool,
            status="done",
            intent=self.intent,
            arguments={**BY_RULES, **self.about},
            made_at=scope.now,
        )
        await log_tool_use(tx, scope.person.id, logged)


def build_rules_log(
    handled: Sequence[HandledRequest], *, intent: str
) -> Iterator[LogHandledRequest]:
    """Yield the log of what rules did; where tools of their own did it, theirs tells."""
    for each in handled:
        tool = "" if each.uses else find_tool(each)
        if tool:
            for about in list_subjects(each) or [{}]:
                yield LogHandledRequest(tool=tool, intent=intent, about=about)


def list_subjects(handled: HandledRequest) -> list[dict[str, JsonValue]]:
    """Return the ids of each reminder and goal that rules changed, and of what was counted."""
    found: list[dict[str, JsonValue]] = []
    for change in handled.changes:
        if isinstance(change, SaveTask):
            found.append({"task": change.task.id})
        elif isinstance(change, GoalChange):
            step = {} if change.progress is None else {"step": change.progress.id}
            found.append({"goal": change.goal.id, **step})
    return found


def find_tool(handled: HandledRequest) -> str:
    """Return the tool that does the same as rules did; empty for what only explains."""
    is_task = handled.name == "tasks"
    if is_task and any(
        isinstance(each, SaveTask) and each.earlier is None for each in handled.changes
    ):
        return NEW_TASK
    if any(isinstance(each, GoalChange) and each.earlier is None for each in handled.changes):
        return NEW_GOAL
    changing, reading = RULE_TOOLS.get(handled.name, ("", ""))
    return changing if handled.changes else reading
