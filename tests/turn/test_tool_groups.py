"""Tools that a model is offered once it asks for their kind, so that no prompt pays for them."""

from dataclasses import replace

from oldfriend.llm.model import CompletionRequest
from oldfriend.turn.tools.tool import BoundTool, ToolSpec
from oldfriend.turn.tools.tool_groups import RECORDS_GROUP, TASKS_GROUP
from oldfriend.turn.turn_dependencies import TurnDependencies
from tests.turn.conftest import Talk, wants
from tests.turn.test_tool_registry import DICE, build_dice

BELL = replace(DICE, group=TASKS_GROUP)
DIARY = ToolSpec(
    name="pages", build=lambda context: renamed(build_dice(context), "pages"), group=RECORDS_GROUP
)


def renamed(tool: BoundTool, name: str) -> BoundTool:
    """Give a tool another name."""
    return replace(tool, definition=replace(tool.definition, name=name))


def names_in(request: CompletionRequest) -> list[str]:
    """List the tools that a request offers."""
    return [tool.name for tool in request.tools]


def deps_of(talk: Talk, *answers: object) -> TurnDependencies:
    """Build a turn with two groups of one tool each."""
    return talk.mind(*answers, tools=(BELL, DIARY))


async def test_tools_of_a_group_are_offered_once_the_model_asks_for_the_kind(talk: Talk) -> None:
    """The first request names the kinds alone; the second has the tools of the one asked for."""
    deps = deps_of(talk, wants("more_tools", kind="tasks"), wants("roll_dice", sides=6), "A four!")
    outcome = await talk.turn(await talk.hears("Roll a die for me"), deps)

    first, second, third = deps.model.requests
    assert names_in(first) == ["more_tools"]
    assert all(kind in first.tools[0].description for kind in ("tasks: ", "records: "))
    assert names_in(second) == names_in(third) == ["more_tools", "roll_dice"]
    assert outcome.reply.text == "A four!"


async def test_tool_of_a_group_runs_though_it_was_not_asked_for(talk: Talk) -> None:
    """A model that knows its name from before need not ask."""
    deps = deps_of(talk, wants("roll_dice", sides=6), "A four!")
    outcome = await talk.turn(await talk.hears("Roll a die for me"), deps)

    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["done"]


async def test_unknown_kind_is_answered_with_those_that_there_are(talk: Talk) -> None:
    """In words that help."""
    deps = deps_of(talk, wants("more_tools", kind="kitchen"), "Sorry.")
    await talk.turn(await talk.hears("Cook something"), deps)

    told = deps.model.requests[1].turns[-1].text
    assert told.endswith("kind must be one of tasks, records")


async def test_without_groups_nothing_is_named(talk: Talk) -> None:
    """No tool for what is not there."""
    deps = talk.mind("Hello.", tools=(DICE,))
    await talk.turn(await talk.hears("Hi"), deps)

    assert names_in(deps.model.requests[0]) == ["roll_dice"]
