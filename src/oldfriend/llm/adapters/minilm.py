"""How is all-MiniLM-L6-v2 run inside this process?

The graph comes with the package, made by `scripts/build_minilm.py`; no network is needed.
This module does not know what the texts are, nor where the vectors go.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.sayings import saying
from oldfriend.llm.adapters.wordpiece import WordPiece
from oldfriend.llm.embedding import Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SHIPPED = Path(__file__).parents[1] / "minilm"
LONGEST_INPUT = 256  # pieces of one text: the graph has no places for more
AT_ONCE = 128  # texts in one visit to a thread: whoever cancels waits for it
BATCH_PIECES = 256  # pieces in one run, padding included; more gain nothing


class MiniLM:
    """The default embedder; it loads when first asked, in about a tenth of a second.

    It asks nobody and costs nothing, so nothing of it is kept in the ledger.
    """

    model = "all-MiniLM-L6-v2/int8-1"
    dimension = 384

    def __init__(self, folder: Path = SHIPPED, *, threads: int = 1) -> None:
        """Remember where the model is, and how many processors a run may use."""
        self._folder = folder
        self._threads = threads
        self._loading = Lock()
        self._loaded: _Loaded | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in order, or raise EmbeddingFailed."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            vectors[some] = await asyncio.to_thread(self._embed, texts[some])
        return vectors

    def _embed(self, texts: Sequence[str]) -> Vectors:
        model = self._load()
        inputs = [model.wordpiece.ids(text, limit=LONGEST_INPUT) for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch in _batches(inputs):
            vectors[batch] = _run(model.session, [inputs[i] for i in batch])
        return vectors

    def _load(self) -> "_Loaded":
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._folder, self._threads)
            return self._loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    wordpiece: WordPiece
    session: "InferenceSession"


def _load(folder: Path, threads: int) -> _Loaded:
    _check(folder)
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    session = _session(folder / "model.onnx", threads)
    return _Loaded(wordpiece=WordPiece(vocabulary), session=session)


def _run(session: "InferenceSession", inputs: Sequence[Sequence[int]]) -> Vectors:
    ids = np.zeros((len(inputs), max(map(len, inputs))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(inputs):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    vectors: Vectors = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
    return vectors


def _batches(inputs: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Texts of like length run together, so that little is spent on padding."""
    batch: list[int] = []
    for i in sorted(range(len(inputs)), key=lambda i: len(inputs[i])):
        if batch and len(inputs[i]) * (len(batch) + 1) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _check(folder: Path) -> None:
    """Raise EmbeddingFailed unless the files are those whose checksums were shipped."""
    try:
        for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
            checksum, name = line.split()
            with (folder / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                    raise EmbeddingFailed(saying(
                        "model_files_damaged",
                        f"{folder / name} is damaged: install Oldfriend anew.",
                        file=str(folder / name),
                    ))  # fmt: skip
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(saying(
            "model_files_unreadable", f"The model in {folder} cannot be read: {error}",
            folder=str(folder), error=str(error),
        )) from error  # fmt: skip


def _session(graph: Path, threads: int) -> "InferenceSession":
    """Open the graph; the runtime is imported here because most commands never embed."""
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbeddingFailed(saying(
            "runtime_broken", f"onnxruntime does not work on this machine: {error}",
            error=str(error),
        )) from error  # fmt: skip

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors: a machine without a graphics card is not worth a line
    # The next level would fuse Add and LayerNormalization into an operator three times as slow.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
