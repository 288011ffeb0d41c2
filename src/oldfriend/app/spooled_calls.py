"""Spooled calls: model calls that are not in the ledger yet, as values and as JSON."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from oldfriend.app.process_registry import LineSpan
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Completion, CompletionRequest, ModelCall, TokenUsage
from oldfriend.usage.model_calls import CallContext, answer_to_json, parse_completion

CHARS_PER_TOKEN: Final = 4
INTERRUPTED_ERROR: Final = "The process ended before the call did."


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCall:
    """A finished call, with everything that the ledger keeps of it."""

    id: str
    asker: CallContext | None  # None: nobody in particular, so the owner
    step: int
    request_hash: str  # a hash of what was sent
    since: int | None  # the count of deletions when the shown content was read
    made_at: Micros
    call: ModelCall


@dataclass(slots=True, kw_only=True)
class OpenCall:
    """A call that is under way."""

    id: str
    asker: CallContext
    step: int
    request_hash: str  # a hash of what was sent
    model: str
    purpose: str
    prompt: str
    sent_chars: int
    is_free: bool  # whether every model that may be asked is free of charge
    made_at: Micros
    received_chars: int = 0
    noted_at: float = 0.0  # when the progress was last written, by the event loop's clock
    span: LineSpan | None = None  # None: it could not be written


def count_chars(request: CompletionRequest) -> int:
    """Return approximately how many characters a request sends."""
    return len(request.stable) + len(request.changing) + sum(len(e.text) for e in request.turns)


def open_call_to_json(opened: OpenCall) -> dict[str, JsonValue]:
    """Return an open call as JSON, of a length that does not change with its progress."""
    return {
        "open": opened.id,
        "asker": asker_to_json(opened.asker),
        "step": opened.step,
        "request": opened.request_hash,
        "model": opened.model,
        "purpose": opened.purpose,
        "prompt": opened.prompt,
        "sent": opened.sent_chars,
        "is_free": opened.is_free,
        "made_at": opened.made_at,
        "heard": f"{opened.received_chars:010d}",
    }


def finished_call_to_json(finished: FinishedCall, *, ends: str | None) -> dict[str, JsonValue]:
    """Return a finished call as JSON; ``ends`` is the id of the open call that it completes."""
    call = finished.call
    return {
        "id": finished.id,
        "ends": ends,
        "asker": asker_to_json(finished.asker),
        "step": finished.step,
        "request": finished.request_hash,
        "since": finished.since,
        "made_at": finished.made_at,
        "purpose": call.request.purpose,
        "prompt": call.request.prompt,
        "shown": list(call.request.shown),
        "model": call.model,
        "outcome": call.outcome,
        "error": call.error,
        "latency_us": call.latency_us,
        "given": None if call.completion is None else spooled_completion_to_json(call.completion),
    }


def spooled_completion_to_json(given: Completion) -> dict[str, JsonValue]:
    """Return a completion as JSON."""
    usage = given.usage
    return {
        "model": given.model,
        "answer": answer_to_json(given),
        "cost": given.cost,
        "usage": [usage.input, usage.cached, usage.output],
        "sound_s": given.audio_s,
    }


def asker_to_json(asker: CallContext | None) -> dict[str, JsonValue] | None:
    """Return the asker of a call as JSON."""
    if asker is None:
        return None
    return {
        "person": asker.person,
        "turn": asker.turn,
        "asked": asker.answered_versions,
        "is_background": asker.is_background,
    }


def parse_finished_calls(lines: Iterable[Mapping[str, Any]]) -> list[FinishedCall]:
    """Return the finished calls among the lines of a file, skipping lines that cannot be parsed."""
    found: list[FinishedCall] = []
    for each in lines:
        if "id" in each:
            with suppress(KeyError, TypeError, ValueError):
                found.append(parse_finished_call(each))
    return found


def parse_interrupted_calls(lines: Iterable[Mapping[str, Any]]) -> list[FinishedCall]:
    """Return the calls that their process did not survive, as the ledger is to record them.

    Nobody reported their tokens, so four characters count as one; unless it was free, the cost is
    unknown.
    """
    lines = list(lines)
    ended = {each.get("ends") for each in lines}
    found: list[FinishedCall] = []
    for each in lines:
        if "open" in each and each["open"] not in ended:
            with suppress(KeyError, TypeError, ValueError):
                found.append(parse_interrupted_call(each))
    return found


def parse_finished_call(fields: Mapping[str, Any]) -> FinishedCall:
    """Parse a finished call from its JSON. Raises KeyError, TypeError, ValueError."""
    given = fields["given"]
    call = ModelCall(
        request=parse_spooled_request(fields, shown=tuple(fields["shown"])),
        model=fields["model"],
        outcome=fields["outcome"],
        error=fields["error"],
        latency_us=fields["latency_us"],
        completion=None if given is None else parse_spooled_completion(given),
    )
    return FinishedCall(
        id=fields["id"],
        asker=parse_asker(fields["asker"]),
        step=fields["step"],
        request_hash=fields["request"],
        since=fields["since"],
        made_at=fields["made_at"],
        call=call,
    )


def parse_interrupted_call(fields: Mapping[str, Any]) -> FinishedCall:
    """Parse an interrupted call from its JSON. Raises KeyError, TypeError, ValueError."""
    usage = TokenUsage(
        input=fields["sent"] // CHARS_PER_TOKEN, output=int(fields["heard"]) // CHARS_PER_TOKEN
    )
    cost = 0 if fields.get("is_free") else None  # older versions did not record it
    call = ModelCall(
        request=parse_spooled_request(fields, shown=()),
        model=fields["model"],
        outcome="cut off",
        completion=Completion(model=fields["model"], text="", usage=usage, cost=cost),
        error=INTERRUPTED_ERROR,
        latency_us=0,
    )
    return FinishedCall(
        id=fields["open"],
        asker=parse_asker(fields["asker"]),
        step=fields["step"],
        request_hash=fields["request"],
        since=None,
        made_at=fields["made_at"],
        call=call,
    )


def parse_spooled_request(
    fields: Mapping[str, Any], *, shown: tuple[str, ...]
) -> CompletionRequest:
    """Return what the ledger keeps of a request."""
    return CompletionRequest(
        purpose=fields["purpose"], prompt=fields["prompt"], stable="", turns=(), shown=shown
    )


def parse_spooled_completion(given: Mapping[str, Any]) -> Completion:
    """Parse a completion from its JSON."""
    tokens_in, cached, tokens_out = given["usage"]
    found = parse_completion(
        (given["model"], given["answer"], tokens_in, cached, tokens_out, given["cost"])
    )
    return replace(found, audio_s=given["sound_s"])


def parse_asker(fields: Mapping[str, Any] | None) -> CallContext | None:
    """Parse the asker of a call from its JSON."""
    if fields is None:
        return None
    turn = fields["turn"]
    return CallContext(
        person=PersonId(fields["person"]),
        turn=None if turn is None else TurnId(turn),
        answered_versions=fields["asked"],
        is_background=fields["is_background"],
    )
