"""Server tools: tools of servers that the owner has named, for the owner alone.

What a server says, of its tools and in its results, is text from outside: it cannot pass for a
label or a remark of ours, and what looks like orders in a description is left out. Whatever is not
named as reading is asked about first.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from oldfriend.domain.errors import ToolServerFailed
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolDefinition
from oldfriend.mcp_client.remote_tool import RemoteTool, to_short_line
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.injection_detection import detect_injection
from oldfriend.turn.prompt_labels import frame_records, render_record, sanitize
from oldfriend.turn.tools.tool import (
    BoundTool,
    ToolArguments,
    ToolContext,
    ToolGroup,
    ToolOutput,
    ToolSpec,
)
from oldfriend.usage.tool_log import ToolSource

MAX_RESULT_CHARS: Final = 4_000
MAX_ACT_RESULT_CHARS: Final = 300
"""Characters of what an acting tool answers: it is stored, so that the act is not repeated."""
MAX_ERROR_CHARS: Final = 200
MAX_USES: Final = 5
"""Uses of one tool in a turn."""


class ToolServers(Protocol):
    """The servers whose tools may be used."""

    def list_tools(self) -> tuple[RemoteTool, ...]:
        """Return the tools that are there now."""
        ...

    async def call(self, remote_tool: RemoteTool, arguments: Mapping[str, JsonValue]) -> str:
        """Return what a tool answers. Raises ToolServerFailed, TimeoutError."""
        ...


def get_server_tool_prompt() -> Prompt:
    """Return what a model is told of such tools."""
    return get_prompt("server_tools/2")


def build_server_tools(servers: ToolServers) -> tuple[ToolSpec, ...]:
    """Build the specs of all tools that are there now."""
    return tuple(build_server_tool(servers, each) for each in servers.list_tools())


def build_server_tool(servers: ToolServers, remote_tool: RemoteTool) -> ToolSpec:
    """Build the spec of one tool."""

    def build(context: ToolContext) -> BoundTool:
        async def use(arguments: ToolArguments) -> ToolOutput:
            try:
                text = await servers.call(remote_tool, arguments)
            except ToolServerFailed as error:
                raise build_failure(remote_tool, str(error)) from error
            return build_output(context, remote_tool, text)

        return BoundTool(
            definition=build_definition(remote_tool),
            kind="read" if remote_tool.is_reading else "once",
            run=use,
            max_uses=MAX_USES,
            is_recorded=not remote_tool.is_reading,
        )

    return ToolSpec(
        name=remote_tool.full_name,
        build=build,
        label=f"{remote_tool.name} ({remote_tool.server})",
        cost="network",
        needs_confirmation=not remote_tool.is_reading,
        group=ToolGroup(
            name=remote_tool.server, text=sanitize(f"tools of the server {remote_tool.server}")
        ),
    )


def build_definition(remote_tool: RemoteTool) -> ToolDefinition:
    """Build what a model is told of a tool."""
    prompt, names = (
        get_server_tool_prompt(),
        {"name": remote_tool.name, "server": remote_tool.server},
    )
    description = clean_description(remote_tool.description)
    parameters = clean_schema(remote_tool.parameters)
    assert isinstance(parameters, dict)
    return ToolDefinition(
        name=remote_tool.full_name,
        description=prompt.render("description", description=description, **names)
        if description
        else prompt.render("undescribed", **names),
        parameters=parameters,
    )


def clean_description(text: str) -> str:
    """Return a server's words for a tool; empty if they look like orders to a model."""
    return "" if detect_injection(text).risk != "none" else sanitize(text)


def clean_schema(schema: JsonValue) -> JsonValue:
    """Return a schema with cleaned descriptions, however deep they stand."""
    if isinstance(schema, list):
        return [clean_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return sanitize(schema) if isinstance(schema, str) else schema
    return {
        name: clean_description(each)
        if name == "description" and isinstance(each, str)
        else clean_schema(each)
        for name, each in schema.items()
    }


def build_output(context: ToolContext, remote_tool: RemoteTool, text: str) -> ToolOutput:
    """Build a result: a record of the class outside, cut to what fits."""
    prompt = get_server_tool_prompt()
    most = MAX_RESULT_CHARS if remote_tool.is_reading else MAX_ACT_RESULT_CHARS
    short = to_short_line(text, most)
    source = ToolSource(provider=remote_tool.server, title=remote_tool.name, at=context.clock())
    if not short:
        empty = prompt.render("empty", server=remote_tool.server)
        return ToolOutput(text=empty, sources=(source,))
    record = render_record(context.prompt, short, {"who": remote_tool.server, "class": "outside"})
    title = prompt.render("result", server=remote_tool.server)
    return ToolOutput(
        text=frame_records(context.prompt, title, [record]),
        sources=(source,),
        summary=sanitize(to_short_line(text, MAX_ACT_RESULT_CHARS)),
    )


def build_failure(remote_tool: RemoteTool, text: str) -> ToolServerFailed:
    """Build the error for what a server could not do, with its words as they are."""
    said = sanitize(to_short_line(text, MAX_ERROR_CHARS))
    prompt = get_server_tool_prompt()
    return ToolServerFailed(prompt.render("failed", server=remote_tool.server, text=said))
