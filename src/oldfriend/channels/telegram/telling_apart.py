"""Has this been heard already? For five minutes, in this process; the log knows it for good.

In three tiers: the same update, the same press of a button, the same message. A press is never
taken for the message below which the button is: a second press would be lost.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from oldfriend.channels.telegram.polling import Update
from oldfriend.channels.telegram.updates import Pressed, Said

KEPT_S: Final = 300.0
MOST: Final = 2_000


class Heard:
    """What was heard lately."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Nothing yet."""
        self._clock = clock
        self._at: OrderedDict[str, float] = OrderedDict()

    def knows(self, update: Update) -> bool:
        """Whether it was heard already."""
        self._let_go()
        return any(key in self._at for key in keys_of(update))

    def note(self, update: Update) -> None:
        """It is heard, and durable."""
        for key in keys_of(update):
            self._at[key] = self._clock()
            self._at.move_to_end(key)
        self._let_go()

    def _let_go(self) -> None:
        earliest = self._clock() - KEPT_S
        while self._at and (len(self._at) > MOST or next(iter(self._at.values())) < earliest):
            self._at.popitem(last=False)


def keys_of(update: Update) -> list[str]:
    """By what an update is known again."""
    keys = [] if update.update is None else [f"update:{update.update}"]
    if isinstance(update, Pressed):
        keys.append(f"callback:{update.id}")
    elif isinstance(update, Said) and not update.is_edited:
        keys.append(key_of(update.place.id, update.number))
    return keys


def key_of(chat: int, number: int) -> str:
    """The key of a message, the person's or ours."""
    return f"message:{chat}:{number}"
