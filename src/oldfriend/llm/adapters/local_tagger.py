"""Local fact tagger: runs the bundled tagger in this process with ONNX Runtime.

The network is trained by `oldfriend_evals.reader.train_tagger` and written by
`scripts/build_tagger.py`. It reads ``[CLS] message [SEP] message before [SEP]``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oldfriend.lang.clauses import split_clauses
from oldfriend.llm.adapters.bundled_network import NETWORKS_FOLDER, BundledNetwork, NetworkLoader
from oldfriend.llm.adapters.pair_encoding import PairEncoder
from oldfriend.llm.tagging import TaggedClause

MAX_MESSAGE_TOKENS: Final = 128
MAX_CONTEXT_TOKENS: Final = 32
MAX_WINDOWS: Final = 8
"""Parts of a long message that are read, each of at most WINDOW_CHARS."""
WINDOW_CHARS: Final = 360
MIN_TOKENS: Final = 3
"""Tokens of a clause that is looked at."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScores:
    """What the network says of the tokens of a message."""

    spans: npt.NDArray[np.int64]  # token × 2, characters
    clause: Floats  # probability that a token is of a clause to remember
    value: Floats  # that it is one of the words that matter in it


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedMessage:
    """Token ids and segments; ``spans`` are the characters of the message's tokens."""

    ids: list[int]
    segments: list[int]
    spans: list[tuple[int, int]]


def encode_message(encoder: PairEncoder, text: str, before: str) -> EncodedMessage:
    """Return the ids of a message and the one before it; training and use encode alike."""
    message = encoder.encode_words(text, MAX_MESSAGE_TOKENS)
    context = [number for number, _, _ in encoder.encode_words(before, MAX_CONTEXT_TOKENS)]
    head = [encoder.start, *(number for number, _, _ in message), encoder.end]
    tail = [*context, encoder.end] if context else []
    return EncodedMessage(
        ids=[*head, *tail],
        segments=[*[0] * len(head), *[1] * len(tail)],
        spans=[(start, end) for _, start, end in message],
    )


class LocalFactTagger:
    """The bundled tagger, loaded at the first call; local and free."""

    def __init__(self, folder: Path = NETWORKS_FOLDER, *, threads: int = 1) -> None:
        """Take the folder of the network and the number of threads per run."""
        self._network = NetworkLoader(folder, "tagger.onnx", threads)

    def tag(self, text: str, before: str) -> list[TaggedClause]:
        """Return the clauses of a message with their scores; blocks while it computes.

        Raises EmbeddingFailed if the network cannot be loaded.
        """
        if not text.strip():
            return []
        loaded = self._network.load()
        tagged: list[TaggedClause] = []
        for offset, window in _split_windows(text):
            scores = _run(loaded, encode_message(loaded.encoder, window, before))
            tagged += _score_clauses(window, offset, scores)
            before = window
        return tagged


def _split_windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield parts of whole clauses, with the place of each."""
    start, last, count = 0, 0, 0
    for _, end in split_clauses(text[: MAX_WINDOWS * WINDOW_CHARS]):
        if end - start > WINDOW_CHARS and last > start:
            yield start, text[start:last]
            start, count = last, count + 1
        last = end
    if last > start and count < MAX_WINDOWS:
        yield start, text[start:last]


def _score_clauses(text: str, offset: int, scores: TokenScores) -> Iterator[TaggedClause]:
    for start, end in split_clauses(text):
        inside = (scores.spans[:, 1] > start) & (scores.spans[:, 0] < end)
        if inside.sum() < MIN_TOKENS:
            continue
        score = scores.clause[inside].mean() * scores.value[inside].max() ** 0.5
        yield TaggedClause(
            start=offset + start,
            end=offset + end,
            score=float(score),
        )


def _run(loaded: BundledNetwork, message: EncodedMessage) -> TokenScores:
    ids = np.array([message.ids], dtype=np.int64)
    feed = {
        "input_ids": ids,
        "word_vectors": loaded.words.look_up(ids),
        "attention_mask": np.ones_like(ids),
        "segments": np.array([message.segments], dtype=np.int64),
    }
    clause, value = loaded.session.run(["clause", "value"], feed)
    inside = slice(1, 1 + len(message.spans))
    return TokenScores(
        spans=np.array(message.spans, dtype=np.int64).reshape(-1, 2),
        clause=clause[0, inside, 0],
        value=value[0, inside, 0],
    )
