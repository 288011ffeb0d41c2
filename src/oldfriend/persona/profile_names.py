"""Profile names: how the person and the companion are called, and the person's time zone."""

from dataclasses import replace

from oldfriend.app.app_context import InboundContext
from oldfriend.app.notifications import Notifier
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, get_zone
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Companion, Person
from oldfriend.memory.people import (
    ensure_companion,
    get_person_by_id,
    lock_companion,
    lock_person,
    rename_companion,
    rename_person,
    set_zone,
)
from oldfriend.tasks.zone_changes import move_tasks_to_zone


async def update_person(
    app: InboundContext,
    person: PersonId,
    *,
    name: str | None = None,
    zone: str | None = None,
    base: Person | None = None,
) -> Person:
    """Change a person's name or time zone; None leaves it as it is.

    ``base`` is the person as the caller last saw them (None: any). Raises InvalidInput,
    StaleDecision.
    """
    if zone is not None:
        get_zone(zone)
    async with app.db.begin_write() as tx:
        await lock_person(tx, person)
        updated = await get_person_by_id(tx, person)
        if base is not None and (updated.name, updated.zone) != (base.name, base.zone):
            raise StaleDecision(
                localizable(
                    "me_changed",
                    "Your name or time zone has changed in the meantime. Look again, then change "
                    "it.",
                )
            )
        if name is not None and name != updated.name:
            updated = await rename_person(tx, updated, name, platforms=app.platforms)
        if zone is not None:
            await set_zone(tx, person, zone, is_said=True)
            await move_tasks_to_zone(
                tx,
                person,
                earlier=updated.zone,
                zone=zone,
                now=app.clock(),
                is_guessed=updated.has_guessed_zone,
            )
            updated = replace(updated, zone=zone, has_chosen_zone=True)
    return updated


async def set_companion_name(
    db: Database, clock: Clock, notifier: Notifier, name: str, *, base: str | None = None
) -> Companion:
    """Rename the companion for everybody here, and notify open pages.

    ``base`` is the name that the caller last saw (None: any). Raises InvalidInput, StaleDecision.
    """
    async with db.begin_write() as tx:
        await lock_companion(tx)
        companion = await ensure_companion(tx, now=clock())
        if base is not None and companion.name != base:
            raise StaleDecision(
                localizable(
                    "companion_renamed",
                    "The companion's name has changed in the meantime. Look again, then change it.",
                )
            )
        renamed = await rename_companion(tx, companion, name)
        await tx.notify()
    notifier.notify()
    return renamed
