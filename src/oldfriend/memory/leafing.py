"""Which page of what is believed comes next: of which kind, in which order, on which day?

Only places are found here, so that of many thousands a page costs little more than itself. Where
something stands among the others does not depend on the day that is looked at: who turns the days
back sees it change in its place. What it says is read by whoever shows the page.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import LATEST, Micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import LIVE, Change, ObjectKind, Status, Subject
from oldfriend.memory.changes import COLUMNS, change_from

Order = Literal["kind", "newest", "oldest", "surest", "seen"]
GROUPS: Final[tuple[tuple[ObjectKind, ...], ...]] = (
    ("fact", "preference"), ("event",), ("pattern",), ("commitment", "expectation"), ("thought",),
    ("opinion",), ("triple",), ("note",), ("summary",), ("entity",),
)  # fmt: skip
"""What stands together, in this order."""
GROUP_OF: Final = {kind: place for place, kinds in enumerate(GROUPS) for kind in kinds}
GROUP: Final = (
    "CASE v.kind "
    + " ".join(
        f"WHEN '{kind}' THEN {place}"
        for kind, place in GROUP_OF.items()
        if kind not in {"summary", "entity"}
    )
    + " ELSE 0 END"
)
IN_GROUP: Final = """CASE v.kind WHEN 'event' THEN -COALESCE(v.happened_at, v.learned_at)
    WHEN 'pattern' THEN -v.strength
    WHEN 'commitment' THEN COALESCE(v.due_at, 9000000000000000)
    WHEN 'expectation' THEN COALESCE(v.due_at, 9000000000000000)
    ELSE -v.learned_at END"""
BY: Final[Mapping[Order, str]] = {
    "kind": IN_GROUP, "newest": "-v.learned_at", "oldest": "v.learned_at",
    "surest": "-v.confidence", "seen": "-v.times_seen",
}  # fmt: skip
TOLD: Final = ("text", "key", "value", "name", "aliases", "description")
TEXT: Final[Mapping[str, str]] = {
    "memory": "v.text || ' ' || v.key || ' ' || v.value", "summary": "v.text",
    "entity": "v.name || ' ' || v.aliases || ' ' || v.description",
}  # fmt: skip
"""Where words stand: in what was decided, and in the views."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be leafed through; what is empty leaves everything."""

    kinds: frozenset[ObjectKind] = frozenset()
    statuses: frozenset[Status] = frozenset()
    subject: Subject | None = None
    tag: str | None = None
    is_pinned: bool = False
    with_ended: bool = False  # also what is no longer believed
    order: Order = "kind"
    at: Micros | None = None  # None: now

    @property
    def is_of_memories(self) -> bool:
        """Whether it asks what only memories have."""
        return bool(self.subject or self.tag)

    @property
    def is_decided(self) -> bool:
        """Whether it asks what summaries do not have."""
        return bool(self.statuses or self.is_pinned or self.is_of_memories)

    @property
    def is_live(self) -> bool:
        """Whether only what is believed counts."""
        return not self.with_ended and self.statuses <= LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something stands among the others."""

    group: int
    level: int
    value: float
    id: ObjectId


async def list_places(
    tx: Transaction, person: PersonId, wanted: Wanted, *, after: Place | None, limit: int
) -> list[Place]:
    """The next places behind one, in order."""
    held, values = held_by(wanted)
    if not held:
        return []
    past: dict[str, SqlValue] = {}
    if after is not None:
        past = {
            "group_": after.group, "level_": after.level, "value_": after.value, "id_": after.id,
        }  # fmt: skip
    behind = "WHERE (grp, lvl, val, id) > (:group_, :level_, :value_, :id_)" if past else ""
    rows = await tx.rows(
        f"""SELECT grp, lvl, val, id FROM ({held}) held {behind}
           ORDER BY grp, lvl, val, id LIMIT :limit""",
        person=person, limit=limit, **values, **past,
    )  # fmt: skip
    return [place_from(row) for row in rows]


async def count_kinds(
    tx: Transaction, person: PersonId, wanted: Wanted
) -> dict[ObjectKind, int]:  # fmt: skip
    """How much there is of each kind."""
    held, values = held_by(wanted)
    if not held:
        return {}
    rows = await tx.rows(
        f"SELECT kind, count(*) FROM ({held}) held GROUP BY kind", person=person, **values
    )
    return {row[0]: row[1] for row in rows}


async def list_tags(tx: Transaction, person: PersonId) -> dict[str, int]:
    """The tags of what is believed now, and how often each is there."""
    rows = await tx.rows(
        """SELECT tags, count(*) FROM memory WHERE person = :person AND ended_at IS NULL
           AND tags <> '[]' GROUP BY tags""",
        person=person,
    )
    counts: dict[str, int] = {}
    for tags, count in rows:
        for tag in json.loads(tags):
            counts[tag] = counts.get(tag, 0) + count
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """All that something says, in one string."""

    id: ObjectId
    kind: ObjectKind
    text: str


async def list_texts(tx: Transaction, person: PersonId, wanted: Wanted) -> list[Text]:
    """What everything that is wanted says, now or as it was decided then."""
    held, values = held_by(wanted, with_text=True)
    if not held:
        return []
    rows = await tx.rows(
        f"SELECT id, kind, told FROM ({held}) held ORDER BY id", person=person, **values
    )
    read = str if wanted.at is None else text_decided
    return [Text(id=ObjectId(row[0]), kind=row[1], text=read(row[2])) for row in rows]


def text_decided(after: str) -> str:
    """What a decision says, as the journal keeps it."""
    values = json.loads(after)
    return " ".join(str(values.get(name, "")) for name in TOLD)


async def list_decided_at(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId], *, at: Micros | None
) -> dict[ObjectId, Change]:
    """The newest decision about some things, now or at a moment."""
    if not objects:
        return {}
    names = {f"object{place}": each for place, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM change WHERE person = :person AND learned_at <= :at
           AND object IN ({", ".join(f":{name}" for name in names)}) ORDER BY seq""",
        person=person, at=LATEST if at is None else at, **names,
    )  # fmt: skip
    newest = {row[2]: row for row in rows}
    return {ObjectId(each): change_from(row) for each, row in newest.items()}


