"""pydantic-ai mapping: requests as the library's types; its responses and errors as ours."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelTimeoutError,
    UserError,
)
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

from oldfriend.domain.errors import (
    ApiKeyRejected,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    OutageKind,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters.error_texts import (
    format_connection_lost,
    format_empty_answer,
    format_failure,
    format_key_refused,
    format_overloaded,
    format_rate_limited,
    format_rejected,
    format_timeout,
    format_too_long,
    format_unknown_model,
    format_unpaid,
    format_unreachable,
    is_about_length,
    quote_text,
)
from oldfriend.llm.model import (
    THINKING_TOKENS,
    USER_PLACEHOLDER,
    Completion,
    CompletionRequest,
    PromptTurn,
    TokenUsage,
    ToolCall,
    ToolResult,
    clamp_token_count,
    keep_unreadable,
)
from oldfriend.llm.providers import LOCAL_PROVIDERS, ModelConfig

REFUSAL_CODES: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "invalid_prompt",
        "moderation_blocked",
    }
)

TRANSIENT_ERRORS: Final[
    dict[type[ModelAPIError], tuple[OutageKind, Callable[[ModelConfig], LocalizedText]]]
] = {
    ModelQuotaExceededError: ("unpaid", format_unpaid),
    ModelRateLimitError: ("busy", format_rate_limited),
    ModelOverloadedError: ("failing", format_overloaded),
    ModelTimeoutError: ("slow", format_timeout),
}


def map_model_error(config: ModelConfig, error: Exception) -> ModelError:
    """Map any exception of the library to a model error."""
    if isinstance(error, ModelAPIError):
        return map_api_error(config, error)
    if isinstance(error, ContentFilterError):
        return build_refusal_error(config)
    if isinstance(error, UserError):
        return ModelMisconfigured(
            localizable(
                "model_unusable",
                f"{config.model} cannot be used like this: {quote_text(config, str(error))}",
                model=config.model,
                said=quote_text(config, str(error)),
            )
        )
    quoted = quote_text(config, str(error)) or type(error).__name__
    return ModelUnavailable(
        localizable(
            "answer_unreadable",
            f"{config.model} answered with something that cannot be read: {quoted}",
            model=config.model,
            said=quoted,
        ),
        outage="failing",
    )


def map_api_error(config: ModelConfig, error: ModelAPIError) -> ModelError:
    """Map an API error of the library to a model error."""
    if isinstance(error, ModelAuthenticationError):  # not quoted: some repeat parts of the key
        return ApiKeyRejected(format_key_refused(config, "model"))
    if isinstance(error, ModelNotFoundError):
        return build_unknown_model_error(config, error)
    if isinstance(error, ModelContextWindowExceededError):
        return RequestRejected(format_too_long(config))
    if isinstance(error, ModelRequestRejectedError):
        if {error.provider_error_code, error.provider_error_type} & REFUSAL_CODES:
            return build_refusal_error(config)
        message = extract_provider_message(error)
        if config.provider in LOCAL_PROVIDERS and is_about_length(message):
            return RequestRejected(format_too_long(config))
        return RequestRejected(format_rejected(config, quote_text(config, message)))
    outage, text = classify_transient_error(config, error)
    return ModelUnavailable(text, retry_after_s=error.retry_after, outage=outage)


def classify_transient_error(
    config: ModelConfig, error: ModelAPIError
) -> tuple[OutageKind, LocalizedText]:
    """Return the outage kind of a transient error, and its text for the user."""
    for kind, (outage, format_text) in TRANSIENT_ERRORS.items():
        if isinstance(error, kind):
            return outage, format_text(config)
    if isinstance(error, ModelConnectionError):
        is_connect_failure = error.phase == "connect"
        return "unavailable", (
            format_unreachable(config)
            if is_connect_failure
            else format_connection_lost(config, " before the reply was whole")
        )
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    return "failing", format_failure(
        config, quote_text(config, extract_provider_message(error)), status=status
    )


def build_unknown_model_error(config: ModelConfig, error: ModelNotFoundError) -> ModelMisconfigured:
    """Build the error for a wrong model name or address."""
    suggestion = error.suggested_model_id if isinstance(error, ModelHTTPError) else None
    return ModelMisconfigured(
        format_unknown_model(config, "model", "model", suggestion=suggestion or None)
    )


def build_refusal_error(config: ModelConfig, reason: str = "") -> ModelRefusal:
    """Build the error for a model that refuses to answer."""
    quoted = quote_text(config, reason)
    text = f"{config.model} will not answer this{': ' + quoted if quoted else '.'}"
    return ModelRefusal(localizable("model_refuses", text, model=config.model))


def extract_provider_message(error: ModelAPIError) -> str:
    """Return the provider's own message, without the rest of the response if possible."""
    body = error.body
    for inner in (body, body.get("error") if isinstance(body, dict) else None):
        if isinstance(inner, dict) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    return error.message


