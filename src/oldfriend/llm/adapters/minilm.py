"""MiniLM embedder: runs all-MiniLM-L6-v2 in this process with ONNX Runtime.

The model file ships with the package and is built by `scripts/build_minilm.py`; no network is
needed.

The tokenizer gives the same ids as the `tokenizers` library, without that dependency and for any
string; except that a typed "[SEP]" and the like stay text and never act as control tokens.
"""

import asyncio
import string
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from oldfriend.domain.bundled_files import BUNDLED_MODEL, verify_checksums
from oldfriend.domain.errors import EmbeddingFailed, InstallationDamaged
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.unicode_text import normalize
from oldfriend.llm.embedding import Vectors
from oldfriend.sandbox.child_process import disable_telemetry

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MAX_WORD_LENGTH = 100  # BERT maps a longer word to [UNK]
MAX_TEXT_LENGTH = 32_768  # characters; far beyond any model's token limit
# Cn is kept: an unassigned code point may be a newer emoji.
REMOVED_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
CHINESE_RANGES = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B820),
    range(0x2B920, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


class WordPiece:
    """Tokenizer with a vocabulary; always takes the longest piece that fits."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the vocabulary in the order of ids; pieces that continue a word start with ##."""
        self._id_by_piece = {piece: number for number, piece in enumerate(vocabulary)}
        self._max_piece_length = max(map(len, vocabulary))
        self._unknown = self._id_by_piece["[UNK]"]
        self._start, self._end = self._id_by_piece["[CLS]"], self._id_by_piece["[SEP]"]
        self._char_map = _CharMap()

    def encode(self, text: str, *, limit: int) -> list[int]:
        """Return a text's ids between [CLS] and [SEP], at most `limit` in all."""
        words = text[:MAX_TEXT_LENGTH].translate(self._char_map).split()
        ids = (number for word in words for number in self._encode_word(word))
        return [self._start, *islice(ids, limit - 2), self._end]

    def _encode_word(self, word: str) -> Sequence[int]:
        whole = self._id_by_piece.get(word)
        if whole is not None:
            return (whole,)
        if len(word) > MAX_WORD_LENGTH:
            return (self._unknown,)
        ids = []
        start = 0
        while start < len(word):
            end, number = self._match_longest_piece(word, start)
            ids.append(number)
            start = end
        return (self._unknown,) if self._unknown in ids else ids

    def _match_longest_piece(self, word: str, start: int) -> tuple[int, int]:
        """Return end and id of the longest piece from `start`; if none, word end and [UNK]."""
        prefix = "##" if start else ""
        for end in range(min(len(word), start + self._max_piece_length), start, -1):
            number = self._id_by_piece.get(prefix + word[start:end])
            if number is not None:
                return end, number
        return len(word), self._unknown


class _CharMap(dict[int, str]):
    """Translation table of BERT's character normalization, filled lazily."""

    def __missing__(self, code: int) -> str:
        self[code] = reading = _normalize_char(chr(code))
        return reading


def _normalize_char(char: str) -> str:
    """Lowercase, strip accents, drop controls, and pad Chinese and punctuation with spaces."""
    if char in "\t\n\r":
        return " "
    if unicodedata.category(char) in REMOVED_CATEGORIES or char == "\ufffd":
        return ""
    if char.isspace():
        return " "
    bare = "".join(c for c in normalize("NFD", char) if unicodedata.category(c) != "Mn")
    stands_alone = any(ord(char) in block for block in CHINESE_RANGES)
    return f" {bare} " if stands_alone else "".join(map(_pad_punctuation, bare.lower()))


def _pad_punctuation(char: str) -> str:
    is_punctuation = char in string.punctuation or unicodedata.category(char).startswith("P")
    return f" {char} " if is_punctuation else char


WORDS_FILE: Final = "words.npy"
"""Token × channel, in eight bits."""
SCALES_FILE: Final = "word_scales.npy"
"""Token × 1: what to multiply a row with."""


class WordVectors:
    """The vectors of all tokens, read from the disk as they are needed."""

    def __init__(self, folder: Path) -> None:
        """Open the table of a folder. Raises OSError or ValueError if it cannot be read."""
        self._words = np.load(folder / WORDS_FILE, mmap_mode="r")
        self._scales = np.load(folder / SCALES_FILE)

    def look_up(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of token ids: one more axis, of 384 channels."""
        vectors: npt.NDArray[np.float32] = self._words[ids].astype(np.float32) * self._scales[ids]
        return vectors


@lru_cache(maxsize=2)
def load_word_vectors(folder: Path) -> WordVectors:
    """Return the table of a folder; the networks of one process share it."""
    return WordVectors(folder)


BUNDLED_FOLDER = Path(__file__).parents[1] / "minilm"
MAX_INPUT_TOKENS = 256  # tokens per text: the graph has no positions beyond
MAX_TEXTS_PER_CALL = 128  # texts per thread call: cancellation waits until it ends
BATCH_TOKENS = 256  # tokens per run, padding included; more do not help


class MiniLM:
    """Default embedder, loaded at the first call in about a tenth of a second.

    It is local and free, so its calls are not recorded in the ledger.
    """

    model = BUNDLED_MODEL
    dimension = 384

    def __init__(self, folder: Path = BUNDLED_FOLDER, *, threads: int = 1) -> None:
        """Take the model folder and the number of threads per run."""
        self._folder = folder
        self._threads = threads
        self._loaded: _LoadedMiniLM | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector per text, in order, as rows. Raises EmbeddingFailed."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), MAX_TEXTS_PER_CALL):
            batch = slice(start, start + MAX_TEXTS_PER_CALL)
            vectors[batch] = await asyncio.to_thread(self._embed, texts[batch])
        return vectors

    def _embed(self, texts: Sequence[str]) -> Vectors:
        model = self._load()
        inputs = [model.wordpiece.encode(text, limit=MAX_INPUT_TOKENS) for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch in _batches(inputs):
            vectors[batch] = _run(model, [inputs[i] for i in batch])
        return vectors

    def _load(self) -> "_LoadedMiniLM":
        if self._loaded is None:
            self._loaded = _load_once(self._folder, self._threads)
        return self._loaded


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class _LoadedMiniLM:
    wordpiece: WordPiece
    words: WordVectors
    session: "InferenceSession"


_LOAD_LOCK = Lock()
_IN_USE: WeakValueDictionary[tuple[Path, int], _LoadedMiniLM] = WeakValueDictionary()
"""What is loaded now, so that several memories of one process share it."""


def _load_once(folder: Path, threads: int) -> _LoadedMiniLM:
    with _LOAD_LOCK:
        loaded = _IN_USE.get((folder, threads))
        if loaded is None:
            loaded = _IN_USE[folder, threads] = _load(folder, threads)
        return loaded


def _load(folder: Path, threads: int) -> _LoadedMiniLM:
    verify_model_files(folder)
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    session = open_session(folder / "model.onnx", threads)
    return _LoadedMiniLM(
        wordpiece=WordPiece(vocabulary), words=load_word_vectors(folder), session=session
    )


def _run(loaded: _LoadedMiniLM, inputs: Sequence[Sequence[int]]) -> Vectors:
    ids = np.zeros((len(inputs), max(map(len, inputs))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(inputs):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    feed = {"input_ids": ids, "word_vectors": loaded.words.look_up(ids), "attention_mask": mask}
    vectors: Vectors = loaded.session.run(["embedding"], feed)[0]
    return vectors


def _batches(inputs: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield batches of texts of similar length, to reduce padding."""
    batch: list[int] = []
    for i in sorted(range(len(inputs)), key=lambda i: len(inputs[i])):
        if batch and len(inputs[i]) * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def verify_model_files(folder: Path, *, only: str = "") -> None:
    """Raise EmbeddingFailed unless the files, or only one of them, have the shipped checksums."""
    try:
        verify_checksums(folder, only=only)
    except InstallationDamaged as error:
        raise EmbeddingFailed(error.user_text) from error


def open_session(graph: Path, threads: int) -> "InferenceSession":
    """Open an ONNX session; the runtime is imported lazily because most commands never embed."""
    disable_telemetry()
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbeddingFailed(
            localizable(
                "runtime_broken",
                f"onnxruntime does not work on this machine: {error}",
                error=str(error),
            )
        ) from error

    onnxruntime.disable_telemetry_events()  # where another program has imported it before
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors only: a missing GPU is not worth a warning
    # The next level fuses Add and LayerNormalization into an operator that is three times as slow.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
