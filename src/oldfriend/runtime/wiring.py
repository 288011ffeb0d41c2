"""Wiring: builds the app context; the only module that names concrete engines and models."""

import asyncio
import os
import random
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from oldfriend.app.app_context import AppContext, RoleModel
from oldfriend.app.call_spool import CallSpool, close_spool
from oldfriend.app.deletion_filter import has_pending_cleanup
from oldfriend.app.notifications import Notifier
from oldfriend.app.process_registry import build_process_folder
from oldfriend.app.spend_limits import UsageAccount
from oldfriend.config.keys import reject_short_key
from oldfriend.config.provider_resolution import (
    can_send_to_model,
    find_tool_server_key,
    get_provider_url,
    parse_provider,
    resolve_model,
)
from oldfriend.config.settings import Settings, is_json_url, is_postgres_url, parse_database_path
from oldfriend.config.settings_schema import LOCAL, MODEL_ROLES, ModelRole
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, system_clock
from oldfriend.domain.errors import (
    EmbeddingFailed,
    InvalidInput,
    ModelMisconfigured,
    StoreUnusable,
)
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.llm.embedding import Account, CachingEmbedder, Embedder, UnavailableEmbedder
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.local_models import LocalServer
from oldfriend.llm.model import CallSink, LanguageModel
from oldfriend.llm.providers import ModelConfig, is_free, is_free_at
from oldfriend.llm.reading import FactTagger, Reader
from oldfriend.llm.unavailable import UnavailableModel
from oldfriend.mcp_client.server_pool import ToolServerPool
from oldfriend.memory.index_cache import IndexCache
from oldfriend.runtime.bot_connections import BotConnections
from oldfriend.search.document_terms import encode_document_terms

if TYPE_CHECKING:
    from oldfriend.llm.adapters.model_factory import SpeechFactory
    from oldfriend.llm.adapters.remote_embeddings import RemoteEmbedder


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    create: bool = True,
    clock: Clock = system_clock,
    in_memory: bool = False,
    with_channels: bool = False,
) -> AsyncIterator[AppContext]:
    """Open the database and build the app context; close everything on leaving.

    With ``in_memory`` a database of which nothing remains is opened instead. With ``with_channels``
    the connected messaging platforms are opened too. Raises StoreError when the database cannot be
    used, InvalidInput for an invalid URL or a deletion key that is too short.
    """
    reject_short_key(settings)
    db = open_in_memory() if in_memory else await open_database(settings.database, create=create)
    notifier, bots, name = Notifier(db), BotConnections(), build_process_name()
    processes = None if in_memory else build_process_folder(settings.data, settings.database, name)
    spool = CallSpool(None if processes is None else processes.own)
    account = UsageAccount(db=db, settings=settings, clock=clock, spool=spool)
    embedders = EmbedderRegistry(settings, account)
    embedder = embedders.get_current()
    tool_servers = ToolServerPool(settings.mcp, partial(find_tool_server_key, settings))
    registries, speech_models = (
        [ModelRegistry(settings, clock)],
        [build_speech_models(settings, embedders.account)],
    )

    def build_with_settings(app: AppContext, new_settings: Settings) -> AppContext:
        # Turns that have begun keep the earlier models.
        registries.append(ModelRegistry(new_settings, clock))
        speech_models.append(build_speech_models(new_settings, embedders.account))
        return replace(
            app,
            settings=new_settings,
            models=registries[-1].build_role_models(),
            warm_up=registries[-1].warm_up,
            channels=bots.connect_channels(new_settings) if with_channels else {},
            transcriber=speech_models[-1].build_transcriber(new_settings.speech.transcriber),
            speaker=speech_models[-1].build_synthesizer(
                new_settings.speech.speaker, new_settings.speech.voice
            ),
        )

    try:
        app = AppContext(
            db=db,
            embedder=embedder,
            reader=build_reader(),
            fact_tagger=build_fact_tagger(),
            clock=clock,
            settings=settings,
            notifier=notifier,
            index_cache=IndexCache(embedder.model, limit_bytes=settings.search.memory_mb << 20),
            process_name=name,
            opened_at=clock(),
            spool=spool,
            process_folder=processes,
            open_in_memory=open_in_memory,
            is_persisted=not in_memory,
            find_former_embedder=embedders.find_former,
            models=registries[0].build_role_models(),
            warm_up=registries[0].warm_up,
            tool_servers=tool_servers if settings.mcp else None,
            transcriber=speech_models[0].build_transcriber(settings.speech.transcriber),
            speaker=speech_models[0].build_synthesizer(
                settings.speech.speaker, settings.speech.voice
            ),
            channels=bots.connect_channels(settings) if with_channels else {},
            with_settings=build_with_settings,
            migration_backup=db.migration_backup,
        )
        if db.external_edits is not None:
            from oldfriend.runtime.external_edits import apply_external_edits

            await apply_external_edits(app.db, app.clock, app.settings)
        yield await with_finished_cleanups(app)
    finally:
        await close_spool(db, spool)
        await close_all(notifier, tool_servers, *registries, *speech_models, bots, embedders, db)


