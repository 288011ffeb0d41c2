"""Local reader: runs the bundled reader in this process with ONNX Runtime.

The network is trained by `oldfriend_evals.reader` and written by `scripts/build_reader.py`.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oldfriend.llm.adapters.bundled_network import NETWORKS_FOLDER, BundledNetwork, NetworkLoader
from oldfriend.llm.adapters.pair_encoding import EncodedPair
from oldfriend.llm.reading import Passage, Reading

BATCH_TOKENS: Final = 512
MAX_ANSWER_TOKENS: Final = 16
OUTSIDE: Final = np.float32(-1e4)
"""Added to what stands outside the message: it is never an answer."""

Floats = npt.NDArray[np.float32]


class LocalReader:
    """The bundled reader, loaded at the first call; local and free."""

    def __init__(self, folder: Path = NETWORKS_FOLDER, *, threads: int = 1) -> None:
        """Take the folder of the network and the number of threads per run."""
        self._network = NetworkLoader(folder, "reader.onnx", threads)

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Return a reading per passage, in order. Raises EmbeddingFailed if it cannot be loaded."""
        return await asyncio.to_thread(self._read, question, passages) if passages else []

    def _read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        loaded = self._network.load()
        asked = loaded.encoder.encode_question(question)
        pairs = [loaded.encoder.encode(asked, passage) for passage in passages]
        readings: dict[int, Reading] = {}
        for batch in _list_batches(pairs):
            chosen = [pairs[number] for number in batch]
            readings.update(zip(batch, _run(loaded, chosen), strict=True))
        return [readings[number] for number in range(len(pairs))]


def _list_batches(pairs: Sequence[EncodedPair]) -> Iterator[list[int]]:
    """Yield batches of pairs of similar length."""
    batch: list[int] = []
    for number in sorted(range(len(pairs)), key=lambda number: len(pairs[number].ids)):
        if batch and len(pairs[number].ids) * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _run(loaded: BundledNetwork, pairs: Sequence[EncodedPair]) -> list[Reading]:
    """Read pairs of a question and a passage."""
    length = max(len(pair.ids) for pair in pairs)
    ids, segments, mask = (np.zeros((len(pairs), length), dtype=np.int64) for _ in range(3))
    asked = np.zeros((len(pairs), length), dtype=np.float32)
    for row, pair in enumerate(pairs):
        size, end = len(pair.ids), pair.segments.index(1)
        ids[row, :size], segments[row, :size], mask[row, :size] = pair.ids, pair.segments, 1
        asked[row, 1:end] = 1 / (end - 1)  # with the token that ends the question
    feed = {
        "input_ids": ids,
        "word_vectors": loaded.words.look_up(ids),
        "attention_mask": mask,
        "segments": segments,
        "asked": asked,
        "outside": np.where((segments == 1) & (mask == 1), np.float32(0), OUTSIDE),
    }
    logits, spans = loaded.session.run(["logit", "span"], feed)
    return [
        _build_reading(float(logit), span, pair)
        for logit, span, pair in zip(logits, spans, pairs, strict=True)
    ]


def _build_reading(logit: float, span: Floats, pair: EncodedPair) -> Reading:
    """Return the reading with the likeliest span of the message's tokens."""
    count = len(pair.spans)
    if count == 0:
        return Reading(logit=logit, start=0, end=0)
    tokens = span[pair.first : pair.first + count]
    sums = tokens[:, None, 0] + tokens[None, :, 1]
    distance = np.arange(count)[None, :] - np.arange(count)[:, None]
    sums[(distance < 0) | (distance >= MAX_ANSWER_TOKENS)] = -np.inf
    first, last = divmod(int(sums.argmax()), count)
    return Reading(logit=logit, start=pair.spans[first][0], end=pair.spans[last][1])
