"""Pair encoding: the token ids of a question and a message that may answer it.

The layout is ``[CLS] question [SEP] speaker: message [SEP] message before [SEP]``; the message is
segment 1, everything else segment 0. Training and use encode alike.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.llm.adapters.wordpiece import WordPiece
from oldfriend.llm.reading import Passage

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
