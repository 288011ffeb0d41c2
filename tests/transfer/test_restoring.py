"""Everything leaves as lines, and comes back exactly as it was."""

import json
from dataclasses import replace

import pytest

from oldfriend.domain.clock import EARLIEST, LATEST
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import Spoken
from oldfriend.memory.dump import FINDABLE, LEFT_OUT, TABLES
from oldfriend.memory.log import Place, edit_message, write_message
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_person,
    get_companion,
    rename_companion,
)
from oldfriend.memory.sessions import session_at
from oldfriend.transfer.exporting import TYPE
from oldfriend.transfer.formats.detection import find_format
from oldfriend.transfer.restoring import TABLE_NAMED, contents_of, is_our_export, restore

NOW = 1_760_000_000_000_000
VECTORS = "message_vector"


async def live_in(house, write):
    """Some of everything: an import, a talk, an edit, words that are never found, a memory."""
    path = write(
        "WhatsApp Chat with Ben.txt", "31/12/23, 21:05 - Ana: hi\n31/12/23, 23:05 - B: 猫 😀"
    )
    await house.bring_in(path)
    async with house.db.writing() as tx:
        ben = await ensure_person(tx, "Ben", now=NOW, zone="UTC")
        await tx.run(
            "INSERT INTO soul VALUES (:companion, 1, 'kind', 5)", companion=house.companion.id
        )
        for person in (house.person, ben):
            chat = await ensure_chat(
                tx, person, house.companion, channel="terminal", address="", title="", now=NOW
            )
            place = Place(chat=chat, session=await session_at(tx, chat, NOW))
            spoken = Spoken(
                role="person", speaker="x", text='a "b"\n\u2028c', at=NOW, trust="person",
                details={"reply_to": "1"},
            )  # fmt: skip
            message = await write_message(tx, place, spoken, now=NOW)
            await write_message(tx, place, spoken, now=NOW, findable=False)
            await edit_message(tx, person.id, message.id, "edited", now=NOW)
            values = {"person": person.id, "id": f"r-{person.name}"}
            await tx.run(
                "INSERT INTO receipt VALUES (:id, :person, :id, 'a', 1, 'b', 5, '{}')", **values
            )
            await tx.run(
                """INSERT INTO receipt_item VALUES (:id, 1, :person, 'message', 'a', 1, 1,
                   0.1, 'said')""",
                **values,
            )
            await tx.run(
                """INSERT INTO memory (id, person, kind, text, language, learned_at, change_seq)
                   VALUES (:id, :person, 'note', 'swims', 'en', 5, 1)""",
                **values,
            )
            await tx.run(
                """INSERT INTO change VALUES (:person, 1, 'x', 'note', 'learned', 1, 5, NULL,
                   '{}', '[]', 'rule', NULL, 0, NULL)""",
                person=person.id,
            )
            await tx.run(
                """INSERT INTO evidence VALUES (:id, :person, 'x', 'a', 1, 'q', 'x', 'person',
                   'explicit', 5, NULL, 'supports', 0.7, 'rules/1', NULL)""",
                **values,
            )
            await tx.run(
                """INSERT INTO entity VALUES (:id, :person, 'Ana', 'person', '["Anita"]', '',
                   'confirmed', NULL, 0, 0, 5, NULL, 2)""",
                **values,
            )
            await tx.run(
                """INSERT INTO summary VALUES (:id, :person, 1, 'swam', 'en', '[]', '["g"]', '[]',
                   5, 6, 1, 5, NULL, 3)""",
                **values,
            )
            await tx.run(
                """INSERT INTO segment VALUES (:id, :person, :chat, :session, 1, 2, 2, 9, 5, 6, 1,
                   'done', 'idle', 7, 'rules/1', '{}', NULL, 8, 'calm', 5, 'warm')""",
                **values,
                chat=message.chat,
                session=message.session,
            )
            await tx.run(
                "INSERT INTO core_block VALUES (:person, 'persona', 1, 'Ada', 5)",
                person=person.id,
            )
            await tx.run(
                """INSERT INTO suggestion VALUES (:id, :person, 'user', 'Swims.', '', 'Said so.',
                   '["m"]', 'reflect/1', 'declined', 5, 6, NULL)""",
                **values,
            )
            await tx.run("INSERT INTO identity VALUES ('terminal', :id, :person, 5)", **values)
            await tx.run(
                """INSERT INTO model_call VALUES (:id, :person, NULL, NULL, 0, 'x', 'reply',
                   'reply/1', 'a:b', 'done', '[]', '{}', NULL, 1, 0, 1, NULL, 5, 0, 5, NULL)""",
                **values,
            )
            await tx.run(
                """INSERT INTO tool_call VALUES (:person, :id, 0, 'note', 'once', '{}', NULL, 5,
                   NULL)""",
                **values,
            )
            await tx.run(
                "INSERT INTO delivered VALUES (:person, :id, 0, 0, 'c', 'message:7:1', 5)",
                **values,
            )
            await tx.run(
                """INSERT INTO tick VALUES (:id, :person, 'reflection', 'timer', 5, 9, 3, '{}',
                   NULL, '["m"]', '{"shown": [], "answered": ["hm"]}')""",
                **values,
            )
            await tx.run("INSERT INTO tombstone VALUES (:person, 'f00d', 5)", person=person.id)
            await tx.run(
                "INSERT INTO audit VALUES (:id, :person, 5, 'forget', '{}', 'f00d')", **values
            )
            await tx.run("INSERT INTO message_vector VALUES (:person, 'm', 1, :bytes)",
                         person=person.id, bytes=bytes(1))  # fmt: skip


