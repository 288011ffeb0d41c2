"""How is a request written in the library's words, and its answer read in ours?"""

from collections.abc import Sequence
from typing import Final

from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import CacheConfig, ModelSettings
from pydantic_ai.tools import ToolDefinition

from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.sayings import Saying, saying
from oldfriend.llm.model import Completion, Request, ToolCall, ToolResult, Turn, Usage

ANSWER: Final = "answer"
"""The name of the object that is asked for, and of the tool that stands for it."""

ROOM_TO_THINK: Final = 8192
"""Tokens on top of the answer's, for models that think before they speak, also unasked."""

BEFORE: Final = "…"
"""Stands where a conversation does not begin on the user's side, as providers want it to."""


def messages_from(turns: Sequence[Turn | ToolResult], model: str) -> list[ModelMessage]:
    """The turns as messages, those of one side together."""
    messages: list[ModelMessage] = []
    if not turns or (isinstance(turns[0], Turn) and turns[0].role == "companion"):
        messages.append(ModelRequest(parts=[UserPromptPart(BEFORE)]))
    for turn in turns:
        if isinstance(turn, Turn) and turn.role == "companion":
            messages.append(response_from(turn, model))
            continue
        part: ModelRequestPart
        if isinstance(turn, ToolResult):
            part = ToolReturnPart(tool_name=turn.name, content=turn.text, tool_call_id=turn.id)
        else:
            part = UserPromptPart(turn.text)
        if messages and isinstance(messages[-1], ModelRequest):
            messages[-1] = ModelRequest(parts=[*messages[-1].parts, part])
        else:
            messages.append(ModelRequest(parts=[part]))
    return messages


def response_from(turn: Turn, model: str) -> ModelResponse:
    """A turn of the companion's; where this model made it, as it made it."""
    if isinstance(turn.echo, dict) and turn.echo.get("model") == model:
        [echoed] = ModelMessagesTypeAdapter.validate_python([turn.echo["response"]])
        if isinstance(echoed, ModelResponse):
            return echoed
    parts: list[ModelResponsePart] = [TextPart(turn.text)] if turn.text else []
    parts.extend(
        ToolCallPart(call.name, dict(call.arguments), tool_call_id=call.id) for call in turn.calls
    )
    return ModelResponse(parts=parts)


def parameters_from(request: Request, profile: ModelProfile) -> ModelRequestParameters:
    """Instructions, tools and the form of the answer; the part that stays the same comes first."""
    instructions = [InstructionPart(request.stable)]
    if request.changing:
        instructions.append(InstructionPart(request.changing, dynamic=True))
    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description,
            parameters_json_schema=dict(tool.parameters),
        )
        for tool in request.tools
    ]  # fmt: skip
    if request.output is None:
        return ModelRequestParameters(function_tools=tools, instruction_parts=instructions)
    schema = dict(request.output)
    if profile.get("supports_json_schema_output"):
        return ModelRequestParameters(
            function_tools=tools, instruction_parts=instructions, output_mode="native",
            output_object=OutputObjectDefinition(json_schema=schema, name=ANSWER),
        )  # fmt: skip
    answer = ToolDefinition(
        name=ANSWER, description="Give the answer.", parameters_json_schema=schema, kind="output"
    )
    return ModelRequestParameters(
        function_tools=tools, instruction_parts=instructions, output_mode="tool",
        output_tools=[answer], allow_text_output=False,
    )  # fmt: skip


def settings_from(request: Request, profile: ModelProfile, *, has_room: bool) -> ModelSettings:
    """How much it may write, whether it may think, and that only the stable part is cached.

    What a model thinks counts as written. Unless it is known not to, it gets room for it.
    """
    can_be_kept_from_it = profile.get("supports_thinking") and not profile.get(
        "thinking_always_enabled"
    )
    thinks = request.may_think or not can_be_kept_from_it
    settings = ModelSettings(
        max_tokens=request.most_tokens + (ROOM_TO_THINK if thinks and has_room else 0),
        cache=CacheConfig(messages=False),
    )
    if not request.may_think:
        settings["thinking"] = False  # as little as it can
    if not request.may_call:
        settings["tool_choice"] = "none"
    return settings


def completion_from(
    response: ModelResponse, request: Request, *, model: str, cost: int | None, is_cut: bool
) -> Completion:
    """What came back, in our words. Raises BrokenOutput where it is nothing, or cannot be read."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    text = response.text or ""
    if request.output is not None:
        text = next((part.args_as_json_str() for part in calls if part.tool_name == ANSWER), text)
        calls = [part for part in calls if part.tool_name != ANSWER]
    if not text.strip() and not calls:
        raise BrokenOutput(silent(model, request.most_tokens if is_cut else None))
    usage = response.usage
    return Completion(
        model=model, text=text, calls=tuple(call_from(part, model) for part in calls),
        usage=Usage(
            input=usage.input_tokens, cached=usage.cache_read_tokens, output=usage.output_tokens
        ),
        cost=cost, is_cut=is_cut, echo=echo_from(response, model) if calls else None,
    )  # fmt: skip


def silent(model: str, most: int | None) -> Saying:
    """That nothing was said, with so many tokens for it; None: there were enough."""
    if most is None:
        return saying("answer_empty", f"{model} gave an empty answer.", model=model)
    told = f"{model} used up its {most} tokens before it said anything."
    return saying("answer_cut_short", told, model=model, most=most)


def call_from(part: ToolCallPart, model: str) -> ToolCall:
    """A call with arguments that are an object. Raises BrokenOutput."""
    try:
        arguments: dict[str, JsonValue] = part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError) as error:
        raise BrokenOutput(saying(
            "answer_unusable",
            f"{model} asked for {part.tool_name} with arguments that are no JSON object.",
            model=model,
        )) from error  # fmt: skip
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=arguments)


def echo_from(response: ModelResponse, model: str) -> JsonValue:
    """The response as it was, where it holds more than words and calls."""
    if not any(
        isinstance(part, ThinkingPart) or getattr(part, "provider_details", None)
        for part in response.parts
    ):
        return None
    [dumped] = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    return {"model": model, "response": dumped}
