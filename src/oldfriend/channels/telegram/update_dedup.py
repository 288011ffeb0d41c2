"""Update dedup: drops repeated updates for five minutes, in this process.

The log dedups for good. There are three tiers: the same update, the same button press, the same
message. A press is never keyed by the message that bears the button: a second press would be lost.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from oldfriend.channels.telegram.polling import Update
from oldfriend.channels.telegram.updates import CallbackUpdate, MessageUpdate

TTL_S: Final = 300.0
MAX_KEYS: Final = 2_000


class UpdateDedup:
    """A record of the updates received lately."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start empty."""
        self._clock = clock
        self._seen_at: OrderedDict[str, float] = OrderedDict()

    def is_duplicate(self, update: Update) -> bool:
        """Tell whether an update was received before."""
        self._evict()
        return any(key in self._seen_at for key in list_dedup_keys(update))

    def record(self, update: Update) -> None:
        """Record an update that was received and is durable."""
        for key in list_dedup_keys(update):
            self._seen_at[key] = self._clock()
            self._seen_at.move_to_end(key)
        self._evict()

    def _evict(self) -> None:
        earliest = self._clock() - TTL_S
        while self._seen_at and (
            len(self._seen_at) > MAX_KEYS or next(iter(self._seen_at.values())) < earliest
        ):
            self._seen_at.popitem(last=False)


def list_dedup_keys(update: Update) -> list[str]:
    """Return the keys that identify an update."""
    keys = [] if update.update_id is None else [f"update:{update.update_id}"]
    if isinstance(update, CallbackUpdate):
        keys.append(f"callback:{update.query_id}")
    elif isinstance(update, MessageUpdate) and not update.is_edited:
        keys.append(build_message_key(update.chat.id, update.message_id))
    return keys


def build_message_key(chat_id: int, message_id: int) -> str:
    """Return the key of a message, the person's or ours."""
    return f"message:{chat_id}:{message_id}"