async def everything_in(db):
    async with db.reading() as tx:
        return {
            table.name: sorted(await tx.rows(f"SELECT * FROM {table.name}"), key=repr)
            for table in await tx.tables()
        }


async def test_everything_comes_back_exactly_as_it_was(house, write, empty, tmp_path):
    await live_in(house, write)
    path = await house.export_to(tmp_path / "all.jsonl")
    restored = await restore(empty, path)

    before, after = await everything_in(house.db), await everything_in(empty)
    assert before.pop(VECTORS)
    assert after.pop(VECTORS) == []
    assert {name for name, rows in before.items() if not rows} <= LEFT_OUT.keys()
    assert after == before
    assert restored.rows == sum(len(rows) for rows in before.values())
    assert set(restored.people) == {row[0] for row in before["person"]}


async def test_one_person_leaves_without_the_others(house, write, empty, tmp_path):
    await live_in(house, write)
    path = await house.export_to(tmp_path / "one.jsonl", person=house.person.id)
    assert "Ben" not in path.read_text().replace("Chat with Ben", "").replace(
        '"title": "Ben"', ""
    ).replace('"address": "Ben"', "")
    await restore(empty, path)

    before, after = await everything_in(house.db), await everything_in(empty)
    for table in TABLES:
        if table.person is not None:
            place = 0 if table.name == "person" else list(table.columns).index(table.person)
            mine = [row for row in before[table.name] if row[place] == house.person.id]
            assert after[table.name] == mine


async def test_more_rows_than_are_read_at_once_come_back(house, write, empty, tmp_path):
    lines = [f'{{"speaker": "A", "at": "2024-01-01", "text": "{n}"}}' for n in range(2500)]
    await house.bring_in(write("talk.jsonl", "\n".join(lines)))
    await restore(empty, await house.export_to(tmp_path / "all.jsonl"))

    assert (await everything_in(empty))["message"] == (await everything_in(house.db))["message"]


async def test_the_list_of_tables_and_columns_is_complete(house):
    """A column that a migration adds must not be lost by an export."""
    async with house.db.reading() as tx:
        found = {
            table.name: set(table.columns)
            for table in await tx.tables()
            if table.name not in LEFT_OUT
        }

    listed = {table.name: set(table.columns) for table in TABLES}
    listed["message"] = listed["message"] - {FINDABLE} | {"imprint"}
    assert listed == found


async def test_a_store_that_holds_something_is_left_alone(house, write, tmp_path):
    await live_in(house, write)
    before = await everything_in(house.db)
    with pytest.raises(ImportRefused, match="empty store"):
        await restore(house.db, await house.export_to(tmp_path / "all.jsonl"))

    assert await everything_in(house.db) == before


async def test_a_store_that_was_opened_or_emptied_again_holds_nothing(
    house, write, empty, tmp_path
):
    """A chat that was opened and left, an import that was taken out."""
    await live_in(house, write)
    path = await house.export_to(tmp_path / "all.jsonl")
    async with empty.writing() as tx:
        person = await ensure_person(tx, "Eve", now=NOW, zone="UTC")
        companion = await ensure_companion(tx, now=NOW)
        chat = await ensure_chat(
            tx, person, companion, channel="terminal", address="", title="", now=NOW
        )
        await session_at(tx, chat, NOW)
    other = replace(house, db=empty, person=person, companion=companion)
    await other.bring_in(write("talk.txt", "31/12/23, 21:05 - Eve: hi"))
    await other.undo(1)
    await restore(empty, path)

    before, after = await everything_in(house.db), await everything_in(empty)
    assert {**after, VECTORS: before[VECTORS]} == before


async def test_the_companion_comes_back_under_its_name(house, empty, tmp_path):
    """Also where it was spoken to already, under its first one."""
    async with house.db.writing() as tx:
        named = await rename_companion(tx, house.companion, "Mira")
    async with empty.writing() as tx:
        await ensure_companion(tx, now=NOW)
    await restore(empty, await house.export_to(tmp_path / "all.jsonl"))

    async with empty.reading() as tx:
        assert await get_companion(tx) == named


