"""Model calls: a record of every call to a model, with its purpose, answer, tokens and cost.

Each call is recorded at once, in a transaction of its own: a turn that crashes has paid for its
calls, and the turn that replaces it reuses their answers.

Requests are identical if all their text is; the ids behind the text do not matter, so that an
answer from another database is found, too. Deleted answers are not found.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from oldfriend.db.database import Row, Transaction
from oldfriend.db.message_numbers import load_all_numbers, pack_ids, unpack_ids
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.codec import Reference, pack_references, unpack_references
from oldfriend.domain.ids import PersonId, TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import (
    Completion,
    ModelCall,
    Purpose,
    TokenUsage,
    ToolCall,
    estimate_input_tokens,
)
from oldfriend.usage.tool_log import redact_tool_uses


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCall:
    """The outcome of a model's last call."""

    outcome: str
    error: str | None
    made_at: Micros


async def list_shown_ids(tx: Transaction, person: PersonId, turn_id: TurnId) -> tuple[str, ...]:
    """Return the ids of all messages and memories that models were shown for a turn, each once."""
    rows = await tx.rows(
        """SELECT shown FROM model_call WHERE person = :person AND turn = :turn
           AND purpose = 'reply' ORDER BY step, made_at""",
        person=person,
        turn=turn_id,
    )
    ids = [each for (shown,) in rows for each in await unpack_ids(tx, person, shown)]
    return tuple(dict.fromkeys(ids))


async def count_calls_by_model(
    tx: Transaction, person: PersonId, call_ids: Collection[str]
) -> dict[str, int]:
    """Return how many of the given calls each model received, the most first."""
    if not call_ids:
        return {}
    rows = await tx.rows("SELECT id, model FROM model_call WHERE person = :person", person=person)
    return dict(Counter(model for call, model in rows if call in call_ids).most_common())


async def find_last_call(tx: Transaction, model: str) -> LastCall | None:
    """Return the outcome of a model's last call; None if it was never called."""
    row = await tx.row(
        """SELECT outcome, error, made_at FROM model_call WHERE model = :model
           ORDER BY made_at DESC, id DESC LIMIT 1""",
        model=model,
    )
    return None if row is None else LastCall(outcome=row[0], error=row[1], made_at=row[2])


MAX_JUDGEMENTS: Final = 1_000
"""Earlier judgements of sameness that are looked at; the newest."""
PURPOSES_WITHOUT_TOKENS: Final[frozenset[Purpose]] = frozenset(
    {"embedding", "transcription", "speech"}
)
"""Purposes whose usage is counted in another way, or by the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """A model call as it is listed; neither what was sent nor what came back."""

    model: str
    purpose: str
    outcome: str
    error: str | None
    turn: str | None
    cost: int | None
    latency_us: int
    made_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """For whom, and for what, a model is called."""

    person: PersonId
    turn: TurnId | None = None
    answered_versions: str | None = None  # the message versions that the turn answers
    is_background: bool = False


async def record_call(
    tx: Transaction,
    context: CallContext,
    call: ModelCall,
    *,
    step: int,
    request_hash: str,
    now: Micros,
    call_id: str | None = None,
) -> str:
    """Record a finished call, once per id; ``request_hash`` is a hash of what was sent."""
    completion, call_id = call.completion, call_id or new_id(now)
    usage = estimate_usage(call)
    await tx.run(
        """INSERT INTO model_call (id, person, turn, asked, step, request, purpose, prompt, model,
             outcome, shown, answer, error, tokens_in, tokens_cached, tokens_out, cost, sound,
             latency, is_background, made_at)
           VALUES (:id, :person, :turn, :asked, :step, :request, :purpose, :prompt, :model,
             :outcome, :shown, :answer, :error, :tokens_in, :tokens_cached, :tokens_out, :cost,
             :sound, :latency, :is_background, :made_at)
           ON CONFLICT (id) DO NOTHING""",
        id=call_id,
        person=context.person,
        turn=context.turn,
        asked=context.answered_versions,
        step=step,
        request=request_hash,
        purpose=call.request.purpose,
        prompt=call.request.prompt,
        model=call.model,
        outcome=call.outcome,
        shown=await pack_ids(tx, context.person, call.request.shown),
        answer=serialize_answer(call),
        error=call.error,
        tokens_in=usage.input,
        tokens_cached=usage.cached,
        tokens_out=usage.output,
        cost=None if completion is None else completion.cost,
        sound=get_audio_duration(completion),
        latency=call.latency_us,
        is_background=int(context.is_background),
        made_at=now,
    )
    return call_id


async def list_logged_calls(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None = None
) -> list[LoggedCall]:
    """List the last model calls for a person up to a moment, newest first."""
    rows = await tx.rows(
        """SELECT model, purpose, outcome, error, turn, cost, latency, made_at FROM model_call
           WHERE person = :person AND (:until IS NULL OR made_at <= :until)
           ORDER BY made_at DESC, id DESC LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [
        LoggedCall(
            model=model,
            purpose=purpose,
            outcome=outcome,
            error=error,
            turn=turn,
            cost=cost,
            latency_us=latency,
            made_at=made_at,
        )
        for model, purpose, outcome, error, turn, cost, latency, made_at in rows
    ]


