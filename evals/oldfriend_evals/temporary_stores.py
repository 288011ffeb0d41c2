"""Temporary stores, filled through the same code that keeps real words."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import DATABASE_FILE, Settings
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.db.database import Transaction
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.memory.message_log import WriteTarget, write_messages
from oldfriend.memory.sessions import ensure_closed_session
from oldfriend.memory.vectors import save_message_vectors
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.corpus import SESSION_LENGTH, build_sessions, draw_vectors

CHANNEL = "terminal"
SESSIONS_AT_ONCE = 40


class KnownVectors:
    """An embedder that has embedded everything before, so that asking it costs nothing."""

    def __init__(self, like: Embedder, vectors: Mapping[str, Vectors]) -> None:
        """Stand in for an embedder, with the vectors of the texts that will be asked about."""
        self.model = like.model
        self.dimension = like.dimension
        self._vectors = vectors
        self._elsewhere: Vectors = np.full(like.dimension, like.dimension**-0.5, np.float32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors that are known; any other text points one and the same way."""
        return np.stack([self._vectors.get(text, self._elsewhere) for text in texts])


def build_settings(folder: Path) -> Settings:
    """Settings for a store in a folder, the same on every machine."""
    return Settings(
        data=folder,
        database=f"sqlite:///{folder / DATABASE_FILE}",
        zone="UTC",
        language="en",
        limits=LimitSettings(messages_per_minute=0),
    )


@asynccontextmanager
async def open_temporary_store() -> AsyncIterator[AppContext]:
    """An empty house that is gone afterwards."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        async with open_app(build_settings(Path(folder))) as app:
            yield app


async def build_history(
    app: AppContext, count: int, *, seed: int, person: str | None = None
) -> ChatContext:
    """A person with so many messages behind them, each with a vector."""
    line = await open_local_chat(app.db, app.clock, app.settings, person=person, channel=CHANNEL)
    vectors = draw_vectors(count, seed=seed, dimension=app.embedder.dimension)
    numbered = enumerate(build_sessions(count, seed=seed))
    while some := list(islice(numbered, SESSIONS_AT_ONCE)):
        first = some[0][0] * SESSION_LENGTH
        async with app.db.begin_write() as tx:
            seqs = await write_sessions(tx, line, some)
            await save_message_vectors(
                tx, line.person.id, app.embedder.model, seqs, vectors[first : first + len(seqs)]
            )
    return line


async def write_sessions(
    tx: Transaction, line: ChatContext, numbered: Iterable[tuple[int, list[UnloggedMessage]]]
) -> list[int]:
    """Write sessions that are over; the places of their messages."""
    seqs: list[int] = []
    for number, spoken in numbered:
        opened_at, closed_at = spoken[0].at, spoken[-1].at
        session = await ensure_closed_session(
            tx,
            line.chat,
            external_id=f"day {number}",
            opened_at=opened_at,
            closed_at=closed_at,
            batch_id=None,
        )
        place = WriteTarget(chat=line.chat, session=session)
        written = await write_messages(tx, place, spoken, now=closed_at)
        seqs += [message.seq for message in written if message is not None]
    return seqs
