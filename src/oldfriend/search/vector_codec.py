"""Vector codec: the stored form of embeddings, and the text that is embedded for a message."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from oldfriend.search.types import Floats

MAX_STEPS: Final = 127
"""Largest magnitude of an int8 number in a stored vector."""
UNPADDED_MARKER: Final = b"\x01"
PADDED_MARKER: Final = b"\x02"
HEADER_BYTES: Final = len(UNPADDED_MARKER) + 4
"""Bytes before the numbers: the marker and the scale as float32."""


def build_embedding_text(speaker: str, text: str) -> str:
    """Return the text to embed for a message, with the speaker, who is half of what it means."""
    return f"{speaker}: {text}" if speaker else text


def encode_vectors(vectors: Floats) -> list[bytes]:
    """Encode each vector for storage: a marker, a float32 scale and one int8 per number.

    The marker tells whether a padding byte makes the length odd; vectors stored as float16, the
    previous format, have an even length.
    """
    scales = (np.abs(vectors).max(axis=1, initial=0.0) / MAX_STEPS).astype("<f4")
    scaled = vectors / np.where(scales, scales, 1)[:, None]
    numbers = np.rint(scaled).clip(-MAX_STEPS, MAX_STEPS).astype(np.int8)
    marker, pad = (UNPADDED_MARKER, b"") if vectors.shape[1] % 2 == 0 else (PADDED_MARKER, b"\0")
    return [
        marker + step.tobytes() + row.tobytes() + pad
        for step, row in zip(scales, numbers, strict=True)
    ]


def decode_vectors(stored: Sequence[bytes | None]) -> Floats:
    """Decode stored vectors of this format or of float16; a missing one becomes zeros."""
    kept = [(place, each) for place, each in enumerate(stored) if each]
    length = read_dimension(kept[0][1]) if kept else 0
    vectors = np.zeros((len(stored), length), dtype=np.float32)
    for read, is_read in ((decode_int8_vectors, True), (decode_float16_vectors, False)):
        some = [(place, each) for place, each in kept if len(each) % 2 == is_read]
        if some:
            vectors[[place for place, _ in some]] = read([each for _, each in some], length)
    return vectors


def read_dimension(stored: bytes) -> int:
    """Return the number of dimensions of a stored vector."""
    if len(stored) % 2 == 0:
        return len(stored) // 2
    return len(stored) - HEADER_BYTES - (stored[:1] == PADDED_MARKER)


def decode_int8_vectors(stored: Sequence[bytes], length: int) -> Floats:
    """Decode vectors stored with one int8 per number."""
    rows = np.frombuffer(b"".join(stored), dtype=np.uint8).reshape(len(stored), -1)
    scales = rows[:, len(UNPADDED_MARKER) : HEADER_BYTES].copy().view("<f4")
    numbers = rows[:, HEADER_BYTES : HEADER_BYTES + length].view(np.int8)
    vectors: Floats = numbers.astype(np.float32) * scales
    return vectors


def decode_float16_vectors(stored: Sequence[bytes], length: int) -> Floats:
    """Decode vectors stored as float16."""
    halves = np.frombuffer(b"".join(stored), dtype="<f2").reshape(len(stored), length)
    return halves.astype(np.float32)
