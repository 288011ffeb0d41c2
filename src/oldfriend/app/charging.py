"""At whose expense are texts embedded, recordings heard, replies spoken? Each call is kept.

When too much was spent, none is made. The embedder in this process costs nothing, and never gets
here. It does not know what the texts are.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.app.allowance import find_used_up
from oldfriend.app.choices.settings import Settings
from oldfriend.app.in_time import refuse_too_late
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.domain.sayings import saying
from oldfriend.ledger.calls import Asker, record_call
from oldfriend.llm.model import Call
from oldfriend.memory.people import find_owner

FOR_WHAT: Final[dict[Literal["background", "everything"], str]] = {
    "background": "work in the background", "everything": "everything",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAccount:
    """Keeps calls in the ledger, under the limits of the day."""

    db: Database
    settings: Settings
    clock: Clock
    asker: Asker | None = None  # None: nobody in particular, so the owner
    request: str = ""  # a hash of what is sent, by which an answer is found again

    async def check(self) -> None:
        """Raise AllowanceUsedUp where nothing more may be spent today, LeaseLost by who is late."""
        refuse_too_late()
        is_background = self.asker is not None and self.asker.is_background
        async with self.db.reading() as tx:
            used_up = await find_used_up(
                tx, self.settings, now=self.clock(), is_background=is_background
            )
        if used_up is not None:
            is_all = used_up.purpose == "everything"
            raise AllowanceUsedUp(saying(
                "allowance_used_up" if is_all else "allowance_behind_used_up",
                f"Today's limit for {FOR_WHAT[used_up.purpose]} is reached; it ends at midnight.",
            ))  # fmt: skip

    async def record(self, call: Call) -> None:
        """Keep a finished call, unless nobody has talked here yet."""
        now = self.clock()
        async with self.db.writing() as tx:
            asker = self.asker
            if asker is None and (owner := await find_owner(tx)) is not None:
                asker = Asker(person=owner.id)
            if asker is not None:
                await record_call(tx, asker, call, step=0, request=self.request, now=now)


@dataclass(frozen=True, slots=True)
class Tab:
    """Keeps calls until it is known who pays; whoever asks has said yes to them."""

    calls: list[Call] = field(default_factory=list)

    async def check(self) -> None:
        """Let them be made."""

    async def record(self, call: Call) -> None:
        """Keep one."""
        self.calls.append(call)
