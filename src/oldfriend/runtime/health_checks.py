"""Health checks: what `oldfriend doctor` checks of the database, search, models and disk space."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import DIFFERENT_KEY, load_deletion_filter
from oldfriend.app.doctor_checks import (
    READ_ONLY_STORE,
    CheckResult,
    check_permissions,
    report_ok,
    report_problem,
)
from oldfriend.app.embed_messages import find_embedding_resume_at
from oldfriend.config.provider_resolution import resolve_model
from oldfriend.config.settings import Settings, is_postgres_url, parse_database_path
from oldfriend.config.settings_schema import LOCAL, MODEL_ROLES
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MINUTE, Clock, Micros, from_micros
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    EmbeddingFailed,
    InvalidInput,
    ModelMisconfigured,
)
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.messages import Person
from oldfriend.domain.setting_parsers import redact_url
from oldfriend.forgetting.cleanup import run_cleanups
from oldfriend.learning.learning_scheduler import find_rollup_error
from oldfriend.learning.re_extraction import count_unlearned_messages, format_unlearned_messages
from oldfriend.learning.reflection_scheduler import (
    find_reflection_blocker,
    format_reflection_status,
    load_reflection_status,
)
from oldfriend.llm.embedding import Embedder
from oldfriend.llm.reading import OWN_SPEAKER, FactTagger, Passage, Reader
from oldfriend.memory.belief_views import list_unconfirmed_memories
from oldfriend.memory.deletion.audit_log import CleanupResult, list_cleanups, list_unverified
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import count_messages
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.memory.vectors import (
    count_legacy_only_messages,
    count_searchable_messages,
    list_vector_models,
)
from oldfriend.presenters.deletion_text import explain_unproved
from oldfriend.presenters.receipt_schemas import NOT_SEARCHABLE
from oldfriend.runtime.bot_connections import check_channels, diagnose_bots
from oldfriend.runtime.learn_now import LEARNING_DISABLED
from oldfriend.runtime.provider_roles import find_speech_fault
from oldfriend.runtime.provider_setup import ProviderOffer, list_offers
from oldfriend.runtime.schema_check import list_schema_faults
from oldfriend.runtime.tool_server_checks import check_tool_servers
from oldfriend.usage.model_calls import find_last_call

LOW_DISK_BYTES = 200 * 1024 * 1024
MEGABYTE = 1 << 20
MIN_REPORTED_BYTES = 16 * MEGABYTE
SPEAKER_MISSING_TEXT = localizable(
    "nobody_speaks",
    "Replies should be spoken ([speech] speaks), but no speaker is connected. To connect one: "
    "oldfriend connect speaker",
)
ANSWERED_OUTCOMES = frozenset({"done", "refused", "cut off"})


async def run_checks(app: AppContext) -> list[CheckResult]:
    """Run all checks; a failed one says what to do."""
    return [
        *await check_database(app.db, app.settings),
        *await check_store_limit(app.db, app.settings),
        *await check_unused_space(app.db),
        *await check_installation(app),
    ]


async def check_installation(app: AppContext) -> list[CheckResult]:
    """Check all but the database itself."""
    results = [
        *check_free_disk(app.settings),
        *check_permissions(app.settings),
        await check_embedder(app.embedder),
        *await check_bundled_networks(app.reader, app.fact_tagger),
        *await check_deletions(app),
        *await check_tool_servers(app),
    ]
    diagnoses = await diagnose_bots(app.settings)
    has_model = any(app.settings.models.for_role(role) for role in MODEL_ROLES)
    offers = [] if has_model else await list_offers(app.settings)
    async with app.db.begin_read() as tx:
        results += await check_channels(tx, diagnoses, now=app.clock())
        results += await check_language_models(tx, app.settings, offers, now=app.clock())
        results += await check_speech(tx, app.settings, now=app.clock())
        results += await check_delayed_embedding(tx, app.clock, app.settings)
        results += check_learning_enabled(app.settings)
        if (why := find_reflection_blocker(app)) is not None and app.settings.memory.forms:
            results.append(CheckResult(is_ok=True, text=why))
        for person in await list_people(tx):
            results += await check_person(tx, person, app.embedder.model)
            results += [] if has_model else await check_languages(tx, person)
            results += await check_deletion_key(tx, app.settings, person)
            results += await check_reflection(tx, app, person)
    return results


async def check_database(db: Database, settings: Settings) -> list[CheckResult]:
    """Check that the database is intact and has all tables of this version."""
    if faults := await list_schema_faults(db):
        return [CheckResult(is_ok=False, text=fault) for fault in faults]
    wrong = await db.check_integrity()
    if not wrong and db.is_read_only:
        return [CheckResult(is_ok=False, text=READ_ONLY_STORE)]
    if not wrong:
        url = settings.database
        where = redact_url(url) if is_postgres_url(url) else parse_database_path(url)
        return [report_ok("database_sound", f"The database {where} is sound.", where=str(where))]
    return [
        report_problem(
            "database_damaged", f"The database is damaged: {line}. Restore a backup.", line=line
        )
        for line in wrong
    ]


async def check_store_limit(db: Database, settings: Settings) -> list[CheckResult]:
    """Check that a store of limited size has room left."""
    if db.max_bytes is None:
        return []
    text = await find_growth_warning(db, settings)
    if text is not None:
        return [CheckResult(is_ok=False, text=text)]
    used, most = round(await db.size_bytes() / MEGABYTE, 1), db.max_bytes >> 20
    return [
        report_ok("file_has", f"The file has {used} MB of at most {most}.", used=used, most=most)
    ]


async def find_growth_warning(db: Database, settings: Settings) -> str | None:
    """Return what to do about a store that is at least half full; None if there is room."""
    size, most = await db.size_bytes(), db.max_bytes
    if most is None or size < most // 2:
        return None
    url = settings.database
    moved = f"sqlite:///{parse_database_path(url).with_suffix('.db')}"
    return localizable(
        "file_grows",
        f"The file has {size >> 20} MB. Each reply writes all of it again, and it cannot grow "
        f"beyond {most >> 20} MB. Move to SQLite before then: oldfriend convert {url} {moved}",
        mb=size >> 20,
        most=most >> 20,
        old=url,
        new=moved,
    )


async def check_unused_space(db: Database) -> list[CheckResult]:
    """Check whether much of the file is unused, as after a migration that could not shrink it."""
    unused, size = await db.free_bytes(), await db.size_bytes()
    if unused < MIN_REPORTED_BYTES or 2 * unused < size:
        return []
    mb, of = unused >> 20, size >> 20
    text = (
        f"{mb} MB of the file's {of} MB are free, and are used before it grows. They are returned "
        "to the disk at the next start, if there is room for a second copy of the rest."
    )
    return [report_ok("file_is_half_empty", text, mb=mb, of=of)]


def check_free_disk(settings: Settings) -> list[CheckResult]:
    """Check that there is disk space for the file to grow; skipped for a database server."""
    if is_postgres_url(settings.database):
        return []
    path = parse_database_path(settings.database)
    folder = next(each for each in path.parents if each.exists())  # it may not be created yet
    free = shutil.disk_usage(folder).free
    gb = round(free / 1024**3, 1)
    room = f"{gb} GB free in {folder}"
    if free < LOW_DISK_BYTES:
        text = f"Only {room}. Make room before it is full."
        return [report_problem("disk_low", text, gb=gb, folder=str(folder))]
    return [report_ok("disk_free", f"{room}.", gb=gb, folder=str(folder))]


async def check_embedder(embedder: Embedder) -> CheckResult:
    """Check that texts can be embedded."""
    try:
        await embedder.embed(["hello"])
    except AllowanceUsedUp as error:
        return report_ok(
            "words_for_now", f"Search uses words alone for now: {error}", why=error.user_text
        )
    except EmbeddingFailed as error:
        return report_problem(
            "words_alone", f"Search uses words alone: {error}", why=error.user_text
        )
    return report_ok(
        "embedder_works",
        f"The embedding model works ({embedder.model}).",
        model=embedder.model,
    )


async def check_bundled_networks(
    reader: Reader | None, tagger: FactTagger | None
) -> list[CheckResult]:
    """Check that the networks by which answers and facts are found without a model can be run."""
    results: list[CheckResult] = []
    if reader is not None:
        try:
            await reader.read("who?", [Passage(text="hello", speaker=OWN_SPEAKER)])
            text = (
                "Without a language model, the built-in reader tells which messages answer a "
                "question."
            )
            results.append(report_ok("reader_works", text))
        except EmbeddingFailed as error:
            text = (
                "Without a language model, nothing can tell which messages answer a question: "
                f"{error}"
            )
            results.append(report_problem("reader_broken", text, why=error.user_text))
    if tagger is not None:
        try:
            await asyncio.to_thread(tagger.tag, "i live in Porto", "")
            text = "Without a language model, the built-in fact tagger finds facts in what is said."
            results.append(report_ok("tagger_works", text))
        except EmbeddingFailed as error:
            text = f"Without a language model, only rules find facts in what is said: {error}"
            results.append(report_problem("tagger_broken", text, why=error.user_text))
    return results


async def check_delayed_embedding(
    tx: Transaction, clock: Clock, settings: Settings
) -> list[CheckResult]:
    """Check whether messages wait for a new allowance to be embedded."""
    until = await find_embedding_resume_at(tx, now=clock())
    if until is None:
        return []
    when = from_micros(until, settings.zone).strftime("%Y-%m-%d %H:%M")
    return [
        report_ok(
            "embedding_waits",
            f"Embedding has reached today's limit and continues on {when}.",
            when=when,
        )
    ]


async def check_language_models(
    tx: Transaction, settings: Settings, offers: Sequence[ProviderOffer], *, now: Micros
) -> list[CheckResult]:
    """Check the settings of the configured models, or list what is offered; no model is asked."""
    chosen = dict.fromkeys(name for role in MODEL_ROLES for name in settings.models.for_role(role))
    if not chosen:
        at_hand = [f"{offer.provider} ({offer.why})" for offer in offers]
        text = "No language model is connected: answers come from the memory alone."
        if not at_hand:
            return [report_ok("no_model_connected", text)]
        text += f" You could connect: {', '.join(at_hand)}. See: oldfriend connect model"
        there = ", ".join(offer.provider for offer in offers)
        return [report_ok("no_model_connected_yet", text, there=there)]
    return [await check_language_model(tx, settings, name, now=now) for name in chosen]


async def check_language_model(
    tx: Transaction, settings: Settings, name: str, *, now: Micros
) -> CheckResult:
    """Check that a model's settings are complete, and whether it answered last time."""
    try:
        choice = resolve_model(settings, name)
    except (ModelMisconfigured, InvalidInput) as error:
        return report_problem(
            "model_not_asked", f"{name} cannot be asked: {error}", name=name, why=error.user_text
        )
    last = await find_last_call(tx, name)
    if last is None or last.outcome in ANSWERED_OUTCOMES:
        return report_ok(
            "model_connected",
            f"{name} is connected, at {choice.base_url}.",
            name=name,
            address=choice.base_url,
        )
    minutes = max(now - last.made_at, 0) // MINUTE
    return report_problem(
        "model_silent",
        f"{name} did not answer the last time it was asked, {minutes:,} min ago: {last.error}",
        name=name,
        minutes=minutes,
        error=last.error or "",
    )


