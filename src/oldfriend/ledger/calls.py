"""Which models were called, what for, and what did they give?

Kept as it happens, in transactions of its own: a turn that crashes has paid for its calls, and
the one that takes its place takes what they gave from here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.ids import PersonId, TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Call, Completion, ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """On whose behalf, and for what, a model is called."""

    person: PersonId
    turn: TurnId | None = None
    asked: str | None = None  # the message versions that the turn answers
    is_background: bool = False


async def record_call(
    tx: Transaction, asker: Asker, call: Call, *, step: int, request: str, now: Micros
) -> str:
    """Keep one finished call, under an id; ``request`` is a hash of what was sent."""
    completion, call_id = call.completion, new_id(now)
    usage = Usage() if completion is None else completion.usage
    await tx.run(
        """INSERT INTO model_call (id, person, turn, asked, step, request, purpose, prompt, model,
             outcome, shown, answer, error, tokens_in, tokens_cached, tokens_out, cost, sound,
             latency, is_background, made_at)
           VALUES (:id, :person, :turn, :asked, :step, :request, :purpose, :prompt, :model,
             :outcome, :shown, :answer, :error, :tokens_in, :tokens_cached, :tokens_out, :cost,
             :sound, :latency, :is_background, :made_at)""",
        id=call_id, person=asker.person, turn=asker.turn, asked=asker.asked, step=step,
        request=request,
        purpose=call.request.purpose, prompt=call.request.prompt, model=call.model,
        outcome=call.outcome, shown=json.dumps(call.request.shown),
        answer=answer_of(call), error=call.error,
        tokens_in=usage.input, tokens_cached=usage.cached, tokens_out=usage.output,
        cost=None if completion is None else completion.cost, sound=sound_of(completion),
        latency=call.latency_us,
        is_background=int(asker.is_background), made_at=now,
    )  # fmt: skip
    return call_id


async def list_completions(tx: Transaction, asker: Asker) -> dict[int, Completion]:
    """What the requests of a turn were answered with before it crashed, by their step.

    By their place in the turn, not by their words: what came to mind may differ by now, and what
    was paid for is used. A turn that answers other versions than before is another turn.
    """
    rows = await finished_calls(tx, asker)
    return {step: completion_from(row) for step, _, row in rows}  # the last one counts


async def completions_by_request(tx: Transaction, asker: Asker) -> dict[str, Completion]:
    """The same by the hash of each request: work in the background may ask in another order."""
    rows = await finished_calls(tx, asker)
    return {request: completion_from(row) for _, request, row in rows}


async def finished_calls(tx: Transaction, asker: Asker) -> list[tuple[int, str, Row]]:
    """The step, the hash of the request, and what it gave, of each finished call of a turn."""
    rows = await tx.rows(
        """SELECT step, request, model, answer, tokens_in, tokens_cached, tokens_out, cost
           FROM model_call WHERE person = :person AND turn = :turn AND asked = :asked
           AND outcome = 'done' AND answer IS NOT NULL ORDER BY made_at, id""",
        person=asker.person,
        turn=asker.turn,
        asked=asker.asked,
    )
    return [(row[0], row[1], row[2:]) for row in rows]


async def set_aside(tx: Transaction, person: PersonId, turn: TurnId) -> None:
    """Have what was given in a turn not used again, for it made no sense; its cost stays."""
    await tx.run(
        "UPDATE model_call SET asked = NULL WHERE person = :person AND turn = :turn",
        person=person,
        turn=turn,
    )


async def find_heard(tx: Transaction, person: PersonId, request: str) -> Completion | None:
    """What was written down of a recording that a person has sent before; None: nothing yet."""
    row = await tx.row(
        """SELECT model, answer, tokens_in, tokens_cached, tokens_out, cost FROM model_call
           WHERE person = :person AND purpose = 'transcription' AND request = :request
           AND outcome = 'done' AND answer IS NOT NULL ORDER BY made_at DESC, id DESC LIMIT 1""",
        person=person,
        request=request,
    )
    return None if row is None else completion_from(row)


def sound_of(completion: Completion | None) -> Micros | None:
    """How long what was heard or spoken is."""
    if completion is None or completion.sound_s is None:
        return None
    return round(completion.sound_s * SECOND)


def answer_of(call: Call) -> str | None:
    """What a call gave, as it is stored; vectors and sounds are kept with messages, not here."""
    if call.completion is None or call.request.purpose in {"embedding", "speech"}:
        return None
    return answer_to_json(call.completion)


def answer_to_json(completion: Completion) -> str:
    """What a model gave, as it is stored."""
    calls = [[call.id, call.name, dict(call.arguments)] for call in completion.calls]
    answer = {
        "text": completion.text, "calls": calls, "is_cut": completion.is_cut,
        "echo": completion.echo,
    }  # fmt: skip
    return json.dumps(answer, ensure_ascii=False)


def completion_from(row: Row) -> Completion:
    """What a model gave, from its row."""
    model, text, tokens_in, tokens_cached, tokens_out, cost = row
    answer: Mapping[str, JsonValue] = json.loads(text)
    calls = answer["calls"]
    assert isinstance(calls, list)
    return Completion(
        model=model,
        text=str(answer["text"]),
        calls=tuple(ToolCall(id=call[0], name=call[1], arguments=call[2]) for call in calls),  # type: ignore[index, arg-type]
        usage=Usage(input=tokens_in, cached=tokens_cached, output=tokens_out),
        cost=cost,
        is_cut=bool(answer["is_cut"]),
        echo=answer["echo"],
    )
