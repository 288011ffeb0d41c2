"""Goal tools: a model sets, lists, counts and ends goals.

As with reminders it only decides changes, which the turn's commit makes, and only for words that
the person said in the last message: what stands in memory, in results or in forwarded text sets no
goal.
"""

from typing import Any, Final

from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput
from oldfriend.goals.goal import KINDS, MAX_PRIORITY
from oldfriend.goals.goal_desk import GoalDecision, GoalDesk, GoalWishes
from oldfriend.goals.goal_phrases import Ask, AskedGoal
from oldfriend.goals.goal_store import list_goals
from oldfriend.turn.request_handlers.goal_requests import (
    GoalChange,
    apply_to_states,
    list_told_goals,
)
from oldfriend.turn.tools.task_tools import WORDS, bind, check_asked, check_told, is_told
from oldfriend.turn.tools.tool import (
    BoundTool,
    ToolArguments,
    ToolContext,
    ToolOutput,
    ToolSpec,
)
from oldfriend.turn.tools.tool_groups import TASKS_GROUP

ACTIONS: Final[dict[str, Ask]] = {"done": "done", "drop": "drop", "did": "did"}


async def open_desk(context: ToolContext) -> GoalDesk:
    """Load the person's goals, as they are by now in this turn."""
    utterance, message = context.utterance, context.utterance.message
    async with context.search_deps.db.begin_read() as tx:
        states = await list_goals(tx, utterance.person.id)
    scope = DeskScope(
        person=utterance.person.id,
        zone=message.zone,
        now=context.clock(),
        language=utterance.system_language,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
    )
    return GoalDesk(scope, apply_to_states(states, context.decided))


def build_output(context: ToolContext, desk: GoalDesk, decision: GoalDecision) -> ToolOutput:
    """Return what is decided; the person reads its text below the reply."""
    if decision.goal is None:
        return ToolOutput(text=decision.text, records=list_told_goals(desk, decision))
    change = GoalChange(goal=decision.goal, earlier=decision.earlier, progress=decision.progress)
    context.decided.append(change)
    return ToolOutput(
        text=decision.text,
        changes=(change,),
        records=(change.goal.id,),
        summary=decision.text,
    )


def build_set_goal(context: ToolContext) -> BoundTool:
    """Build the tool that sets a goal."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        check_told(context, str(arguments["text"]))
        desk = await open_desk(context)
        kind = next((each for each in KINDS if each == arguments.get("kind")), None)
        priority = arguments.get("priority")
        wishes = GoalWishes(
            deadline=read_deadline(arguments, desk.scope.zone),
            kind=kind,
            priority=priority if isinstance(priority, int) else None,
            next_action=str(arguments.get("next_action") or "") or None,
        )
        return build_output(context, desk, desk.set(str(arguments["text"]), wishes))

    properties: dict[str, Any] = {
        "text": {"type": "string", "description": "What to reach, and how often"},
        "words": WORDS,
        "deadline": {"type": "string", "description": "ISO 8601, by the person's clock"},
        "kind": {"type": "string", "enum": [*KINDS]},
        "priority": {"type": "integer", "minimum": 0, "maximum": MAX_PRIORITY},
        "next_action": {"type": "string"},
    }
    return bind(
        "set_goal", "Keep a goal of the person.", properties, use, required=["text", "words"]
    )


def build_list_goals(context: ToolContext) -> BoundTool:
    """Build the tool that lists the goals."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        del arguments
        desk = await open_desk(context)
        records = tuple(each.goal.id for each in desk.states)
        return ToolOutput(text=desk.list(), records=records)

    return bind("list_goals", "The person's goals and how far they are.", {}, use, required=[])


def build_update_goal(context: ToolContext) -> BoundTool:
    """Build the tool that ends a goal or counts what was done for it."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        desk = await open_desk(context)
        asked = AskedGoal(ask=ACTIONS[str(arguments["action"])], what=str(arguments["goal"]))
        check_meant(context, desk, asked)
        return build_output(context, desk, desk.handle(asked, GoalWishes()))

    properties: dict[str, Any] = {
        "goal": {"type": "string", "description": "Its number in list_goals, or its words"},
        "action": {"type": "string", "enum": [*ACTIONS]},
        "words": WORDS,
    }
    return bind(
        "update_goal",
        "A goal is reached (done), given up (drop), or something was done for it (did).",
        properties,
        use,
        required=["goal", "action", "words"],
    )


def check_meant(context: ToolContext, desk: GoalDesk, asked: AskedGoal) -> None:
    """Raise InvalidInput unless the person named the goal in the last message."""
    if not all(is_told(context, each.goal.text) for each in desk.find(asked.what)):
        raise InvalidInput("The person has not named that goal in the last message. Ask them.")


def read_deadline(arguments: ToolArguments, zone: str) -> Micros | None:
    """Return the day by which a goal is to be reached. Raises InvalidInput."""
    if not arguments.get("deadline"):
        return None
    return parse_timestamp(str(arguments["deadline"]), zone)[0]


GOAL_TOOLS: Final = (
    ToolSpec(name="set_goal", build=build_set_goal, group=TASKS_GROUP),
    ToolSpec(name="list_goals", build=build_list_goals, group=TASKS_GROUP),
    ToolSpec(name="update_goal", build=build_update_goal, group=TASKS_GROUP),
)
