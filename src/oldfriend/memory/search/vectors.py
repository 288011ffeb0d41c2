"""How do a message's words become the vector that is searched? The embedding itself is given."""

from collections.abc import Sequence

import numpy as np

from oldfriend.memory.search.values import Floats


def text_to_embed(speaker: str, text: str) -> str:
    """What to embed for a message: who speaks is half of what it means."""
    return f"{speaker}: {text}" if speaker else text


def vectors_from(stored: Sequence[bytes | None]) -> Floats:
    """Rows of float16 as they are stored; a missing one becomes a row of zeros."""
    missing = bytes(max((len(vector) for vector in stored if vector), default=0))
    joined = b"".join([vector or missing for vector in stored])
    halves = np.frombuffer(joined, dtype="<f2").reshape(len(stored), len(missing) // 2)
    return halves.astype(np.float32)
