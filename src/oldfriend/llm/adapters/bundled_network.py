"""Bundled network: loads a trained network of the package, with what all of them share."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.adapters.minilm import BUNDLED_FOLDER, open_session, verify_model_files
from oldfriend.llm.adapters.pair_encoding import PairEncoder
from oldfriend.llm.adapters.word_vectors import WordVectors, load_word_vectors
from oldfriend.llm.adapters.wordpiece import WordPiece

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

NETWORKS_FOLDER: Final = BUNDLED_FOLDER.parent / "local_reader"
_LOCK = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledNetwork:
    """A network, the encoder of its input and the table of its word vectors."""

    encoder: PairEncoder
    words: WordVectors
    session: "InferenceSession"


class NetworkLoader:
    """Loads a network at the first call, and remembers if that failed."""

    def __init__(self, folder: Path, name: str, threads: int) -> None:
        """Take the folder and name of the graph, and the number of threads per run."""
        self._folder = folder
        self._name = name
        self._threads = threads
        self._failure: EmbeddingFailed | None = None

    def load(self) -> BundledNetwork:
        """Return the network. Raises EmbeddingFailed if it cannot be loaded."""
        if self._failure is not None:
            raise self._failure  # not tried anew with each message
        try:
            with _LOCK:
                return _load_once(self._folder, self._name, self._threads)
        except EmbeddingFailed as error:
            self._failure = error
            raise


@lru_cache(maxsize=4)
def _load_once(folder: Path, name: str, threads: int) -> BundledNetwork:
    """Load a network; several memories of one process share it."""
    verify_model_files(folder, only=name)
    verify_model_files(BUNDLED_FOLDER)
    try:
        vocabulary = (BUNDLED_FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()
        return BundledNetwork(
            encoder=PairEncoder(WordPiece(vocabulary)),
            words=load_word_vectors(BUNDLED_FOLDER),
            session=open_session(folder / name, threads),
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingFailed(
            localizable(
                "model_files_unreadable",
                f"The model in {folder} cannot be read: {error}",
                folder=str(folder),
                error=str(error),
            )
        ) from error
