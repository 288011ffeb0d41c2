"""How does everything fit together? The one module that names concrete engines and models."""

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

from oldfriend.app.by_hand import take_over
from oldfriend.app.charging import LedgerAccount
from oldfriend.app.choices.database_url import file_of, names_json, names_postgres
from oldfriend.app.choices.reaching import choice_of, may_be_asked, token_of
from oldfriend.app.choices.sections import LOCAL, ROLES, Role, TelegramChoice
from oldfriend.app.choices.settings import Settings
from oldfriend.app.house import House, RoleModel
from oldfriend.app.waking import Waking
from oldfriend.channels.channel import Channel
from oldfriend.channels.missing import NoChannel
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, system_clock
from oldfriend.domain.errors import (
    EmbeddingFailed,
    InvalidInput,
    ModelMisconfigured,
    PlatformRefused,
    StoreUnusable,
)
from oldfriend.domain.sayings import extra_missing, saying
from oldfriend.llm.catalogue import Choice, is_free
from oldfriend.llm.chain import Chain
from oldfriend.llm.embedding import Account, Embedder, NoEmbedder
from oldfriend.llm.missing import NoModel
from oldfriend.llm.model import Model, Record
from oldfriend.llm.recent import Recent
from oldfriend.llm.resting import Rests
from oldfriend.memory.search.imprint import imprint_of
from oldfriend.memory.shelf import Shelf

if TYPE_CHECKING:
    from oldfriend.channels.telegram.api import Me, Webhook
    from oldfriend.channels.telegram.channel import Telegram
    from oldfriend.channels.telegram.webhook import Hook
    from oldfriend.llm.adapters.provided import ProvidedEmbedder
    from oldfriend.llm.adapters.voices import Voices


@asynccontextmanager
async def open_house(
    settings: Settings, *, create: bool = True, clock: Clock = system_clock,
    in_memory: bool = False, reaches: bool = False,
) -> AsyncIterator[House]:  # fmt: skip
    """Open the database and set everything up; close it on leaving.

    ``in_memory`` opens another in its place, of which nothing remains. ``reaches``: also the
    platforms on which people talk, as far as they are connected. Raises StoreError when the
    database cannot be used, InvalidInput for a wrong address.
    """
    db = open_in_memory() if in_memory else await open_database(settings.database, create=create)
    embedders = Embedders(settings, LedgerAccount(db=db, settings=settings, clock=clock))
    embedder = embedders.present()
    minds, voices = [Minds(settings, clock)], [voices_for(settings, embedders.account)]
    waking, platforms = Waking(db), Platforms()

    def refurnish(house: House, anew: Settings) -> House:
        minds.append(Minds(anew, clock))  # turns that have begun go on with those before
        voices.append(voices_for(anew, embedders.account))
        return replace(
            house, settings=anew, models=minds[-1].by_role(), warm=minds[-1].warm,
            channels=platforms.reached(anew) if reaches else {},
            transcriber=voices[-1].transcriber(anew.speech.transcriber),
            speaker=voices[-1].speaker(anew.speech.speaker, anew.speech.voice),
        )  # fmt: skip

    try:
        house = House(
            db=db, embedder=embedder, clock=clock, settings=settings, waking=waking,
            shelf=Shelf(embedder.model, limit_bytes=settings.search.memory_mb << 20),
            name=name_of_process(), opened_at=clock(),
            in_memory=open_in_memory, is_kept=not in_memory,
            former=embedders.find_former,
            models=minds[0].by_role(), warm=minds[0].warm,
            transcriber=voices[0].transcriber(settings.speech.transcriber),
            speaker=voices[0].speaker(settings.speech.speaker, settings.speech.voice),
            channels=platforms.reached(settings) if reaches else {},
            refurnish=refurnish, backup_made=db.backup_made,
        )  # fmt: skip
        await take_over(house)
        yield house
    finally:
        await close_all(waking, *minds, *voices, platforms, embedders, db)


class Closing(Protocol):
    """Something that lets go of what it holds."""

    async def close(self) -> None:
        """Let it go."""


async def close_all(*those: Closing) -> None:
    """Close one after the other."""
    for each in those:
        await each.close()


