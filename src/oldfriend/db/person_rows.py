"""Person rows: gives everything of one person to another, and back for as long as it is known.

Their messages and decisions get numbers after those of whoever is kept, which they keep for good.
What else was theirs is listed by table and key in ``merged_row``. Where both have the same, such as
a number for the same day, the key of one is changed, and what stood there is listed with it.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.db.merge_record import (
    PersonMerge,
    build_key,
    hold,
    insert_row,
    list_tombstones_since,
    mark_undone,
    pick,
    record_merge,
    share_tombstones,
)
from oldfriend.db.stored_tables import STORED_TABLES, TABLES_BY_NAME
from oldfriend.domain.clock import Micros
from oldfriend.domain.codec import (
    PackedItem,
    pack_items,
    pack_references,
    pack_sources,
    unpack_items,
    unpack_references,
    unpack_sources,
)
from oldfriend.domain.ids import PersonId, new_id

MESSAGE_NUMBERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "message": ("seq",),
        "message_vector": ("seq",),
        "session": ("after_seq",),
        "segment": ("first_seq", "last_seq"),
        "receipt": ("asked_seq",),
        "project_span": ("since_seq", "until_seq"),
        **dict.fromkeys(
            (
                "diary_entry",
                "measurement",
                "task",
                "goal",
                "goal_progress",
                "project",
                "skill",
                "limitation",
                "watch",
            ),
            ("message_seq",),
        ),
    }
)
"""Columns with numbers of message versions; receipts and model calls hold packed ones, too."""
CHANGE_NUMBERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "change": ("seq", "base"),
        **dict.fromkeys(("memory", "entity", "summary", "memory_vector"), ("change_seq",)),
    }
)
"""Columns with numbers of decisions."""
DROPPED: Final = (
    "embedding_progress",
    "link_code",
    "oauth_grant",
    "oura_connection",
    "pace",
    "pending_call",
    "web_challenge",
    "web_invitation",
    "web_link",
    "merged_row",
    "person_merge",
)
"""What ends with a merge: it lasts for minutes, is found out again, or is asked for again."""
SETTINGS: Final = ("proactive_setting", "hint_progress")
"""What everybody has once: that of whoever is kept stays."""
BELIEF_TABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "evidence": "object",
        "memory_vector": "memory",
        "memory": "id",
        "entity": "id",
        "summary": "id",
    }
)
"""Tables of what is believed, and the column with the id of the belief."""
FOUND_BY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "message": """id IN (SELECT m.id FROM message m WHERE m.person = :person
            AND m.seq > :first_seq AND m.seq <= :last_seq)
            OR session IN (SELECT key FROM merged_row WHERE merge = :merge AND name = 'session')""",
        "message_vector": "seq IN (SELECT m.seq FROM message m WHERE m.person = :former)",
        "change": "seq > :first_change AND seq <= :last_change",
        "segment": "session IN (SELECT s.id FROM session s WHERE s.person = :former)",
        "working_memory": "session IN (SELECT s.id FROM session s WHERE s.person = :former)",
        "receipt": "asked IN (SELECT m.id FROM message m WHERE m.person = :former)",
        "receipt_trace": "receipt IN (SELECT r.id FROM receipt r WHERE r.person = :former)",
        "attachment": "message IN (SELECT m.id FROM message m WHERE m.person = :former)",
        "delivered": "reply IN (SELECT m.id FROM message m WHERE m.person = :former)",
        "memory_vector": "memory IN (SELECT b.id FROM memory b WHERE b.person = :former)",
        "project_span": """since_seq <= :last_seq
            AND chat IN (SELECT c.id FROM chat c WHERE c.person = :former)""",
    }
)
"""How rows are known by what they belong to, once that is back."""
LISTED: Final = tuple(
    table
    for table in STORED_TABLES
    if table.person_column == "person"
    and table.name not in {*DROPPED, *SETTINGS, *FOUND_BY, "job"} - {"attachment"}
)
"""The tables whose rows are listed."""


async def move_rows(
    tx: Transaction, person: PersonId, former: PersonId, *, now: Micros, undo_until: Micros
) -> PersonMerge:
    """Give a person everything that another has, who is removed. The caller holds both locks."""
    merge = await record_merge(tx, person, former, now=now, undo_until=undo_until)
    for name in DROPPED:
        await tx.run(f"DELETE FROM {name} WHERE person = :former", former=former)
    for name in ("embedding_progress", "pending_call"):  # what was asked was asked of one of them
        await tx.run(f"DELETE FROM {name} WHERE person = :person", person=person)
    await tx.run(
        """UPDATE session SET status = 'closed', closed_at = :now, close_trigger = 'asked'
           WHERE person = :former AND status = 'open'""",
        now=now,
        former=former,
    )
    for name in SETTINGS:
        await set_aside(tx, merge, name, "SELECT * FROM {} WHERE person = :former")
    await make_room(tx, merge)
    await shift_packed(tx, merge)
    for table in LISTED:
        await tx.run(
            f"""INSERT INTO merged_row (merge, name, key, person)
               SELECT :merge, :name, {build_key(table.name)}, :person
               FROM {table.name} WHERE person = :former
               ON CONFLICT (merge, name, key) DO NOTHING""",
            merge=merge.id,
            name=table.name,
            person=person,
            former=former,
        )
    for table in STORED_TABLES:
        if table.person_column == "person" and table.name not in {*DROPPED, *SETTINGS, "job"}:
            await hand_over(tx, merge, table.name)
    await change_names(tx, merge, old=former, new=person)
    await tx.run("DELETE FROM person WHERE id = :former", former=former)
    return merge


async def hand_over(tx: Transaction, merge: PersonMerge, name: str) -> None:
    """Make all rows of a table those of whoever is kept, with numbers that follow theirs."""
    shifts = [f"{each} = {each} + :seqs" for each in MESSAGE_NUMBERS.get(name, ())]
    shifts += [
        f"{each} = CASE WHEN {each} > 0 THEN {each} + :changes ELSE 0 END"
        for each in CHANGE_NUMBERS.get(name, ())
    ]
    values: dict[str, SqlValue] = {}
    if name in MESSAGE_NUMBERS:
        values["seqs"] = merge.first_seq
    if name in CHANGE_NUMBERS:
        values["changes"] = merge.first_change
    await tx.run(
        f"UPDATE {name} SET {', '.join(['person = :person', *shifts])} WHERE person = :former",
        person=merge.person,
        former=merge.former,
        **values,
    )


async def change_names(tx: Transaction, merge: PersonMerge, *, old: str, new: str) -> None:
    """Name one of the two in place of the other in rows that were just moved."""
    values: dict[str, SqlValue] = {
        "old": old,
        "new": new,
        "person": new,
        "first_seq": merge.first_seq,
        "last_seq": merge.last_seq,
    }
    await tx.run(
        """UPDATE message SET author = :new WHERE person = :person AND author = :old
           AND role = 'person' AND seq > :first_seq AND seq <= :last_seq""",
        **values,
    )
    await tx.run(
        """UPDATE evidence SET author = :new WHERE person = :new AND author = :old""",
        old=old,
        new=new,
    )
    await tx.run(
        """UPDATE change SET after = replace(after, :old, :new) WHERE person = :person
           AND seq > :first AND seq <= :last""",
        old=old,
        new=new,
        person=new,
        first=merge.first_change,
        last=merge.last_change,
    )


async def set_aside(tx: Transaction, merge: PersonMerge, name: str, selection: str) -> None:
    """List whole rows of the former person that cannot be moved, and delete them.

    Whoever is kept gets a copy if they have none.
    """
    table = TABLES_BY_NAME[name]
    columns = [*table.columns]
    for row in await tx.rows(
        selection.format(name).replace("*", ", ".join(columns)), **pick(selection, merge)
    ):
        held = dict(zip(columns, row, strict=True))
        key = "/".join(str(held[each]) for each in table.key_columns if each != "person")
        await hold(tx, merge, name, f"{key}~", held)  # not the key of what the other has
        rest = " AND ".join(f"{each} = :{each}" for each in table.key_columns)
        await tx.run(
            f"DELETE FROM {name} WHERE {rest}", **{each: held[each] for each in table.key_columns}
        )
        await insert_row(tx, name, {**held, "person": merge.person})


async def make_room(tx: Transaction, merge: PersonMerge) -> None:
    """Change the keys of the former person's rows that whoever is kept has as well."""
    await set_aside(
        tx,
        merge,
        "tombstone",
        """SELECT * FROM {} WHERE person = :former
           AND print IN (SELECT t.print FROM tombstone t WHERE t.person = :person)""",
    )
    await rename(
        tx,
        merge,
        """SELECT c.id, c.address FROM chat c JOIN chat k ON k.person = :person
           AND k.companion = c.companion AND k.channel = c.channel AND k.address = c.address
           WHERE c.person = :former""",
        "chat",
        "address",
        lambda key, _: key,
    )
    for table, column, rest in (
        ("measurement", "slot", "k.name = c.name AND k.day = c.day AND k.slot = c.slot"),
        ("impulse", "key", "k.key = c.key"),
    ):
        await rename(
            tx,
            merge,
            f"""SELECT c.id, c.{column} FROM {table} c JOIN {table} k ON k.person = :person
               AND {rest} WHERE c.person = :former""",
            table,
            column,
            lambda key, old: f"{old!s}~{key}",
        )
    row = await tx.row(
        "SELECT coalesce(max(number), 0) FROM import_batch WHERE person = :person",
        person=merge.person,
    )
    imports = 0 if row is None else int(row[0])
    await rename(
        tx,
        merge,
        "SELECT id, number FROM import_batch WHERE person = :former ORDER BY number DESC",
        "import_batch",
        "number",
        lambda _, old: int(str(old)) + imports,
    )
    await rank_blocks(tx, merge)


