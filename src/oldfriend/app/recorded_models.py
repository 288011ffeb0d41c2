"""Recorded models: language models and tool calls whose results are recorded in the ledger.

Finished calls are stored as they happen, in transactions of their own: a turn that crashes is run
again and replays from the ledger what was already paid for and done.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import AppContext, ModelContext
from oldfriend.app.call_spool import FinishedCall, OpenCall, flush_call_with_retry, flush_spool
from oldfriend.app.concurrency import is_lease_lost, raise_if_lease_lost
from oldfriend.app.spend_limits import UsageAccount, load_allowances
from oldfriend.config.settings_schema import ModelRole
from oldfriend.domain.ids import new_id
from oldfriend.llm.model import Completion, CompletionRequest, LanguageModel, ModelCall, ToolCall
from oldfriend.llm.recorded_calls import ReplayingModel
from oldfriend.memory.journal import get_memory_version
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.turn.link_requests import build_link_handler
from oldfriend.turn.request_handlers.registry import REQUEST_HANDLERS
from oldfriend.turn.switched_off import build_switched_off_handler
from oldfriend.turn.tools.server_tools import build_server_tools
from oldfriend.turn.tools.tool import ToolSpec
from oldfriend.turn.tools.tool_registry import TOOLS
from oldfriend.turn.tools.watch_tools import build_watch_tools
from oldfriend.turn.tools.web_tools import build_web_tools
from oldfriend.turn.turn_dependencies import TurnDependencies, TurnLimits
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.turn.watch_requests import build_watch_handler
from oldfriend.usage.model_calls import (
    CallContext,
    clear_committed_calls,
    load_completions_by_request,
)
from oldfriend.usage.tool_calls import (
    RecordedToolCall,
    ToolEffect,
    list_tool_calls,
    record_tool_result,
    record_tool_start,
)
from oldfriend.web.web_access import WebAccess, build_web_access

NO_COMPLETIONS: Final[Mapping[int, Completion]] = MappingProxyType({})
NO_COMPLETIONS_BY_HASH: Final[Mapping[str, Completion]] = MappingProxyType({})
FIRST_JUDGE_CALL: Final = 1_000
"""Calls for a reply are numbered from 0 and stay below this."""
SERVER_STARTS_WITHIN_S: Final = 20.0
"""Seconds that a call to which the person has agreed waits for its server."""


async def build_turn_dependencies(app: AppContext, utterance: Utterance) -> TurnDependencies:
    """Build the dependencies of the turn that answers this utterance."""
    asker = build_asker(utterance)
    model = build_role_model(
        app, asker, since=utterance.deletion_count, recorded=utterance.recorded_completions
    )
    web = get_web_access(app)
    reads_links = model is None and app.settings.web.pages
    says_what_is_off = build_switched_off_handler(web, has_model=model is not None)
    return TurnDependencies(
        search_deps=app.with_asker(asker).search_deps,
        model=model,
        tools=(*list_tool_specs(app), *list_server_tools(app, utterance)),
        find_tool=partial(find_server_tool, app, utterance),
        handlers=(
            build_watch_handler(may_read_pages=app.settings.web.pages),
            *REQUEST_HANDLERS,
            *((build_link_handler(web),) if reads_links else ()),
            says_what_is_off,
        ),
        small_model=build_judge(app, asker, utterance),
        call_store=UsageToolCallStore(app=app, asker=asker),
        clock=app.clock,
        limits=TurnLimits(
            budget=BUDGETS[app.settings.context.preset],
            max_tool_calls=app.settings.limits.most_tool_calls,
        ),
        unavailable_reason=await find_unavailable_reason(app),
    )


def get_web_access(app: AppContext) -> WebAccess:
    """Return what may be looked up outside, as the settings are now."""
    settings = app.settings
    return build_web_access(app.web, settings.web, settings.environment, data=settings.data)


def list_tool_specs(app: AppContext) -> tuple[ToolSpec, ...]:
    """Return the tools that a model may call, as the settings are now."""
    return (
        *TOOLS,
        *build_watch_tools(may_read_pages=app.settings.web.pages),
        *build_web_tools(get_web_access(app)),
    )


def list_server_tools(app: AppContext, utterance: Utterance) -> tuple[ToolSpec, ...]:
    """List the tools of servers, which act with the owner's keys: for the owner alone."""
    is_owner = utterance.person.is_owner and not utterance.is_in_group
    if app.tool_servers is None or not app.models or not is_owner:
        return ()
    ours = {spec.name for spec in list_tool_specs(app)}  # which no server may stand in for
    return tuple(each for each in build_server_tools(app.tool_servers) if each.name not in ours)