async def check_speech(tx: Transaction, settings: Settings, *, now: Micros) -> list[CheckResult]:
    """Check that the configured transcriber and speaker can be used."""
    speech = settings.speech
    results: list[CheckResult] = []
    for name in (speech.transcriber, speech.speaker):
        if name is None:
            continue
        if (why := find_speech_fault(settings, name)) is not None:
            results.append(
                report_problem(
                    "model_not_asked", f"{name} cannot be asked: {why}", name=name, why=why
                )
            )
        elif name.startswith(f"{LOCAL}:"):
            results.append(
                report_ok("listens_here", f"{name} can transcribe, on this machine.", name=name)
            )
        else:
            results.append(await check_language_model(tx, settings, name, now=now))
    if speech.speaks == "always" and speech.speaker is None:
        results.append(CheckResult(is_ok=False, text=SPEAKER_MISSING_TEXT))
    return results


async def check_person(tx: Transaction, person: Person, model: str) -> list[CheckResult]:
    """Check that one person's memory is complete."""
    findable, embedded = await count_searchable_messages(tx, person.id, model)
    former_counts = {
        former: await count_legacy_only_messages(tx, person.id, model, former)
        for former in await list_vector_models(tx, person.id)
        if former != model
    }
    by_words = findable - embedded - sum(former_counts.values())
    kept = await count_messages(tx, person.id)
    note = format_fallbacks(by_words, former_counts)
    if kept > findable:
        note = localizable("person_unfound", f" ({NOT_SEARCHABLE}){note}", more=note)
    results = [
        report_ok(
            "person_memory",
            f"{person.name}: {kept:,} messages are stored, and {findable:,} of them can be "
            f"found{note}.",
            name=person.name,
            kept=kept,
            findable=findable,
            more=note,
        )
    ]
    results += await check_learning(tx, person)
    results += await check_unconfirmed(tx, person)
    for memory in await list_view_mismatches(tx, person.id):
        results.append(
            report_problem(
                "fold_differs",
                f"{person.name}: belief {memory} does not match the journal, or cannot be read. "
                "To repair it: oldfriend rebuild",
                name=person.name,
                memory=memory,
            )
        )
    return results


