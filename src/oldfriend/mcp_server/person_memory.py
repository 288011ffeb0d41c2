"""Person memory: what a program may do with one person's memory, tool by tool."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import is_forgotten_delivery, lift_tombstone
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.notifications import QUEUES
from oldfriend.beliefs.entity_relations import AMONG_PEOPLE, UNNAMED
from oldfriend.beliefs.queries import attach_evidence, get_belief, list_beliefs_about
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput, NotFound, StoreError
from oldfriend.domain.ids import MemoryId, MessageId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import MAX_TEXT_CHARS, Chat, Message, Person, UnloggedMessage
from oldfriend.forgetting.delete import preview_forget
from oldfriend.inbound.accept import ensure_local_chat, precompute_terms
from oldfriend.lang.detection import detect_language
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.learning.learning_scheduler import enqueue_learning_for_message
from oldfriend.mcp_server.record_json import (
    MAX_FULL_CHARS,
    USER,
    belief_record,
    dumps,
    evidence_record,
    fit_records,
    hit_record,
    list_record_ids,
    message_record,
    truncate,
)
from oldfriend.mcp_server.tool_arguments import (
    check_names,
    echo,
    take_count,
    take_span,
    take_text,
    take_texts,
    take_verbatim,
)
from oldfriend.mcp_server.tool_definitions import REMEMBER, build_tools, get_server_prompt
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.message_log import (
    WriteTarget,
    find_message_by_external_id,
    get_message,
    list_messages,
    write_message,
)
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.memory.receipts import find_receipt_by_partial_id
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.presenters.deletion_text import is_empty_plan, preview_as_text
from oldfriend.presenters.receipt_schemas import receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.search import SearchQuery
from oldfriend.search.belief_scope import list_ids_about
from oldfriend.search.message_scope import list_newest_in_scope
from oldfriend.search.types import MessageScope
from oldfriend.turn.later_messages import list_later_by_item
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.neighbors import list_neighbors
from oldfriend.turn.recalled import RecallQuery, get_item_id
from oldfriend.turn.retrieval import recall
from oldfriend.turn.user_context import MAX_NAMED
from oldfriend.usage.model_calls import CallContext
from oldfriend.usage.program_questions import ProgramQuestion, save_question

CHANNEL: Final = "mcp"
EMPTY: Final = "There is nothing to remember: “text” is empty. Pass the user's own words."
FORGOTTEN: Final = (
    "This was forgotten on the user's wish, so it is not stored again on a program's word. "
    "They can say it to Oldfriend themselves."
)
DIGEST_CHARS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOnText:
    """What a program wants remembered."""

    text: str
    program: str  # what the program is called
    is_own_words: bool  # whether it counts as said by the person

    def list_external_ids(self, at: Micros, zone: str) -> tuple[str, str]:
        """Return the ids by which a request that is repeated on the same day is recognized.

        A digest of the text, or with the day if the text was told on an earlier one.
        """
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:DIGEST_CHARS]
        return digest, f"{digest}#{from_micros(at, zone).date()}"


async def remember_text(
    app: AppContext, person: Person, passed: PassedOnText
) -> tuple[Message, bool]:
    """Store a text, once a day; return the message, and whether it is new. Raises InvalidInput."""
    if not passed.text.strip():
        raise InvalidInput(EMPTY)
    if len(passed.text) > MAX_TEXT_CHARS:
        raise InvalidInput(f"At most {MAX_TEXT_CHARS:,} characters fit. Split the text.")
    now = app.clock()
    async with app.db.begin_write() as tx:
        await lock_person(tx, person.id)  # so that nobody renames them in the meantime
        owner = await get_person_by_id(tx, person.id)
        context = await ensure_local_chat(tx, owner, CHANNEL, now=now)
    await precompute_terms(app.settings, context, passed.text)
    async with app.db.begin_write() as tx:
        known = await find_told_today(tx, context.chat, owner, passed, now=now)
        if known is not None:
            return known, False
        message = await write_passed_on(tx, app, context.chat, owner, passed, now=now)
    app.notifier.notify(*QUEUES)
    return message, True


async def find_told_today(
    tx: Transaction, chat: Chat, person: Person, passed: PassedOnText, *, now: Micros
) -> Message | None:
    """Return the message of a text that was stored today already."""
    today = from_micros(now, person.zone).date()
    for each in passed.list_external_ids(now, person.zone):
        known = await find_message_by_external_id(tx, person.id, chat.id, each)
        if known is not None and from_micros(known.at, person.zone).date() == today:
            return known
    return None


async def choose_external_id(
    tx: Transaction,
    settings: Settings,
    chat: Chat,
    person: Person,
    passed: PassedOnText,
    *,
    now: Micros,
) -> str | None:
    """Return an id for a text that is told today; None if all were forgotten, and it is said anew.

    Raises InvalidInput for a text that was forgotten and that the person has not said.
    """
    free = []
    for each in passed.list_external_ids(now, person.zone):
        if await is_forgotten_delivery(tx, settings, chat, each):
            if not passed.is_own_words:
                raise InvalidInput(FORGOTTEN)
        elif await find_message_by_external_id(tx, person.id, chat.id, each) is None:
            free.append(each)
    return free[0] if free else None


async def write_passed_on(
    tx: Transaction,
    app: AppContext,
    chat: Chat,
    person: Person,
    passed: PassedOnText,
    *,
    now: Micros,
) -> Message:
    """Write the message and what follows from it. Raises InvalidInput if it was forgotten."""
    settings = app.settings
    external_id = await choose_external_id(tx, settings, chat, person, passed, now=now)
    session = await ensure_open_session(tx, chat, now)
    unlogged = UnloggedMessage(
        role="person" if passed.is_own_words else "tool",
        speaker=person.name if passed.is_own_words else passed.program,
        trust="person" if passed.is_own_words else "outside",
        text=passed.text,
        at=now,
        zone=person.zone,
        external_id=external_id,
    )
    language = person.language or settings.language or "en"
    target = WriteTarget(chat=chat, session=session, turn=None, language=language)
    message = await write_message(tx, target, unlogged, now=now)
    assert message is not None  # its external id was looked up in the same transaction
    if passed.is_own_words:
        await lift_tombstone(tx, settings, person.id, passed.text)
    await plan_embedding(tx, now=now)
    await enqueue_learning_for_message(tx, settings, person.id, session, now=now)
    return message


DEFAULT_LIMIT: Final = 8
MAX_LIMIT: Final = 25
MAX_LISTED_NAMES: Final = 12
"""The most names that are offered in place of an unknown one."""
NARROWER: Final = "More was found than fits here. Ask for less: other words, a person, or a time."
NO_ANSWER: Final = "Nothing found surely answers this. These are the nearest."
NOTHING_FOUND: Final = "Nothing was found. Try other words, or fewer limits."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Whom and what time a search is limited to."""

    scope: MessageScope
    belief_ids: frozenset[MemoryId] | None = None  # None: all


