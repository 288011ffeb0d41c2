"""Replay types: the request, context and result of a replay."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.replay.cached_model import SpendLimit
from oldfriend.replay.steps import ExtractorMode
from oldfriend.usage.costs import SpendCap

ReplayProgress: TypeAlias = Callable[[int, int], None]
"""Receives how many steps are done, and of how many."""
RULES_MODEL: Final = "rules"
"""The model name that requests rule-based extraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """The options of a replay."""

    model: str = ""  # reads all segments: a model, or "rules"; empty: the original extractors
    since: Micros | None = None
    person: PersonId | None = None  # None: everybody
    limit: SpendCap | None = None  # of the whole replay; None: the daily limits

    @property
    def mode(self) -> ExtractorMode:
        """Which extractor reads."""
        if not self.model:
            return "as then"
        return "rules" if self.model == RULES_MODEL else "model"


@dataclass(slots=True, kw_only=True)
class ReplayResult:
    """The result of a replay so far."""

    read: int = 0
    failed: int = 0
    upheld: int = 0  # decisions by the person
    reused: int = 0  # answers from recorded calls
    asked: int = 0
    lost: list[str] = field(default_factory=list)  # decisions that could not be applied, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayContext:
    """A running replay: both databases, the request and the result so far."""

    source: Database
    app: AppContext  # of the target database, with the models that read
    request: ReplayRequest
    result: ReplayResult
    on_progress: ReplayProgress

    @property
    def spend_limit(self) -> SpendLimit:
        """What the replay may cost."""
        return SpendLimit(
            source=self.source,
            target=self.app.db,
            settings=self.app.settings,
            clock=self.app.clock,
            limit=self.request.limit,
        )