async def rename(
    tx: Transaction,
    merge: PersonMerge,
    selection: str,
    name: str,
    column: str,
    change: Callable[[str, SqlValue], SqlValue],
) -> None:
    """Change a column of selected rows, and list what stood there."""
    for key, old in await tx.rows(selection, **pick(selection, merge)):
        await hold(tx, merge, name, key, {column: old})
        await tx.run(
            f"UPDATE {name} SET {column} = :new WHERE id = :row_key AND person = :former",
            new=change(key, old),
            row_key=key,
            former=merge.former,
        )


async def rank_blocks(tx: Transaction, merge: PersonMerge) -> None:
    """Make the former person's core blocks older versions of those of whoever is kept."""
    for name, version, newest in await tx.rows(
        """SELECT c.name, c.version, (SELECT max(n.version) FROM core_block n
             WHERE n.person = :former AND n.name = c.name)
           FROM core_block c WHERE c.person = :former AND EXISTS
             (SELECT 1 FROM core_block k WHERE k.person = :person AND k.name = c.name)
           ORDER BY c.name, c.version""",
        former=merge.former,
        person=merge.person,
    ):
        rank = version - newest
        await hold(tx, merge, "core_block", f"{name}/{rank}", {"version": version})
        await tx.run(
            """UPDATE core_block SET version = :rank
               WHERE person = :former AND name = :name AND version = :version""",
            rank=rank,
            former=merge.former,
            name=name,
            version=version,
        )