class Embedders:
    """The models for embedding that are at hand, each made once."""

    def __init__(self, settings: Settings, account: Account) -> None:
        """Make none yet; what they cost is charged to an account, where nobody names another."""
        self._settings = settings
        self.account = account
        self._made: dict[str, Embedder] = {}
        self._to_close: list[Callable[[], Awaitable[None]]] = []

    def present(self) -> Embedder:
        """The one that was chosen; where it cannot be reached, it says why when it is asked."""
        from oldfriend.llm.adapters.minilm import MiniLM

        chosen = self._settings.embedder
        local = chosen.model == LOCAL
        model = MiniLM.model if local else f"{chosen.model}/{chosen.dimension}"
        try:
            return self._at_hand(model)
        except (ModelMisconfigured, EmbeddingFailed, InvalidInput) as error:
            return NoEmbedder(model, chosen.dimension or 0, error.says)

    def find_former(self, model: str) -> Embedder | None:
        """The one that made stored vectors, if it can be had and may be asked."""
        try:
            return self._at_hand(model) if may_be_asked(self._settings, model) else None
        except (ModelMisconfigured, EmbeddingFailed, InvalidInput):
            return None

    async def close(self) -> None:
        """Let connections go."""
        for close in self._to_close:
            await close()

    def _at_hand(self, model: str) -> Embedder:
        if model not in self._made:
            self._made[model] = Recent(self._open(model))
        return self._made[model]

    def _open(self, model: str) -> Embedder:
        """Make one by the name that its vectors have."""
        from oldfriend.llm.adapters.minilm import MiniLM

        if model == MiniLM.model:
            return MiniLM()
        name, _, dimension = model.rpartition("/")
        if not (name and dimension.isdecimal()):
            raise EmbeddingFailed(saying(
                "embedder_unknown", f"This version does not have the model {model}.", model=model,
            ))  # fmt: skip
        provided = provided_embedder(choice_of(self._settings, name), int(dimension), self.account)
        self._to_close.append(provided.close)
        return provided


def provided_embedder(
    choice: Choice, dimension: int | None, account: Account
) -> "ProvidedEmbedder":
    """A model for embedding that a provider has. Raises EmbeddingFailed without the extra."""
    try:
        from oldfriend.llm.adapters.provided import ProvidedEmbedder
    except ImportError as error:
        raise EmbeddingFailed(extra_missing("Embedding elsewhere", "oldfriend[models]")) from error
    return ProvidedEmbedder(choice, dimension, account)


async def dimension_of(settings: Settings, model: str, account: Account) -> int:
    """How many numbers the vectors of a provider's model have: it embeds a word.

    Raises EmbeddingFailed, ModelMisconfigured.
    """
    embedder = provided_embedder(choice_of(settings, model), None, account)
    try:
        return int((await embedder.embed(["hello"])).shape[1])
    finally:
        await embedder.close()


def likely_cost(settings: Settings, model: str, *, tokens_in: int, tokens_out: int) -> int | None:
    """Millionths of a dollar that so many tokens of a model cost; None where it is not known."""
    try:
        from oldfriend.llm.adapters.pricing import Tokens, price

        tokens = Tokens(input_tokens=tokens_in, output_tokens=tokens_out)
        return price(choice_of(settings, model), tokens, None)
    except (ImportError, ModelMisconfigured, InvalidInput):
        return None


async def ollama_models(base_url: str) -> list[str]:
    """The models of an Ollama on this machine; none where there is none."""
    from oldfriend.llm.adapters.ollama import find_ollama

    return await find_ollama(base_url.removesuffix("/v1"))


class Platforms:
    """The platforms that are connected; for each token one connection, also after a reload."""

    def __init__(self) -> None:
        """Reach none yet."""
        self._made: dict[str, Telegram] = {}

    def reached(self, settings: Settings) -> dict[str, Channel]:
        """Those that are connected; one for which something is missing says so when it is used.

        Raises InvalidInput where keys are kept badly.
        """
        token = token_of(settings, "telegram") if settings.telegram.enabled else None
        return {} if token is None else {"telegram": self._telegram(token.value, settings)}

    async def close(self) -> None:
        """Let connections go."""
        for each in self._made.values():
            await each.close()

    def _telegram(self, token: str, settings: Settings) -> Channel:
        if token not in self._made:
            try:
                self._made[token] = open_telegram(token, settings)
            except PlatformRefused as error:
                return NoChannel(str(error))
        return self._made[token]


def open_telegram(token: str, settings: Settings) -> "Telegram":
    """A bot on Telegram. Raises PlatformRefused without the extra, or for what is no token."""
    try:
        from telegram.error import InvalidToken

        from oldfriend.channels.telegram.channel import Telegram
    except ImportError as error:
        raise PlatformRefused(extra_missing("Telegram", "oldfriend[telegram]")) from error
    chosen = settings.telegram
    try:
        return Telegram(
            token, base_url=chosen.base_url, quiet_s=chosen.quiet_s, hook=hook_of(chosen),
            folder=settings.data / "telegram",
        )  # fmt: skip
    except InvalidToken as error:
        raise PlatformRefused(
            saying("bot_token_unfit", "That cannot be a token of a Telegram bot.")
        ) from error


