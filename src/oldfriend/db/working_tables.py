"""Working tables: of queues, sign-in, vectors and the like, which no person wrote."""

from typing import Final

from oldfriend.db.stored_table import ErasureRule, StoredTable, parse_columns

WORKING_TABLES: Final = (
    StoredTable(
        name="closed_place",
        key_columns=("channel", "address"),
        person_column=None,
        columns=parse_columns("channel code, address name, closed_at int, why words"),
        not_exported="found out again",
        stays="an address of a platform, without a person",
    ),
    StoredTable(
        name="channel_cursor",
        key_columns=("channel", "scope"),
        person_column=None,
        columns=parse_columns("channel code, scope name, position name, saved_at int"),
        not_exported="of this installation",
        not_replayed="work in progress",
        stays="an address of a platform, without a person",
    ),
    StoredTable(
        name="oura_connection",
        key_columns=("person",),
        columns=parse_columns(
            """person text, status text, state text, redirect text, began_at int, read_at int?,
            error text?"""
        ),
        not_exported="its tokens are on this machine alone",
        not_replayed="work in progress",
        erased_by="end_connection",
    ),
    StoredTable(
        name="embedder",
        key_columns=("model",),
        person_column=None,
        columns=parse_columns("model text, chosen_at int"),
        not_exported="what made them",
    ),
    StoredTable(
        name="job_partition",
        key_columns=("queue", "partition"),
        person_column=None,
        columns=parse_columns(
            """queue text, partition text, next_seq int, ready_at int?, owner text?, lease_until
            int?, epoch int, last_claimed_seq int?"""
        ),
        not_exported="work in progress",
        not_replayed="work in progress",
    ),
    StoredTable(
        name="job",
        key_columns=("queue", "partition", "seq"),
        columns=parse_columns(
            """queue text, partition text, seq int, person text?, key words?, group text?, payload
            words, enqueued_at int, due_at int, attempts int, error words?, dead_lettered_at int?,
            crashes int, isolated_crashes int, is_isolated int, scheduled_at int?"""
        ),
        not_exported="work in progress",
        not_replayed="work in progress",
        erased_by="purge_jobs",
    ),
    StoredTable(
        name="job_key",
        key_columns=("queue", "partition", "key"),
        person_column=None,
        columns=parse_columns("queue text, partition text, key words, finished_at int?"),
        not_exported="work in progress",
        not_replayed="work in progress",
        erased_by="purge_keys",
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
        name="oauth_client",
        person_column=None,
        columns=parse_columns("id text, name name, redirects text, made_at int, used_at int?"),
        not_exported="a program registers again",
        not_replayed="a program registers again",
        stays="what a program calls itself, without a person",
    ),
    StoredTable(
        name="oauth_grant",
        key_columns=("print",),
        columns=parse_columns(
            """print text, person text, kind code, client text, name name, redirect text, challenge
            text, scope code, token text?, made_at int, expires_at int, used_at int?"""
        ),
        not_exported="a program asks again",
        not_replayed="a program asks again",
        erasure_rules=(ErasureRule(searched=("name",), goes_with_everything=True),),
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
        name="push_subscription",
        key_columns=("session",),
        columns=parse_columns(
            "session text, person text, print text, sealed bytes, shows code, made_at int"
        ),
        not_exported="a browser asks again",
        not_replayed="a browser asks again",
        erasure_rules=(ErasureRule(searched=("print",), goes_with_everything=True),),
    ),
    StoredTable(
        name="web_token",
        columns=parse_columns(
            """id text, print text, person text, name name, scope text, made_at int,
            expires_at int, used_at int?, mcp_until int?"""
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
            """id text, person text, salt text, print text, expires_at int, used_at int?,
            shown_to text?"""
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
    StoredTable(
        name="person_merge",
        columns=parse_columns(
            """id text, person text, former text, name name, settings code, first_seq int,
            last_seq int, first_change int, last_change int, merged_at int, undo_until int,
            undone_at int?"""
        ),
        not_exported="for an undo here, for 30 days",
        not_replayed="for an undo here, for 30 days",
        erasure_rules=(
            ErasureRule(
                searched=("name",),
                names_only=True,
                replace={"name": "former"},
            ),
            ErasureRule(searched=("settings",), goes_with_everything=True),
        ),
    ),
    StoredTable(
        name="merged_row",
        key_columns=("merge", "name", "key"),
        columns=parse_columns("merge text, name code, key name, person text, held words?"),
        not_exported="for an undo here, for 30 days",
        not_replayed="for an undo here, for 30 days",
        goes_with={"belief": ("key",)},
        erasure_rules=(
            ErasureRule(searched=("key", "held"), names_only=True, goes_with_everything=True),
        ),
    ),
)
