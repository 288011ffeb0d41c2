"""Protocol server: answers a program's requests, with the official SDK, from one memory.

Lists are answered without the memory; it is opened at the first call. Every failure becomes a
sentence that says what to do.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from oldfriend import __version__
from oldfriend.app.event_log import log_warning
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.messages import sanitize_text
from oldfriend.mcp_server.memory_port import MemoryPort, OpenMemory
from oldfriend.mcp_server.tool_definitions import ToolShape, build_tools, get_server_prompt

Context = ServerRequestContext[Any, Any]
PROFILE_URI: Final = "oldfriend://profile"
START_PROMPT: Final = "start"
CALL_TIMEOUT_S: Final = 60.0
"""Seconds a call may take, with the opening of the memory; clients give up at about as many."""
MAX_NAME_CHARS: Final = 40
UNNAMED: Final = "a program"
UNEXPECTED: Final = (
    "Something went wrong inside Oldfriend, and nothing more is known here. Its log says more; "
    "`oldfriend doctor` checks the memory."
)
TOO_SLOW: Final = "The memory did not answer in time. Try again in a moment, or ask for less."


def build_server(
    open_memory: OpenMemory, *, person_name: str = "the user", can_write: bool = True
) -> Server[Any]:
    """Build the server of one program; without ``can_write`` it is offered no tool that writes."""
    requests = ProgramRequests(open_memory, can_write=can_write)
    return Server(
        "oldfriend",
        version=__version__,
        instructions=get_server_prompt().render("instructions", name=person_name),
        on_list_tools=requests.list_tools,
        on_call_tool=requests.call_tool,
        on_list_resources=requests.list_resources,
        on_read_resource=requests.read_resource,
        on_list_prompts=requests.list_prompts,
        on_get_prompt=requests.get_prompt,
    )


class ProgramRequests:
    """The requests of one program."""

    def __init__(self, open_memory: OpenMemory, *, can_write: bool) -> None:
        """Set how the memory is opened, and whether it may be written."""
        self._open_memory = open_memory
        self._tools = [each for each in build_tools() if can_write or each.is_reading]

    async def list_tools(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        """List the tools."""
        return ListToolsResult(tools=[*map(describe_tool, self._tools)])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Run a tool; what fails is told in its result, so that the model can read it."""
        try:
            text = await self._ask(params, name_program(context))
        except OldfriendError as error:
            return build_result(str(error), is_error=True)
        except TimeoutError:
            return build_result(TOO_SLOW, is_error=True)
        except Exception as error:
            log_warning("mcp_call_failed", error, tool=params.name[:MAX_NAME_CHARS])
            return build_result(UNEXPECTED, is_error=True)
        return build_result(text)

    async def _ask(self, params: CallToolRequestParams, program: str) -> str:
        """Return a tool's result. Raises OldfriendError, TimeoutError."""
        async with asyncio.timeout(CALL_TIMEOUT_S):
            memory = await self._open_memory()
            return await memory.call(params.name, params.arguments or {}, program=program)

    async def list_resources(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """List the resources: the profile."""
        description = get_server_prompt().render("profile")
        profile = Resource(
            name="profile", uri=PROFILE_URI, description=description, mime_type="text/plain"
        )
        return ListResourcesResult(resources=[profile])

    async def read_resource(
        self, _: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return the profile."""
        if params.uri != PROFILE_URI:
            raise MCPError(INVALID_PARAMS, f"There is one resource here: {PROFILE_URI}.")
        text = await self._read(lambda memory: memory.build_profile())
        contents = TextResourceContents(uri=PROFILE_URI, mime_type="text/plain", text=text)
        return ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """List the prompts: the context with which a conversation starts."""
        words = get_server_prompt()
        topic = PromptArgument(name="topic", description=words.render("start_topic"))
        start = Prompt(name=START_PROMPT, description=words.render("start"), arguments=[topic])
        return ListPromptsResult(prompts=[start])

    async def get_prompt(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """Return the context with which a conversation starts."""
        if params.name != START_PROMPT:
            raise MCPError(INVALID_PARAMS, f"There is one prompt here: {START_PROMPT}.")
        topic = (params.arguments or {}).get("topic") or ""
        text = await self._read(lambda memory: memory.build_start(topic))
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(messages=[message])

    async def _read(self, read: Callable[[MemoryPort], Awaitable[str]]) -> str:
        """Return a text from the memory. Raises MCPError with what to do."""
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                return await read(await self._open_memory())
        except OldfriendError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        except TimeoutError as error:
            raise MCPError(INTERNAL_ERROR, TOO_SLOW) from error


def name_program(context: Context) -> str:
    """Return what the program calls itself, on one short line."""
    params = context.session.client_params
    info = None if params is None else params.client_info
    name = "" if info is None else " ".join(sanitize_text(info.title or info.name).split())
    return name[:MAX_NAME_CHARS] or UNNAMED


def describe_tool(shape: ToolShape) -> Tool:
    """Return a tool as the protocol has it."""
    is_reading = shape.is_reading
    return Tool(
        name=shape.name,
        description=shape.description,
        input_schema=shape.input_schema,
        annotations=ToolAnnotations(read_only_hint=True)
        if is_reading
        else ToolAnnotations(destructive_hint=False),
    )


def build_result(text: str, *, is_error: bool = False) -> CallToolResult:
    """Return a tool's result as the protocol has it."""
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)
