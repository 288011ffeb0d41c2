"""Pagination of beliefs: cursors for a filter, a sort order and a point in time.

Only cursors are loaded here, so that a page of many thousand beliefs costs little more than the
page itself. The position of a belief does not depend on the day that is shown: moving through the
days changes it in place. Texts are loaded by the caller.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.belief_kinds import BELIEF_KINDS, ListOrder
from oldfriend.domain.clock import MAX_TIME, Micros, from_micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import (
    LIVE_STATUSES,
    NEVER_BELIEVED,
    QUOTE_KEY,
    JournalEntry,
    ObjectKind,
    Status,
    Subject,
)
from oldfriend.memory.journal import JOURNAL_COLUMNS, QUARTER_HOUR, parse_journal_row

SortOrder = Literal["kind", "newest", "oldest", "learned", "surest", "seen"]
RANK_KEY: Final = attrgetter("list_rank")
KIND_GROUPS: Final[tuple[tuple[ObjectKind, ...], ...]] = (
    *(
        tuple(kind.name for kind in kinds)
        for _, kinds in groupby(sorted(BELIEF_KINDS, key=RANK_KEY), key=RANK_KEY)
    ),
    ("summary",),
    ("entity",),
)
"""Kinds that are shown together, in order of display."""
GROUP_BY_KIND: Final = {kind: place for place, kinds in enumerate(KIND_GROUPS) for kind in kinds}
GROUP_SQL: Final = (
    "CASE v.kind "
    + " ".join(
        f"WHEN '{kind}' THEN {place}"
        for kind, place in GROUP_BY_KIND.items()
        if kind not in {"summary", "entity"}
    )
    + " ELSE 0 END"
)
LAST_SAID_SQL: Final = (
    "(CASE WHEN v.vouched_at > COALESCE(v.last_seen, 0) THEN v.vouched_at "
    "ELSE COALESCE(v.last_seen, v.learned_at) END)"
)
"""When a memory was last said or confirmed, whenever it was read: an old import is no news."""
LIST_ORDER_SQL: Final[Mapping[ListOrder, str]] = {
    "said": f"-{LAST_SAID_SQL}",
    "happened": "-COALESCE(v.happened_at, v.learned_at)",
    "strength": "-v.strength",
    "due": "COALESCE(v.due_at, 9000000000000000)",
}
GROUP_ORDER_SQL: Final = (
    "CASE v.kind "
    + " ".join(
        f"WHEN '{kind.name}' THEN {LIST_ORDER_SQL[kind.list_order]}" for kind in BELIEF_KINDS
    )
    + f" ELSE {LIST_ORDER_SQL['said']} END"
)
ORDER_SQL: Final[Mapping[SortOrder, str]] = {
    "kind": GROUP_ORDER_SQL,
    "newest": f"-{LAST_SAID_SQL}",
    "oldest": LAST_SAID_SQL,
    "learned": "-v.learned_at",
    "surest": "-v.confidence",
    "seen": "-v.times_seen",
}
TEXT_FIELDS: Final = ("text", "key", "value", "name", "aliases", "description")
TEXT_SQL: Final[Mapping[str, str]] = {
    "memory": "v.text || ' ' || v.key || ' ' || v.value",
    "summary": "v.text",
    "entity": "v.name || ' ' || v.aliases || ' ' || v.description",
}
"""The text of each table for search, as an SQL expression."""
SAID_SQL: Final[Mapping[str, str]] = {
    "memory": "v.first_seen <= :said",
    "summary": "v.until_at <= :said",
    "entity": "v.learned_at <= :said",
}
"""What was said by then, as an SQL condition on each table."""
HELD_THEN_SQL: Final[Mapping[str, str]] = {
    "memory": """v.status NOT IN ('unconfirmed', 'withdrawn')
        AND (v.ended_at IS NULL OR v.holds_until > :said)""",
    "summary": "v.ended_at IS NULL",
    "entity": "v.ended_at IS NULL",
}
"""What held then, as far as is known now, as an SQL condition on each table."""
FOLDED_SQL: Final = f"""memory q
    JOIN evidence e ON e.person = q.person AND e.object = q.id
      AND e.stance = 'supports' AND e.withdrawn_at IS NULL
    JOIN evidence f ON f.person = e.person AND f.message = e.message AND f.object <> e.object
      AND f.stance = 'supports' AND f.withdrawn_at IS NULL
    JOIN memory w ON w.person = f.person AND w.id = f.object
    WHERE q.person = :person AND q.kind = 'fact' AND q.is_by_person = 0 AND q.is_pinned = 0
    AND ((q.key = '{QUOTE_KEY}' AND w.key <> '{QUOTE_KEY}'
        AND replace(f.quote, e.quote, '') <> f.quote)
      OR (q.key <> '{QUOTE_KEY}' AND w.kind = 'event' AND w.text = q.text))"""
"""The facts (q) that say nothing beyond another belief (w) that was learned from the same words: a
sentence kept as it was said, and an event told once more as a fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefFilter:
    """Which beliefs to list; empty fields do not filter."""

    kinds: frozenset[ObjectKind] = frozenset()
    statuses: frozenset[Status] = frozenset()
    subject: Subject | None = None
    tag: str | None = None
    is_pinned: bool = False
    with_ended: bool = False  # include what is no longer believed
    order: SortOrder = "kind"
    as_of: Micros | None = None  # None: now
    said_until: Micros | None = None  # only what was said by then and held; instead of as_of

    @property
    def is_memories_only(self) -> bool:
        """Whether the filter uses fields that only memories have."""
        return bool(self.subject or self.tag)

    @property
    def excludes_summaries(self) -> bool:
        """Whether the filter uses fields that summaries lack."""
        return bool(self.statuses or self.is_pinned or self.is_memories_only)

    @property
    def is_live_only(self) -> bool:
        """Whether only live beliefs match."""
        return not self.with_ended and self.statuses <= LIVE_STATUSES

    @property
    def is_folded(self) -> bool:
        """Whether what says nothing beyond another belief is listed beneath that one alone.

        A list that is narrowed down folds nothing, as the other belief might not be in it.
        """
        return self.is_live_only and not self.excludes_summaries


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCursor:
    """The position of a belief in the sort order."""

    group: int
    level: int
    value: float
    id: ObjectId


