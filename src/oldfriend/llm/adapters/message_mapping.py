"""Message mapping: converts requests to the client library's types, and its responses back."""

import json
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
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import (
    MAX_TOKENS,
    Completion,
    CompletionRequest,
    PromptTurn,
    TokenUsage,
    ToolCall,
    ToolResult,
)

ANSWER_TOOL: Final = "answer"
"""Name of the requested object, and of the tool that stands for it."""

THINKING_TOKENS: Final = 8192
"""Tokens on top of the answer's, for models that think even if not asked to."""

USER_PLACEHOLDER: Final = "…"
"""First message if a conversation starts with the companion; providers expect the user's."""


def to_model_messages(turns: Sequence[PromptTurn | ToolResult], model: str) -> list[ModelMessage]:
    """Convert turns to messages, joining consecutive ones of the same side."""
    messages: list[ModelMessage] = []
    if not turns or (isinstance(turns[0], PromptTurn) and turns[0].role == "companion"):
        messages.append(ModelRequest(parts=[UserPromptPart(USER_PLACEHOLDER)]))
    for turn in turns:
        if isinstance(turn, PromptTurn) and turn.role == "companion":
            messages.append(to_model_response(turn, model))
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


def to_model_response(turn: PromptTurn, model: str) -> ModelResponse:
    """Convert a companion's turn; if this model made it, return its original response."""
    if isinstance(turn.echo, dict) and turn.echo.get("model") == model:
        [echoed] = ModelMessagesTypeAdapter.validate_python([turn.echo["response"]])
        if isinstance(echoed, ModelResponse):
            return echoed
    parts: list[ModelResponsePart] = [TextPart(turn.text)] if turn.text else []
    parts.extend(
        ToolCallPart(call.name, dict(call.arguments), tool_call_id=call.id) for call in turn.calls
    )
    return ModelResponse(parts=parts)


def build_parameters(request: CompletionRequest, profile: ModelProfile) -> ModelRequestParameters:
    """Build instructions, tools and output format; stable instructions come first, for caching."""
    instructions = [InstructionPart(request.stable)]
    if request.changing:
        instructions.append(InstructionPart(request.changing, dynamic=True))
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.parameters),
        )
        for tool in request.tools
    ]
    if request.output is None:
        return ModelRequestParameters(function_tools=tools, instruction_parts=instructions)
    schema = dict(request.output)
    if profile.get("supports_json_schema_output"):
        return ModelRequestParameters(
            function_tools=tools,
            instruction_parts=instructions,
            output_mode="native",
            output_object=OutputObjectDefinition(json_schema=schema, name=ANSWER_TOOL),
        )
    answer = ToolDefinition(
        name=ANSWER_TOOL,
        description="Give the answer.",
        parameters_json_schema=schema,
        kind="output",
    )
    return ModelRequestParameters(
        function_tools=tools,
        instruction_parts=instructions,
        output_mode="tool",
        output_tools=[answer],
        allow_text_output=False,
    )


def build_settings(
    request: CompletionRequest, profile: ModelProfile, *, has_room: bool
) -> ModelSettings:
    """Build settings: token limit, thinking, tool choice, and caching of the stable part only.

    Thinking counts as output, so a model gets room for it unless it is known not to think.
    """
    can_disable_thinking = profile.get("supports_thinking") and not profile.get(
        "thinking_always_enabled"
    )
    thinks = request.may_think or not can_disable_thinking
    settings = ModelSettings(
        max_tokens=request.most_tokens + (THINKING_TOKENS if thinks and has_room else 0),
        cache=CacheConfig(messages=False),
    )
    if not request.may_think:
        settings["thinking"] = False  # as little as the model can
    if not request.may_call:
        settings["tool_choice"] = "none"
    return settings


def parse_response(
    response: ModelResponse,
    request: CompletionRequest,
    *,
    model: str,
    cost: int | None,
    is_truncated: bool,
) -> Completion:
    """Convert a response to a completion. Raises BrokenOutput if it is empty or unreadable."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    text = response.text or ""
    if request.output is not None:
        text = next(
            (part.args_as_json_str() for part in calls if part.tool_name == ANSWER_TOOL), text
        )
        calls = [part for part in calls if part.tool_name != ANSWER_TOOL]
    if not text.strip() and not calls:
        raise BrokenOutput(
            format_empty_answer(model, request.most_tokens if is_truncated else None)
        )
    usage = response.usage
    return Completion(
        model=model,
        text=text,
        calls=tuple(parse_tool_call(part, model) for part in calls),
        usage=TokenUsage(
            input=clamp_token_count(usage.input_tokens),
            cached=clamp_token_count(usage.cache_read_tokens),
            output=clamp_token_count(usage.output_tokens),
        ),
        cost=cost,
        is_truncated=is_truncated,
        echo=dump_echo(response, model) if calls else None,
    )


def clamp_token_count(tokens: int) -> int:
    """Return a token count, or 0 if the provider reports an impossible one."""
    return tokens if 0 <= tokens < MAX_TOKENS else 0


def format_empty_answer(model: str, max_tokens: int | None) -> LocalizedText:
    """Return the error text for an empty answer; `max_tokens` is the limit if it was reached."""
    if max_tokens is None:
        return localizable("answer_empty", f"{model} gave an empty answer.", model=model)
    text = f"{model} used up its {max_tokens} tokens before it said anything."
    return localizable("answer_cut_short", text, model=model, most=max_tokens)


def parse_tool_call(part: ToolCallPart, model: str) -> ToolCall:
    """Parse a tool call whose arguments are a JSON object. Raises BrokenOutput."""
    try:
        arguments: dict[str, JsonValue] = part.args_as_dict(raise_if_invalid=True)
        json.dumps(arguments, allow_nan=False)  # reject NaN and infinity
    except (ValueError, AssertionError) as error:
        raise BrokenOutput(
            localizable(
                "answer_unusable",
                f"{model} asked for {part.tool_name} with arguments that are no JSON object.",
                model=model,
            )
        ) from error
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=arguments)


def dump_echo(response: ModelResponse, model: str) -> JsonValue:
    """Serialize the response if it holds more than text and calls; else return None."""
    if not any(
        isinstance(part, ThinkingPart) or getattr(part, "provider_details", None)
        for part in response.parts
    ):
        return None
    [dumped] = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    return {"model": model, "response": dumped}
