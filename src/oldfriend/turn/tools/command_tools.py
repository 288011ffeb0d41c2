"""Command tools: what only a command of the person asks for, and their own yes does.

No model is offered them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.goals.goal_store import list_goals
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.projects.project_store import delete_project
from oldfriend.projects.skill_store import delete_skill
from oldfriend.tasks.task_desk import DeskDecision
from oldfriend.turn.belief_changes import BeginForgetting
from oldfriend.turn.request_handlers.cancel_all_requests import CANCEL_ALL
from oldfriend.turn.request_handlers.goal_requests import GoalChange
from oldfriend.turn.request_handlers.own_data_requests import PURGE
from oldfriend.turn.request_handlers.project_requests import DELETE_PROJECT
from oldfriend.turn.request_handlers.skill_requests import DELETE_SKILL
from oldfriend.turn.store_change import ChangeScope, StoreChange
from oldfriend.turn.tools.belief_tools import CONFIRMED_BELIEF_TOOLS
from oldfriend.turn.tools.task_tools import bind, build_output, open_desk
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec
from oldfriend.turn.watch_changes import WatchChange
from oldfriend.watches.watch_store import list_watches

DeleteRow = Callable[[Transaction, PersonId, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteById:
    """The change that deletes a project or a skill."""

    id: str
    delete: DeleteRow

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Delete it."""
        await self.delete(tx, scope.person.id, self.id)


def build_purge(context: ToolContext) -> BoundTool:
    """Build the tool that has everything of the person forgotten."""

    async def use(_: ToolArguments) -> ToolOutput:
        language = context.utterance.system_language
        text = CommandMenu.load(language).say["purge_begun"]
        return ToolOutput(text=text, changes=(BeginForgetting(language=language),), summary=text)

    return bind(PURGE, "Forgets everything of the person.", {}, use, required=[], max_uses=None)


def build_cancel_all(context: ToolContext) -> BoundTool:
    """Build the tool that ends what the person was shown, as far as it is open."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        shown = str(arguments["ids"]).split()
        desk = await open_desk(context)
        cancelled = [desk.cancel(each) for each in list(desk.tasks) if each.id in shown]
        others = await list_ended(context, shown)
        menu = CommandMenu.load(context.utterance.system_language)
        decision = DeskDecision(
            text=menu.say["cancelled_all"].format(count=len(cancelled) + len(others)),
            saved=tuple(saved for each in cancelled for saved in each.saved),
        )
        output = build_output(context, decision)
        return replace(output, changes=(*output.changes, *others))

    return bind(
        CANCEL_ALL,
        "Cancels reminders, to-dos, goals and watches.",
        {"ids": {"type": "string"}},
        use,
        required=["ids"],
        max_uses=None,
    )


async def list_ended(context: ToolContext, shown: Sequence[str]) -> list[StoreChange]:
    """Return the changes that end those goals and watches of some ids that are open."""
    person, now = context.utterance.person.id, context.clock()
    async with context.search_deps.db.begin_read() as tx:
        goals = [each.goal for each in await list_goals(tx, person) if each.goal.id in shown]
        watches = [each for each in await list_watches(tx, person) if each.id in shown]
    return [
        *(
            GoalChange(goal=replace(each, status="abandoned", changed_at=now), earlier=each)
            for each in goals
            if each.is_open(now)
        ),
        *(
            WatchChange(watch=replace(each, status="ended", changed_at=now), earlier=each)
            for each in watches
        ),
    ]


def build_deletion(name: str, said: str, delete: DeleteRow) -> Callable[[ToolContext], BoundTool]:
    """Return what builds the tool that deletes a project or a skill."""

    def build(context: ToolContext) -> BoundTool:
        async def use(arguments: ToolArguments) -> ToolOutput:
            say = CommandMenu.load(context.utterance.system_language).say
            change = DeleteById(id=str(arguments["id"]), delete=delete)
            return ToolOutput(text=say[said], changes=(change,), summary=say[said])

        return bind(
            name,
            "Deletes what the person keeps.",
            {"id": {"type": "string"}},
            use,
            required=["id"],
            max_uses=None,
        )

    return build


COMMAND_TOOLS: Final = (
    ToolSpec(name=CANCEL_ALL, build=build_cancel_all, needs_confirmation=True),
    ToolSpec(name=PURGE, build=build_purge, needs_confirmation=True),
    *CONFIRMED_BELIEF_TOOLS,
    ToolSpec(
        name=DELETE_PROJECT,
        build=build_deletion(DELETE_PROJECT, "project_deleted", delete_project),
        needs_confirmation=True,
    ),
    ToolSpec(
        name=DELETE_SKILL,
        build=build_deletion(DELETE_SKILL, "skill_deleted", delete_skill),
        needs_confirmation=True,
    ),
)