def format_fallbacks(by_words: int, standing_in: Mapping[str, int]) -> str:
    """Format how messages without a current vector are found meanwhile; empty if all have one."""
    tail = ""
    for former, count in reversed([*standing_in.items()]):
        tail = localizable(
            "person_by_former",
            f", {count:,} of them with the vectors of {former} until they are embedded again{tail}",
            count=count,
            former=former,
            more=tail,
        )
    if by_words > 0:
        tail = localizable(
            "person_by_words",
            f", {by_words:,} of them by words only until the next chat or import ends{tail}",
            count=by_words,
            more=tail,
        )
    return tail


def format_for_person(person: Person, text: str) -> LocalizedText:
    """Prefix a result with the person's name."""
    return localizable("of_person", f"{person.name}: {text}", name=person.name, what=text)


async def check_deletions(app: AppContext) -> list[CheckResult]:
    """Check that deleted content is verified as gone; unverified cleanups are tried once more."""
    async with app.db.begin_read() as tx:
        if not await list_unverified(tx):
            return []
    cleaned = await run_cleanups(app)
    async with app.db.begin_read() as tx:
        unverified = [(each.id, each.begun_at) for each in await list_cleanups(tx)]
    return [
        build_unproved_result(app.settings, begun_at, cleaned.get(name))
        for name, begun_at in unverified
    ]


