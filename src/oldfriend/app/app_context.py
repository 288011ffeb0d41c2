"""Application context: the shared dependencies of a running Oldfriend, built by ``wiring``."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from oldfriend.app.call_spool import CallSpool
from oldfriend.app.concurrency import Isolation
from oldfriend.app.notifications import Notifier
from oldfriend.app.process_registry import ProcessFolder
from oldfriend.app.spend_limits import UsageAccount
from oldfriend.channels.channel import TERMINAL_CHANNEL, WEB_CHANNEL, Channel
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ModelRole
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, Micros
from oldfriend.llm.embedding import Embedder, with_account
from oldfriend.llm.model import CallSink, LanguageModel
from oldfriend.llm.reading import FactTagger, Reader
from oldfriend.llm.speech import SpeechSynthesizer, Transcriber
from oldfriend.mcp_client.server_pool import ToolServerPool
from oldfriend.memory.deletion.audit_log import CleanupResult
from oldfriend.memory.index_cache import IndexCache
from oldfriend.search.scorers import SCORERS
from oldfriend.turn.recalled import SearchDeps, find_no_embedder
from oldfriend.usage.model_calls import CallContext
from oldfriend.web.web_access import WebClient

CrashPoint = Literal[
    "accept",
    "accepted",
    "thinking",
    "spooled",
    "called",
    "tool begun",
    "tool finished",
    "decided",
    "committing",
    "committed",
    "sending",
    "sent",
    "delivered",
    "fetched",
    "heard",
    "shown",
]
"""Points in the life of a message at which the crash tests kill the process."""


def ignore_crash_point(step: CrashPoint) -> None:
    """Ignore the crash point: outside of crash tests nothing watches them."""


async def skip_warm_up() -> None:
    """Do nothing: there is nothing to warm up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModel:
    """The models of a role, as a factory of a fallback chain that reports each call to a sink."""

    name: str
    build_chain: Callable[[CallSink], LanguageModel]
    is_free: bool = False  # whether all of them run on this machine


def replace_settings(app: "AppContext", settings: Settings) -> "AppContext":
    """Return the app context with other settings."""
    return replace(app, settings=settings)


@dataclass(frozen=True, kw_only=True)  # contexts have no slots: some inherit from two
class StoreContext:
    """What is needed to store and to clean up, without a model or a channel."""

    db: Database
    clock: Clock
    settings: Settings
    notifier: Notifier
    spool: CallSpool = field(default_factory=CallSpool)  # calls that are not in the ledger yet
    process_folder: ProcessFolder | None = (
        None  # all processes that share the data folder; None: it is not shared
    )
    on_crash_point: Callable[[CrashPoint], None] = ignore_crash_point


@dataclass(frozen=True, kw_only=True)
class ModelContext(StoreContext):
    """What is needed to ask a model, and to record what it answers."""

    models: Mapping[ModelRole, RoleModel] = field(default_factory=dict)  # empty: offline


@dataclass(frozen=True, kw_only=True)
class LearningContext(ModelContext):
    """What is needed to read conversations, to look after what was learned and to reflect."""

    embedder: Embedder
    index_cache: IndexCache
    fact_tagger: FactTagger | None = None  # finds facts in messages without a model
    find_former_embedder: Callable[[str], Embedder | None] = (
        find_no_embedder  # returns the embedder of a previous model, if it is available
    )

    def with_asker(self, asker: CallContext) -> Self:
        """Return the context with embedding charged to this asker instead of the owner."""
        account = UsageAccount(
            db=self.db, settings=self.settings, clock=self.clock, asker=asker, spool=self.spool
        )

        def former(model: str) -> Embedder | None:
            embedder = self.find_former_embedder(model)
            return None if embedder is None else with_account(embedder, account)

        return replace(
            self, embedder=with_account(self.embedder, account), find_former_embedder=former
        )


@dataclass(frozen=True, kw_only=True)
class SpeechContext(StoreContext):
    """What is needed to fetch voice messages and to transcribe them."""

    transcriber: Transcriber | None = None  # None: voice messages are not transcribed
    # channels that this process can reach
    channels: Mapping[str, Channel] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class InboundContext(SpeechContext, ModelContext):
    """What is needed to take messages in, and to have somebody answer them."""

    process_name: str  # unique among the processes that work on the same database
    # channels whose replies must be sent
    platforms: frozenset[str] = field(default_factory=lambda: frozenset(CHANNELS))

    def register_process(self) -> str:
        """Create this process's file before it takes a lease, and return the process name."""
        if self.process_folder is not None:
            self.process_folder.register(reserve=bool(self.models))
        return self.process_name

    def get_debounce_s(self, channel: str) -> float:
        """Return how many seconds of silence on a channel must pass before an answer."""
        platform = self.channels.get(channel)
        return 0.0 if platform is None else platform.debounce_s


@dataclass(frozen=True, kw_only=True)
class AppContext(InboundContext, LearningContext):
    """The shared dependencies of a running Oldfriend."""

    opened_at: Micros
    # opens a new in-memory database, for what cannot be stored now
    open_in_memory: Callable[[], Database]
    is_persisted: bool = True  # False: what is written is kept in memory only for now
    reader: Reader | None = None  # finds answers in messages without a model
    speaker: SpeechSynthesizer | None = None  # None: replies are not spoken
    web: WebClient = field(default_factory=WebClient)  # used as far as the settings allow
    tool_servers: ToolServerPool | None = None  # None: no server of tools is configured
    warm_up: Callable[[], Awaitable[None]] = skip_warm_up
    with_settings: Callable[["AppContext", Settings], "AppContext"] = replace_settings
    finished_cleanups: tuple[
        CleanupResult, ...
    ] = ()  # interrupted deletions that have just been completed
    isolation: Isolation = field(default_factory=Isolation)  # for work that may kill this process
    migration_backup: Path | None = (
        None  # the database as it was before the migration that has just run
    )

    @property
    def search_deps(self) -> SearchDeps:
        """The dependencies of a search."""
        return SearchDeps(
            db=self.db,
            index_cache=self.index_cache,
            embedder=self.embedder,
            find_former_embedder=self.find_former_embedder,
            scorer=SCORERS[self.settings.search.scorer],
            reader=self.reader,
        )

    def split_reply(self, channel: str, text: str, *, is_markdown: bool) -> Sequence[str]:
        """Return the parts of a reply to send on a channel; none if it is read from the log.

        If this process does not reach the platform, the process that does splits the reply.
        """
        if channel not in self.platforms:
            return ()
        platform = self.channels.get(channel)
        return (text,) if platform is None else platform.split(text, is_markdown=is_markdown)

    def has_buttons(self, channel: str) -> bool:
        """Tell whether buttons below a message reach the person on a channel."""
        return channel in {WEB_CHANNEL, TERMINAL_CHANNEL} or channel in self.platforms
