"""Watch changes: a watch as it is to be stored when the turn commits."""

from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import StaleDecision
from oldfriend.memory.people import lock_person
from oldfriend.proactive.proactive_settings import (
    load_proactive_settings,
    save_proactive_settings,
)
from oldfriend.turn.store_change import ChangeScope
from oldfriend.watches.watch import Watch
from oldfriend.watches.watch_store import find_watch, save_watch, schedule_watch


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchChange:
    """A watch as it is to be stored, and as it was before; None: it is new."""

    watch: Watch
    earlier: Watch | None = None

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store the watch and schedule its next look. Raises StaleDecision if it has changed."""
        await lock_person(tx, scope.person.id)
        stored = await find_watch(tx, scope.person.id, self.watch.id)
        if stored != self.earlier and scope.may_redo:
            raise StaleDecision("The watch has changed meanwhile.")
        if stored is None and self.earlier is not None:
            return
        if self.earlier is None:
            await unmute(tx, scope)
        await save_watch(tx, self.watch)
        await schedule_watch(tx, self.watch, now=scope.now)


async def unmute(tx: Transaction, scope: ChangeScope) -> None:
    """Have changes told again of which nothing was to be told any more."""
    settings = await load_proactive_settings(tx, scope.person.id)
    if "watch" in settings.muted:
        unmuted = replace(settings, muted=settings.muted - {"watch"})
        await save_proactive_settings(tx, scope.person.id, unmuted, now=scope.now)
