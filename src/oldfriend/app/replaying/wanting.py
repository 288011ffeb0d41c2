"""What is asked for, with what is it done, and what has come of it so far? Values only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from oldfriend.app.house import House
from oldfriend.app.replaying.asking import Purse
from oldfriend.app.replaying.steps import Reader
from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.spending import Cap

Show: TypeAlias = Callable[[int, int], None]
"""Is told how many steps are done, and of how many."""
RULES: Final = "rules"
"""The name by which the rules are asked for in a model's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked for."""

    model: str = ""  # who reads all of it: a model, or "rules"; empty: who has read it then
    since: Micros | None = None
    person: PersonId | None = None  # None: everybody
    limit: Cap | None = None  # of the whole replay; None: the limits of the day

    @property
    def reader(self) -> Reader:
        """Who reads."""
        if not self.model:
            return "as then"
        return "rules" if self.model == RULES else "model"


@dataclass(slots=True, kw_only=True)
class Told:
    """What has come of it so far."""

    read: int = 0
    failed: int = 0
    upheld: int = 0  # decisions of the person
    reused: int = 0  # answers that a model had given before
    asked: int = 0
    lost: list[str] = field(default_factory=list)  # decisions that could not hold, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaying:
    """A replay at work: the two databases, and what it has come to."""

    source: Database
    house: House  # of the second database, with the models that read
    wanted: Wanted
    told: Told
    show: Show

    @property
    def purse(self) -> Purse:
        """What it may cost."""
        return Purse(
            source=self.source, target=self.house.db, settings=self.house.settings,
            clock=self.house.clock, limit=self.wanted.limit,
        )  # fmt: skip