def build_unproved_result(
    settings: Settings, begun_at: Micros, cleaned: CleanupResult | None
) -> CheckResult:
    """Build the result for a deletion that is not verified."""
    when = from_micros(begun_at, settings.zone).strftime("%Y-%m-%d %H:%M")
    why = DIFFERENT_KEY if cleaned is None else explain_unproved(cleaned)
    return report_problem(
        "forgetting_unproved",
        f"What was forgotten on {when} is not yet proved to be gone: {why}",
        when=when,
        why=why,
    )


def check_learning_enabled(settings: Settings) -> list[CheckResult]:
    """Report if learning is off."""
    if settings.memory.forms:
        return []
    return [CheckResult(is_ok=True, text=LEARNING_DISABLED)]


async def check_deletion_key(
    tx: Transaction, settings: Settings, person: Person
) -> list[CheckResult]:
    """Check that the tombstones of forgotten messages were made with this store's deletion key."""
    forgotten = await load_deletion_filter(settings, tx, person.id)
    if not forgotten.has_other_key:
        return []
    return [CheckResult(is_ok=False, text=format_for_person(person, DIFFERENT_KEY))]


async def check_reflection(tx: Transaction, app: AppContext, person: Person) -> list[CheckResult]:
    """Check that reflection between conversations works, if it is on."""
    status = await load_reflection_status(tx, app, person.id)
    if status.why_not is not None:
        return []
    text = format_for_person(person, format_reflection_status(status))
    return [CheckResult(is_ok=not status.is_failing, text=text)]


async def check_languages(tx: Transaction, person: Person) -> list[CheckResult]:
    """Report messages in languages that only a model would understand."""
    waiting = await count_unlearned_messages(tx, person.id)
    if not waiting:
        return []
    return [CheckResult(is_ok=True, text=format_unlearned_messages(person, waiting))]


async def check_learning(tx: Transaction, person: Person) -> list[CheckResult]:
    """Report segments that could not be read, and failed summary rollups."""
    failed = await list_segments(tx, person.id, status=["failed"])
    results = [
        CheckResult(
            is_ok=False, text=format_for_person(person, format_unread_segment(each, person.zone))
        )
        for each in failed
    ]
    if (why := await find_rollup_error(tx, person.id)) is not None:
        results.append(
            report_problem(
                "summaries_not_folded",
                f"{person.name}: old summaries could not be rolled up, and stay as they are: {why}",
                name=person.name,
                why=why,
            )
        )
    if failed:
        results.append(
            report_problem(
                "reading_again",
                f"{person.name}: to try again: oldfriend consolidate --resume",
                name=person.name,
            )
        )
    return results


async def check_unconfirmed(tx: Transaction, person: Person) -> list[CheckResult]:
    """Report how much waits for the person's word."""
    waiting = len(await list_unconfirmed_memories(tx, person.id))
    if not waiting:
        return []
    return [
        report_ok(
            "claims_unconfirmed",
            f"{person.name}: {waiting:,} things that were read are not believed until they are "
            "confirmed: oldfriend memory unconfirmed",
            name=person.name,
            count=waiting,
        )
    ]


def format_unread_segment(segment: Segment, zone: str) -> str:
    """Format a segment that could not be read."""
    when = from_micros(segment.from_at, zone).strftime("%Y-%m-%d %H:%M")
    many = f"{segment.messages:,} messages of {when}"
    return localizable(
        "talk_unread",
        f"{many} could not be read, and were set aside: {segment.error}",
        count=segment.messages,
        when=when,
        error=segment.error or "",
    )
