"""Stored tables: every table and column, whose it is, what it holds, and what becomes of it.

The one list that forgetting, its verification, exports, restoring and replaying read. A test holds
it against the schema of both engines, so that no new column is missing here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.db.database import SqlValue

ColumnKind = Literal[
    "words",  # text in which words of a person may stand
    "name",  # a name, title or address
    "text",  # ids, marks and the like: no words of a person
    "code",  # text of a fixed choice, in which a name may occur by chance, such as Paris in a zone
    "int",
    "real",
    "packed",  # references to messages and beliefs as bytes
    "terms",  # what search keeps of a text, which can be computed again
    "bytes",
    "file",  # a whole file, of 20 MB at most
]
RowOwner = Literal["message", "version", "belief", "reply"]
"""What a row may belong to: a message (by seq), one of its versions, a belief, or a reply."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column: what it holds, and whether it may be NULL."""

    kind: ColumnKind
    is_nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRule:
    """What becomes of the rows of a table in which deleted words, names or ids stand."""

    searched: tuple[str, ...]  # the columns in which they are looked for
    names_only: bool = False  # look for deleted names, not for words
    cites: str | None = None  # a column with a list of ids in JSON, where ids are looked for
    replace: Mapping[str, str] = field(default_factory=dict)  # new values as SQL; empty: delete
    newest_of: tuple[str, ...] = ()  # of the versions that share these, the newest stays
    goes_with_everything: bool = False  # every row goes when a person forgets everything


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A table: its columns, whose its rows are, and how they are erased, exported and replayed."""

    name: str
    columns: Mapping[str, StoredColumn]  # in the order of exports
    key_columns: tuple[str, ...] = ("id",)  # the order of exported rows
    person_column: str | None = "person"
    goes_with: Mapping[RowOwner, tuple[str, ...]] = field(
        default_factory=dict
    )  # rows are deleted with what these columns name
    erasure_rules: tuple[ErasureRule, ...] = ()
    erased_by: str = ""  # the function that removes deleted words, where a rule cannot
    stays: str = ""  # why words in it are not erased
    not_exported: str = ""  # why it is not in an export; empty: it is
    not_replayed: str = ""  # why a replay leaves it out; empty: it is copied
    is_journal: bool = False  # copied by a replay only where earlier decisions stay
    defaults: Mapping[str, SqlValue] = field(
        default_factory=dict
    )  # for columns that older exports lack
    former_names: Mapping[str, str] = field(default_factory=dict)  # the names in older exports
    merged: frozenset[str] = frozenset()  # columns that an export holds inside others


def parse_columns(text: str) -> Mapping[str, StoredColumn]:
    """Parse "name kind, name kind?, …", where ? marks a column that may be NULL."""
    known: dict[str, ColumnKind] = {each: each for each in get_args(ColumnKind)}
    pairs = (part.split() for part in text.split(","))
    return MappingProxyType(
        {name: StoredColumn(known[kind.rstrip("?")], kind.endswith("?")) for name, kind in pairs}
    )


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
            weighed int, read_every int?, has_said_zone int"""
        ),
        defaults={"weighed": 0, "read_every": None, "has_said_zone": 0},
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
            ErasureRule(searched=("text",), newest_of=("name",), goes_with_everything=True),
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
                searched=("text", "replaces", "reason"), cites="cites", goes_with_everything=True
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
            grain code, entities text, relations text, is_pinned int, is_by_person int,
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
        name="closed_place",
        key_columns=("channel", "address"),
        person_column=None,
        columns=parse_columns("channel code, address name, closed_at int, why words"),
        not_exported="found out again",
        stays="an address of a platform, without a person",
    ),
    StoredTable(
        name="embedder",
        key_columns=("model",),
        person_column=None,
        columns=parse_columns("model text, chosen_at int"),
        not_exported="what made them",
    ),
    StoredTable(
        name="lane",
        key_columns=("queue", "key"),
        person_column=None,
        columns=parse_columns(
            """queue text, key text, next_seq int, ready_at int?, owner text?, lease_until
            int?, epoch int, handed_out int?"""
        ),
        not_exported="work in progress",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="letter",
        key_columns=("queue", "lane", "seq"),
        columns=parse_columns(
            """queue text, lane text, seq int, person text?, key words?, group text?, body
            words, put_at int, due_at int, attempts int, error words?, parked_at int?,
            deaths int, deaths_alone int, is_alone int, scheduled_at int?"""
        ),
        not_exported="work in progress",
        not_replayed="work in progress",
        erased_by="purge_jobs",
    ),
    StoredTable(
        name="letter_key",
        key_columns=("queue", "lane", "key"),
        person_column=None,
        columns=parse_columns("queue text, lane text, key words, finished_at int?"),
        not_exported="work in progress",
        not_replayed="work in progress",
        erased_by="purge_outbox_keys",
    ),
    StoredTable(
        name="link_attempt",
        person_column=None,
        columns=parse_columns("id text, channel code, address name, tried_at int"),
        not_exported="gone after ten minutes",
        not_replayed="work in progress",
        stays="an address of somebody unknown, for a short time",
    ),
    StoredTable(
        name="stranger",
        key_columns=("channel", "address"),
        person_column=None,
        columns=parse_columns("channel code, address name, told_at int, messages int"),
        not_exported="gone after a day",
        not_replayed="work in progress",
        stays="an address of somebody unknown, for a short time",
    ),
    StoredTable(
        name="web_attempt",
        person_column=None,
        columns=parse_columns("id text, tried_at int, address name, kind code"),
        not_exported="gone after ten minutes",
        not_replayed="work in progress",
        stays="an address of somebody unknown, for a short time",
    ),
    StoredTable(
        name="web_challenge",
        key_columns=("print",),
        columns=parse_columns("print text, person text, expires_at int"),
        not_exported="gone after five minutes",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="web_invitation",
        columns=parse_columns("id text, print text, person text, made_at int, expires_at int"),
        not_exported="the owner invites again",
        not_replayed="the owner invites again",
    ),
    StoredTable(
        name="web_link",
        key_columns=("print",),
        columns=parse_columns("print text, person text, expires_at int"),
        not_exported="gone after ten minutes",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="web_passkey",
        columns=parse_columns(
            """id text, person text, name name, public_key bytes, sign_count int, made_at
            int, used_at int?"""
        ),
        not_exported="a device is added again",
        not_replayed="a device is added again",
        erasure_rules=(ErasureRule(searched=("name",), replace={"name": "id"}),),
    ),
    StoredTable(
        name="web_session",
        key_columns=("print",),
        columns=parse_columns(
            """print text, person text, made_at int, expires_at int, opened_with text,
            browser text, used_at int?, page_print text?"""
        ),
        not_exported="a browser signs in again",
        not_replayed="a browser signs in again",
    ),
    StoredTable(
        name="web_token",
        columns=parse_columns(
            """id text, print text, person text, name name, scope text, made_at int,
            expires_at int, used_at int?"""
        ),
        not_exported="a program is given another",
        not_replayed="a program is given another",
        erasure_rules=(ErasureRule(searched=("name",), replace={"name": "id"}),),
    ),
    StoredTable(
        name="cleanup",
        columns=parse_columns(
            """id text, person text, begun_at int, what text, is_everything int, sounds text,
            traces text, is_clean int"""
        ),
        not_exported="work in progress",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="embedding_progress",
        key_columns=("person", "model"),
        columns=parse_columns("person text, model text, seq int, last_change int, rewritten int"),
        not_exported="of vectors, which are made anew",
        not_replayed="looked through anew",
    ),
    StoredTable(
        name="link_code",
        columns=parse_columns(
            """id text, person text, salt text, print text, expires_at int, used_at int?"""
        ),
        not_exported="gone after ten minutes",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="memory_vector",
        key_columns=("person", "model", "memory"),
        columns=parse_columns("person text, model text, memory text, change_seq int, bytes bytes"),
        not_exported="made anew",
        not_replayed="made anew",
        goes_with={"belief": ("memory",)},
    ),
    StoredTable(
        name="message_vector",
        key_columns=("person", "model", "seq"),
        columns=parse_columns("person text, model text, seq int, bytes bytes"),
        not_exported="made anew",
        goes_with={"message": ("seq",)},
    ),
    StoredTable(
        name="pace",
        key_columns=("person",),
        columns=parse_columns("person text, free_at int"),
        not_exported="work in progress",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="working_memory",
        key_columns=("session",),
        columns=parse_columns("session text, person text, content words, updated_at int"),
        not_exported="gone after an hour",
        not_replayed="gone after an hour",
        erased_by="clear_working_memory",
    ),
)
"""Each table comes after those that it references."""


TABLES_BY_NAME: Final = MappingProxyType({table.name: table for table in STORED_TABLES})
EXPORTED_TABLES: Final = tuple(table for table in STORED_TABLES if not table.not_exported)