async def find_server_tool(app: AppContext, utterance: Utterance, name: str) -> ToolSpec | None:
    """Return the tool of a server, which may have to start first; None if it is not there."""
    if app.tool_servers is not None:
        await app.tool_servers.wait_for(name, SERVER_STARTS_WITHIN_S)
    return next((each for each in list_server_tools(app, utterance) if each.name == name), None)


def build_judge(
    app: ModelContext, asker: CallContext, utterance: Utterance
) -> LanguageModel | None:
    """Return the model that judges what a message needs, if a small model is configured."""
    if not app.settings.models.small:
        return None
    return build_role_model(
        app,
        asker,
        "small",
        first_number=FIRST_JUDGE_CALL,
        since=utterance.deletion_count,
        recorded=utterance.recorded_completions,
    )


def build_asker(utterance: Utterance) -> CallContext:
    """Return on whose behalf a turn makes its calls."""
    return CallContext(
        person=utterance.person.id,
        turn=utterance.message.turn,
        answered_versions=" ".join(f"{each.id}@{each.version}" for each in utterance.messages),
    )


def build_role_model(
    app: ModelContext,
    asker: CallContext,
    model_role: ModelRole = "main",
    *,
    first_number: int = 0,
    since: int | None = None,
    recorded: Mapping[int, Completion] = NO_COMPLETIONS,
    recorded_by_hash: Mapping[str, Completion] = NO_COMPLETIONS_BY_HASH,
) -> LanguageModel | None:
    """Return the model of a role with every call recorded, or None if the companion is offline.

    ``first_number`` numbers its first call in the turn; ``recorded`` holds the completions from
    before a crash by step, ``recorded_by_hash`` by request hash; ``since`` is the count of
    deletions when the shown content was read.
    """
    role_model = app.models.get(model_role)
    if role_model is None:
        return None

    return ReplayingModel(
        build_model=role_model.build_chain,
        recorded=recorded,
        recorded_by_hash=recorded_by_hash,
        name=role_model.name,
        first_number=first_number,
        recorder=CallRecorder(
            app=app, asker=asker, model=role_model.name, is_free=role_model.is_free, since=since
        ),
        before_call=raise_if_lease_lost,
        is_late=is_lease_lost,
    )


@dataclass(slots=True, kw_only=True)
class CallRecorder:
    """Writes the calls of one asker into the spool as they happen, and then into the ledger."""

    app: ModelContext
    asker: CallContext
    model: str
    is_free: bool
    since: int | None
    _request_hash: str = ""
    _step: int = 0
    _open: OpenCall | None = None
    _sent: CompletionRequest | None = None

    def begin(self, request: CompletionRequest, digest: str, number: int) -> None:
        """Note that a request is about to be sent."""
        self._sent, self._request_hash, self._step = request, digest, number
        self._begin_call(request)

    def on_text(self, piece: str) -> None:
        """Note that a piece of the answer has arrived."""
        if self._open is not None:
            self.app.spool.note_progress(self._open, piece)

    async def record(self, call: ModelCall) -> None:
        """Record a finished call before anything else is done with it."""
        app, now, opened = self.app, self.app.clock(), self._open
        self._open = None
        spooled = FinishedCall(
            id=new_id(now) if opened is None else opened.id,
            asker=self.asker,
            step=self._step,
            request_hash=self._request_hash,
            since=self.since,
            made_at=now,
            call=call,
        )
        app.spool.put(spooled, ends=opened)
        if call.outcome != "done" and self._sent is not None:
            self._begin_call(self._sent)  # the next model of the chain may be asked
        app.on_crash_point("spooled")
        await flush_call_with_retry(
            app.db, app.spool, spooled, retry_for_s=app.settings.limits.lease_s
        )
        app.on_crash_point("called")

    def end(self) -> None:
        """Note that no more calls are made for the request."""
        if self._open is not None:
            self.app.spool.end(self._open)
        self._open = self._sent = None

    def _begin_call(self, request: CompletionRequest) -> None:
        self._open = self.app.spool.begin(
            self.asker,
            request,
            step=self._step,
            request_hash=self._request_hash,
            model=self.model,
            is_free=self.is_free,
            now=self.app.clock(),
        )


