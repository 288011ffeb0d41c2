"""Record JSON: messages and beliefs as a program's model reads them, short and within a budget."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.clock import from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Entity, Evidence, StoredBelief
from oldfriend.domain.messages import Message, TrustClass
from oldfriend.memory.belief_views import get_kind
from oldfriend.presenters.base_schema import format_time
from oldfriend.presenters.belief_schemas import name_belief
from oldfriend.turn.reason_texts import format_reasons
from oldfriend.turn.recalled import RecalledBelief, RecalledItem

MAX_TEXT_CHARS: Final = 700
"""Characters of a record in a list; ``why`` shows more of it."""
MAX_FULL_CHARS: Final = 8_000
MAX_LIST_CHARS: Final = 10_000
"""Characters of all records of a result, some 2,500 tokens."""
MAX_REASONS: Final = 2
USER: Final = "user"


def dumps(result: JsonValue) -> str:
    """Return a result as JSON on one line, in which no text can pass for more than a text."""
    return json.dumps(result, ensure_ascii=False)


def fit_records(
    records: Iterable[dict[str, JsonValue]], *, budget: int = MAX_LIST_CHARS
) -> tuple[list[JsonValue], int]:
    """Return the first records that fit, and how many are left out."""
    listed = list(records)
    kept: list[JsonValue] = []
    for each in listed:
        budget -= len(dumps(each))
        if budget < 0 and kept:
            break
        kept.append(each)
    return kept, len(listed) - len(kept)


def list_record_ids(result: JsonValue) -> Iterator[str]:
    """Yield the ids of all messages and beliefs in a result."""
    if isinstance(result, Mapping):
        for name, value in result.items():
            if name in {"id", "message"} and isinstance(value, str):
                yield value
            yield from list_record_ids(value)
    elif isinstance(result, list):
        for each in result:
            yield from list_record_ids(each)


def message_record(message: Message, *, most: int = MAX_TEXT_CHARS) -> dict[str, JsonValue]:
    """Return a message with who said it, when and where."""
    return {
        "id": message.id,
        "kind": "message",
        "text": truncate(message.text, most),
        "by": name_speaker(message.trust, message.speaker, message.role),
        "date": from_micros(message.at, message.zone).isoformat(timespec="minutes"),
        "channel": message.channel,
        "trust": name_trust(message.trust),
    }


def hit_record(
    item: RecalledItem, zone: str, later: Sequence[Message] = ()
) -> dict[str, JsonValue]:
    """Return what was found, why, and what probably changed it since."""
    if isinstance(item, RecalledBelief):
        details = BeliefDetails(
            content=item.state.memory, standing=item.state.stats, evidence=item.evidence
        )
        record, reasons = belief_record(details, zone), item.reasons
    else:
        record, reasons = message_record(item.message), item.hit.reasons
    record["why"] = [*format_reasons(reasons)[:MAX_REASONS]]
    if later:
        record["changed_later"] = [
            {"id": each.id, "text": truncate(each.text, MAX_TEXT_CHARS)} for each in later
        ]
    return record


def belief_record(belief: BeliefDetails, zone: str) -> dict[str, JsonValue]:
    """Return a belief with who said it and when it was last said."""
    content = belief.content
    record: dict[str, JsonValue] = {
        "id": content.id,
        "kind": get_kind(content),
        "text": truncate(name_belief(content), MAX_TEXT_CHARS),
    }
    if isinstance(content, Entity):
        record |= {"type": content.kind, "also_called": [*content.aliases]}
    if isinstance(content, StoredBelief):
        record |= {
            "trust": name_trust(content.trust),
            "happened": format_time(content.happened_at, zone),
            "due": format_time(content.due_at, zone),
            "until": format_time(content.holds_until, zone),
            "status": "" if content.status == "active" else content.status,
        }
    if belief.evidence:
        last = belief.evidence[-1]
        record |= {
            "by": name_speaker(last.trust, last.speaker, last.role),
            "date": format_time(last.said_at, last.zone),
        }
    if belief.standing is not None:
        record["confidence"] = belief.standing.confidence
    return {name: value for name, value in record.items() if value not in (None, "", [])}


def evidence_record(evidence: Evidence) -> dict[str, JsonValue]:
    """Return the words that a belief rests on."""
    return {
        "message": evidence.message,
        "quote": truncate(evidence.quote, MAX_TEXT_CHARS),
        "by": name_speaker(evidence.trust, evidence.speaker, evidence.role),
        "date": from_micros(evidence.said_at, evidence.zone).isoformat(timespec="minutes"),
        "channel": evidence.channel or "",
        "supports": evidence.stance == "supports",
    }


def name_speaker(trust: TrustClass, speaker: str, role: str) -> str:
    """Return who said something, seen from another program."""
    return USER if trust == role == "person" else speaker or role


def name_trust(trust: TrustClass) -> str:
    """Return whose words something rests on; "outside": not the speaker's own."""
    return USER if trust == "person" else trust


def truncate(text: str, most: int) -> str:
    """Return a text, or the beginning of a longer one with a sign of it."""
    return text if len(text) <= most else f"{text[:most].rstrip()} … [{len(text):,} characters]"