async def search_memory(
    app: AppContext, person: Person, arguments: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return what a program asks for, best first. Raises InvalidInput, NotFound."""
    text = take_text(arguments, "query")
    limit = take_count(arguments, "limit", default=DEFAULT_LIMIT, most=MAX_LIMIT)
    since, until = take_span(arguments, person.zone)
    name = take_text(arguments, "person")
    limits = Limits(scope=MessageScope(since=since, until=until))
    if name.casefold() in {USER, person.name.casefold()}:
        limits = Limits(scope=replace(limits.scope, role="person"))
    elif name:
        limits = await limit_to_name(app, person, limits.scope, name)
        text = text or name
    if not text:
        return await list_newest(app, person, limits, limit)
    return await search_by_words(app, person, text, limits, limit)


async def search_by_words(
    app: AppContext, person: Person, text: str, limits: Limits, limit: int
) -> dict[str, JsonValue]:
    """Return the messages and beliefs that answer best."""
    deps = app.with_asker(CallContext(person=person.id)).search_deps
    query = RecallQuery(
        text=text,
        language=get_language(app, person, text),
        at=app.clock(),
        scope=None if limits.scope == MessageScope() else limits.scope,
        belief_ids=limits.belief_ids,
    )
    found = await recall(deps, person, query, limit=limit)
    shown = found.ranking[:limit]
    later = await list_later_by_item(deps, person, query, shown)
    records, left_out = fit_records(
        hit_record(each, person.zone, later.get(get_item_id(each), ())) for each in shown
    )
    is_sure = found.is_answerable or found.is_belief_answerable
    note = "" if is_sure else NO_ANSWER
    return build_result(records, note=NARROWER if left_out else note, answers=is_sure)


async def list_newest(
    app: AppContext, person: Person, limits: Limits, limit: int
) -> dict[str, JsonValue]:
    """Return the newest messages of a time. Raises InvalidInput where nothing is asked for."""
    scope = limits.scope
    if scope.since is scope.until is None and not scope.role:
        raise InvalidInput("recall needs a query, a person, or a time (since, until).")
    async with app.db.begin_read() as tx:
        messages = await list_messages(
            tx,
            person.id,
            since=scope.since,
            until=scope.until,
            role=scope.role or None,
            limit=limit,
        )
    records, left_out = fit_records(message_record(each) for each in messages[::-1])
    return build_result(records, note=NARROWER if left_out else "", answers=bool(records))


def build_result(records: list[JsonValue], *, note: str, answers: bool) -> dict[str, JsonValue]:
    """Build a search result; what is to be said of it comes before the records."""
    note = note if records else NOTHING_FOUND
    return {
        "answers": answers and bool(records),
        **({"note": note} if note else {}),
        "results": records,
    }


async def limit_to_name(
    app: AppContext, person: Person, message_scope: MessageScope, name: str
) -> Limits:
    """Return the limits to whom or what a name means. Raises NotFound with known names."""
    async with app.db.begin_read() as tx:
        index = await app.index_cache.get_message_index(tx, person.id)
        beliefs = await app.index_cache.get_belief_index(tx, person.id)
    query = SearchQuery(text=name, language=get_language(app, person, name))
    meant = [each for each in beliefs.list_meant_entities(query) if each.status != "uncertain"]
    entities = meant[:MAX_NAMED]
    names = dict.fromkeys(called for each in entities for called in (each.name, *each.aliases))
    wanted = tuple(names) or (name,)
    belief_ids = frozenset(list_ids_about(beliefs, [each.id for each in entities], wanted))
    if not belief_ids and not list_newest_in_scope(index, MessageScope(names=wanted)):
        known = [each.name for each in beliefs.entities if each.status == "confirmed"]
        raise NotFound(
            f"Nobody and nothing called “{echo(name)}” is known. Known are: "
            f"{', '.join(map(echo, known[:MAX_LISTED_NAMES])) or 'nobody yet'}. Leave “person” out "
            "to search everything."
        )
    return Limits(scope=replace(message_scope, names=wanted), belief_ids=belief_ids)


def get_language(app: AppContext, person: Person, text: str) -> str:
    """Return the language of a query."""
    return detect_language(text, fallback=person.language or app.settings.language or "en")


PROFILE_TOKENS: Final = 1_500
MAX_RELATIONS: Final = 30
START_TOKENS: Final = 2_000
READ_ONLY: Final = (
    "This program may only read the memory, so nothing was stored. The user can give it a token "
    "that may write, or start it without --read-only."
)
HOW_TO_FORGET: Final = (
    "Nothing has been deleted. Only the user can do that: on Oldfriend's page under Forget, or in "
    "the terminal with `oldfriend forget`, where they see this again and confirm it."
)
NOTHING_TO_FORGET: Final = "Nothing like that is stored, so there is nothing to forget."
WHAT_TO_FORGET: Final = "Say what would be forgotten: ids, about (a name), or since and until."


def do_nothing() -> None:
    """Do nothing after a call: another process does the background work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonMemory:
    """One person's memory for one program."""

    get_app: Callable[[], AppContext]  # the current one: settings may be reloaded
    person: Person
    can_write: bool
    is_own_words: bool = False  # whether what it remembers counts as said by the person
    token: str = ""  # the id of the token that the program has
    after_call: Callable[[], None] = do_nothing

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], *, program: str) -> str:
        """Return a tool's result as JSON to a program. Raises OldfriendError with what to do."""
        shapes = {each.name: each for each in build_tools()}
        shape = shapes.get(tool)
        if shape is None:
            raise InvalidInput(
                f"There is no tool “{echo(tool)}” here. There are: {', '.join(shapes)}."
            )
        if not shape.is_reading and not self.can_write:
            raise InvalidInput(READ_ONLY)
        given = check_names(shape, arguments)
        if tool == REMEMBER:
            result = await self._remember(take_verbatim(given, "text"), program)
        else:
            result = await self._look_up(tool, given)
            await self._note_question(tool, given, result, program)
        self.after_call()
        return dumps(result)

    async def build_profile(self) -> str:
        """Return what is known of the person, as text."""
        return await self._build_context("", PROFILE_TOKENS)

    async def build_start(self, topic: str) -> str:
        """Return what is known of the person and of a topic, as text."""
        known = await self._build_context(topic, START_TOKENS)
        return get_server_prompt().render("start_text", known=known)

    async def _look_up(self, tool: str, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Run a reading tool by its name."""
        if tool == "about":
            return await self._tell_about(take_text(given, "name"))
        if tool == "why":
            return await self._explain(take_text(given, "id"))
        if tool == "forget_preview":
            return await self._preview(given)
        return await search_memory(self.get_app(), self.person, given)

    async def _note_question(
        self, tool: str, given: Mapping[str, JsonValue], result: JsonValue, program: str
    ) -> None:
        """Store what a program asked and the ids of what it was given, where one may write."""
        app = self.get_app()
        question = ProgramQuestion(
            program=program,
            tool=tool,
            asked=", ".join(each for each in given.values() if isinstance(each, str) and each),
            given=tuple(dict.fromkeys(list_record_ids(result))),
            asked_at=app.clock(),
        )
        with suppress(StoreError):  # a read-only store still serves reads
            async with app.db.begin_write() as tx:
                await save_question(tx, self.person.id, question, token=self.token)

    async def _remember(self, text: str, program: str) -> dict[str, JsonValue]:
        """Store a text. Raises InvalidInput."""
        passed = PassedOnText(text=text, program=program, is_own_words=self.is_own_words)
        message, is_new = await remember_text(self.get_app(), self.person, passed)
        return {"id": message.id, "stored": True, "was_known": not is_new, "text": message.text}

    async def _tell_about(self, name: str) -> dict[str, JsonValue]:
        """Return what is known of a name, or of the person. Raises NotFound."""
        app, person = self.get_app(), self.person
        if name.casefold() in {"", "me", "user", person.name.casefold()}:
            known = await self.build_profile()
            return {"about": "user", "known": known, "relations": await self._list_relations()}
        await extract_unread(app, person.id)
        try:
            async with app.db.begin_read() as tx:
                found = await list_beliefs_about(tx, person.id, name)
        except NotFound as error:
            raise NotFound(
                f"Nothing has been learned about “{echo(name)}” so far. To search what was said: "
                "recall with the name as “query”."
            ) from error
        records, left_out = fit_records(belief_record(each, person.zone) for each in found)
        return {
            "about": name,
            **({"left_out": left_out, "note": NARROWER} if left_out else {}),
            "known": records,
        }

    async def _list_relations(self) -> list[JsonValue]:
        """Return who is around the person, those named last first: names to ask about."""
        app, person = self.get_app(), self.person
        async with app.db.begin_read() as tx:
            index = await app.index_cache.get_belief_index(tx, person.id)
            living = {each.id for each in index.entities if each.kind in {"person", "pet"}}
            relations = sorted(
                (
                    each.known
                    for each in index.graph.list_neighbors(None)
                    if each.edge.relation in AMONG_PEOPLE
                    or (each.node in living and each.edge.relation not in UNNAMED)
                ),
                key=lambda known: known.stats.last_seen,
                reverse=True,
            )[:MAX_RELATIONS]
            evidence = await list_object_evidence(tx, person.id, [k.memory.id for k in relations])
        records, _ = fit_records(
            belief_record(attach_evidence(each, evidence.get(each.memory.id, ())), person.zone)
            for each in relations
        )
        return records

    async def _explain(self, wanted: str) -> dict[str, JsonValue]:
        """Return the evidence for a belief, a reply or a message. Raises NotFound."""
        for look_up in (self._explain_belief, self._explain_reply, self._explain_message):
            try:
                return await look_up(wanted)
            except NotFound:
                continue
        raise NotFound(
            f"Nothing here has the id “{echo(wanted)}”; it may have been forgotten. Take an "
            "id that recall, about or remember has returned."
        )

    async def _explain_message(self, wanted: str) -> dict[str, JsonValue]:
        """Return a message in full, with those beside it. Raises NotFound."""
        app = self.get_app()
        async with app.db.begin_read() as tx:
            message = await get_message(tx, self.person.id, MessageId(wanted))
        beside = await list_neighbors(app.search_deps, message)
        records, _ = fit_records(map(message_record, beside))
        return {**message_record(message, most=MAX_FULL_CHARS), "said_around_it": records}

    async def _explain_belief(self, wanted: str) -> dict[str, JsonValue]:
        """Return a belief with the words it rests on. Raises NotFound, InvalidInput."""
        async with self.get_app().db.begin_read() as tx:
            belief = await get_belief(tx, self.person.id, wanted)
        records, left_out = fit_records(map(evidence_record, belief.evidence[::-1]))
        return {
            **belief_record(belief, self.person.zone),
            "evidence": records,
            **({"older_evidence_left_out": left_out} if left_out else {}),
        }

    async def _explain_reply(self, wanted: str) -> dict[str, JsonValue]:
        """Return the receipt of a reply. Raises NotFound."""
        async with self.get_app().db.begin_read() as tx:
            receipt = await find_receipt_by_partial_id(tx, self.person.id, wanted)
            if receipt is None:
                raise NotFound(wanted)
            text = receipt_as_text(await resolve_receipt(tx, receipt))
        return {"id": wanted, "kind": "reply", "receipt": truncate(text, MAX_FULL_CHARS)}

    async def _preview(self, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return what would be forgotten. Raises InvalidInput, NotFound."""
        since, until = take_span(given, self.person.zone)
        request = DeletionRequest(
            ids=take_texts(given, "ids"),
            about=take_text(given, "about") or None,
            since=since,
            until=until,
        )
        if request == DeletionRequest():
            raise InvalidInput(WHAT_TO_FORGET)
        preview = await preview_forget(self.get_app().db, self.person.id, request)
        if is_empty_plan(preview.plan):
            return {"would_go": "", "note": NOTHING_TO_FORGET}
        return {
            "note": HOW_TO_FORGET,
            "would_go": truncate(preview_as_text(preview), MAX_FULL_CHARS),
        }

    async def _build_context(self, topic: str, budget: int) -> str:
        """Return what is known of the person and a topic within a number of tokens."""
        app, person = self.get_app(), self.person
        await extract_unread(app, person.id)
        query = RecallQuery(text=topic, language=get_language(app, person, topic), at=app.clock())
        deps = app.with_asker(CallContext(person=person.id)).search_deps
        text = await build_context(deps, person, query, budget=budget)
        return text or get_server_prompt().render("nothing_known")
