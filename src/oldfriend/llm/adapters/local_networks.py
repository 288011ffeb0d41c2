"""Local networks: run the bundled reader and fact tagger in this process with ONNX Runtime.

The layout of what the reader reads is ``[CLS] question [SEP] speaker: message [SEP] message before
[SEP]``; the message is segment 1, everything else segment 0. Training and use encode alike.

The reader is trained by `oldfriend_evals.reader` and written by `scripts/build_reader.py`. The
tagger is trained by `oldfriend_evals.reader.train_tagger` and written by
`scripts/build_tagger.py`; it reads ``[CLS] message [SEP] message before [SEP]``.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.i18n_messages import localizable
from oldfriend.lang.clause_splitting import split_clauses
from oldfriend.llm.adapters.minilm import (
    BUNDLED_FOLDER,
    WordPiece,
    WordVectors,
    load_word_vectors,
    open_session,
    verify_model_files,
)
from oldfriend.llm.reading import Passage, Reading, TaggedClause

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MAX_QUESTION_TOKENS: Final = 32
MAX_MESSAGE_TOKENS: Final = 72
MAX_CONTEXT_TOKENS: Final = 24
MAX_WORD_TOKENS: Final = 16
MAX_CHARS: Final = 2_000
"""Characters that are looked at: invisible ones make no tokens, and there may be a million."""
WORD: Final = re.compile(r"[\u2e80-\U0003ffff]|[^\W_\u2e80-\U0003ffff]+|[^\w\s]|_")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPair:
    """Token ids and segments; ``spans`` are the characters of the message's tokens, in order."""

    ids: Sequence[int]
    segments: Sequence[int]
    first: int  # position of the message's first token
    spans: Sequence[tuple[int, int]]


class PairEncoder:
    """Encoder of questions and passages for one vocabulary."""

    def __init__(self, wordpiece: WordPiece) -> None:
        """Take the tokenizer of the network."""
        self._wordpiece = wordpiece
        self.start, self.end = wordpiece.encode("", limit=2)

    def encode_question(self, question: str) -> list[int]:
        """Return the token ids of a question, without control tokens."""
        plain = question.strip().rstrip("?\uff1f ")
        return [number for number, _, _ in self.encode_words(plain, MAX_QUESTION_TOKENS)]

    def encode(self, question: Sequence[int], passage: Passage) -> EncodedPair:
        """Return the ids of a pair."""
        speaker = [number for number, _, _ in self.encode_words(passage.speaker, 6)]
        message = self.encode_words(passage.text, MAX_MESSAGE_TOKENS)
        before = [number for number, _, _ in self.encode_words(passage.before, MAX_CONTEXT_TOKENS)]
        colon = [number for number, _, _ in self.encode_words(":", 1)]
        head = [self.start, *question, self.end]
        body = [*speaker, *colon, *(number for number, _, _ in message), self.end]
        tail = [*before, self.end] if before else []
        return EncodedPair(
            ids=[*head, *body, *tail],
            segments=[*[0] * len(head), *[1] * len(body), *[0] * len(tail)],
            first=len(head) + len(speaker) + len(colon),
            spans=[(start, end) for _, start, end in message],
        )

    def encode_words(self, text: str, limit: int) -> list[tuple[int, int, int]]:
        """Return id, and first and last character, of each token, at most ``limit``."""
        pieces: list[tuple[int, int, int]] = []
        for word in WORD.finditer(text[:MAX_CHARS]):
            _, *numbers, _ = self._wordpiece.encode(word.group(), limit=MAX_WORD_TOKENS)
            pieces += [(number, *word.span()) for number in numbers]
            if len(pieces) >= limit:
                break
        return pieces[:limit]


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
            readings.update(zip(batch, _run_reader(loaded, chosen), strict=True))
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


def _run_reader(loaded: BundledNetwork, pairs: Sequence[EncodedPair]) -> list[Reading]:
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


MAX_TAGGED_TOKENS: Final = 128
MAX_TAGGED_CONTEXT_TOKENS: Final = 32
MAX_WINDOWS: Final = 8
"""Parts of a long message that are read, each of at most WINDOW_CHARS."""
WINDOW_CHARS: Final = 360
MIN_TOKENS: Final = 3
"""Tokens of a clause that is looked at."""


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
    message = encoder.encode_words(text, MAX_TAGGED_TOKENS)
    context = [number for number, _, _ in encoder.encode_words(before, MAX_TAGGED_CONTEXT_TOKENS)]
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
            scores = _run_tagger(loaded, encode_message(loaded.encoder, window, before))
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


def _run_tagger(loaded: BundledNetwork, encoded: EncodedMessage) -> TokenScores:
    ids = np.array([encoded.ids], dtype=np.int64)
    feed = {
        "input_ids": ids,
        "word_vectors": loaded.words.look_up(ids),
        "attention_mask": np.ones_like(ids),
        "segments": np.array([encoded.segments], dtype=np.int64),
    }
    clause, value = loaded.session.run(["clause", "value"], feed)
    inside = slice(1, 1 + len(encoded.spans))
    return TokenScores(
        spans=np.array(encoded.spans, dtype=np.int64).reshape(-1, 2),
        clause=clause[0, inside, 0],
        value=value[0, inside, 0],
    )
