"""Bounded map: keeps what was set lately, and drops what was set longest ago."""

from collections import OrderedDict
from typing import TypeVar

from typing_extensions import override

K = TypeVar("K")
V = TypeVar("V")


class BoundedMap(OrderedDict[K, V]):
    """A map of so many keys at most; whatever is set again counts as new."""

    def __init__(self, max_keys: int) -> None:
        """Start empty."""
        super().__init__()
        self._max_keys = max_keys

    @override
    def __setitem__(self, key: K, value: V) -> None:
        """Set a value, and drop the oldest ones beyond the limit."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._max_keys:
            self.popitem(last=False)
