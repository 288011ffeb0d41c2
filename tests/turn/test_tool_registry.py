"""A tool is one module and one registration."""

from oldfriend.llm.model import PromptTurn, ToolDefinition, ToolResult
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.turn.tools.slash_command_tools import HANDLERS
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolSpec
from oldfriend.turn.tools.tool_registry import TOOLS
from tests.turn.conftest import Talk, wants


def build_dice(context: ToolContext) -> BoundTool:
    """Build a tool that tells the roll of a die and what was asked of it."""

    async def use(arguments: ToolArguments) -> str:
        return f"{arguments['sides']} sides: 4, for “{context.utterance.message.text}”"

    return BoundTool(
        definition=ToolDefinition(
            name="roll_dice",
            description="Rolls a die.",
            parameters={
                "type": "object",
                "properties": {"sides": {"type": "integer", "description": "How many."}},
                "required": ["sides"],
                "additionalProperties": False,
            },
        ),
        kind="once",
        run=use,
    )


DICE = ToolSpec(name="roll_dice", build=build_dice)


async def test_a_registered_tool_is_offered_run_and_recorded(talk: Talk) -> None:
    """The model is offered it, gets its result, and the receipt names it."""
    utterance = await talk.hears("Roll a die for me")
    deps = talk.mind(wants("roll_dice", sides=6), "A four!", tools=(*TOOLS, DICE))
    outcome = await talk.turn(utterance, deps)

    assert isinstance(deps.model, ScriptedModel)
    first, second = deps.model.requests
    offered = [spec.name for spec in TOOLS if spec.group is None]
    assert [tool.name for tool in first.tools] == [*offered, "roll_dice", "more_tools"]
    call, result = second.turns[-2:]
    assert isinstance(call, PromptTurn) and call.calls[0].name == "roll_dice"
    assert isinstance(result, ToolResult)
    assert result.text == "6 sides: 4, for “Roll a die for me”"
    assert outcome.reply.text == "A four!"
    used = outcome.reply.details["tools"]
    assert [(use["name"], use["ending"]) for use in used] == [("roll_dice", "done")]


async def test_arguments_that_do_not_fit_its_schema_are_refused(talk: Talk) -> None:
    """As for every other tool: the tool does not run, and the model is told why."""
    deps = talk.mind(wants("roll_dice", sides="six"), "Sorry.", tools=(*TOOLS, DICE))
    outcome = await talk.turn(await talk.hears("Roll a die for me"), deps)

    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["bad arguments"]


async def test_tool_definition_name_equals_the_registered_name(talk: Talk) -> None:
    """The name in the registry is the one that the model calls."""
    context = talk.tool_context(await talk.hears("Hello"))

    assert [spec.build(context).definition.name for spec in TOOLS] == [spec.name for spec in TOOLS]


async def test_description_of_use_command_names_what_each_command_takes(talk: Talk) -> None:
    """The checklist, too, with its verbs."""
    deps = talk.mind(wants("more_tools", kind="tasks"), "Fine.", tools=TOOLS)
    await talk.turn(await talk.hears("Have an eye on my exam"), deps)

    assert isinstance(deps.model, ScriptedModel)
    offered = {tool.name: tool for tool in deps.model.requests[1].tools}
    described = str(offered["use_command"].parameters["properties"])
    assert all(word in described for word in (*HANDLERS, "add …", "remove …", "every "))
