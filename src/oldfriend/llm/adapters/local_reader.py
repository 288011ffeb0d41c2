"""Local reader: runs the bundled reader in this process with ONNX Runtime.

The network is trained by `oldfriend_evals.reader` and written by `scripts/build_reader.py`.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.adapters.minilm import BUNDLED_FOLDER, open_session, verify_checksums
from oldfriend.llm.adapters.pair_encoding import EncodedPair, PairEncoder
from oldfriend.llm.adapters.word_vectors import WordVectors, load_word_vectors
from oldfriend.llm.adapters.wordpiece import WordPiece
from oldfriend.llm.reading import Passage, Reading

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

READER_FOLDER: Final = BUNDLED_FOLDER.parent / "local_reader"
BATCH_TOKENS: Final = 512
MAX_ANSWER_TOKENS: Final = 16
OUTSIDE: Final = np.float32(-1e4)
"""Added to what stands outside the message: it is never an answer."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadedReader:
    encoder: PairEncoder
    words: WordVectors
    session: "InferenceSession"


class LocalReader:
    """The bundled reader, loaded at the first call; local and free."""

    def __init__(self, folder: Path = READER_FOLDER, *, threads: int = 1) -> None:
        """Take the folder of the network and the number of threads per run."""
        self._folder = folder
        self._threads = threads
        self._failure: EmbeddingFailed | None = None

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Return a reading per passage, in order. Raises EmbeddingFailed if it cannot be loaded."""
        return await asyncio.to_thread(self._read, question, passages) if passages else []

    def _read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        if self._failure is not None:
            raise self._failure
        try:
            loaded = _load(self._folder, self._threads)
        except EmbeddingFailed as error:
            self._failure = error  # not tried anew with each question
            raise
        asked = loaded.encoder.encode_question(question)
        pairs = [loaded.encoder.encode(asked, passage) for passage in passages]
        readings: dict[int, Reading] = {}
        for batch in _list_batches(pairs):
            chosen = [pairs[number] for number in batch]
            readings.update(zip(batch, _run(loaded, chosen), strict=True))
        return [readings[number] for number in range(len(pairs))]


_LOAD_LOCK = Lock()


def _load(folder: Path, threads: int) -> _LoadedReader:
    with _LOAD_LOCK:
        return _load_once(folder, threads)


@lru_cache(maxsize=1)
def _load_once(folder: Path, threads: int) -> _LoadedReader:
    """Load the network; several memories of one process share it."""
    verify_checksums(folder)
    verify_checksums(BUNDLED_FOLDER)
    vocabulary = (BUNDLED_FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return _LoadedReader(
        encoder=PairEncoder(WordPiece(vocabulary)),
        words=load_word_vectors(BUNDLED_FOLDER),
        session=open_session(folder / "reader.onnx", threads),
    )


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


def _run(loaded: _LoadedReader, pairs: Sequence[EncodedPair]) -> list[Reading]:
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