async def load_completions_by_step(tx: Transaction, context: CallContext) -> dict[int, Completion]:
    """Return the completions that a turn received before it crashed, by their step.

    They are found by their step in the turn, not by their text: what is recalled may differ by now,
    and what was paid for is used. A turn that answers other message versions is another turn.
    """
    rows = await list_finished_calls(tx, context)
    return {step: parse_completion(row) for step, _, row in rows}  # the last one wins


async def load_completions_by_request(
    tx: Transaction, context: CallContext
) -> dict[str, Completion]:
    """Return the completions of a context by the hash of each request, and earlier judgements.

    Background work may make its requests in another order when it runs again. Whether two
    statements say the same is asked once, whatever they come up in.
    """
    judged = await tx.rows(
        """SELECT request, model, answer, tokens_in, tokens_cached, tokens_out, cost
           FROM model_call WHERE person = :person AND purpose = 'adjudicate' AND request <> ''
           AND outcome = 'done' AND answer IS NOT NULL
           ORDER BY made_at DESC, id DESC LIMIT :most""",
        person=context.person,
        most=MAX_JUDGEMENTS,
    )
    rows = await list_finished_calls(tx, context)
    found = {row[0]: parse_completion(row[1:]) for row in reversed(judged)}
    return found | {request: parse_completion(row) for _, request, row in rows}


async def list_finished_calls(tx: Transaction, context: CallContext) -> list[tuple[int, str, Row]]:
    """Return the step, request hash and stored completion of each finished call of a turn."""
    rows = await tx.rows(
        """SELECT step, request, model, answer, tokens_in, tokens_cached, tokens_out, cost
           FROM model_call WHERE person = :person AND turn = :turn AND asked = :asked
           AND outcome = 'done' AND answer IS NOT NULL ORDER BY made_at, id""",
        person=context.person,
        turn=context.turn,
        asked=context.answered_versions,
    )
    return [(row[0], row[1], row[2:]) for row in rows]


async def has_other_answer(
    tx: Transaction,
    context: CallContext,
    *,
    step: int,
    request_hash: str,
    excluded_call_id: str | None,
) -> bool:
    """Return whether another call than ``excluded_call_id`` has answered this request of a turn.

    In a reply a request is identified by its step, in the background also by its hash; embedding
    requests have neither. The calls of a committed turn are settled, and keep only their step.
    """
    if context.turn is None or context.answered_versions is None or not request_hash:
        return False
    row = await tx.row(
        """SELECT 1 FROM model_call WHERE person = :person AND turn = :turn AND step = :step
           AND outcome = 'done' AND id <> :besides
           AND (asked = :asked AND request <> '' AND (is_background = 0 OR request = :request)
                OR asked IS NULL AND request = '' AND purpose IN ('reply', 'classify')) LIMIT 1""",
        person=context.person,
        turn=context.turn,
        step=step,
        asked=context.answered_versions,
        request=request_hash,
        besides=excluded_call_id or "",
    )
    return row is not None


