"""Channel cursors: how far a channel has been heard, and whom we know there."""

from collections.abc import Collection, Mapping

from typing_extensions import override

from oldfriend.app.app_context import InboundContext
from oldfriend.channels.channel import Cursors
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Person
from oldfriend.memory.deletion.audit_log import find_purge_time
from oldfriend.memory.groups import find_group
from oldfriend.memory.identities import find_identity
from oldfriend.queues.outbox import find_cursor, save_cursor


class ChannelCursors(Cursors):
    """What one channel asks of the database."""

    def __init__(self, app: InboundContext, channel: str) -> None:
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
    async def find_forgotten_times(self, addresses: Collection[str]) -> Mapping[str, Micros]:
        """Return when everything of each person or group was last forgotten, if ever."""
        times: dict[str, Micros] = {}
        async with self._app.db.begin_read() as tx:
            for address in addresses:
                owner = await self._find_owner(tx, address)
                purged_at = None if owner is None else await find_purge_time(tx, owner.id)
                if purged_at is not None:
                    times[address] = purged_at
        return times

    async def _find_owner(self, tx: Transaction, address: str) -> Person | None:
        person = await find_identity(tx, self._channel, address)
        return person or await find_group(tx, self._channel, address)