async def with_finished_cleanups(app: AppContext) -> AppContext:
    """Finish pending cleanups of deleted content, also after a crash; return the new context."""
    if app.db.is_read_only or not await has_pending_cleanup(app.db):
        return app
    from oldfriend.forgetting.cleanup import resume_cleanups

    return replace(app, finished_cleanups=await resume_cleanups(app))


class AsyncCloseable(Protocol):
    """Something with an asynchronous ``close``."""

    async def close(self) -> None:
        """Release what it holds."""


async def close_all(*closeables: AsyncCloseable) -> None:
    """Close all in the given order."""
    for each in closeables:
        await each.close()


class EmbedderRegistry:
    """The embedders in use, each built once."""

    def __init__(self, settings: Settings, account: Account) -> None:
        """Build none yet; ``account`` is charged for remote embeddings."""
        self._settings = settings
        self.account = account
        self._made: dict[str, Embedder] = {}
        self._to_close: list[Callable[[], Awaitable[None]]] = []

    def get_current(self) -> Embedder:
        """Return the configured embedder, or one that reports on use why it is unavailable."""
        from oldfriend.llm.adapters.minilm import MiniLM

        chosen = self._settings.embedder
        local = chosen.model == LOCAL
        model = MiniLM.model if local else f"{chosen.model}/{chosen.dimension}"
        try:
            return self._get(model)
        except (ModelMisconfigured, EmbeddingFailed, InvalidInput) as error:
            return UnavailableEmbedder(model, chosen.dimension or 0, error.user_text)

    def find_former(self, model: str) -> Embedder | None:
        """Return the embedder that made stored vectors, if it is available and may be sent text."""
        try:
            return self._get(model) if can_send_to_model(self._settings, model) else None
        except (ModelMisconfigured, EmbeddingFailed, InvalidInput):
            return None

    async def close(self) -> None:
        """Close the connections."""
        for close in self._to_close:
            await close()

    def _get(self, model: str) -> Embedder:
        if model not in self._made:
            self._made[model] = CachingEmbedder(self._open(model))
        return self._made[model]

    def _open(self, model: str) -> Embedder:
        """Build an embedder by the name stored with its vectors."""
        from oldfriend.llm.adapters.minilm import MiniLM

        if model == MiniLM.model:
            return MiniLM()
        name, _, dimension = model.rpartition("/")
        if not (name and is_ascii_number(dimension)):
            raise EmbeddingFailed(
                localizable(
                    "embedder_unknown",
                    f"This version does not have the model {model}.",
                    model=model,
                )
            )
        embedder = build_remote_embedder(
            resolve_model(self._settings, name), int(dimension), self.account
        )
        self._to_close.append(embedder.close)
        return embedder


def build_reader() -> Reader:
    """Build the bundled reader; it is loaded when it is first used."""
    from oldfriend.llm.adapters.local_networks import LocalReader

    return LocalReader()


def build_fact_tagger() -> FactTagger:
    """Build the bundled fact tagger; it is loaded when it is first used."""
    from oldfriend.llm.adapters.local_networks import LocalFactTagger

    return LocalFactTagger()


def build_remote_embedder(
    choice: ModelConfig, dimension: int | None, account: Account
) -> "RemoteEmbedder":
    """Build a provider's embedder. Raises EmbeddingFailed without the extra."""
    try:
        from oldfriend.llm.adapters.remote_embeddings import RemoteEmbedder
    except ImportError as error:
        raise EmbeddingFailed(
            build_missing_extra_text("Embedding elsewhere", "oldfriend[models]")
        ) from error
    return RemoteEmbedder(choice, dimension, account)


async def fetch_dimension(settings: Settings, model: str, account: Account) -> int:
    """Return the vector dimension of a provider's model by embedding one word.

    Raises EmbeddingFailed, ModelMisconfigured.
    """
    embedder = build_remote_embedder(resolve_model(settings, model), None, account)
    try:
        return int((await embedder.embed(["hello"])).shape[1])
    finally:
        await embedder.close()


