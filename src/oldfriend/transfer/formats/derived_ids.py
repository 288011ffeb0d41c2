"""Derived ids: stable ids for messages whose file has none, so that newer exports match.

They are derived from speaker, text and time; identical messages at the same time get an ordinal.
"""

import hashlib
from collections import OrderedDict

MAX_TIMES_KEPT = 5_000
"""Enough for every second of an hour, because times repeat when clocks go back by one."""


class ContentIds:
    """Derives the ids of one chat's messages in the order of the file."""

    def __init__(self) -> None:
        """Start before the first message."""
        self._counts_by_time: OrderedDict[str, dict[bytes, int]] = OrderedDict()

    def derive(self, *, time: str, speaker: str, text: str) -> str:
        """Return the id of the next message; the same in every export that contains it."""
        content = "\0".join((time, speaker, text)).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(content, digest_size=12).digest()
        count = self._get_counts(time)
        ordinal = count[key] = count.get(key, 0) + 1
        return f"{key.hex()}-{ordinal}"

    def _get_counts(self, moment: str) -> dict[bytes, int]:
        count = self._counts_by_time.get(moment)
        if count is None:
            count = self._counts_by_time[moment] = {}
            if len(self._counts_by_time) > MAX_TIMES_KEPT:
                self._counts_by_time.popitem(last=False)
        return count
