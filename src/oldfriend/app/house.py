"""What does a running Oldfriend share? Values only; ``wiring`` puts them together."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from oldfriend.app.charging import LedgerAccount
from oldfriend.app.choices.sections import Role
from oldfriend.app.choices.settings import Settings
from oldfriend.app.waking import Waking
from oldfriend.channels.channel import PLATFORMS, Channel
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, Micros
from oldfriend.ledger.calls import Asker
from oldfriend.llm.embedding import Embedder, charged_to
from oldfriend.llm.model import Model, Record
from oldfriend.llm.speech import Speaker, Transcriber
from oldfriend.memory.search.scorers import SCORERS
from oldfriend.memory.shelf import Shelf
from oldfriend.turn.recall import Looking, no_other

Step = Literal[
    "accept", "accepted", "thinking", "called", "tool begun", "tool finished", "decided",
    "committing", "committed", "sending", "sent", "delivered", "fetched", "heard", "shown",
]  # fmt: skip
"""Where one message's life can be cut off; the crash tests cut it off at each."""


def unwatched(step: Step) -> None:
    """Nobody watches the steps."""


async def cold() -> None:
    """There is nothing to make ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModel:
    """The models of a role: makes the chain of them that keeps a record of each call."""

    name: str
    chain: Callable[[Record], Model]


def with_settings(house: "House", settings: Settings) -> "House":
    """The same house by other settings."""
    return replace(house, settings=settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything that a running Oldfriend shares."""

    db: Database
    embedder: Embedder
    shelf: Shelf
    clock: Clock
    settings: Settings
    waking: Waking
    name: str  # of this process, among those that work on the same database
    opened_at: Micros
    in_memory: Callable[[], Database]  # a new one, for what cannot be kept now
    is_kept: bool = True  # what is written; False: in memory alone, for now
    former: Callable[[str], Embedder | None] = no_other  # the embedder of a model of before
    models: Mapping[Role, RoleModel] = field(default_factory=dict)  # none: offline
    transcriber: Transcriber | None = None  # None: nobody listens to what is said aloud
    speaker: Speaker | None = None  # None: nobody speaks
    platforms: frozenset[str] = PLATFORMS  # the channels whose replies are sent
    channels: Mapping[str, Channel] = field(default_factory=dict)  # those that this process reaches
    warm: Callable[[], Awaitable[None]] = cold
    refurnish: Callable[["House", Settings], "House"] = with_settings
    reached: Callable[[Step], None] = unwatched
    backup_made: Path | None = None  # of the database as it was before it was migrated just now

    @property
    def looking(self) -> Looking:
        """What recall needs."""
        return Looking(
            db=self.db, shelf=self.shelf, embedder=self.embedder, former=self.former,
            scorer=SCORERS[self.settings.search.scorer],
        )  # fmt: skip

    def on_behalf_of(self, asker: Asker) -> "House":
        """The same house, in which embedding is charged to somebody; else it is to the owner."""
        account = LedgerAccount(
            db=self.db, settings=self.settings, clock=self.clock, asker=asker
        )  # fmt: skip

        def former(model: str) -> Embedder | None:
            found = self.former(model)
            return None if found is None else charged_to(found, account)

        return replace(self, embedder=charged_to(self.embedder, account), former=former)

    def parts_for(self, channel: str, text: str) -> Sequence[str]:
        """What is to be sent of a reply on a channel; nothing where it is read from the log.

        Where this process does not reach the platform, whoever does cuts the reply.
        """
        if channel not in self.platforms:
            return ()
        reached = self.channels.get(channel)
        return (text,) if reached is None else reached.parts(text)

    def quiet_s_of(self, channel: str) -> float:
        """The pause after which what was said on a channel is answered."""
        reached = self.channels.get(channel)
        return 0.0 if reached is None else reached.quiet_s
