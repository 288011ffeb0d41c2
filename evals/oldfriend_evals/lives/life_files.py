"""Files of the lives: the talk and its truth in JSON Lines beside this module."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from importlib.resources import files
from itertools import groupby
from typing import Final, Literal, NotRequired, TypedDict

from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.domain.memories import (
    EntityKind,
    MemoryKind,
    MoodSignal,
    PatternKind,
    RelationalTag,
    RelationType,
    Subject,
)
from oldfriend.domain.messages import Role, TrustClass, UnloggedMessage
from oldfriend_evals.lives.life import (
    Alias,
    Belief,
    BeliefId,
    Called,
    Cited,
    Day,
    End,
    Ending,
    Entrusted,
    Fault,
    Felt,
    Form,
    Life,
    Line,
    LineId,
    Stand,
    Then,
    Tied,
    Trap,
    Truth,
)

LANGUAGES: Final = ("en", "es", "zh")
PAIRS: Final[Mapping[str, tuple[str, str]]] = {
    "en": ("en.maeve", "en.sunil"),
    "es": ("es.julieta", "es.ramiro"),
    "zh": ("zh.ruoxi", "zh.zhihao"),
}
"""For each language two who know each other, and talk to one house for 90 days."""
_FOLDER: Final = files("oldfriend_evals.lives")
_KINDS_OF_ROWS: Final = (
    "life",
    "belief",
    "trap",
    "name",
    "tie",
    "mood",
    "opinion",
    "private",
    "then",
)


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
    called: NotRequired[list["_Alias"]]


class _Alias(TypedDict):
    alias: str
    line: LineId


_Tied = TypedDict(
    "_Tied",
    {
        "one": str,
        "tie": RelationType,
        "other": str,
        "line": LineId,
        "from": NotRequired[str],
        "ended": NotRequired[LineId],
    },
)


class _Felt(TypedDict):
    line: LineId
    signal: MoodSignal | Literal["neutral"]


class _Stand(TypedDict):
    topic: str
    text: str
    contrary: str
    line: LineId
    baits: list[LineId]


class _Entrusted(TypedDict):
    line: LineId
    words: list[str]


class _Then(TypedDict):
    day: str
    key: str
    value: str


def load_life(name: str) -> Life:
    """A life by its name: the month in a language ("en"), or one of a pair ("en.maeve")."""
    rows = _load_rows(f"{name}.truth.jsonl")
    heads: list[_Head] = [json.loads(row) for row in rows["life"]]
    lines = [_build_line(json.loads(row)) for row in _load_texts(f"{name}.jsonl")]
    head = heads[0]
    return Life(
        language=head["language"],
        person=head["person"],
        companion=head["companion"],
        zone=head["zone"],
        days=_build_days(lines),
        truth=_build_truth(rows, {line.id: line.day for line in lines}, head["zone"]),
    )


def _load_texts(name: str) -> list[str]:
    return _FOLDER.joinpath(name).read_text("utf-8").splitlines()


def _load_rows(name: str) -> Mapping[str, list[str]]:
    """The rows of a truth by what they are."""
    rows: dict[str, list[str]] = {kind: [] for kind in _KINDS_OF_ROWS}
    for text in _load_texts(name):
        rows[json.loads(text)["is"]].append(text)
    return rows


def _build_line(row: _Line) -> Line:
    at, _ = parse_timestamp(row["at"], row["zone"])
    source = row.get("forwarded_from")
    return Line(
        id=row["id"],
        day=date.fromisoformat(row["day"]),
        channel=row["channel"],
        chat=row["chat"],
        is_imported=row.get("imported", False),
        spoken=UnloggedMessage(
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


def _build_days(lines: Iterable[Line]) -> tuple[Day, ...]:
    by_day = groupby(lines, key=lambda line: line.day)
    return tuple(
        Day(number=number, date=day, lines=tuple(said))
        for number, (day, said) in enumerate(by_day, 1)
    )


def _build_truth(rows: Mapping[str, list[str]], day_of: Mapping[LineId, date], zone: str) -> Truth:
    return Truth(
        beliefs=tuple(_build_belief(json.loads(row), day_of, zone) for row in rows["belief"]),
        traps=tuple(_build_trap(json.loads(row)) for row in rows["trap"]),
        names=tuple(_build_name(json.loads(row)) for row in rows["name"]),
        ties=tuple(_build_tied(json.loads(row)) for row in rows["tie"]),
        moods=tuple(_build_felt(json.loads(row)) for row in rows["mood"]),
        stands=tuple(_build_stand(json.loads(row)) for row in rows["opinion"]),
        entrusted=tuple(_build_entrusted(json.loads(row)) for row in rows["private"]),
        then=tuple(_build_then(json.loads(row)) for row in rows["then"]),
    )


def _build_belief(row: _Belief, day_of: Mapping[LineId, date], zone: str) -> Belief:
    quotes = tuple(Cited(line=quote["line"], text=quote["text"]) for quote in row["quotes"])
    best = Form(kind=row["kind"], key=row.get("key", ""))
    end = row.get("ends")
    return Belief(
        id=row["id"],
        texts=tuple(row["texts"]),
        quotes=quotes,
        known_on=day_of[quotes[0].line],
        forms=(best, *map(_build_form, row.get("also", []))),
        values=tuple(row.get("values", [])),
        subject=row.get("subject", "person"),
        pattern=row.get("pattern"),
        impact=row.get("impact", 0),
        relational=tuple(row.get("relational", [])),
        is_peak=row.get("peak", False),
        happened_on=_parse_day(row.get("happened")),
        due=row.get("due", ""),
        due_at=_parse_moment(row.get("due"), zone),
        holds_from=_parse_day(row.get("from")),
        holds_until=_parse_day(row.get("until")),
        supersedes=row.get("supersedes"),
        end=end and End(line=end["line"], on=day_of[end["line"]], how=end["how"]),
        is_required=row.get("worth") != "may",
    )


def _build_form(text: str) -> Form:
    kind, _, key = text.partition(":")
    return Form(kind=_KINDS[kind], key=key)


_KINDS: Final[Mapping[str, MemoryKind]] = {
    "event": "event",
    "fact": "fact",
    "preference": "preference",
    "pattern": "pattern",
    "commitment": "commitment",
    "expectation": "expectation",
}


def _build_trap(row: _Trap) -> Trap:
    return Trap(
        line=row["line"],
        fault=row["why"],
        kind=row["kind"],
        texts=tuple(row["texts"]),
        key=row.get("key", ""),
        value=row.get("value", ""),
    )


def _build_name(row: _Name) -> Called:
    later = tuple(Alias(name=each["alias"], line=each["line"]) for each in row.get("called", []))
    return Called(
        name=row["name"],
        kind=row["kind"],
        aliases=tuple(row["aliases"]),
        line=row["line"],
        later=later,
    )


def _build_tied(row: _Tied) -> Tied:
    return Tied(
        one=row["one"],
        tie=row["tie"],
        other=row["other"],
        line=row["line"],
        since=_parse_day(row.get("from")),
        ended=row.get("ended"),
    )


def _build_felt(row: _Felt) -> Felt:
    signal = row["signal"]
    return Felt(line=row["line"], signal=None if signal == "neutral" else signal)


def _build_stand(row: _Stand) -> Stand:
    return Stand(
        topic=row["topic"],
        text=row["text"],
        contrary=row["contrary"],
        line=row["line"],
        baits=tuple(row["baits"]),
    )


def _build_entrusted(row: _Entrusted) -> Entrusted:
    return Entrusted(line=row["line"], words=tuple(row["words"]))


def _build_then(row: _Then) -> Then:
    return Then(day=date.fromisoformat(row["day"]), key=row["key"], value=row["value"])


def _parse_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _parse_moment(text: str | None, zone: str) -> Micros | None:
    return None if text is None else parse_timestamp(text, zone)[0]