async def shift_packed(tx: Transaction, merge: PersonMerge) -> None:
    """Raise the message numbers in the packed columns of the former person."""
    by = merge.first_seq
    if by == 0:
        return
    await repack(
        tx,
        merge,
        ("model_call", "id", "shown"),
        lambda packed: pack_references(
            each + by if isinstance(each, int) else each for each in unpack_references(packed)
        ),
    )
    await repack(
        tx,
        merge,
        ("receipt", "id", "stood_on"),
        lambda packed: pack_sources(shift_items(unpack_sources(packed), by)),
    )
    traces = await tx.rows(
        "SELECT receipt, items, terms FROM receipt_trace WHERE person = :former",
        former=merge.former,
    )
    for receipt, items, terms in traces:
        packed, new_terms = pack_items(shift_items(unpack_items(items, terms), by))
        await tx.run(
            """UPDATE receipt_trace SET items = :items, terms = :terms
               WHERE receipt = :receipt AND person = :former""",
            items=packed,
            terms=new_terms,
            receipt=receipt,
            former=merge.former,
        )


def shift_items(items: Iterable[PackedItem], by: int) -> list[PackedItem]:
    """Return items with higher message numbers."""
    return [
        each._replace(reference=each.reference + by) if isinstance(each.reference, int) else each
        for each in items
    ]


async def repack(
    tx: Transaction,
    merge: PersonMerge,
    place: tuple[str, str, str],
    change: Callable[[bytes], bytes],
) -> None:
    """Change a packed column of all rows of the former person."""
    name, key, column = place
    rows = await tx.rows(
        f"SELECT {key}, {column} FROM {name} WHERE person = :former", former=merge.former
    )
    await tx.run_many(
        f"UPDATE {name} SET {column} = :packed WHERE {key} = :key AND person = :former",
        [
            {"packed": change(packed), "key": each, "former": merge.former}
            for each, packed in rows
            if packed
        ],
    )


async def move_back(tx: Transaction, merge: PersonMerge, name: str, *, now: Micros) -> None:
    """Give the former person back what was theirs, under a name. The caller holds the lock.

    What came since in their chats stays, in chats of its own.
    """
    counters = {
        "last_seq": merge.last_seq,
        "last_change": merge.last_change,
        "rewritten": int(str(merge.settings["rewritten"])) + 1,
    }
    await insert_row(tx, "person", {**merge.settings, "name": name, **counters})
    forgotten = await list_tombstones_since(tx, merge)
    for table in LISTED:
        condition = f"""{build_key(table.name)} IN
            (SELECT key FROM merged_row WHERE merge = :merge AND name = '{table.name}')"""
        await give_back(tx, merge, table.name, condition)
    for each, condition in FOUND_BY.items():
        await give_back(tx, merge, each, condition)
    await put_back(tx, merge)
    await share_tombstones(tx, merge, forgotten)
    await change_names(tx, merge, old=merge.person, new=merge.former)
    await separate_chats(tx, merge, now=now)
    await tx.run(
        """UPDATE person SET tokens = tokens - :tokens, rewritten = rewritten + 1
           WHERE id = :person""",
        tokens=merge.settings["tokens"],
        person=merge.person,
    )
    await mark_undone(tx, merge, now=now)


