"""Synthetic histories of any length, made up under a seed.

Synthetic: the sentences of the English conversations that ship, recombined. A message keeps the
length and speaker of a real one; words that are rare there are numbered, in as many variants as
a vocabulary that grows with the square root of the text would have. Knows no database.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from oldfriend.domain.clock import DAY, MINUTE, Micros
from oldfriend.domain.messages import TRUST_BY_ROLE, Role, UnloggedMessage
from oldfriend.llm.embedding import Vectors
from oldfriend_evals.datasets import Conversation, load_own_conversations

FIRST_DAY: Micros = 1_577_872_800_000_000  # 2020-01-01 10:00 UTC
SESSION_LENGTH = 25  # messages
RARE = 2  # a word that stands so often in all sources, or less, is rare
WORD = re.compile(r"[A-Za-z]{3,}")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A message of a shipped conversation."""

    speaker: str
    role: Role
    sentences: tuple[str, ...]


def build_sessions(count: int, *, seed: int) -> Iterator[list[UnloggedMessage]]:
    """So many messages in sessions, one session a day."""
    rng = random.Random(seed)
    variants = round((count / len(list_remarks())) ** 0.5)
    for day, start in enumerate(range(0, count, SESSION_LENGTH)):
        first = FIRST_DAY + day * DAY
        yield [
            vary_remark(rng, at=first + number * MINUTE, variants=variants)
            for number in range(min(SESSION_LENGTH, count - start))
        ]


def vary_remark(rng: random.Random, *, at: Micros, variants: int) -> UnloggedMessage:
    """A message with the speaker and the number of sentences of a real one."""
    remark = rng.choice(list_remarks())
    drawn = [vary_sentence(rng.choice(list_sentences()), rng, variants) for _ in remark.sentences]
    return UnloggedMessage(
        role=remark.role,
        speaker=remark.speaker,
        text=" ".join(drawn),
        at=at,
        trust=TRUST_BY_ROLE[remark.role],
    )


def vary_sentence(sentence: str, rng: random.Random, variants: int) -> str:
    """The sentence with its rare words in one of their variants; the first has no number."""
    number = rng.randrange(variants) if variants > 1 else 0
    if number == 0:
        return sentence
    rare = find_rare_words()
    return WORD.sub(
        lambda found: f"{found[0]}{number}" if found[0].lower() in rare else found[0], sentence
    )


def list_questions(count: int) -> list[str]:
    """Questions that were asked of the sources; always the same."""
    asked = [query.text for source in load_sources() for query in source.queries]
    random.Random(0).shuffle(asked)
    return asked[:count]


def draw_vectors(count: int, *, seed: int, dimension: int) -> Vectors:
    """Directions without meaning; arithmetic takes the same time over them."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@cache
def load_sources() -> tuple[Conversation, ...]:
    """The English conversations that ship."""
    return tuple(given for given in load_own_conversations() if given.language == "en")


@cache
def list_remarks() -> tuple[Remark, ...]:
    """The messages of the sources."""
    return tuple(
        Remark(
            speaker=line.speaker,
            role=next(role for role in TRUST_BY_ROLE if role == line.role),
            sentences=tuple(SENTENCE_END.split(line.text)),
        )
        for source in load_sources()
        for line in source.lines
    )


@cache
def list_sentences() -> tuple[str, ...]:
    """The sentences of the sources."""
    return tuple(sentence for remark in list_remarks() for sentence in remark.sentences)


@cache
def find_rare_words() -> frozenset[str]:
    """The words that stand once or twice in all the sources."""
    seen = Counter(word.lower() for sentence in list_sentences() for word in WORD.findall(sentence))
    return frozenset(word for word, count in seen.items() if count <= RARE)
