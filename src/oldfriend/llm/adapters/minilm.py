"""How is all-MiniLM-L6-v2 run inside this process?

The int8 graph comes with the package (`scripts/build_minilm.py` made it) and needs no network.
This module does not know what the texts are, nor where the vectors go.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.adapters.wordpiece import WordPiece
from oldfriend.llm.embedding import Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SHIPPED = Path(__file__).parents[1] / "minilm"
LONGEST_INPUT = 256  # pieces of one text; the model was made for no more
BATCH_PIECES = 160  # pieces run at once, padding included; more leaves the processor's cache


class MiniLM:
    """The default embedder; it is loaded when first asked, which takes about a tenth of a second."""

    model = "all-MiniLM-L6-v2/int8-1"
    dimension = 384

    def __init__(self, folder: Path = SHIPPED, *, threads: int = 1) -> None:
        """Remember where the graph is and how many processors one run may use."""
        self._folder = folder
        self._threads = threads
        self._loading = Lock()
        self._loaded: _Loaded | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, in order; raise EmbeddingFailed if that cannot be."""
        loaded = await asyncio.to_thread(self._load)
        inputs = await asyncio.to_thread(loaded.read, texts)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch in _batches(inputs):
            vectors[batch] = await asyncio.to_thread(loaded.run, [inputs[i] for i in batch])
        return vectors

    def _load(self) -> "_Loaded":
        with self._loading:
            if self._loaded is None:
                self._loaded = _Loaded(self._folder, self._threads)
            return self._loaded


class _Loaded:
    def __init__(self, folder: Path, threads: int) -> None:
        files = _checked_files(folder)
        self._wordpiece = WordPiece(files["vocab.txt"].decode().splitlines())
        self._session = _session(files["model.onnx"], threads)

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._wordpiece.ids(text, limit=LONGEST_INPUT) for text in texts]

    def run(self, inputs: Sequence[Sequence[int]]) -> Vectors:
        ids = np.zeros((len(inputs), max(map(len, inputs))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, pieces in enumerate(inputs):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
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


def _checked_files(folder: Path) -> dict[str, bytes]:
    """The model's files, if they are the ones that its list of checksums names."""
    try:
        listed = [line.split() for line in (folder / "SHA256SUMS").read_text().splitlines()]
        files = {name: (folder / name).read_bytes() for _, name in listed}
    except OSError as error:
        raise EmbeddingFailed(f"The embedding model in {folder} cannot be read: {error}") from error
    for checksum, name in listed:
        if hashlib.sha256(files[name]).hexdigest() != checksum:
            raise EmbeddingFailed(f"{folder / name} is damaged; install Oldfriend again.")
    return files


def _session(graph: bytes, threads: int) -> "InferenceSession":
    """Importing the runtime costs as much as loading the model, so it waits until somebody embeds."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; a machine without a GPU is not worth a warning
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
