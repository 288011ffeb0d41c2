"""Local memory: opens the memory of this machine for a program that this machine's user started."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import NotFound
from oldfriend.domain.messages import Person
from oldfriend.mcp_server.person_memory import PersonMemory
from oldfriend.memory.people import ensure_owner, find_person, get_person, list_people
from oldfriend.runtime.maintenance import SLICE_S, MaintenanceTask
from oldfriend.runtime.wiring import open_app


@asynccontextmanager
async def open_local_memory(
    settings: Settings, *, person: str | None, can_write: bool, is_own_words: bool
) -> AsyncIterator[PersonMemory]:
    """Open the memory of a person (None: the owner), creating the store if there is none yet.

    Where no server runs, overdue background work is done for a moment after each call. Raises
    StoreError, NotFound for an unknown person.
    """
    async with open_app(settings, create=True) as app:
        owner = await resolve_person(app, person)
        maintenance = MaintenanceTask(app, owner.id, budget_s=SLICE_S)
        try:
            yield PersonMemory(
                get_app=lambda: app,
                person=owner,
                can_write=can_write,
                is_own_words=is_own_words,
                after_call=maintenance.start,
            )
        finally:
            await maintenance.close()


async def resolve_person(app: AppContext, name: str | None) -> Person:
    """Return the person with a name; None: the owner, who is created if new. Raises NotFound."""
    if name is None and not app.db.is_read_only:
        async with app.db.begin_write() as tx:
            return await ensure_owner(tx, now=app.clock(), zone=app.settings.zone)
    async with app.db.begin_read() as tx:
        found = await (get_person(tx, None) if name is None else find_person(tx, name))
        known = ", ".join(each.name for each in await list_people(tx))
    if found is None:
        raise NotFound(
            f"Nobody here is called {name}. Known people: {known or 'nobody yet'}. Change --person "
            "where this program is set up."
        )
    return found