async def list_page_cursors(
    tx: Transaction,
    person: PersonId,
    belief_filter: BeliefFilter,
    *,
    after: PageCursor | None,
    limit: int,
) -> list[PageCursor]:
    """List the next cursors after one, in order."""
    select, values = build_select(belief_filter)
    if not select:
        return []
    cursor_values: dict[str, SqlValue] = {}
    if after is not None:
        cursor_values = {
            "group_": after.group,
            "level_": after.level,
            "value_": after.value,
            "id_": after.id,
        }
    where = "WHERE (grp, lvl, val, id) > (:group_, :level_, :value_, :id_)" if cursor_values else ""
    rows = await tx.rows(
        f"""SELECT grp, lvl, val, id FROM ({select}) held {where}
           ORDER BY grp, lvl, val, id LIMIT :limit""",
        person=person,
        limit=limit,
        **values,
        **cursor_values,
    )
    return [parse_cursor_row(row) for row in rows]


async def count_by_kind(
    tx: Transaction, person: PersonId, belief_filter: BeliefFilter
) -> dict[ObjectKind, int]:
    """Count the matching beliefs of each kind."""
    select, values = build_select(belief_filter)
    if not select:
        return {}
    rows = await tx.rows(
        f"SELECT kind, count(*) FROM ({select}) held GROUP BY kind", person=person, **values
    )
    return {row[0]: row[1] for row in rows}


async def count_said_by_day(
    tx: Transaction, person: PersonId, *, zone: str
) -> dict[date, dict[ObjectKind, int]]:
    """Count what was first said on each day, by kind, oldest first; what was rejected is not
    counted.
    """
    rows = await tx.rows(
        """SELECT first_seen / :quarter, kind, count(*) FROM memory
           WHERE person = :person AND first_seen > 0
           AND (ended_at IS NULL OR holds_until IS NOT NULL)
           AND status NOT IN ('unconfirmed', 'withdrawn') GROUP BY 1, 2 ORDER BY 1""",
        person=person,
        quarter=QUARTER_HOUR,
    )
    by_day: dict[date, dict[ObjectKind, int]] = {}
    for quarter, kind, count in rows:
        counts = by_day.setdefault(from_micros(quarter * QUARTER_HOUR, zone).date(), {})
        counts[kind] = counts.get(kind, 0) + count
    return by_day


async def count_tags(tx: Transaction, person: PersonId) -> dict[str, int]:
    """Count the tags of live memories, the most frequent first."""
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


