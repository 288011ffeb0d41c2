"""Everything leaves as lines, and comes back exactly as it was."""

import json
import re
from dataclasses import replace

import pytest

from oldfriend.db.message_numbers import pack_ids
from oldfriend.db.stored_tables import EXPORTED_TABLES, STORED_TABLES
from oldfriend.domain.clock import MAX_TIME, MIN_TIME
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.memory.message_log import WriteTarget, edit_message, write_message
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_person,
    get_companion,
    list_people,
    rename_companion,
)
from oldfriend.memory.receipts import Receipt, ReceiptItem, find_receipt, write_receipt
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.memory.table_dump import list_dump_columns
from oldfriend.search import Reason
from oldfriend.transfer.export_run import TYPE_KEY
from oldfriend.transfer.formats.format_detection import detect_format
from oldfriend.transfer.restore import (
    RESTORABLE_TABLES,
    is_oldfriend_export,
    load_contents,
    restore,
)

NOW = 1_760_000_000_000_000
VECTORS = "message_vector"


async def live_in(install, write):
    """Some of everything: an import, a talk, an edit, words that are never found, a memory."""
    path = write(
        "WhatsApp Chat with Ben.txt", "31/12/23, 21:05 - Ana: hi\n31/12/23, 23:05 - B: 猫 😀"
    )
    await install.bring_in(path)
    async with install.db.begin_write() as tx:
        ben = await ensure_person(tx, "Ben", now=NOW, zone="UTC")
        await tx.run(
            "INSERT INTO soul VALUES (:companion, 1, 'kind', 5)", companion=install.companion.id
        )
        for person in (install.person, ben):
            chat = await ensure_chat(
                tx, person, install.companion, channel="terminal", address="", title="", now=NOW
            )
            place = WriteTarget(chat=chat, session=await ensure_open_session(tx, chat, NOW))
            spoken = UnloggedMessage(
                role="person",
                speaker="x",
                text='a "b"\n\u2028c',
                at=NOW,
                trust="person",
                details={"reply_to": "1"},
            )
            message = await write_message(tx, place, spoken, now=NOW)
            await write_message(tx, place, spoken, now=NOW, is_searchable=False)
            await edit_message(tx, person.id, message.id, "edited", now=NOW)
            values = {"person": person.id, "id": f"r-{person.name}"}
            await write_receipt(tx, receipt_in(person.id, message))
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
                """INSERT INTO diary_entry VALUES (:id, :person, 'We swam', '2024-05-03', 5, 'UTC',
                   5, 5, 'Beach', 'Faro', '', '["sea"]', '{}', 'told', :message, :seq)""",
                **values,
                message=message.id,
                seq=message.seq,
            )
            await tx.run(
                """INSERT INTO measurement VALUES (:id, :person, 'weight', '2024-05-03', '', 5,
                   'UTC', 71.4, 'kg', NULL, '', 'told', :message, :seq, 5)""",
                **values,
                message=message.id,
                seq=message.seq,
            )
            await tx.run(
                """INSERT INTO task VALUES (:id, :person, NULL, :message, :seq, 'call mum', 'at 10',
                   'en', 'reminder', 'open', NULL, 7, 7, 'UTC', 0, 'FREQ=DAILY', 5, 5, NULL,
                   :id, :id, 'uid', '{}', 3600)""",
                **values,
                message=message.id,
                seq=message.seq,
            )
            await tx.run(
                """INSERT INTO project VALUES (:id, :person, 'Garden', 'Be patient', :message,
                   :seq, 5, 5)""",
                **values,
                message=message.id,
                seq=message.seq,
            )
            await tx.run("INSERT INTO project_span VALUES (:id, 1, 3, :person, :id)", **values)
            await tx.run(
                """INSERT INTO goal (id, person, message, message_seq, text, language, kind, status,
                     priority, times, period, next_action, zone, created_at, changed_at)
                   VALUES (:id, :person, :message, :seq, 'run', 'en', 'general', 'active', 0, 2,
                     'week', '', 'UTC', 5, 5)""",
                message=message.id,
                seq=message.seq,
                **values,
            )
            await tx.run(
                "INSERT INTO goal_progress VALUES (:id, :person, :id, :message, :seq, 5, 3)",
                message=message.id,
                seq=message.seq,
                **values,
            )
            await tx.run(
                """INSERT INTO watch (id, person, message, message_seq, text, language, url,
                     condition, status, seen, failures, next_check_at, created_at, changed_at)
                   VALUES (:id, :person, :message, :seq, 'the fare', 'en', 'https://example.org',
                     'changes', 'active', '', 0, 9, 5, 5)""",
                message=message.id,
                seq=message.seq,
                **values,
            )
            await tx.run(
                """INSERT INTO skill VALUES (:id, :person, 'Letters', 'Short', 1, :message, :seq,
                   5, 5)""",
                **values,
                message=message.id,
                seq=message.seq,
            )
            await tx.run(
                """INSERT INTO limitation VALUES (:id, :person, 'Scans', 'Read them', '', 1,
                   :message, :seq, 5, 5)""",
                **values,
                message=message.id,
                seq=message.seq,
            )
            await tx.run("INSERT INTO hint_progress VALUES (:person, 2, 0, 5)", person=person.id)
            await tx.run(
                """INSERT INTO model_call VALUES (:id, :person, NULL, NULL, 0, 'x', 'reply',
                   'reply/1', 'a:b', 'done', :shown, '{}', NULL, 1, 0, 1, NULL, NULL, 5, 0, 5)""",
                **values,
                shown=await pack_ids(tx, person.id, [message.id, new_id(1)]),
            )
            await tx.run(
                """INSERT INTO tool_call VALUES (:person, :id, 0, 'note', 'once', '{}', NULL, 5,
                   NULL)""",
                **values,
            )
            await tx.run(
                """INSERT INTO tool_use VALUES (:id, :person, 't', 'weather', 'done', 'question',
                   '{"place": "Porto"}', 'rain', '[]', 1, 12, 5)""",
                **values,
            )
            await tx.run(
                """INSERT INTO program_question VALUES (:id, :person, 'Claude', 'recall', 'Who?',
                   '[]', 5)""",
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
            await tx.run(
                """INSERT INTO proactive_setting
                   VALUES (:person, 'shy', 1320, 480, 'off', '[]', 5, 'weekly')""",
                person=person.id,
            )
            await tx.run(
                """INSERT INTO impulse VALUES (:id, :person, 'promise', 'promise:x', 'said',
                   '["x"]', 5, 6, 0.9, 0.5, 5, 6, 'a', '[[6, "say", "trigger", null]]')""",
                **values,
            )
            await tx.run("INSERT INTO tombstone VALUES (:person, 'f00d', 5)", person=person.id)
            await tx.run(
                "INSERT INTO audit VALUES (:id, :person, 5, 'forget', '{}', 'f00d', 6)", **values
            )
            await tx.run(
                "INSERT INTO message_vector VALUES (:person, 'm', 1, :bytes)",
                person=person.id,
                bytes=bytes(1),
            )


def receipt_in(person, message):
    """A reply that stood on a message and on a belief, with all that a trace can hold."""
    why = (Reason(cause="words", words=("said", "猫"), name="Ana", strength=0.1234),)
    belief = new_id(1)
    return Receipt(
        id=new_id(NOW),
        person=person,
        turn=new_id(NOW),
        asked=message.id,
        asked_seq=message.seq,
        replied="b",
        made_at=NOW,
        details={
            "intent": "question",
            "context": {
                "tokens": {"rules": 1},
                "dropped": {
                    "beliefs": [belief],
                    "memories": ["elsewhere"],
                },
            },
        },
        items=(
            ReceiptItem(
                kind="message",
                object=message.id,
                version=1,
                used=True,
                score=0.5,
                reasons=why,
                is_cited=True,
            ),
            ReceiptItem(kind="memory", object=belief, version=7, used=False, score=2, reasons=()),
        ),
    )


NOT_EXPORTED = {table.name for table in STORED_TABLES if table.not_exported}


async def everything_in(db):
    async with db.begin_read() as tx:
        return {
            table.name: sorted(await tx.rows(f"SELECT * FROM {table.name}"), key=repr)
            for table in await tx.list_tables()
        }


async def test_restored_export_has_identical_rows(install, write, empty, tmp_path):
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    restored = await restore(empty, path)

    before, after = await everything_in(install.db), await everything_in(empty)
    assert before.pop(VECTORS)
    assert after.pop(VECTORS) == []
    assert {name for name, rows in before.items() if not rows} <= NOT_EXPORTED
    assert after == before
    assert restored.rows == sum(len(rows) for rows in before.values())
    assert set(restored.people) == {row[0] for row in before["person"]}


async def test_export_of_one_person_excludes_other_people(install, write, empty, tmp_path):
    await live_in(install, write)
    path = await install.export_to(tmp_path / "one.jsonl", person=install.person.id)
    assert "Ben" not in path.read_text().replace("Chat with Ben", "").replace(
        '"title": "Ben"', ""
    ).replace('"address": "Ben"', "")
    await restore(empty, path)

    before, after = await everything_in(install.db), await everything_in(empty)
    for table in EXPORTED_TABLES:
        if table.person_column is not None:
            place = 0 if table.name == "person" else list(table.columns).index(table.person_column)
            mine = [row for row in before[table.name] if row[place] == install.person.id]
            assert after[table.name] == mine


@pytest.mark.slow
async def test_export_larger_than_one_batch_is_restored(install, write, empty, tmp_path):
    lines = [f'{{"speaker": "A", "at": "2024-01-01", "text": "{n}"}}' for n in range(2500)]
    await install.bring_in(write("talk.jsonl", "\n".join(lines)))
    await restore(empty, await install.export_to(tmp_path / "all.jsonl"))

    assert (await everything_in(empty))["message"] == (await everything_in(install.db))["message"]


async def test_restore_into_a_nonempty_store_is_refused(install, write, tmp_path):
    await live_in(install, write)
    before = await everything_in(install.db)
    with pytest.raises(ImportRefused, match="empty store"):
        await restore(install.db, await install.export_to(tmp_path / "all.jsonl"))

    assert await everything_in(install.db) == before


async def test_restore_into_a_store_without_messages_is_allowed(install, write, empty, tmp_path):
    """A chat that was opened and left, an import that was taken out."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    async with empty.begin_write() as tx:
        person = await ensure_person(tx, "Eve", now=NOW, zone="UTC")
        companion = await ensure_companion(tx, now=NOW)
        chat = await ensure_chat(
            tx, person, companion, channel="terminal", address="", title="", now=NOW
        )
        await ensure_open_session(tx, chat, NOW)
    other = replace(install, db=empty, person=person, companion=companion)
    await other.bring_in(write("talk.txt", "31/12/23, 21:05 - Eve: hi"))
    await other.undo(1)
    await restore(empty, path)

    before, after = await everything_in(install.db), await everything_in(empty)
    assert {**after, VECTORS: before[VECTORS]} == before


async def test_restore_keeps_the_companion_name(install, empty, tmp_path):
    """Also where it was spoken to already, under its first one."""
    async with install.db.begin_write() as tx:
        named = await rename_companion(tx, install.companion, "Mira")
    async with empty.begin_write() as tx:
        await ensure_companion(tx, now=NOW)
    await restore(empty, await install.export_to(tmp_path / "all.jsonl"))

    async with empty.begin_read() as tx:
        assert await get_companion(tx) == named


async def test_load_contents_lists_people_and_row_counts_of_an_export(install, write, tmp_path):
    """Without a store to bring it to."""
    await live_in(install, write)
    contents = load_contents(await install.export_to(tmp_path / "all.jsonl"))

    assert sorted(contents.people) == ["Ana", "Ben"]
    assert contents.rows == {
        name: len(rows)
        for name, rows in (await everything_in(install.db)).items()
        if name not in NOT_EXPORTED
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
        (lambda lines: change_line(lines, 1, created_at=MAX_TIME + 1), 2, "years 2 to 9998"),
        (lambda lines: change_line(lines, 1, introduced_at=MIN_TIME - 1), 2, "years 2 to 9998"),
        (lambda lines: lines.insert(1, "{"), 2, "a JSON object"),
        (lambda lines: lines.insert(1, "[]"), 2, "a JSON object"),
        (lambda lines: lines.insert(2, lines[1]), None, "rows"),
        (lambda lines: lines.pop(2), None, "rows"),
        (lambda lines: lines.pop(), None, "a last line"),
        (lambda lines: lines.append(lines[1]), None, "nothing"),
    ],
)
async def test_damaged_export_is_refused_and_changes_nothing(
    install, write, empty, tmp_path, spoil, line, expected
):
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    before = await everything_in(empty)
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    spoil(lines)
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ImportRefused) as refused:
        await restore(empty, path)

    assert line in {None, refused.value.line}
    assert expected in str(refused.value.expected)
    assert await everything_in(empty) == before


async def test_export_with_infinite_nan_or_oversized_number_is_refused(
    install, write, empty, tmp_path
):
    """Larger than any, or with more digits than anybody reads."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    whole = path.read_text(encoding="utf-8")
    before = await everything_in(empty)
    for number in ("1e999999", "NaN", "7" * 10_000):
        path.write_text(re.sub(r'"confidence": [\d.]+', f'"confidence": {number}', whole))
        with pytest.raises(ImportRefused) as refused:
            await restore(empty, path)
        assert refused.value.line is not None

    assert await everything_in(empty) == before


async def test_export_with_a_duplicate_row_is_refused(install, write, empty, tmp_path):
    """Counted right, but one row twice: the store's own rules notice."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    lines[3] = lines[2]
    path.write_text("\n".join(lines), encoding="utf-8")
    before = await everything_in(empty)
    with pytest.raises(ImportRefused, match="does not fit"):
        await restore(empty, path)

    assert await everything_in(empty) == before


async def test_oldfriend_export_is_recognized(install, write, tmp_path):
    path = await install.export_to(tmp_path / "all.jsonl")

    assert is_oldfriend_export(path)
    assert not is_oldfriend_export(write("talk.jsonl", '{"text": "hi"}'))
    assert not is_oldfriend_export(tmp_path)
    assert not is_oldfriend_export(tmp_path / "none")


async def test_oldfriend_export_is_not_parsed_as_a_message_list(install, tmp_path):
    """Even by its name it is not read as one."""
    path = await install.export_to(tmp_path / "all.jsonl")
    with pytest.raises(ImportRefused):
        list(detect_format(path).parse([].append))


async def test_older_export_with_unpacked_receipt_items_is_restored(
    install, write, empty, tmp_path
):
    """Each item was a row then; what a reply stood on is the same, in the same order."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    lines, rows = [], 0
    for line in path.read_text("utf-8").split("\n")[:-1]:
        row = json.loads(line)
        match row.get(TYPE_KEY):
            case "receipt":
                del row["stood_on"]
            case "receipt_trace":
                for ordinal, item in enumerate(json.loads(row["items"])):
                    del item["is_cited"]
                    lines.append(
                        json.dumps(
                            {
                                TYPE_KEY: "receipt_item",
                                "receipt": row["receipt"],
                                "ordinal": ordinal,
                                "person": row["person"],
                                **item,
                                "used": int(item["used"]),
                                "why": json.dumps(item["why"]),
                            }
                        )
                    )
                    rows += 1
                continue
            case None if "rows" in row:
                row["rows"] += rows - 2
        lines.append(json.dumps(row))
    path.write_text("\n".join(lines) + "\n", "utf-8")

    await restore(empty, path)

    async with install.db.begin_read() as here, empty.begin_read() as there:
        for person in (each.id for each in await list_people(here)):
            before, after = await find_receipt(here, person), await find_receipt(there, person)
            assert after.details == {"intent": "question"}
            assert after.items == tuple(replace(each, is_cited=None) for each in before.items)


async def test_older_export_is_restored_with_renamed_and_default_columns(
    install, write, empty, tmp_path
):
    """Columns that were renamed or added since then do not stand in its way."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    new = {
        "memory": RESTORABLE_TABLES["memory"].defaults,
        "evidence": RESTORABLE_TABLES["evidence"].defaults,
        "change": RESTORABLE_TABLES["change"].defaults,
        "goal_progress": RESTORABLE_TABLES["goal_progress"].defaults,
        "proactive_setting": RESTORABLE_TABLES["proactive_setting"].defaults,
    }
    lines = []
    for line in path.read_text("utf-8").split("\n")[:-1]:
        row = json.loads(line)
        row = {name: row[name] for name in row if name not in new.get(row.get(TYPE_KEY), {})}
        if row.get(TYPE_KEY) == "evidence":
            row["memory"] = row.pop("object")
        lines.append(json.dumps(row))
    path.write_text("\n".join(lines) + "\n", "utf-8")

    await restore(empty, path)

    async with empty.begin_read() as tx:
        (row,) = await tx.rows("SELECT object, stance, confidence FROM evidence LIMIT 1")
        assert row == ("x", "supports", 1.0)
        rows = await tx.rows("SELECT text, status, importance FROM memory")
        assert set(rows) == {("swims", "active", 0.5)}


async def test_restored_old_receipts_and_answers_get_the_current_retention(
    install, write, empty, tmp_path
):
    """Before traces, what was understood stood in the receipt, and answers outlived their turns."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    rows = [row for row in rows if row.get(TYPE_KEY) != "receipt_trace"]
    kinds = list_dump_columns(RESTORABLE_TABLES["model_call"])
    for number, row in enumerate([row for row in rows if row.get(TYPE_KEY) == "receipt"]):
        row["details"] = '{"intent": "question", "understood": {"emotion": "sad"}}'
        call = {name: {"int": 0, "text": ""}.get(kind) for name, kind in kinds.items()}
        call |= {"id": f"call-{number}", "person": row["person"], "turn": row["turn"]}
        call |= {"purpose": "reply", "shown": "[]", "answer": '{"text": "Cheer up."}', "cost": 0}
        rows.insert(-1, {TYPE_KEY: "model_call", **call})
    rows[-1]["rows"] = len(rows) - 2
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    await restore(empty, path)

    async with empty.begin_read() as tx:
        for person in (each.id for each in await list_people(tx)):
            kept = await tx.rows("SELECT details FROM receipt WHERE person = :whose", whose=person)
            receipt = await find_receipt(tx, person)
            assert kept == [('{"intent":"question"}',)]
            assert receipt.details["understood"] == {"emotion": "sad"}
        of_turns = await tx.rows("SELECT answer FROM model_call WHERE id LIKE 'call-%'")
        assert set(of_turns) == {(None,)}


@pytest.mark.parametrize("kind", ["receipt", "receipt_trace"])
async def test_export_with_malformed_receipt_details_is_refused(
    install, write, empty, tmp_path, kind
):
    """Not with an error of the program."""
    await live_in(install, write)
    path = await install.export_to(tmp_path / "all.jsonl")
    lines = path.read_text("utf-8").split("\n")
    (first, *_) = (n for n, line in enumerate(lines) if f'"type": "{kind}"' in line)
    change_line(lines, first, details="[]")
    path.write_text("\n".join(lines), "utf-8")

    with pytest.raises(ImportRefused, match=f"row of {kind}"):
        await restore(empty, path)