def hook_of(chosen: TelegramChoice) -> "Hook | None":
    """Where Telegram is to call; None: it is asked what happens."""
    from oldfriend.channels.telegram.webhook import Hook

    if chosen.webhook is None:
        return None
    return Hook(url=chosen.webhook, host=chosen.webhook_host, port=chosen.webhook_port)


async def name_of_bot(settings: Settings, token: str) -> str:
    """What the bot with a token is called on Telegram, which is told where it is to call.

    Raises PlatformRefused, PlatformUnavailable.
    """
    telegram = open_telegram(token, settings)
    try:
        await telegram.be_called()
        return await telegram.name()
    finally:
        await telegram.close()


async def state_of_bot(settings: Settings, token: str) -> "tuple[Me, Webhook]":
    """Who the bot is on Telegram, and whom it calls. Raises PlatformRefused, …Unavailable."""
    telegram = open_telegram(token, settings)
    try:
        return await telegram.state()
    finally:
        await telegram.close()


def voices_for(settings: Settings, account: Account) -> "Voices":
    """Those who hear and speak, reached as was chosen."""
    from oldfriend.llm.adapters.voices import Voices

    return Voices(partial(choice_of, settings), account, folder=settings.data)


class Minds:
    """The language models that were chosen, each made when it is first asked."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        """Make none yet."""
        self._settings = settings
        self._clock = clock
        self._rests = Rests()
        self._made: dict[str, Model] = {}
        self._free: set[str] = set()
        self._to_close: list[Callable[[], Awaitable[None]]] = []

    def by_role(self) -> dict[Role, RoleModel]:
        """The models of each role that has any; empty: the companion is offline."""
        chosen = {role: self._settings.models.for_role(role) for role in ROLES}
        return {
            role: RoleModel(name=names[0], chain=partial(self._chain, names))
            for role, names in chosen.items()
            if names
        }

    async def warm(self) -> None:
        """Make ready what the first reply would have to wait for."""
        from oldfriend.llm.adapters.making import warm

        for name in self._settings.models.for_role("main"):
            with suppress(ModelMisconfigured, InvalidInput):  # told when it is asked
                await asyncio.to_thread(warm, choice_of(self._settings, name))

    async def close(self) -> None:
        """Let connections go."""
        for close in self._to_close:
            await close()

    def _chain(self, names: Sequence[str], record: Record) -> Model:
        return Chain(
            models=[self._at_hand(name) for name in names], record=record, rests=self._rests,
            clock=self._clock, random=random.random, free=self._free,
        )  # fmt: skip

    def _at_hand(self, name: str) -> Model:
        if name not in self._made:
            self._made[name] = self._open(name)
        return self._made[name]

    def _open(self, name: str) -> Model:
        from oldfriend.llm.adapters.making import make_model

        try:
            choice = choice_of(self._settings, name)
            model = make_model(choice)
        except (ModelMisconfigured, InvalidInput) as error:
            return NoModel(name=name, why=error.says)
        if is_free(choice):
            self._free.add(model.name)
        self._to_close.append(model.close)
        return model


def name_of_process() -> str:
    """A name that no other process has, on any machine; not even one that gets its number."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def open_in_memory() -> Database:
    """A database with nothing in it, of which nothing remains."""
    from oldfriend.db.sqlite import in_memory

    return in_memory.open_in_memory()


async def open_database(url: str, *, create: bool = True) -> Database:
    """Open what a URL names; made or migrated where that is needed.

    Raises StoreError when it cannot be used, InvalidInput for a wrong address.
    """
    if names_json(url):
        from oldfriend.db.json.database import open_json

        return open_json(file_of(url), create=create, imprint=imprint_of)
    if not names_postgres(url):
        from oldfriend.db.sqlite.database import open_sqlite

        return open_sqlite(file_of(url), create=create)
    try:
        from oldfriend.db.postgres.database import open_postgres
    except ImportError as error:
        raise StoreUnusable(
            "PostgreSQL needs an extra that is not installed: pip install 'oldfriend[postgres]'"
        ) from error
    return await open_postgres(url, create=create)


def reading_of_minilm() -> Callable[[str], Sequence[int]]:
    """How the local model reads a text, for running other graphs of it beside ours."""
    from oldfriend.llm.adapters.minilm import LONGEST_INPUT, SHIPPED
    from oldfriend.llm.adapters.wordpiece import WordPiece

    vocabulary = (SHIPPED / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return partial(WordPiece(vocabulary).ids, limit=LONGEST_INPUT)
