"""MiniLM embedder: runs all-MiniLM-L6-v2 in this process with ONNX Runtime.

The model file ships with the package and is built by `scripts/build_minilm.py`; no network is
needed.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.adapters.word_vectors import WordVectors, load_word_vectors
from oldfriend.llm.adapters.wordpiece import WordPiece
from oldfriend.llm.embedding import Vectors
from oldfriend.sandbox.resource_limits import disable_telemetry

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

BUNDLED_FOLDER = Path(__file__).parents[1] / "minilm"
MAX_INPUT_TOKENS = 256  # tokens per text: the graph has no positions beyond
MAX_TEXTS_PER_CALL = 128  # texts per thread call: cancellation waits until it ends
BATCH_TOKENS = 256  # tokens per run, padding included; more do not help


class MiniLM:
    """Default embedder, loaded at the first call in about a tenth of a second.

    It is local and free, so its calls are not recorded in the ledger.
    """

    model = "all-MiniLM-L6-v2/int8-1"
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
    verify_checksums(folder)
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    session = open_session(folder / "model.onnx", threads)
    return _LoadedMiniLM(
        wordpiece=WordPiece(vocabulary), words=load_word_vectors(folder), session=session
    )


def _run(model: _LoadedMiniLM, inputs: Sequence[Sequence[int]]) -> Vectors:
    ids = np.zeros((len(inputs), max(map(len, inputs))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(inputs):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    feed = {"input_ids": ids, "word_vectors": model.words.look_up(ids), "attention_mask": mask}
    vectors: Vectors = model.session.run(["embedding"], feed)[0]
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


def verify_checksums(folder: Path, *, only: str = "") -> None:
    """Raise EmbeddingFailed unless the files, or only one of them, have the shipped checksums."""
    try:
        for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
            checksum, name = line.split()
            if only and name != only:
                continue
            with (folder / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                    raise EmbeddingFailed(
                        localizable(
                            "model_files_damaged",
                            f"{folder / name} is damaged: install Oldfriend anew.",
                            file=str(folder / name),
                        )
                    )
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(
            localizable(
                "model_files_unreadable",
                f"The model in {folder} cannot be read: {error}",
                folder=str(folder),
                error=str(error),
            )
        ) from error


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