ANSWER_TOOL: Final = "answer"
"""Name of the requested object, and of the tool that stands for it."""


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


def build_parameters(
    request: CompletionRequest, profile: ModelProfile, *, is_local: bool
) -> ModelRequestParameters:
    """Build instructions, tools and output format; stable instructions come first, for caching.

    A model reads the format once: as JSON Schema, in words, or as a tool if there are no words for
    it. Local servers hold a model to the schema without showing it, so they get the words, too.
    """
    has_schema = bool(profile.get("supports_json_schema_output"))
    is_schema_shown = has_schema and not (
        is_local or profile.get("native_output_requires_schema_in_instructions")
    )
    instructions = [InstructionPart(request.system_prompt)]
    if request.call_form and request.may_call and not request.tools:
        instructions.append(InstructionPart(request.call_form))
    if request.output_form and not is_schema_shown:
        instructions.append(InstructionPart(request.output_form))
    if request.call_instructions:
        instructions.append(InstructionPart(request.call_instructions, dynamic=True))
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=copy_schema(tool.parameters),
        )
        for tool in request.tools
    ]
    if request.output is None:
        return ModelRequestParameters(function_tools=tools, instruction_parts=instructions)
    schema = copy_schema(request.output)
    if has_schema or request.output_form:
        return ModelRequestParameters(
            function_tools=tools,
            instruction_parts=instructions,
            output_mode="native" if has_schema else "prompted",
            output_object=OutputObjectDefinition(json_schema=schema, name=ANSWER_TOOL),
            prompted_output_template=False if request.output_form else None,
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


def copy_schema(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Copy a schema so that a part that stands at several places is an object of its own at each.

    The library transforms schemas in place and, as ``deepcopy`` keeps such parts shared, would
    empty them at the second place.
    """
    copied: dict[str, JsonValue] = json.loads(json.dumps(dict(schema)))
    return copied


def build_settings(
    request: CompletionRequest, profile: ModelProfile, *, has_room: bool
) -> ModelSettings:
    """Build settings: limits, temperature, thinking, tool choice, caching of the stable part only.

    Thinking counts as output, so a model gets room for it unless it is known not to think.
    """
    can_disable_thinking = profile.get("supports_thinking") and not profile.get(
        "thinking_always_enabled"
    )
    thinks = request.may_think or not can_disable_thinking
    settings = ModelSettings(
        max_tokens=request.max_output_tokens + (THINKING_TOKENS if thinks and has_room else 0),
        cache=CacheConfig(messages=False),
    )
    if request.temperature is not None:
        settings["temperature"] = request.temperature
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
            format_empty_answer(model, request.max_output_tokens if is_truncated else None)
        )
    usage = response.usage
    return Completion(
        model=model,
        text=text,
        calls=tuple(parse_tool_call(part, model, is_truncated=is_truncated) for part in calls),
        usage=TokenUsage(
            input=clamp_token_count(usage.input_tokens),
            cached=clamp_token_count(usage.cache_read_tokens),
            output=clamp_token_count(usage.output_tokens),
        ),
        cost=cost,
        is_truncated=is_truncated,
        echo=dump_echo(response, model) if calls else None,
    )


def parse_tool_call(part: ToolCallPart, model: str, *, is_truncated: bool) -> ToolCall:
    """Parse a tool call; arguments that are no JSON object are kept as unreadable.

    Raises BrokenOutput if they broke off at the output limit.
    """
    arguments: Mapping[str, JsonValue]
    try:
        arguments = part.args_as_dict(raise_if_invalid=True)
        json.dumps(arguments, allow_nan=False)  # reject NaN and infinity
    except (ValueError, AssertionError) as error:
        if is_truncated:
            raise BrokenOutput(
                localizable(
                    "answer_unusable",
                    f"{model} asked for {part.tool_name} with arguments that are not a JSON "
                    "object.",
                    model=model,
                )
            ) from error
        arguments = keep_unreadable(str(part.args))
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