async def discard_answers(tx: Transaction, person: PersonId, turn_id: TurnId) -> None:
    """Prevent reuse of a turn's answers because they were unusable; their cost is kept."""
    await tx.run(
        "UPDATE model_call SET asked = NULL WHERE person = :person AND turn = :turn",
        person=person,
        turn=turn_id,
    )


async def clear_committed_calls(tx: Transaction, person: PersonId, turn_id: TurnId) -> None:
    """Delete the stored answers of a committed turn: its reply is in the log."""
    await tx.run(
        """UPDATE model_call SET answer = NULL, request = '', asked = NULL
           WHERE person = :person AND turn = :turn AND purpose IN ('reply', 'classify')""",
        person=person,
        turn=turn_id,
    )


async def clear_all_committed_calls(tx: Transaction) -> None:
    """Delete the answers of all committed turns: exports of earlier versions hold them."""
    await tx.run(
        """UPDATE model_call SET answer = NULL, request = '', asked = NULL
           WHERE purpose IN ('reply', 'classify') AND turn IN (SELECT turn FROM receipt)"""
    )


async def find_transcript(
    tx: Transaction, person: PersonId, request_hash: str
) -> Completion | None:
    """Return the transcript of a recording that a person has sent before; None if there is none."""
    row = await tx.row(
        """SELECT model, answer, tokens_in, tokens_cached, tokens_out, cost FROM model_call
           WHERE person = :person AND purpose = 'transcription' AND request = :request
           AND outcome = 'done' AND answer IS NOT NULL ORDER BY made_at DESC, id DESC LIMIT 1""",
        person=person,
        request=request_hash,
    )
    return None if row is None else parse_completion(row)


def estimate_usage(call: ModelCall) -> TokenUsage:
    """Return the tokens of a call; estimated if they are needed to limit its cost.

    Some providers report neither a price nor tokens, and such a call would count as nothing.
    """
    completion = call.completion
    if completion is None:
        return TokenUsage()
    if (
        completion.cost is not None
        or completion.usage != TokenUsage()
        or call.request.purpose in PURPOSES_WITHOUT_TOKENS
    ):
        return completion.usage
    return TokenUsage(
        input=estimate_input_tokens(call.request), output=estimate_tokens(completion.text)
    )


def get_audio_duration(completion: Completion | None) -> Micros | None:
    """Return the duration of the audio that was transcribed or spoken, in microseconds."""
    if completion is None or completion.audio_s is None:
        return None
    return round(completion.audio_s * SECOND)


def serialize_answer(call: ModelCall) -> str | None:
    """Return the answer of a call as it is stored; vectors and audio are stored with messages.

    The answer of a late call is not stored, since nobody uses it.
    """
    is_unused = call.outcome == "late" or call.request.purpose in {"embedding", "speech"}
    if call.completion is None or is_unused:
        return None
    return answer_to_json(call.completion)


def answer_to_json(completion: Completion) -> str:
    """Return a completion as JSON, as it is stored."""
    calls = [[call.id, call.name, dict(call.arguments)] for call in completion.calls]
    answer = {
        "text": completion.text,
        "calls": calls,
        "is_cut": completion.is_truncated,
        "echo": completion.echo,
    }
    return json.dumps(answer, ensure_ascii=False)


def parse_completion(row: Row) -> Completion:
    """Build a completion from its row."""
    model, text, tokens_in, tokens_cached, tokens_out, cost = row
    answer: Mapping[str, JsonValue] = json.loads(text)
    calls = answer["calls"]
    assert isinstance(calls, list)
    return Completion(
        model=model,
        text=str(answer["text"]),
        calls=tuple(ToolCall(id=call[0], name=call[1], arguments=call[2]) for call in calls),  # type: ignore[index, arg-type]
        usage=TokenUsage(input=tokens_in, cached=tokens_cached, output=tokens_out),
        cost=cost,
        is_truncated=bool(answer["is_cut"]),
        echo=answer["echo"],
    )


class ModelRequestKey(NamedTuple):
    """A request and its model; the hash of a request covers its prompt and version."""

    request_hash: str
    model: str


async def load_answered_calls(tx: Transaction, person: PersonId) -> dict[ModelRequestKey, str]:
    """Return the newest answered call of a person for each request and model."""
    rows = await tx.rows(
        """SELECT request, model, id FROM model_call
           WHERE person = :person AND outcome = 'done' AND answer IS NOT NULL AND request <> ''
           ORDER BY made_at, id""",
        person=person,
    )
    return {
        ModelRequestKey(request_hash=request, model=model): call for request, model, call in rows
    }