def estimate_cost(settings: Settings, model: str, *, tokens_in: int, tokens_out: int) -> int | None:
    """Return the price of some tokens of a model in millionths of a dollar; None if unknown."""
    try:
        from oldfriend.llm.adapters.pricing import TokenEstimate, compute_price

        tokens = TokenEstimate(input_tokens=tokens_in, output_tokens=tokens_out)
        return compute_price(resolve_model(settings, model), tokens, None)
    except (ImportError, ModelMisconfigured, InvalidInput):
        return None


async def find_servers(places: Sequence[tuple[str, str]]) -> list[LocalServer]:
    """Return the model servers that answer at some of the places (provider and address)."""
    from oldfriend.llm.adapters import local_servers

    return await local_servers.find_servers(places)


def build_speech_models(settings: Settings, account: Account) -> "SpeechFactory":
    """Build the factory of the configured transcriber and speaker."""
    from oldfriend.llm.adapters.model_factory import SpeechFactory

    return SpeechFactory(partial(resolve_model, settings), account, folder=settings.data)


class ModelRegistry:
    """The configured language models, each built on first use."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        """Build none yet."""
        self._settings = settings
        self._clock = clock
        self._rests = CircuitBreaker()
        self._made: dict[str, LanguageModel] = {}
        self._free: set[str] = set()
        self._to_close: list[Callable[[], Awaitable[None]]] = []

    def build_role_models(self) -> dict[ModelRole, RoleModel]:
        """Return the models of each configured role; empty if the companion is offline."""
        chosen = {role: self._settings.models.for_role(role) for role in MODEL_ROLES}
        return {
            role: RoleModel(
                name=names[0],
                build_chain=partial(self._chain, names),
                is_free=self._are_free(names),
            )
            for role, names in chosen.items()
            if names
        }

    def _are_free(self, names: Sequence[str]) -> bool:
        return all(
            is_free_at(get_provider_url(self._settings, parse_provider(name)), name)
            for name in names
        )

    async def warm_up(self) -> None:
        """Load in advance what would delay the first reply."""
        from oldfriend.llm.adapters.model_factory import warm_up

        for name in self._settings.models.for_role("main"):
            with suppress(ModelMisconfigured, InvalidInput):  # reported when the model is used
                await asyncio.to_thread(warm_up, resolve_model(self._settings, name))

    async def close(self) -> None:
        """Close the connections."""
        for close in self._to_close:
            await close()

    def _chain(self, names: Sequence[str], record: CallSink) -> LanguageModel:
        return FallbackChain(
            models=[self._get(name) for name in names],
            record=record,
            circuit_breaker=self._rests,
            clock=self._clock,
            random=random.random,
            free_models=self._free,
        )

    def _get(self, name: str) -> LanguageModel:
        if name not in self._made:
            self._made[name] = self._open(name)
        return self._made[name]

    def _open(self, name: str) -> LanguageModel:
        from oldfriend.llm.adapters.model_factory import build_model

        try:
            choice = resolve_model(self._settings, name)
            model = build_model(choice)
        except (ModelMisconfigured, InvalidInput) as error:
            return UnavailableModel(name=name, reason=error.user_text)
        if is_free(choice):
            self._free.add(model.name)
        self._to_close.append(model.close)
        return model


def build_process_name() -> str:
    """Return a name no other process has on any machine, even one that reuses its process id."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def open_in_memory() -> Database:
    """Open an empty database of which nothing remains."""
    from oldfriend.db.sqlite import sqlite_database

    return sqlite_database.open_in_memory()


async def open_database(url: str, *, create: bool = True) -> Database:
    """Open the database at a URL, creating or migrating it where needed.

    Raises StoreError when it cannot be used, InvalidInput for an invalid URL.
    """
    if is_json_url(url):
        from oldfriend.db.json.json_database import open_json

        return open_json(parse_database_path(url), create=create, pack_terms=encode_document_terms)
    if not is_postgres_url(url):
        from oldfriend.db.sqlite.sqlite_database import open_sqlite

        return open_sqlite(parse_database_path(url), create=create)
    try:
        from oldfriend.db.postgres.postgres_database import open_postgres
    except ImportError as error:
        raise StoreUnusable(
            "PostgreSQL needs an extra that is not installed: pip install 'oldfriend[postgres]'"
        ) from error
    return await open_postgres(url, create=create)


def load_minilm_tokenizer() -> Callable[[str], Sequence[int]]:
    """Return the tokenizer of the local model, for comparing other graphs of it with ours."""
    from oldfriend.llm.adapters.minilm import BUNDLED_FOLDER, MAX_INPUT_TOKENS, WordPiece

    vocabulary = (BUNDLED_FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return partial(WordPiece(vocabulary).encode, limit=MAX_INPUT_TOKENS)
