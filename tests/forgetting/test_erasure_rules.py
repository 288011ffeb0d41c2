"""Each rule by which words are erased is needed: without it they are found where it would act."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.db.stored_table import StoredTable
from oldfriend.db.stored_tables import STORED_TABLES
from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import Cause, Entity, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import ForgetReport, forget
from oldfriend.memory.deletion import erase
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.runtime.wiring import open_app
from tests.clock import FrozenClock
from tests.memory.deletion.life import Life, begin_life, live

NAME = "Filomena"
SECRET = "Filomena hid the green lantern under the seventh oak behind the mill"
PLANTED = (
    "UPDATE chat SET title = 'With Filomena' WHERE person = :person AND channel = 'terminal'",
    """UPDATE session SET external_id = :secret WHERE person = :person
       AND id = (SELECT min(id) FROM session WHERE person = :person)""",
    "UPDATE message SET external_id = :secret WHERE person = :person AND id = :kept",
    "UPDATE import_batch SET file = 'Filomena.txt' WHERE person = :person",
    """INSERT INTO core_block (person, name, version, text, written_at)
       VALUES (:person, 'user', 1, :secret, 1), (:person, 'user', 2, 'nothing', 2)""",
    """INSERT INTO suggestion (id, person, block, text, replaces, reason, cites, author, status,
         made_at) VALUES ('s', :person, 'user', 'x', '', :secret, '[]', 'a', 'pending', 1)""",
    """INSERT INTO tick (id, person, kind, why, ran_at, tokens_in, tokens_out, outcome, shown,
         transcript) VALUES ('t', :person, 'reflection', 'x', 1, 0, 0, '{}', '[]', :secret)""",
    """INSERT INTO impulse (id, person, kind, key, status, sources, not_before, expires_at, urgency,
         relevance, made_at, decisions)
       VALUES ('m', :person, 'promise', 'promise:1', 'waiting', '["' || :said || '"]', 1, 2, 0.9,
         0.5, 1, '[]')""",
    """INSERT INTO web_token (id, print, person, name, scope, made_at, expires_at)
       VALUES ('w', 'p', :person, :secret, 'read', 1, 9)""",
    "INSERT INTO web_session (print, person, made_at, expires_at) VALUES ('b', :person, 1, 9)",
    """INSERT INTO push_subscription (session, person, print, sealed, shows, made_at)
       VALUES ('b', :person, :secret, :key, 'hint', 1)""",
    """INSERT INTO oauth_grant (print, person, kind, client, name, redirect, challenge, scope,
         made_at, expires_at) VALUES ('g', :person, 'code', 'c', :secret, '', '', 'read', 1, 9)""",
    """INSERT INTO web_passkey (id, person, name, public_key, sign_count, made_at)
       VALUES ('k', :person, :secret, :key, 0, 1)""",
    """INSERT INTO tool_use (id, person, turn, name, status, intent, arguments, result, sources,
         latency, made_at) VALUES ('t', :person, 'x', 'a', 'done', '', :secret, '', '[]', 0, 1)""",
    "INSERT INTO program_question VALUES ('q', :person, 'a', 'recall', :secret, '[]', 1)",
    """INSERT INTO task (id, person, text, time_words, language, kind, status, zone, created_at,
         changed_at, project, batch, calendar_uid, calendar_state, duration_s)
       VALUES ('t', :person, :secret, '', 'en', 'todo', 'open', 'UTC', 1, 1, 'p', 'b', :secret,
         :secret, 9)""",
    """INSERT INTO diary_entry VALUES ('d', :person, :secret, '2024-05-03', 5, 'UTC', 5, 5, '', '',
         '', '[]', '{}', 'api', NULL, NULL)""",
    """INSERT INTO measurement VALUES ('m', :person, 'lantern', '2024-05-03', '', 5, 'UTC', 7.0,
         :secret, NULL, '', 'api', NULL, NULL, 5)""",
    """INSERT INTO goal (id, person, text, language, kind, status, priority, next_action, zone,
         created_at, changed_at)
       VALUES ('g', :person, :secret, 'en', 'general', 'active', 0, '', 'UTC', 1, 1)""",
    "INSERT INTO goal_progress VALUES ('g', :person, :secret, NULL, NULL, 1, 1)",
    """INSERT INTO watch (id, person, text, language, url, condition, status, seen, failures,
         next_check_at, created_at, changed_at)
       VALUES ('w', :person, :secret, 'en', 'https://example.org', 'changes', 'active', '', 0, 9,
         1, 1)""",
    """INSERT INTO project (id, person, name, role, created_at, changed_at)
       VALUES ('p', :person, :secret, '', 1, 1)""",
    """INSERT INTO project_span (chat, since_seq, person, project)
       SELECT min(id), 1, :person, :secret FROM chat WHERE person = :person""",
    """INSERT INTO skill (id, person, name, text, is_on, created_at, changed_at)
       VALUES ('s', :person, 'Letters', :secret, 1, 1, 1)""",
    """INSERT INTO limitation
         (id, person, title, description, plan, is_open, created_at, changed_at)
       VALUES ('l', :person, 'Scans', :secret, '', 1, 1, 1)""",
    "INSERT INTO person_merge VALUES ('j', :person, 'f', 'Filomena', '{}', 1, 1, 1, 1, 1, 9, NULL)",
    "INSERT INTO merged_row VALUES ('j', 'core_block', 'user', :person, :secret)",
    """INSERT INTO pending_call (chat, person, turn, name, arguments, asked_at)
       SELECT min(id), :person, 'x', 'a', :secret, 1 FROM chat WHERE person = :person""",
)
WITH_RULES = [table for table in STORED_TABLES if table.erasure_rules]
FOLLOWING = [
    (table, owner)
    for table in STORED_TABLES
    for owner in table.goes_with
    if (table.name, owner) in {("evidence", "version"), ("memory", "belief"), ("change", "belief")}
]

pytestmark = pytest.mark.usefixtures("settings_folder")


async def forget_name(settings: Settings, clock: FrozenClock) -> ForgetReport:
    """Live a while, with a secret in every place that a rule names, and forget whom it is about."""
    async with open_app(settings, clock=clock) as app:
        life = await begin_life(app.db, clock, "Nora", 3)
        await live(life, turns=12)
        await plant(app, life)
        return await forget(app, life.person.id, DeletionRequest(about=NAME))


async def plant(app: AppContext, life: Life) -> None:
    """Say the secret, learn it, and write it where such words may get to."""
    async with app.db.begin_write() as tx:
        said = await life.says(tx, "person", SECRET, turn="t")
        kept = await life.says(tx, "person", "The weather is fine in the hills", turn="u")
        await learn(tx, said, kept)
        values = {
            "person": life.person.id,
            "secret": SECRET,
            "said": said.id,
            "kept": kept.id,
            "key": b"k",
        }
        for statement in PLANTED:
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            await tx.run(statement, **used)


async def learn(tx: Transaction, said: Message, kept: Message) -> None:
    """Know somebody by name, believe what was said of them, and what both messages say."""
    entity = Entity(
        id=new_id(said.at), person=said.person, name=NAME, kind="person", learned_at=said.at
    )
    secret = StoredBelief(
        id=new_id(said.at),
        person=said.person,
        kind="event",
        text=said.text,
        language="en",
        entities=(entity.id,),
        learned_at=said.at,
    )
    shared = replace(secret, id=new_id(said.at), text="There are hills", entities=())
    for each, sources in ((entity, [said]), (secret, [said]), (shared, [said, kept])):
        causes = tuple(Cause(message=source.id, version=source.version) for source in sources)
        cause = Provenance(author="rules/1", causes=causes)
        words = [NewEvidence(source=source, quote=source.text) for source in sources]
        await record_decision(tx, each, op="learned", base=0, provenance=cause, now=said.at)
        await add_evidence(tx, said.person, each.id, words, extractor="rules/1", now=said.at)


async def test_erasure_rules_leave_no_trace_of_forgotten_text(
    settings: Settings, clock: FrozenClock
) -> None:
    """Everywhere at once."""
    report = await forget_name(settings, clock)

    assert report.left == ()
    assert report.is_proved


@pytest.mark.parametrize("table", WITH_RULES, ids=lambda table: table.name)
async def test_missing_erasure_rule_leaves_text_that_verification_finds(
    settings: Settings, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, table: StoredTable
) -> None:
    """In the column that the rule would have cleaned, and nowhere else in the database."""
    tables = [replace(each, erasure_rules=()) if each is table else each for each in STORED_TABLES]
    monkeypatch.setattr(erase, "STORED_TABLES", tables)
    report = await forget_name(settings, clock)

    searched = {name for rule in table.erasure_rules for name in rule.searched}
    places = {each.place for each in report.left if "." in each.place}
    found = {place for place in places if place.startswith(f"{table.name}.")}
    assert found
    assert found <= {f"{table.name}.{name}" for name in searched}
    assert not report.is_proved


@pytest.mark.parametrize(
    ("table", "owner"), FOLLOWING, ids=lambda each: getattr(each, "name", each)
)
async def test_missing_cascade_leaves_rows_that_verification_finds(
    settings: Settings,
    clock: FrozenClock,
    monkeypatch: pytest.MonkeyPatch,
    table: StoredTable,
    owner: str,
) -> None:
    """Left behind, its id or its words are found."""
    others = {name: columns for name, columns in table.goes_with.items() if name != owner}
    tables = [replace(each, goes_with=others) if each is table else each for each in STORED_TABLES]
    monkeypatch.setattr(erase, "STORED_TABLES", tables)
    report = await forget_name(settings, clock)

    assert any(each.place.startswith(f"{table.name}.") for each in report.left)
