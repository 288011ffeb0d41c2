"""Where do the lives stand? In JSONL beside this module: the talk, and its truth."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from importlib.resources import files
from itertools import groupby
from typing import Final, NotRequired, TypedDict

from oldfriend.domain.clock import Micros, parse_moment
from oldfriend.domain.memories import (
    EntityKind,
    MemoryKind,
    PatternKind,
    RelationalTag,
    Subject,
)
from oldfriend.domain.messages import Spoken
from oldfriend.domain.trust import Role, TrustClass
from oldfriend.evals.lives.life import (
    Belief,
    BeliefId,
    Called,
    Cited,
    Day,
    End,
    Ending,
    Fault,
    Form,
    Life,
    Line,
    LineId,
    Trap,
    Truth,
)

LANGUAGES: Final = ("en", "es", "zh")
_FOLDER: Final = files("oldfriend.evals.lives")


class _Line(TypedDict):
    id: LineId
    day: str
    channel: str
    chat: str
    role: Role
    speaker: str
    trust: TrustClass
    at: str
    zone: str
    text: str
    forwarded_from: NotRequired[str]
    imported: NotRequired[bool]


class _Head(TypedDict):
    language: str
    person: str
    companion: str
    zone: str


class _Quote(TypedDict):
    line: LineId
    text: str


class _End(TypedDict):
    line: LineId
    how: Ending


_Belief = TypedDict(
    "_Belief",
    {
        "id": BeliefId,
        "kind": MemoryKind,
        "key": NotRequired[str],
        "values": NotRequired[list[str]],
        "texts": list[str],
        "quotes": list[_Quote],
        "also": NotRequired[list[str]],
        "subject": NotRequired[Subject],
        "pattern": NotRequired[PatternKind],
        "impact": NotRequired[int],
        "relational": NotRequired[list[RelationalTag]],
        "peak": NotRequired[bool],
        "happened": NotRequired[str],
        "due": NotRequired[str],
        "from": NotRequired[str],
        "until": NotRequired[str],
        "supersedes": NotRequired[BeliefId],
        "ends": NotRequired[_End],
        "worth": NotRequired[str],
    },
)


class _Trap(TypedDict):
    line: LineId
    why: Fault
    kind: MemoryKind
    texts: list[str]
    key: NotRequired[str]
    value: NotRequired[str]


class _Name(TypedDict):
    name: str
    kind: EntityKind
    aliases: list[str]
    line: LineId


def load_life(language: str) -> Life:
    """The life that was written in a language: "en", "es" or "zh"."""
    rows = _rows_of(f"{language}.truth.jsonl")
    heads: list[_Head] = [json.loads(row) for row in rows["life"]]
    lines = [_line_from(json.loads(row)) for row in _texts_of(f"{language}.jsonl")]
    head = heads[0]
    return Life(
        language=head["language"],
        person=head["person"],
        companion=head["companion"],
        zone=head["zone"],
        days=_days_of(lines),
        truth=_truth_from(rows, {line.id: line.day for line in lines}, head["zone"]),
    )


def _texts_of(name: str) -> list[str]:
    return _FOLDER.joinpath(name).read_text("utf-8").splitlines()


def _rows_of(name: str) -> Mapping[str, list[str]]:
    """The rows of a truth by what they are."""
    rows: dict[str, list[str]] = {"life": [], "belief": [], "trap": [], "name": []}
    for text in _texts_of(name):
        rows[json.loads(text)["is"]].append(text)
    return rows


def _line_from(row: _Line) -> Line:
    at, _ = parse_moment(row["at"], row["zone"])
    source = row.get("forwarded_from")
    return Line(
        id=row["id"],
        day=date.fromisoformat(row["day"]),
        channel=row["channel"],
        chat=row["chat"],
        is_imported=row.get("imported", False),
        spoken=Spoken(
            role=row["role"],
            speaker=row["speaker"],
            text=row["text"],
            at=at,
            zone=row["zone"],
            trust=row["trust"],
            external_id=row["id"],
            details={} if source is None else {"forwarded_from": source},
        ),
    )


def _days_of(lines: Iterable[Line]) -> tuple[Day, ...]:
    by_day = groupby(lines, key=lambda line: line.day)
    return tuple(
        Day(number=number, date=day, lines=tuple(said)) for number, (day, said) in
        enumerate(by_day, 1)
    )  # fmt: skip


def _truth_from(rows: Mapping[str, list[str]], day_of: Mapping[LineId, date], zone: str) -> Truth:
    return Truth(
        beliefs=tuple(_belief_from(json.loads(row), day_of, zone) for row in rows["belief"]),
        traps=tuple(_trap_from(json.loads(row)) for row in rows["trap"]),
        names=tuple(_name_from(json.loads(row)) for row in rows["name"]),
    )


def _belief_from(row: _Belief, day_of: Mapping[LineId, date], zone: str) -> Belief:
    quotes = tuple(Cited(line=quote["line"], text=quote["text"]) for quote in row["quotes"])
    best = Form(kind=row["kind"], key=row.get("key", ""))
    end = row.get("ends")
    return Belief(
        id=row["id"],
        texts=tuple(row["texts"]),
        quotes=quotes,
        known_on=day_of[quotes[0].line],
        forms=(best, *map(_form_from, row.get("also", []))),
        values=tuple(row.get("values", [])),
        subject=row.get("subject", "person"),
        pattern=row.get("pattern"),
        impact=row.get("impact", 0),
        relational=tuple(row.get("relational", [])),
        is_peak=row.get("peak", False),
        happened_on=_day_in(row.get("happened")),
        due=row.get("due", ""),
        due_at=_moment_in(row.get("due"), zone),
        holds_from=_day_in(row.get("from")),
        holds_until=_day_in(row.get("until")),
        supersedes=row.get("supersedes"),
        end=end and End(line=end["line"], on=day_of[end["line"]], how=end["how"]),
        is_required=row.get("worth") != "may",
    )


def _form_from(text: str) -> Form:
    kind, _, key = text.partition(":")
    return Form(kind=_KINDS[kind], key=key)


_KINDS: Final[Mapping[str, MemoryKind]] = {
    "event": "event", "fact": "fact", "preference": "preference", "pattern": "pattern",
    "commitment": "commitment", "expectation": "expectation",
}  # fmt: skip


def _trap_from(row: _Trap) -> Trap:
    return Trap(
        line=row["line"],
        fault=row["why"],
        kind=row["kind"],
        texts=tuple(row["texts"]),
        key=row.get("key", ""),
        value=row.get("value", ""),
    )


def _name_from(row: _Name) -> Called:
    return Called(
        name=row["name"], kind=row["kind"], aliases=tuple(row["aliases"]), line=row["line"]
    )


def _day_in(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _moment_in(text: str | None, zone: str) -> Micros | None:
    return None if text is None else parse_moment(text, zone)[0]
