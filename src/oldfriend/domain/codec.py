"""Codec: compact binary forms of references and of the sources of a reply.

They hold ids, numbers and codes, and never words: words are stored beside them as plain text, so
that a search through the bytes of a file finds every word that is kept.
"""

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from oldfriend.domain.json import JsonValue

Reference: TypeAlias = int | str
"""The number of a message version in its person's log, or the id of any object."""

FORMAT_VERSION: Final = 1
"""The first byte of every packed value; raised when the format changes."""
CAUSES: Final = (
    "words",
    "words_near",
    "meaning",
    "said_by",
    "own_words",
    "mentions",
    "date",
    "session",
    "answers",
    "asked_for",
    "reached",
    "words_like",
)
"""The causes that have a code, in the order of their codes; append, never reorder."""
OTHER_CAUSE: Final = 255
SCORE_SCALE: Final = 10_000
"""Scores and strengths are stored as multiples of 1/10,000, the precision that is ever shown."""
TRACE_ONLY_DETAILS: Final = frozenset({"context", "understood", "signal", "risk"})
"""The details of a receipt that are stored in its trace."""
USUAL_DETAILS: Final[Mapping[str, JsonValue]] = {"degraded": False, "missing": []}
USUAL_MODEL_DETAILS: Final[Mapping[str, JsonValue]] = {"calls": 1, "tokens_cached": 0, "cost": 0}
"""What most receipts by an author say, and say of the model: told again where it is not stored."""
PROMPT_SECTIONS: Final = (
    "rules",
    "core",
    "tools",
    "state",
    "message",
    "passed on",
    "profile",
    "open",
    "in mind",
    "guidance",
    "notes",
    "summaries",
    "recent",
    "thoughts",
    "beliefs",
    "memories",
    "opinions",
)
"""The sections that every prompt has; append nothing, or old traces cannot be read."""
CITED_VALUES: Final = (None, False, True)
MEMORY_FLAG, USED_FLAG, NUMBERED_FLAG, NAMED_FLAG, CITED_SHIFT = 1, 2, 4, 8, 4
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class PackedReason(NamedTuple):
    """One reason why an item was recalled."""

    cause: str
    words: tuple[str, ...] = ()
    name: str | None = None
    strength: float = 0.0


class PackedItem(NamedTuple):
    """A message version or belief that was considered for a reply."""

    is_memory: bool
    reference: Reference
    version: int  # 0 if the reference is a number, which implies the version
    is_used: bool
    score: float
    reasons: tuple[PackedReason, ...]
    is_cited: bool | None = None


class ByteWriter:
    """A buffer of packed bytes to which values are appended."""

    def __init__(self) -> None:
        """Begin with the format version."""
        self.buffer = bytearray([FORMAT_VERSION])

    def write_number(self, number: int) -> None:
        """Append a non-negative integer as a varint: seven bits per byte, lowest first."""
        while number > 0x7F:
            self.buffer.append(number & 0x7F | 0x80)
            number >>= 7
        self.buffer.append(number)

    def write_fraction(self, value: float) -> None:
        """Append a score or strength; the lowest bit is the sign."""
        number = round(value * SCORE_SCALE)
        self.write_number(number << 1 if number >= 0 else -number << 1 | 1)

    def write_id(self, name: str) -> None:
        """Append a UUID as 16 bytes."""
        self.buffer += bytes.fromhex(name.replace("-", ""))

    def write_text(self, text: str) -> None:
        """Append a text with its length."""
        content = text.encode()
        self.write_number(len(content))
        self.buffer += content


class ByteReader:
    """A reader of packed bytes."""

    def __init__(self, packed: bytes) -> None:
        """Check the format version. Raises ValueError."""
        if packed[:1] != bytes([FORMAT_VERSION]):
            raise ValueError(f"packed by another version: {packed[:1].hex()}")
        self._bytes = packed
        self._offset = 1

    def read_byte(self) -> int:
        """Read one byte."""
        self._offset += 1
        return self._bytes[self._offset - 1]

    def read_number(self) -> int:
        """Read what ``ByteWriter.write_number`` wrote."""
        value = shift = 0
        while True:
            byte = self.read_byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def read_fraction(self) -> float:
        """Read what ``ByteWriter.write_fraction`` wrote."""
        number = self.read_number()
        return (-(number >> 1) if number & 1 else number >> 1) / SCORE_SCALE

    def read_id(self) -> str:
        """Read what ``ByteWriter.write_id`` wrote."""
        digits = self._read_bytes(16).hex()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def read_text(self) -> str:
        """Read what ``ByteWriter.write_text`` wrote."""
        return self._read_bytes(self.read_number()).decode()

    def _read_bytes(self, size: int) -> bytes:
        data = self._bytes[self._offset : self._offset + size]
        self._offset += size
        return data