async def give_back(tx: Transaction, merge: PersonMerge, name: str, condition: str) -> None:
    """Make the rows that were the former person's theirs again."""
    sql = f"UPDATE {name} SET person = :former WHERE person = :person AND ({condition})"
    await tx.run(sql, **pick(sql, merge))


async def put_back(tx: Transaction, merge: PersonMerge) -> None:
    """Put back what stood in changed rows, and the rows that were set aside."""
    rows = await tx.rows(
        "SELECT name, key, held FROM merged_row WHERE merge = :merge AND held IS NOT NULL",
        merge=merge.id,
    )
    for name, key, text in rows:
        held: dict[str, SqlValue] = json.loads(text)
        if "person" in held:
            await insert_row(tx, name, held)
            continue
        changes = ", ".join(f"{each} = :{each}" for each in held)
        await tx.run(
            f"""UPDATE {name} SET {changes} WHERE person = :former
               AND {build_key(name)} = :row_key""",
            former=merge.former,
            row_key=key,
            **held,
        )


async def separate_chats(tx: Transaction, merge: PersonMerge, *, now: Micros) -> None:
    """Move what was said since, in chats that are the former person's again, to new ones."""
    tables = [each.name for each in STORED_TABLES if "chat" in each.columns]
    for chat, companion, channel, title in await tx.rows(
        "SELECT id, companion, channel, title FROM chat WHERE person = :former",
        former=merge.former,
    ):
        found = [
            await tx.row(
                f"SELECT 1 FROM {name} WHERE chat = :chat AND person = :person LIMIT 1",
                chat=chat,
                person=merge.person,
            )
            for name in tables
        ]
        if not any(found):
            continue
        other = new_id(now)
        row = {
            "id": other,
            "person": merge.person,
            "companion": companion,
            "channel": channel,
            "address": other,  # theirs is the former person's again: nothing goes there
            "title": title,
            "created_at": now,
        }
        await insert_row(tx, "chat", row)
        for name in tables:
            await tx.run(
                f"UPDATE {name} SET chat = :other WHERE chat = :chat AND person = :person",
                other=other,
                chat=chat,
                person=merge.person,
            )


async def rewind_beliefs(tx: Transaction, merge: PersonMerge) -> list[str]:
    """Take back what was decided since the merge about the former person's beliefs.

    Return the messages of whoever is kept that spoke for these beliefs. What was learned since
    from the former person's messages is deleted: they are read again.
    """
    theirs = """SELECT c.object FROM change c WHERE c.person = :person
        AND c.seq > :first_change AND c.seq <= :last_change"""
    listed = "SELECT key FROM merged_row WHERE merge = :merge AND name"
    since = f"""SELECT c.object FROM change c WHERE c.person = :person AND c.seq > :last_change
        AND c.base = 0 AND c.segment IN (SELECT g.id FROM segment g
          WHERE g.person = :person AND g.session IN ({listed} = 'session'))"""

    async def run(sql: str) -> None:
        at = {"at": merge.merged_at} if ":at" in sql else {}
        await tx.run(sql, **pick(sql, merge), **at)

    for name, column in BELIEF_TABLES.items():
        await run(f"DELETE FROM {name} WHERE person = :person AND {column} IN ({since})")
    await run(f"DELETE FROM change WHERE person = :person AND object IN ({since})")
    await run(
        f"DELETE FROM change WHERE person = :person AND seq > :last_change AND object IN ({theirs})"
    )
    await run(
        """UPDATE change SET ended_at = NULL WHERE person = :person AND ended_at >= :at
           AND seq > :first_change AND seq <= :last_change"""
    )
    await run(
        f"""UPDATE evidence SET withdrawn_at = NULL WHERE person = :person
           AND withdrawn_at >= :at AND id IN ({listed} = 'evidence')"""
    )
    foreign = f"""person = :person AND object IN ({theirs})
        AND id NOT IN ({listed} = 'evidence')"""
    sql = f"SELECT DISTINCT message FROM evidence WHERE {foreign}"
    messages = [str(row[0]) for row in await tx.rows(sql, **pick(sql, merge))]
    await run(f"DELETE FROM evidence WHERE {foreign}")
    return messages
