"""Stored tables: every table and column, whose it is, what it holds, and what becomes of it.

The one list that forgetting, its verification, exports, restoring and replaying read. A test holds
it against the schema of both engines, so that no new column is missing here.
"""

from types import MappingProxyType
from typing import Final

from oldfriend.db.stored_table import ErasureRule, StoredTable, parse_columns
from oldfriend.db.working_tables import WORKING_TABLES

STORED_TABLES: Final = (
    StoredTable(
        name="companion",
        person_column=None,
        columns=parse_columns("id text, name name, created_at int, introduced_at int?"),
        stays="the name of the companion is the owner's choice",
    ),
    StoredTable(
        name="person",
        person_column="id",
        columns=parse_columns(
            """id text, name name, is_owner int, language code?, zone code, created_at int,
            last_seq int, tokens int, last_change int, rewritten int, embedded int,
            weighed int, read_every int?, has_said_zone int,
            has_fixed_language int"""
        ),
        defaults={
            "weighed": 0,
            "read_every": None,
            "has_said_zone": 0,
            "has_fixed_language": 0,
        },
        stays="whose memory it is",
    ),
    StoredTable(
        name="identity",
        key_columns=("channel", "address"),
        columns=parse_columns("channel code, address name, person text, created_at int"),
        stays="by which the person is recognized",
    ),
    StoredTable(
        name="chat",
        columns=parse_columns(
            """id text, person text, companion text, channel code, address name, title name,
            created_at int"""
        ),
        erasure_rules=(
            ErasureRule(searched=("title",), names_only=True, replace={"title": "channel"}),
            ErasureRule(searched=("address",), names_only=True, replace={"address": "id"}),
        ),
    ),
    StoredTable(
        name="session",
        columns=parse_columns(
            """id text, person text, companion text, chat text, status code, opened_at int,
            closed_at int?, close_trigger text?, after_seq int, after_tokens int,
            external_id words?, batch text?"""
        ),
        erasure_rules=(ErasureRule(searched=("external_id",), replace={"external_id": "NULL"}),),
    ),
    StoredTable(
        name="message",
        key_columns=("person", "seq"),
        columns=parse_columns(
            """id text, version int, person text, seq int, chat text, session text, role
            text, author text, speaker name, trust text, text words, said_at int, zone
            code, language code, tokens int, turn text?, external_id words?, batch text?,
            details words?, imprint terms, written_at int, replaced_at int?"""
        ),
        goes_with={"message": ("seq",)},
        erasure_rules=(ErasureRule(searched=("external_id",), replace={"external_id": "NULL"}),),
        erased_by="redact_replies",
    ),
    StoredTable(
        name="core_block",
        key_columns=("person", "name", "version"),
        columns=parse_columns("person text, name text, version int, text words, written_at int"),
        erasure_rules=(
            ErasureRule(
                searched=("text",),
                with_request=True,
                newest_of=("name",),
                goes_with_everything=True,
            ),
        ),
    ),
    StoredTable(
        name="soul",
        key_columns=("companion", "version"),
        person_column=None,
        columns=parse_columns("companion text, version int, text words, read_at int"),
        erased_by="erase_persona_versions",
    ),
    StoredTable(
        name="suggestion",
        columns=parse_columns(
            """id text, person text, block text, text words, replaces words, reason words,
            cites text, author text, status code, made_at int, decided_at int?, version
            int?"""
        ),
        not_replayed="cite beliefs of the first database",
        erasure_rules=(
            ErasureRule(
                searched=("text", "replaces", "reason"),
                with_request=True,
                cites="cites",
                goes_with_everything=True,
            ),
        ),
    ),
    StoredTable(
        name="import_batch",
        columns=parse_columns(
            """id text, person text, number int, file name, format text, sha256 text, me
            name, zone code, status code, position int, added int, known int, started_at
            int, ended_at int?"""
        ),
        erasure_rules=(
            ErasureRule(searched=("file",), names_only=True, replace={"file": "format"}),
        ),
        erased_by="refresh_batches",
    ),
    StoredTable(
        name="change",
        key_columns=("person", "seq"),
        columns=parse_columns(
            """person text, seq int, object text, kind code, op text, v int, learned_at int,
            ended_at int?, after words, cause text, author text, model_call text?, base
            int, segment text?"""
        ),
        is_journal=True,
        defaults={"segment": None},
        goes_with={"belief": ("object",)},
        erased_by="purge_journal",
    ),
    StoredTable(
        name="memory",
        columns=parse_columns(
            """id text, person text, kind code, text words, language code, learned_at int,
            ended_at int?, change_seq int, subject text, trust text, key words, value
            words, pattern words?, impact int, tags words, relational text, arousal int?,
            cues words, importance real, status code, happened_at int?,
            happened_until int?, holds_from int?, holds_until int?, due_at int?,
            grain code, zone code, entities text, relations text, is_pinned int, is_by_person int,
            vouched_at int?, strength real, confidence real, times_seen int,
            first_seen int?, last_seen int?, weighed int"""
        ),
        not_replayed="derived anew",
        defaults={
            "subject": "person",
            "trust": "person",
            "key": "",
            "value": "",
            "pattern": None,
            "impact": 0,
            "tags": "[]",
            "relational": "[]",
            "importance": 0.5,
            "arousal": None,
            "cues": "[]",
            "status": "active",
            "happened_at": None,
            "happened_until": None,
            "holds_from": None,
            "holds_until": None,
            "due_at": None,
            "grain": "",
            "zone": "",
            "entities": "[]",
            "relations": "[]",
            "is_pinned": 0,
            "is_by_person": 0,
            "vouched_at": None,
            "strength": 1.0,
            "confidence": 1.0,
            "times_seen": 0,
            "first_seen": None,
            "last_seen": None,
            "weighed": 0,
        },
        goes_with={"belief": ("id",)},
        erased_by="purge_journal",
    ),
    StoredTable(
        name="entity",
        columns=parse_columns(
            """id text, person text, name name, kind code, aliases name, description words,
            status code, same_as text?, is_by_person int, is_pinned int, learned_at int,
            ended_at int?, change_seq int"""
        ),
        not_replayed="derived anew",
        goes_with={"belief": ("id",)},
        erased_by="purge_journal",
    ),
    StoredTable(
        name="summary",
        columns=parse_columns(
            """id text, person text, level int, text words, language code, topics words,
            segments text, sources text, from_at int, until_at int, is_active int,
            learned_at int, ended_at int?, change_seq int"""
        ),
        not_replayed="derived anew",
        goes_with={"belief": ("id",)},
        erased_by="purge_journal",
    ),
    StoredTable(
        name="segment",
        columns=parse_columns(
            """id text, person text, chat text, session text, first_seq int, last_seq int,
            messages int, tokens int, from_at int, until_at int, generation int, status
            code, cut_by text, cut_at int, author text?, outcome words?, error words?,
            ended_at int?, mood_phrase words, mood_energy int?, mood_signal text?"""
        ),
        defaults={"mood_phrase": "", "mood_energy": None, "mood_signal": None},
        erased_by="refresh_segments",
    ),
    StoredTable(
        name="evidence",
        columns=parse_columns(
            """id text, person text, object text, message text, version int, quote words,
            author text, trust text, signal text, said_at int, withdrawn_at int?, stance
            text, confidence real, extractor text, segment text?"""
        ),
        is_journal=True,
        defaults={"stance": "supports", "confidence": 1.0, "extractor": "", "segment": None},
        former_names={"object": "memory"},
        goes_with={"version": ("message", "version"), "belief": ("object",)},
    ),
    StoredTable(
        name="diary_entry",
        columns=parse_columns(
            """id text, person text, text words, day code, written_at int, zone code,
            created_at int, modified_at int, place words, city words, weather words, tags words,
            media text, origin text, message text?, message_seq int?"""
        ),
        goes_with={"message": ("message_seq",)},
        erasure_rules=(
            ErasureRule(
                searched=("text", "place", "city", "weather", "tags"), goes_with_everything=True
            ),
        ),
    ),
    StoredTable(
        name="measurement",
        columns=parse_columns(
            """id text, person text, name words, day code, slot text, measured_at int, zone code,
            value real, unit words, second_value real?, second_unit words, origin text, message
            text?, message_seq int?, recorded_at int"""
        ),
        goes_with={"message": ("message_seq",)},
        erasure_rules=(
            ErasureRule(searched=("name", "unit", "second_unit"), goes_with_everything=True),
        ),
    ),
    StoredTable(
        name="receipt",
        columns=parse_columns(
            """id text, person text, turn text, asked text, asked_seq int, replied text,
            made_at int, details words, stood_on packed"""
        ),
        not_replayed="of replies that stood on other beliefs",
        defaults={"stood_on": "[]"},
        erased_by="redact_receipts",
    ),
    StoredTable(
        name="receipt_trace",
        key_columns=("receipt",),
        columns=parse_columns(
            "receipt text, person text, details words, items packed, terms words"
        ),
        merged=frozenset({"terms"}),
        not_replayed="of replies that stood on other beliefs",
        erased_by="redact_receipts",
    ),
    StoredTable(
        name="model_call",
        columns=parse_columns(
            """id text, person text, turn text?, asked text?, step int, request text, purpose
            text, prompt text, model text, outcome text, shown packed, answer words?,
            error words?, tokens_in int, tokens_cached int, tokens_out int, cost int?,
            sound int?, latency int, is_background int, made_at int"""
        ),
        not_replayed="answers are taken from there where the same is asked again",
        defaults={"sound": None},
        erased_by="redact_calls",
    ),
    StoredTable(
        name="tick",
        columns=parse_columns(
            """id text, person text, kind code, why text, ran_at int, tokens_in int,
            tokens_out int, outcome text, error words?, shown text, transcript words?"""
        ),
        not_replayed="thought anew",
        erasure_rules=(
            ErasureRule(
                searched=("transcript", "error"),
                cites="shown",
                replace={"transcript": "NULL", "shown": "'[]'", "error": "NULL"},
            ),
        ),
    ),
    StoredTable(
        name="proactive_setting",
        key_columns=("person",),
        columns=parse_columns(
            """person text, level code, quiet_begins int, quiet_ends int, digest code, muted
            text, changed_at int, recap code"""
        ),
        defaults={"recap": "off"},
        stays="the choices of the person",
    ),
    StoredTable(
        name="impulse",
        columns=parse_columns(
            """id text, person text, kind code, key text, status code, sources text, not_before
            int, expires_at int, urgency real, relevance real, made_at int, decided_at int?,
            message text?, decisions text"""
        ),
        not_replayed="rest on the beliefs of the first database",
        goes_with={"reply": ("message",)},
        erasure_rules=(
            ErasureRule(searched=("sources",), cites="sources", goes_with_everything=True),
        ),
    ),
    StoredTable(
        name="tombstone",
        key_columns=("person", "print"),
        columns=parse_columns("person text, print text, laid_at int"),
    ),
    StoredTable(
        name="audit",
        columns=parse_columns(
            """id text, person text, done_at int, what text, counts text, digest text,
            proved_at int?"""
        ),
        defaults={"proved_at": None},
    ),
    StoredTable(
        name="tool_call",
        key_columns=("person", "turn", "number"),
        columns=parse_columns(
            """person text, turn text, number int, name text, kind code, arguments words,
            result words?, begun_at int, finished_at int?"""
        ),
        not_replayed="done already",
        erased_by="redact_calls",
    ),
    StoredTable(
        name="tool_use",
        columns=parse_columns(
            """id text, person text, turn text, name text, status code, intent code, arguments
            words, result words, sources words, was_useful int?, latency int, made_at int"""
        ),
        not_replayed="of replies that are decided anew",
        erasure_rules=(
            ErasureRule(
                searched=("arguments", "result", "sources"),
                with_request=True,
                replace={"arguments": "'{}'", "result": "''", "sources": "'[]'"},
                goes_with_everything=True,
            ),
        ),
        erased_by="redact_calls",
    ),
    StoredTable(
        name="program_question",
        columns=parse_columns(
            """id text, person text, program name, tool text, asked words, given_ids text, asked_at
            int"""
        ),
        not_replayed="asked already",
        erasure_rules=(
            ErasureRule(
                searched=("program", "asked"),
                with_request=True,
                cites="given_ids",
                goes_with_everything=True,
            ),
        ),
    ),
    StoredTable(
        name="pending_call",
        key_columns=("chat",),
        columns=parse_columns(
            "chat text, person text, turn text, name text, arguments words, asked_at int"
        ),
        not_exported="gone after ten minutes",
        not_replayed="gone after ten minutes",
        erasure_rules=(
            ErasureRule(searched=("arguments",), with_request=True, goes_with_everything=True),
        ),
        erased_by="redact_calls",
    ),
    StoredTable(
        name="delivered",
        key_columns=("reply", "ordinal", "number"),
        columns=parse_columns(
            """person text, reply text, ordinal int, number int, chat text, external_id
            words, sent_at int"""
        ),
        goes_with={"reply": ("reply",)},
    ),
    StoredTable(
        name="attachment",
        columns=parse_columns(
            """id text, person text, message text, kind code, voice text, mime text, size
            int, recording file?, made_at int"""
        ),
        not_exported="sounds, of which the words are in the messages",
        erased_by="remove_audio_rows",
    ),
    StoredTable(
        name="task",
        columns=parse_columns(
            """id text, person text, chat text?, message text?, message_seq int?, text words,
            time_words words, language code, kind text, status text, question words?, due_at int?,
            starts_at int?, zone code, is_date_only int, duration_s int?, rrule text?,
            created_at int, changed_at int, delivered_at int?, project text?, batch text?,
            calendar_uid words?, calendar_state words?"""
        ),
        not_replayed="done already, and nothing is sent twice",
        goes_with={"message": ("message_seq",)},
        erasure_rules=(
            ErasureRule(
                searched=("text", "time_words", "question", "calendar_uid", "calendar_state"),
                goes_with_everything=True,
            ),
        ),
    ),
    StoredTable(
        name="goal",
        columns=parse_columns(
            """id text, person text, chat text?, message text?, message_seq int?, text words,
            language code, kind text, status text, priority int, times int?, period code?,
            deadline int?, next_action words, zone code, created_at int, changed_at int"""
        ),
        not_replayed="set in the first database, and followed up there",
        goes_with={"message": ("message_seq",)},
        erasure_rules=(ErasureRule(searched=("text", "next_action"), goes_with_everything=True),),
    ),
    StoredTable(
        name="goal_progress",
        columns=parse_columns(
            "id text, person text, goal text, message text?, message_seq int?, at int, amount int"
        ),
        defaults={"amount": 1},
        not_replayed="done for goals of the first database",
        goes_with={"message": ("message_seq",)},
        erasure_rules=(ErasureRule(searched=("goal",), goes_with_everything=True),),
    ),
    StoredTable(
        name="project",
        columns=parse_columns(
            """id text, person text, name words, role words, message text?, message_seq int?,
            created_at int, changed_at int"""
        ),
        goes_with={"message": ("message_seq",)},
        erasure_rules=(ErasureRule(searched=("name", "role"), goes_with_everything=True),),
    ),
    StoredTable(
        name="project_span",
        key_columns=("chat", "since_seq"),
        columns=parse_columns(
            "chat text, since_seq int, until_seq int?, person text, project text"
        ),
        erasure_rules=(ErasureRule(searched=("project",), goes_with_everything=True),),
    ),
    StoredTable(
        name="skill",
        columns=parse_columns(
            """id text, person text, name words, text words, is_on int, message text?,
            message_seq int?, created_at int, changed_at int"""
        ),
        goes_with={"message": ("message_seq",)},
        erasure_rules=(ErasureRule(searched=("name", "text"), goes_with_everything=True),),
    ),
    StoredTable(
        name="limitation",
        columns=parse_columns(
            """id text, person text, title words, description words, plan words, is_open int,
            message text?, message_seq int?, created_at int, changed_at int"""
        ),
        goes_with={"message": ("message_seq",)},
        erasure_rules=(
            ErasureRule(searched=("title", "description", "plan"), goes_with_everything=True),
        ),
    ),
    StoredTable(
        name="hint_progress",
        key_columns=("person",),
        columns=parse_columns("person text, stage int, is_off int, changed_at int"),
        stays="the choice of the person",
    ),
    StoredTable(
        name="watch",
        columns=parse_columns(
            """id text, person text, chat text?, message text?, message_seq int?, text words,
            language code, url words, condition code, threshold real?, status text, seen text,
            amount real?, failures int, next_check_at int, created_at int, changed_at int"""
        ),
        not_replayed="asked for in the first database, and looked at there",
        goes_with={"message": ("message_seq",)},
        erasure_rules=(ErasureRule(searched=("text", "url"), goes_with_everything=True),),
    ),
    *WORKING_TABLES,
)
"""Each table comes after those that it references."""


TABLES_BY_NAME: Final = MappingProxyType({table.name: table for table in STORED_TABLES})
EXPORTED_TABLES: Final = tuple(table for table in STORED_TABLES if not table.not_exported)