def pack_references(references: Iterable[Reference]) -> bytes:
    """Pack a set of references; each run of consecutive numbers takes about two bytes."""
    writer, known = ByteWriter(), set(references)
    runs = find_runs(sorted(each for each in known if isinstance(each, int)))
    writer.write_number(len(runs))
    before = 0
    for first, last in runs:
        writer.write_number(first - before)
        writer.write_number(last - first)
        before = last
    names = sorted(each for each in known if isinstance(each, str))
    ids = [each for each in names if _UUID.fullmatch(each)]
    writer.write_number(len(ids))
    for each in ids:
        writer.write_id(each)
    others = [each for each in names if not _UUID.fullmatch(each)]
    writer.write_number(len(others))
    for each in others:
        writer.write_text(each)
    return bytes(writer.buffer)


def find_runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers in sorted numbers, each as its first and last."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def unpack_references(packed: bytes) -> list[Reference]:
    """Return the packed references: the numbers in ascending order, then the ids."""
    reader = ByteReader(packed)
    references: list[Reference] = []
    before = 0
    for _ in range(reader.read_number()):
        first = before + reader.read_number()
        before = first + reader.read_number()
        references.extend(range(first, before + 1))
    references.extend(reader.read_id() for _ in range(reader.read_number()))
    references.extend(reader.read_text() for _ in range(reader.read_number()))
    return references


def pack_items(items: Sequence[PackedItem]) -> tuple[bytes, str]:
    """Pack the items considered for a reply; returns the bytes and, as JSON, the terms of the
    reasons.
    """
    writer, terms = ByteWriter(), dict[str, int]()
    writer.write_number(len(items))
    for item in items:
        write_item(writer, item)
        writer.write_fraction(item.score)
        writer.write_number(len(item.reasons))
        for reason in item.reasons:
            write_cause(writer, reason.cause)
            writer.write_fraction(reason.strength)
            writer.write_number(len(reason.words))
            for word in reason.words:
                writer.write_number(terms.setdefault(word, len(terms)))
            name = reason.name
            writer.write_number(0 if name is None else terms.setdefault(name, len(terms)) + 1)
    return bytes(writer.buffer), json.dumps(list(terms), ensure_ascii=False)


def unpack_items(packed: bytes, terms: str | None = None) -> list[PackedItem]:
    """Return the items considered for a reply, with scores and reasons, best first.

    Without the terms, the reasons have no words and no names.
    """
    reader = ByteReader(packed)
    words = None if terms is None else json.loads(terms)

    def read_reason() -> PackedReason:
        cause, strength = read_cause(reader), reader.read_fraction()
        word_indexes = [reader.read_number() for _ in range(reader.read_number())]
        name = reader.read_number()
        if words is None:
            return PackedReason(cause, strength=strength)
        return PackedReason(
            cause,
            tuple(words[each] for each in word_indexes),
            words[name - 1] if name else None,
            strength,
        )

    return [
        item._replace(score=reader.read_fraction(), reasons=read_reasons(reader, read_reason))
        for item in read_items(reader)
    ]


def split_details(details: Mapping[str, JsonValue], item_ids: Sequence[str]) -> tuple[str, str]:
    """Return the details of a receipt as two JSON texts: the lasting ones, and those of its trace.

    Items that were dropped from the context become their indexes in ``item_ids``, and token counts
    are listed in the order of PROMPT_SECTIONS.
    """
    lasting = {name: each for name, each in details.items() if name not in TRACE_ONLY_DETAILS}
    if "author" in lasting and leave_out_usual(USUAL_DETAILS, lasting) == {}:
        lasting = leave_out_usual(lasting, USUAL_DETAILS)
    if isinstance(model := lasting.get("model"), dict):
        lasting["model"] = leave_out_usual(model, USUAL_MODEL_DETAILS)
    temporary = {name: each for name, each in details.items() if name in TRACE_ONLY_DETAILS}
    indexes: dict[JsonValue, JsonValue] = {name: index for index, name in enumerate(item_ids)}
    short = map_context(temporary, lambda name: indexes.get(name, name), tokens_to_list)
    return (
        json.dumps(lasting, ensure_ascii=False, separators=(",", ":")),
        json.dumps(short, ensure_ascii=False, separators=(",", ":")),
    )


def join_details(
    details: str, trace_details: str | None, item_ids: Sequence[str]
) -> dict[str, JsonValue]:
    """Return the details of a receipt as they were before ``split_details``."""

    def named(place: JsonValue) -> JsonValue:
        return item_ids[place] if isinstance(place, int) else place

    lasting = json.loads(details)
    if isinstance(model := lasting.get("model"), dict):
        lasting["model"] = {**USUAL_MODEL_DETAILS, **model}
    is_usual = "author" in lasting and lasting.keys().isdisjoint(USUAL_DETAILS)
    return {
        **(copy.deepcopy(USUAL_DETAILS) if is_usual else {}),
        **lasting,
        **map_context(json.loads(trace_details or "{}"), named, tokens_to_dict),
    }