@asynccontextmanager
async def forget_answers(app: ModelContext, asker: CallContext) -> AsyncIterator[None]:
    """Delete the recorded answers of a turn at the end of the block, also where it is cut off.

    For what is not repeated after a crash, so that no answer is kept without being said.
    """
    assert asker.turn is not None
    try:
        yield
    finally:
        async with app.db.begin_write() as tx:
            await clear_committed_calls(tx, asker.person, asker.turn)


async def build_background_model(
    app: ModelContext, asker: CallContext, model_role: ModelRole
) -> LanguageModel | None:
    """Return the model of a role for background work, which resumes after a crash.

    If something is forgotten from now on, its answers are not kept. Returns None without a model;
    raises AllowanceUsedUp if today's limit is reached.
    """
    await flush_spool(app.db, app.spool)
    if model_role not in app.models:
        return None
    account = UsageAccount(
        db=app.db, settings=app.settings, clock=app.clock, asker=asker, spool=app.spool
    )
    await account.check()
    async with app.db.begin_read() as tx:
        since = (await get_memory_version(tx, asker.person)).rewritten
        given = await load_completions_by_request(tx, asker)
    return build_role_model(app, asker, model_role, since=since, recorded_by_hash=given)


async def find_unavailable_reason(app: ModelContext) -> str | None:
    """Return why no model may be called any more today, or None."""
    budget = app.settings.budget
    if not app.models or (budget.all_per_day is None and budget.all_tokens_per_day is None):
        return None
    async with app.db.begin_read() as tx:
        _, everything = await load_allowances(tx, app.settings, now=app.clock())
    return "the limit for today is reached" if everything.is_used_up else None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageToolCallStore:
    """The tool calls of one turn, in the ledger."""

    app: AppContext
    asker: CallContext

    async def list_begun(self) -> Sequence[RecordedToolCall]:
        """Return all calls of this turn so far, in order, whichever run began them."""
        assert self.asker.turn is not None
        async with self.app.db.begin_read() as tx:
            return await list_tool_calls(tx, self.asker.person, self.asker.turn)

    async def begin(self, number: int, call: ToolCall, kind: ToolEffect) -> None:
        """Record that a call begins; committed before the tool does anything."""
        assert self.asker.turn is not None
        now = self.app.clock()
        async with self.app.db.begin_write() as tx:
            await record_tool_start(
                tx, self.asker.person, self.asker.turn, number, call, kind, now=now
            )
        self.app.on_crash_point("tool begun")

    async def finish(self, number: int, call: ToolCall, kind: ToolEffect, result: str) -> None:
        """Record the result of a call, begun or not; committed before the result is used."""
        person, turn = self.asker.person, self.asker.turn
        assert turn is not None
        now = self.app.clock()
        async with self.app.db.begin_write() as tx:
            await record_tool_start(tx, person, turn, number, call, kind, now=now)
            await record_tool_result(tx, person, turn, number, result, now=now)
        self.app.on_crash_point("tool finished")