async def test_an_export_tells_what_is_in_it(house, write, tmp_path):
    """Without a store to bring it to."""
    await live_in(house, write)
    contents = contents_of(await house.export_to(tmp_path / "all.jsonl"))

    assert sorted(contents.people) == ["Ana", "Ben"]
    assert contents.rows == {
        name: len(rows)
        for name, rows in (await everything_in(house.db)).items()
        if name not in LEFT_OUT
    }


def change_line(lines, number, **changes):
    fields = json.loads(lines[number])
    for name, value in changes.items():
        if value is ...:
            del fields[name]
        else:
            fields[name] = value
    lines[number] = json.dumps(fields)


@pytest.mark.parametrize(
    ("spoil", "line", "expected"),
    [
        (lambda lines: change_line(lines, 0, version=2), 1, '"version": 1'),
        (lambda lines: change_line(lines, 1, type="toaster"), 2, "companion, person"),
        (lambda lines: change_line(lines, 1, colour="red"), 2, "introduced_at"),
        (lambda lines: change_line(lines, 1, name=...), 2, "introduced_at"),
        (lambda lines: change_line(lines, 1, name=5), 2, "a text"),
        (lambda lines: change_line(lines, 1, name="\ud800"), 2, "a text"),
        (lambda lines: change_line(lines, 1, created_at=True), 2, "a whole number"),
        (lambda lines: change_line(lines, 1, created_at=1 << 63), 2, "a whole number"),
        (lambda lines: change_line(lines, 1, created_at=1.5), 2, "a whole number"),
        (lambda lines: change_line(lines, 1, created_at=LATEST + 1), 2, "years 2 to 9998"),
        (lambda lines: change_line(lines, 1, introduced_at=EARLIEST - 1), 2, "years 2 to 9998"),
        (lambda lines: lines.insert(1, "{"), 2, "a JSON object"),
        (lambda lines: lines.insert(1, "[]"), 2, "a JSON object"),
        (lambda lines: lines.insert(2, lines[1]), None, "rows"),
        (lambda lines: lines.pop(2), None, "rows"),
        (lambda lines: lines.pop(), None, "a last line"),
        (lambda lines: lines.append(lines[1]), None, "nothing"),
    ],
)
async def test_a_damaged_export_changes_nothing(
    house, write, empty, tmp_path, spoil, line, expected
):
    await live_in(house, write)
    path = await house.export_to(tmp_path / "all.jsonl")
    before = await everything_in(empty)
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    spoil(lines)
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ImportRefused) as refused:
        await restore(empty, path)

    assert line in {None, refused.value.line}
    assert expected in str(refused.value.expected)
    assert await everything_in(empty) == before


async def test_rows_that_contradict_each_other_are_refused(house, write, empty, tmp_path):
    """Counted right, but one row twice: the store's own rules notice."""
    await live_in(house, write)
    path = await house.export_to(tmp_path / "all.jsonl")
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    lines[3] = lines[2]
    path.write_text("\n".join(lines), encoding="utf-8")
    before = await everything_in(empty)
    with pytest.raises(ImportRefused, match="does not fit"):
        await restore(empty, path)

    assert await everything_in(empty) == before


async def test_an_export_is_known_as_one(house, write, tmp_path):
    path = await house.export_to(tmp_path / "all.jsonl")

    assert is_our_export(path)
    assert not is_our_export(write("talk.jsonl", '{"text": "hi"}'))
    assert not is_our_export(tmp_path)
    assert not is_our_export(tmp_path / "none")


async def test_an_export_is_no_list_of_messages(house, tmp_path):
    """Even by its name it is not read as one."""
    path = await house.export_to(tmp_path / "all.jsonl")
    with pytest.raises(ImportRefused):
        list(find_format(path).messages([].append))


async def test_an_export_of_before_comes_back_with_what_is_new_filled_in(
    house, write, empty, tmp_path
):
    """Columns that were renamed or added since then do not stand in its way."""
    await live_in(house, write)
    path = await house.export_to(tmp_path / "all.jsonl")
    new = {
        "memory": TABLE_NAMED["memory"].defaults, "evidence": TABLE_NAMED["evidence"].defaults,
        "change": TABLE_NAMED["change"].defaults,
    }  # fmt: skip
    lines = []
    for line in path.read_text("utf-8").split("\n")[:-1]:
        row = json.loads(line)
        row = {name: row[name] for name in row if name not in new.get(row.get(TYPE), {})}
        if row.get(TYPE) == "evidence":
            row["memory"] = row.pop("object")
        lines.append(json.dumps(row))
    path.write_text("\n".join(lines) + "\n", "utf-8")

    await restore(empty, path)

    async with empty.reading() as tx:
        (row,) = await tx.rows("SELECT object, stance, confidence FROM evidence LIMIT 1")
        assert row == ("x", "supports", 1.0)
        rows = await tx.rows("SELECT text, status, importance FROM memory")
        assert set(rows) == {("swims", "active", 0.5)}
