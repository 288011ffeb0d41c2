"""Channel cursors: how far a channel has been heard, and whom we know there."""

from typing_extensions import override

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import Cursors
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Person
from oldfriend.memory.deletion.audit_log import list_purges
from oldfriend.memory.groups import find_group
from oldfriend.memory.identities import find_identity
from oldfriend.queues.outbox import find_cursor, save_cursor


class ChannelCursors(Cursors):
    """What one channel asks of the database."""

    def __init__(self, app: AppContext, channel: str) -> None:
        """Take the channel whose cursors these are."""
        self._app, self._channel = app, channel

    @override
    async def find(self, scope: str) -> str | None:
        """Return the position saved last for a scope."""
        async with self._app.db.begin_read() as tx:
            return await find_cursor(tx, self._channel, scope)

    @override
    async def save(self, scope: str, position: str) -> None:
        """Save a position. Raises StoreError."""
        async with self._app.db.begin_write() as tx:
            await save_cursor(tx, self._channel, scope, position, now=self._app.clock())

    @override
    async def is_known(self, address: str) -> bool:
        """Tell whether a person has paired or a group was let in, or its address is allowed."""
        if address in self._app.settings.get_allowed_addresses(self._channel):
            return True
        async with self._app.db.begin_read() as tx:
            return await self._find_owner(tx, address) is not None

    @override
    async def find_forgotten_at(self, address: str) -> Micros:
        """Return when everything of a person or a group was last forgotten; 0: never."""
        async with self._app.db.begin_read() as tx:
            owner = await self._find_owner(tx, address)
            purges = [] if owner is None else await list_purges(tx, owner.id)
        return purges[-1].done_at if purges else 0

    async def _find_owner(self, tx: Transaction, address: str) -> Person | None:
        person = await find_identity(tx, self._channel, address)
        return person or await find_group(tx, self._channel, address)