async def list_folded(
    tx: Transaction,
    person: PersonId,
    belief_filter: BeliefFilter,
    covers: Sequence[ObjectId] | None = None,
) -> dict[ObjectId, tuple[ObjectId, ...]]:
    """List by belief the ids of what is folded beneath it, oldest first; only of ``covers``, if
    given.
    """
    if not belief_filter.is_folded or (covers is not None and not covers):
        return {}
    values: dict[str, SqlValue] = {}
    select = build_folded_select(belief_filter, values, "w.id, q.id")
    if covers is not None:
        select = f"{select} AND {build_in_clause('w.id', 'cover', covers, values)}"
    rows = await tx.rows(f"{select} ORDER BY q.learned_at, q.id", person=person, **values)
    folded: dict[ObjectId, dict[ObjectId, None]] = {}
    for cover, each in rows:
        folded.setdefault(ObjectId(cover), {})[ObjectId(each)] = None
    return {cover: tuple(each) for cover, each in folded.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefText:
    """All text of a belief in one string."""

    id: ObjectId
    kind: ObjectKind
    text: str


async def list_belief_texts(
    tx: Transaction, person: PersonId, belief_filter: BeliefFilter
) -> list[BeliefText]:
    """List the texts of all matching beliefs, also folded ones, now or as decided at the time."""
    select, values = build_select(belief_filter, with_text=True)
    if not select:
        return []
    rows = await tx.rows(
        f"SELECT id, kind, told FROM ({select}) held ORDER BY id", person=person, **values
    )
    extract = str if belief_filter.as_of is None else extract_entry_text
    return [BeliefText(id=ObjectId(row[0]), kind=row[1], text=extract(row[2])) for row in rows]


def extract_entry_text(after: str) -> str:
    """Return the text of a decision, given its stored JSON."""
    values = json.loads(after)
    return " ".join(str(values.get(name, "")) for name in TEXT_FIELDS)


async def load_entries_as_of(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId], *, as_of: Micros | None
) -> dict[ObjectId, JournalEntry]:
    """Return the newest decision about some objects, now or as of a moment."""
    if not objects:
        return {}
    names = {f"object{index}": each for index, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT {JOURNAL_COLUMNS} FROM change WHERE person = :person AND learned_at <= :at
           AND object IN ({", ".join(f":{name}" for name in names)}) ORDER BY seq""",
        person=person,
        at=MAX_TIME if as_of is None else as_of,
        **names,
    )
    newest = {row[2]: row for row in rows}
    return {ObjectId(each): parse_journal_row(row) for each, row in newest.items()}


def build_select(
    belief_filter: BeliefFilter, *, with_text: bool = False
) -> tuple[str, dict[str, SqlValue]]:
    """Build the SELECT of all matching beliefs with their sort keys, and its parameters."""
    values: dict[str, SqlValue] = {} if belief_filter.as_of is None else {"at": belief_filter.as_of}
    parts: list[str] = []
    kinds = belief_filter.kinds or frozenset(GROUP_BY_KIND)
    memories = sorted(kinds - {"entity", "summary"})
    if memories:
        parts.append(build_table_select("memory", belief_filter, values, memories, with_text))
    if "summary" in kinds and not belief_filter.excludes_summaries:
        parts.append(build_table_select("summary", belief_filter, values, (), with_text))
    if "entity" in kinds and not belief_filter.is_memories_only:
        parts.append(build_table_select("entity", belief_filter, values, (), with_text))
    return " UNION ALL ".join(parts), values


def build_table_select(
    table: str,
    belief_filter: BeliefFilter,
    values: dict[str, SqlValue],
    kinds: Collection[ObjectKind],
    with_text: bool,
) -> str:
    """Build the SELECT of the matching rows of one table."""
    group, level, value, kind = {
        "memory": (GROUP_SQL, "0", ORDER_SQL[belief_filter.order], "v.kind"),
        "summary": (GROUP_BY_KIND["summary"], "-v.level", "-v.from_at", "'summary'"),
        "entity": (GROUP_BY_KIND["entity"], "0", "-v.learned_at", "'entity'"),
    }[table]
    if belief_filter.order != "kind":
        group, level = 0, "0"
        value = value if table == "memory" else build_sort_sql(table, belief_filter.order)
    join = (
        ""
        if belief_filter.as_of is None
        else """JOIN change c ON c.person = v.person
        AND c.object = v.id AND c.learned_at <= :at AND (c.ended_at IS NULL OR c.ended_at > :at)"""
    )
    text_column = (
        ""
        if not with_text
        else f", {TEXT_SQL[table] if belief_filter.as_of is None else 'c.after'} AS told"
    )
    conditions = "".join(
        f" AND {each}"
        for each in build_conditions(table, belief_filter, values, kinds, with_folded=with_text)
    )
    return f"""SELECT {group} AS grp, {level} AS lvl, CAST({value} AS DOUBLE PRECISION) AS val,
        v.id AS id, {kind} AS kind{text_column} FROM {table} v {join}
        WHERE v.person = :person{conditions}"""


def build_sort_sql(table: str, order: SortOrder) -> str:
    """Return the sort expression for summaries and entities, which have no confidence or counts."""
    said_at = "v.until_at" if table == "summary" else "v.learned_at"
    return {
        "newest": f"-{said_at}",
        "oldest": said_at,
        "learned": ORDER_SQL["learned"],
    }.get(order, "0")


def build_conditions(
    table: str,
    belief_filter: BeliefFilter,
    values: dict[str, SqlValue],
    kinds: Collection[ObjectKind],
    with_folded: bool,
) -> Iterator[str]:
    """Yield the SQL conditions on a row, now or as of a moment; adds their parameters to
    ``values``.
    """
    if kinds and len(kinds) < len(GROUP_BY_KIND) - 2:
        yield build_in_clause("v.kind", "kind", kinds, values)
    is_now = belief_filter.as_of is None
    is_said = is_now and belief_filter.said_until is not None
    if is_said:
        values["said"] = belief_filter.said_until
        yield SAID_SQL[table]
    if belief_filter.is_live_only:
        yield (
            HELD_THEN_SQL[table]
            if is_said
            else "v.ended_at IS NULL"
            if is_now
            else """(c.after LIKE '%"ended_at": null%'
            OR (c.v = 1 AND c.op <> 'ended'))"""
        )
        if table == "summary":
            yield "v.is_active = 1" if is_now else """c.after LIKE '%"is_active": true%'"""
    if table == "memory" and belief_filter.is_folded and not with_folded:
        yield f"v.id NOT IN ({build_folded_select(belief_filter, values, 'q.id')})"
    if table != "summary":
        yield from build_state_conditions(
            belief_filter, values, is_now=is_now, is_memory=table == "memory"
        )


def build_folded_select(
    belief_filter: BeliefFilter, values: dict[str, SqlValue], columns: str
) -> str:
    """Build the SELECT of what is folded, now or as of a moment; adds its parameters."""
    held = ""
    for alias in ("q", "w"):
        if belief_filter.as_of is not None:
            values["at"] = belief_filter.as_of
            held += f""" AND EXISTS (SELECT 1 FROM change d WHERE d.person = :person
                AND d.object = {alias}.id AND d.learned_at <= :at
                AND (d.ended_at IS NULL OR d.ended_at > :at)
                AND d.after LIKE '%"ended_at": null%')"""
        elif belief_filter.said_until is not None:
            values["said"] = belief_filter.said_until
            conditions = f"{SAID_SQL['memory']} AND {HELD_THEN_SQL['memory']}"
            held += f" AND {conditions.replace('v.', f'{alias}.')}"
        else:
            held += f" AND {alias}.ended_at IS NULL"
    return f"SELECT {columns} FROM {FOLDED_SQL}{held}"


def build_state_conditions(
    belief_filter: BeliefFilter, values: dict[str, SqlValue], *, is_now: bool, is_memory: bool
) -> Iterator[str]:
    """Yield the conditions on what was decided; adds their parameters to ``values``.

    Decisions are matched by their JSON text, in which quotes within texts are escaped.
    """
    if belief_filter.statuses:
        statuses = sorted(belief_filter.statuses)
        conditions = (f"""c.after LIKE '%"status": "{each}"%'""" for each in statuses)
        yield (
            build_in_clause("v.status", "status", statuses, values)
            if is_now
            else f"({' OR '.join(conditions)})"
        )
    elif belief_filter.with_ended and is_memory:
        for each in sorted(NEVER_BELIEVED):
            yield (
                f"v.status <> '{each}'"
                if is_now
                else f"""c.after NOT LIKE '%"status": "{each}"%'"""
            )
    if belief_filter.is_pinned:
        yield "v.is_pinned = 1" if is_now else """c.after LIKE '%"is_pinned": true%'"""
    if belief_filter.subject:
        values |= {"subject": belief_filter.subject} if is_now else {}
        yield (
            "v.subject = :subject"
            if is_now
            else f"""c.after LIKE '%"subject": "{belief_filter.subject}"%'"""
        )
    if belief_filter.tag:
        tag = escape_like(json.dumps(belief_filter.tag, ensure_ascii=False))
        values["tag"] = f"%{tag}%" if is_now else f'%"tags": [%{tag}%], "relational": [%'
        yield f"{'v.tags' if is_now else 'c.after'} LIKE :tag ESCAPE '~'"


def build_in_clause(
    column: str, name: str, options: Collection[str], values: dict[str, SqlValue]
) -> str:
    """Build the condition that a column holds one of some values; adds them to ``values``."""
    parameters = {f"{name}{index}": each for index, each in enumerate(options)}
    values |= parameters
    return (
        f"{column} IN ({', '.join(f':{each}' for each in parameters)})" if parameters else "1 = 0"
    )


def escape_like(words: str) -> str:
    """Escape a text for LIKE with ~ as the escape character."""
    return words.replace("~", "~~").replace("%", "~%").replace("_", "~_")


def parse_cursor_row(row: Row) -> PageCursor:
    """Parse a row of grp, lvl, val and id."""
    return PageCursor(group=row[0], level=row[1], value=float(row[2]), id=ObjectId(row[3]))
