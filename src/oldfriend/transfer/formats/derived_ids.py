"""How is a message known again in a newer export, when the file gives it no id?

By who said what when. What was said twice in the same moment is told apart by its ordinal.
"""

import hashlib
from collections import OrderedDict

REMEMBERED_MOMENTS = 5_000
"""An hour with its seconds fits: clocks go back by one, and moments come again."""


class DerivedIds:
    """The ids of one chat's messages, in the order of the file."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._said: OrderedDict[str, dict[bytes, int]] = OrderedDict()

    def next(self, *, moment: str, speaker: str, text: str) -> str:
        """The id of the next message; the same in every export that holds it."""
        words = "\0".join((moment, speaker, text)).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(words, digest_size=12).digest()
        count = self._at(moment)
        ordinal = count[key] = count.get(key, 0) + 1
        return f"{key.hex()}-{ordinal}"

    def _at(self, moment: str) -> dict[bytes, int]:
        count = self._said.get(moment)
        if count is None:
            count = self._said[moment] = {}
            if len(self._said) > REMEMBERED_MOMENTS:
                self._said.popitem(last=False)
        return count
