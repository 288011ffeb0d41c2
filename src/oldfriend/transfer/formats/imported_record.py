"""Imported record: what a message of an export is beside its text, such as a diary entry.

It travels in the message's details and is taken out before the message is written.
"""

import json
from collections.abc import Mapping
from typing import Final, Literal

from oldfriend.domain.json import JsonValue

RECORD_KEY: Final = "record"
RecordKind = Literal["diary", "measurements"]


def encode_record(kind: RecordKind, fields: Mapping[str, JsonValue]) -> str:
    """Encode a record for a message's details."""
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False, separators=(",", ":"))


def split_record(
    details: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, JsonValue] | None]:
    """Return a message's details without its record, and the record if it has one."""
    rest = {name: value for name, value in details.items() if name != RECORD_KEY}
    if RECORD_KEY not in details:
        return rest, None
    record = json.loads(details[RECORD_KEY])
    return rest, record if isinstance(record, dict) else None