def leave_out_usual(
    details: Mapping[str, JsonValue], usual: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return the details without those that have their usual value."""
    return {
        name: each for name, each in details.items() if name not in usual or each != usual[name]
    }


def map_context(
    details: Mapping[str, JsonValue],
    map_id: Callable[[JsonValue], JsonValue],
    map_tokens: Callable[[JsonValue], JsonValue],
) -> dict[str, JsonValue]:
    """Return details with the dropped items and token counts of the context mapped."""
    context = details.get("context")
    if not isinstance(context, dict) or "tokens" not in context:
        return dict(details)
    changed = {**context, "tokens": map_tokens(context["tokens"])}
    if isinstance(dropped := context.get("dropped"), dict):
        changed["dropped"] = {
            name: [map_id(each) for each in ids] if isinstance(ids, list) else ids
            for name, ids in dropped.items()
        }
    return {**details, "context": changed}


def tokens_to_list(tokens: JsonValue) -> JsonValue:
    """Return token counts as a list in the order of PROMPT_SECTIONS, the others by name."""
    if not isinstance(tokens, dict) or not set(PROMPT_SECTIONS) <= tokens.keys():
        return tokens
    others = {name: count for name, count in tokens.items() if name not in PROMPT_SECTIONS}
    return [*(tokens[name] for name in PROMPT_SECTIONS), *([others] if others else [])]


def tokens_to_dict(tokens: JsonValue) -> JsonValue:
    """Return the token counts that were given to ``tokens_to_list``, the others last."""
    if not isinstance(tokens, list):
        return tokens
    counts = dict(zip(PROMPT_SECTIONS, tokens, strict=False))
    others = tokens[len(PROMPT_SECTIONS) :]
    return {**counts, **others[0]} if others and isinstance(others[0], dict) else counts


def pack_id(id_: str) -> bytes:
    """Return the bytes that an id has within packed items."""
    return bytes.fromhex(id_.replace("-", "")) if _UUID.fullmatch(id_) else id_.encode()


def read_reasons(
    reader: ByteReader, read_reason: Callable[[], PackedReason]
) -> tuple[PackedReason, ...]:
    """Read a count, and as many reasons."""
    return tuple([read_reason() for _ in range(reader.read_number())])


def pack_sources(items: Iterable[PackedItem]) -> bytes:
    """Pack only the items used in a reply, each with its causes alone, the strongest first."""
    writer, used = ByteWriter(), [item for item in items if item.is_used]
    writer.write_number(len(used))
    for item in used:
        write_item(writer, item)
        writer.write_number(len(item.reasons))
        for reason in sorted(item.reasons, key=lambda each: -each.strength):
            write_cause(writer, reason.cause)
    return bytes(writer.buffer)


def unpack_sources(packed: bytes) -> list[PackedItem]:
    """Return the items used in a reply, without scores and words."""
    reader = ByteReader(packed)
    return [
        item._replace(reasons=read_reasons(reader, lambda: PackedReason(read_cause(reader))))
        for item in read_items(reader)
    ]


def write_item(writer: ByteWriter, item: PackedItem) -> None:
    """Append the reference of an item and how it was used."""
    reference = item.reference
    flags = (
        MEMORY_FLAG * item.is_memory
        | USED_FLAG * item.is_used
        | CITED_VALUES.index(item.is_cited) << CITED_SHIFT
    )
    if isinstance(reference, int):
        writer.buffer.append(flags | NUMBERED_FLAG)
        writer.write_number(reference)
        return
    is_usual = _UUID.fullmatch(reference) is not None
    writer.buffer.append(flags if is_usual else flags | NAMED_FLAG)
    (writer.write_id if is_usual else writer.write_text)(reference)
    writer.write_number(item.version)


def read_items(reader: ByteReader) -> Iterator[PackedItem]:
    """Read items one by one; the caller reads what follows an item before the next one."""
    for _ in range(reader.read_number()):
        flags = reader.read_byte()
        version = 0
        reference: Reference
        if flags & NUMBERED_FLAG:
            reference = reader.read_number()
        else:
            reference = reader.read_text() if flags & NAMED_FLAG else reader.read_id()
            version = reader.read_number()
        yield PackedItem(
            is_memory=bool(flags & MEMORY_FLAG),
            reference=reference,
            version=version,
            is_used=bool(flags & USED_FLAG),
            score=0.0,
            reasons=(),
            is_cited=CITED_VALUES[flags >> CITED_SHIFT],
        )


def write_cause(writer: ByteWriter, cause: str) -> None:
    """Append a cause as its code, or by name if it has none."""
    if cause in CAUSES:
        writer.buffer.append(CAUSES.index(cause))
    else:
        writer.buffer.append(OTHER_CAUSE)
        writer.write_text(cause)


def read_cause(reader: ByteReader) -> str:
    """Read what ``write_cause`` wrote."""
    code = reader.read_byte()
    return reader.read_text() if code == OTHER_CAUSE else CAUSES[code]