async def find_completion(tx: Transaction, person: PersonId, call_id: str) -> Completion | None:
    """Return the completion of a call; None if it was deleted meanwhile."""
    row = await tx.row(
        """SELECT model, answer, tokens_in, tokens_cached, tokens_out, cost FROM model_call
           WHERE person = :person AND id = :call AND answer IS NOT NULL""",
        person=person,
        call=call_id,
    )
    return None if row is None else parse_completion(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedCalls:
    """The calls that have seen deleted content."""

    shown_calls: tuple[str, ...]  # ids of calls that were shown it
    quoting_calls: tuple[str, ...]  # ids of other calls whose answer or error quotes it
    turns: frozenset[str]  # in which any of these calls was made


async def find_exposed_calls(
    tx: Transaction, person: PersonId, gone: Collection[str], holds_words: Callable[[str], bool]
) -> ExposedCalls:
    """Find the model calls that were shown deleted content, answered it, or quote it."""
    rows = await tx.rows(
        "SELECT id, turn, asked, shown, answer, error FROM model_call WHERE person = :person",
        person=person,
    )
    references = await list_references(tx, person, gone)
    shown: list[str] = []
    quoting: list[str] = []
    turns: set[str | None] = set()
    for call, turn, asked, ids, answer, error in rows:
        was_shown = not references.isdisjoint(unpack_references(ids)) or is_answering_any(
            asked, gone
        )
        if not was_shown and not any(text and holds_words(text) for text in (answer, error)):
            continue
        (shown if was_shown else quoting).append(call)
        turns.add(turn)
    return ExposedCalls(
        shown_calls=tuple(shown),
        quoting_calls=tuple(quoting),
        turns=frozenset(turn for turn in turns if turn is not None),
    )


async def list_references(
    tx: Transaction, person: PersonId, gone: Collection[str]
) -> frozenset[Reference]:
    """Return every form in which a packed value may refer to deleted content."""
    numbers = await load_all_numbers(tx, person)
    return frozenset(gone) | {number for number, (name, _) in numbers.items() if name in gone}


def is_answering_any(answered_versions: str | None, gone: Collection[str]) -> bool:
    """Return whether a call was made for a turn that answers one of these messages."""
    return any(each.partition("@")[0] in gone for each in (answered_versions or "").split())


async def redact_calls(
    tx: Transaction,
    person: PersonId,
    exposed: ExposedCalls,
    gone: Collection[str],
    *,
    turns: Collection[str],
) -> None:
    """Delete the answers of these calls from the records, and the arguments of their tools.

    ``turns`` are further turns whose tools may have received deleted content. Transcripts are in
    the log: here all of them are deleted, since they do not name their message.
    """
    await tx.run(
        """UPDATE model_call SET answer = NULL, request = ''
           WHERE person = :person AND purpose = 'transcription'""",
        person=person,
    )
    calls = [*exposed.shown_calls, *exposed.quoting_calls]
    rows = await tx.rows(
        "SELECT id, asked, shown FROM model_call WHERE person = :person", person=person
    )
    references = await list_references(tx, person, gone)
    seen = {call: (asked, ids) for call, asked, ids in rows}
    await tx.run_many(
        """UPDATE model_call SET answer = NULL, error = NULL, request = '', shown = :shown,
             asked = :asked WHERE person = :person AND id = :id""",
        [
            {
                "person": person,
                "id": call,
                "asked": None if is_answering_any(seen[call][0], gone) else seen[call][0],
                "shown": pack_references(set(unpack_references(seen[call][1])) - references),
            }
            for call in calls
        ],
    )
    touched = sorted({*exposed.turns, *turns})
    await tx.run_many(
        """UPDATE tool_call SET arguments = '{}',
             result = CASE WHEN result IS NULL THEN NULL ELSE '' END
           WHERE person = :person AND turn = :turn""",
        [{"person": person, "turn": turn} for turn in touched],
    )
    await redact_tool_uses(tx, person, touched)