def held_by(wanted: Wanted, *, with_text: bool = False) -> tuple[str, dict[str, SqlValue]]:
    """The SELECT of everything that is wanted, with its place, and its values."""
    values: dict[str, SqlValue] = {} if wanted.at is None else {"at": wanted.at}
    parts: list[str] = []
    kinds = wanted.kinds or frozenset(GROUP_OF)
    memories = sorted(kinds - {"entity", "summary"})
    if memories:
        parts.append(select_from("memory", wanted, values, memories, with_text))
    if "summary" in kinds and not wanted.is_decided:
        parts.append(select_from("summary", wanted, values, (), with_text))
    if "entity" in kinds and not wanted.is_of_memories:
        parts.append(select_from("entity", wanted, values, (), with_text))
    return " UNION ALL ".join(parts), values


def select_from(
    table: str, wanted: Wanted, values: dict[str, SqlValue], kinds: Collection[ObjectKind],
    with_text: bool,
) -> str:  # fmt: skip
    """The SELECT of what is wanted of one table."""
    group, level, value, kind = {
        "memory": (GROUP, "0", BY[wanted.order], "v.kind"),
        "summary": (GROUP_OF["summary"], "-v.level", "-v.from_at", "'summary'"),
        "entity": (GROUP_OF["entity"], "0", "-v.learned_at", "'entity'"),
    }[table]  # fmt: skip
    if wanted.order != "kind":
        group, level = 0, "0"
        value = value if table == "memory" else in_this_order(wanted.order)
    then = (
        ""
        if wanted.at is None
        else """JOIN change c ON c.person = v.person
        AND c.object = v.id AND c.learned_at <= :at AND (c.ended_at IS NULL OR c.ended_at > :at)"""
    )
    told = "" if not with_text else f", {TEXT[table] if wanted.at is None else 'c.after'} AS told"
    more = "".join(f" AND {each}" for each in conditions_on(table, wanted, values, kinds))
    return f"""SELECT {group} AS grp, {level} AS lvl, CAST({value} AS DOUBLE PRECISION) AS val,
        v.id AS id, {kind} AS kind{told} FROM {table} v {then}
        WHERE v.person = :person{more}"""


def in_this_order(order: Order) -> str:
    """By what names and summaries stand among memories; of how sure they are nothing is known."""
    return BY[order] if order in {"newest", "oldest"} else "0"


def conditions_on(
    table: str, wanted: Wanted, values: dict[str, SqlValue], kinds: Collection[ObjectKind]
) -> Iterator[str]:
    """What must be so of a row, now or as it was decided then; adds the values that are named."""
    if kinds and len(kinds) < len(GROUP_OF) - 2:
        yield one_of("v.kind", "kind", kinds, values)
    is_now = wanted.at is None
    if wanted.is_live:
        yield (
            "v.ended_at IS NULL"
            if is_now
            else """(c.after LIKE '%"ended_at": null%'
            OR (c.v = 1 AND c.op <> 'ended'))"""
        )
        if table == "summary":
            yield "v.is_active = 1" if is_now else """c.after LIKE '%"is_active": true%'"""
    if table != "summary":
        yield from of_decided(wanted, values, is_now=is_now)


def of_decided(wanted: Wanted, values: dict[str, SqlValue], *, is_now: bool) -> Iterator[str]:
    """What must be so of what was decided; as JSON has it, quotes within texts look otherwise."""
    if wanted.statuses:
        statuses = sorted(wanted.statuses)
        told = (f"""c.after LIKE '%"status": "{each}"%'""" for each in statuses)
        yield one_of("v.status", "status", statuses, values) if is_now else f"({' OR '.join(told)})"
    if wanted.is_pinned:
        yield "v.is_pinned = 1" if is_now else """c.after LIKE '%"is_pinned": true%'"""
    if wanted.subject:
        values |= {"subject": wanted.subject} if is_now else {}
        yield (
            "v.subject = :subject" if is_now
            else f"""c.after LIKE '%"subject": "{wanted.subject}"%'"""
        )  # fmt: skip
    if wanted.tag:
        tag = in_pattern(json.dumps(wanted.tag, ensure_ascii=False))
        values["tag"] = f"%{tag}%" if is_now else f'%"tags": [%{tag}%], "relational": [%'
        yield f"{'v.tags' if is_now else 'c.after'} LIKE :tag ESCAPE '~'"


def one_of(column: str, name: str, wanted: Collection[str], values: dict[str, SqlValue]) -> str:
    """That a column holds one of some values, which are added to those that are named."""
    names = {f"{name}{place}": each for place, each in enumerate(wanted)}
    values |= names
    return f"{column} IN ({', '.join(f':{each}' for each in names)})" if names else "1 = 0"


def in_pattern(words: str) -> str:
    """Words as a pattern has them, where ~ takes its meaning from what follows."""
    return words.replace("~", "~~").replace("%", "~%").replace("_", "~_")


def place_from(row: Row) -> Place:
    """A place from its columns."""
    return Place(group=row[0], level=row[1], value=float(row[2]), id=ObjectId(row[3]))
