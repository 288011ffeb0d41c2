"""Request kinds: what a message asks of the companion, learned from how many people ask it.

A softmax over hashed words and n-grams, in which numbers, times and addresses are masked.
`oldfriend_evals.reader.train_request_kinds` trains it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.lang.message_acts import classify_act
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.request_features import (
    TaggedToken,
    hash_features,
    list_ngrams,
    list_tokens,
    mask_times,
)
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues
from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans
from oldfriend.web.links import LINK

RequestKind: TypeAlias = Literal[
    "none",
    "reminder_new",
    "reminder_cancel",
    "todo_new",
    "goal_new",
    "goal_progress",
    "goal_missed",
    "goal_ask",
    "goal_cancel",
    "watch_new",
    "watch_cancel",
    "action_at",
    "number_log",
    "number_fix",
    "number_ask",
    "diary_new",
    "diary_ask",
    "clock",
    "language",
    "cancel_all",
]
KINDS: Final[tuple[RequestKind, ...]] = get_args(RequestKind)
BUCKETS: Final = 1 << 16
MAX_CHARS: Final = 300
"""A longer message is read sentence by sentence."""
MAX_READ_CHARS: Final = 2_000
MAX_SENTENCES: Final = 12
"""Nothing is looked for in a message of more sentences or characters: it tells."""
MIN_SURE: Final = 0.5
"""How likely a kind must be to be taken for what is asked, unless it is one of these."""
TURNED_ROUND: Final[frozenset[RequestKind]] = frozenset({"language", "diary_new", "watch_new"})
"""What a negation turns into its opposite; others are asked about, or say no themselves."""
MIN_SURE_OF: Final[Mapping[RequestKind, float]] = {
    "clock": 0.6,  # "what day is the scan?" asks for what was told
    "number_log": 0.8,
    "number_ask": 0.6,
    "reminder_cancel": 0.6,
    "language": 0.6,
    "cancel_all": 0.55,
    "goal_new": 0.6,
    "goal_progress": 0.6,
    "action_at": 0.6,
    "watch_new": 0.7,
}
CACHE_SIZE: Final = 64
HIDDEN_LINK: Final = " _ "
WEIGHTS_FILE: Final = Path(__file__).parent / "request_kinds.npz"
CLAUSE_END: Final = re.compile(r"(?<![\d,;:.!?…])[,;:.!?…]++(?=\s|$)|[，；：。！？]|\s[-–—]++\s|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRequest:
    """What a message asks for, the sentences that ask it, and the others."""

    kind: RequestKind
    said: str  # the sentences that ask it by themselves, or those that do together
    rest: str
    told: str  # and those beside them that ask for nothing
    untold: str  # those that ask for something else
    share: float  # how likely the kind is


def find_request(text: str, language: str, *kinds: RequestKind) -> FoundRequest | None:
    """Return the request of one of some kinds that a message holds; None if none is likely.

    Nothing is read where others' words stand, nor what a negation may turn round.
    """
    sentences = split_sentences(text) if len(text) <= MAX_READ_CHARS else []
    if not 0 < len(sentences) <= MAX_SENTENCES:
        return None
    whole = choose_kind(text, language)
    alone = [choose_kind(each, language) for each in sentences]
    kind = whole if whole in kinds else next((each for each in alone if each in kinds), None)
    if kind is None or find_borrowed_spans(LINK.sub(HIDDEN_LINK, text), language):
        return None
    asking = [each == kind for each in alone]
    if not any(asking):
        asking = [each in {kind, "none"} for each in alone]
    if not any(asking):
        asking = [True] * len(sentences)
    beside = [each or one == "none" for each, one in zip(asking, alone, strict=True)]
    found = FoundRequest(
        kind=kind,
        said=join(sentences, asking, is_in=True),
        rest=join(sentences, asking, is_in=False),
        told=join(sentences, beside, is_in=True),
        untold=join(sentences, beside, is_in=False),
        share=max(classify_request(each, language)[kind] for each in (text, *sentences)),
    )
    return None if kind in TURNED_ROUND and is_negated(found.said, language) else found


def join(sentences: Sequence[str], chosen: Sequence[bool], *, is_in: bool) -> str:
    """Return the sentences that are chosen, or those that are not."""
    return " ".join(each for each, one in zip(sentences, chosen, strict=True) if one == is_in)


def is_negated(text: str, language: str) -> bool:
    """Whether a text says that something is not so."""
    return load_cues(language).negation.search(fold_punctuation(text)) is not None


def choose_kind(text: str, language: str) -> RequestKind:
    """Return the likeliest kind of a text; "none" unless it is likely enough."""
    if len(text) > MAX_CHARS:
        return "none"
    likely = classify_request(text, language)
    kind = max(likely, key=lambda each: likely[each])
    return kind if likely[kind] >= MIN_SURE_OF.get(kind, MIN_SURE) else "none"


@text_lru_cache(CACHE_SIZE)
def classify_request(text: str, language: str) -> Mapping[RequestKind, float]:
    """Return how likely a text asks for each kind of thing."""
    weights = load_weights()
    buckets = list_buckets(text, language)
    summed = weights[buckets].sum(axis=0) / max(len(buckets), 1) ** 0.5
    likely = np.exp(summed - summed.max())
    shares = (likely / likely.sum()).tolist()
    return MappingProxyType(dict(zip(KINDS, shares, strict=True)))


def list_buckets(text: str, language: str) -> list[int]:
    """Return the buckets of a text's features, each once."""
    phrases = load_task_phrases(choose_language_with("tasks", language))
    plain = LINK.sub(HIDDEN_LINK, text[:MAX_CHARS])
    tokens = list_tokens(plain, phrases.book.find(plain), ())
    features = [*list_features(plain, tokens), f"u{plain != text[:MAX_CHARS]}"]
    return sorted({each % BUCKETS for each in hash_features(features)})


def list_features(text: str, tokens: Sequence[TaggedToken]) -> Iterable[str]:
    """Yield the features of a text without its addresses."""
    words = ["<", *(mask_number(each.word) for each in tokens), ">"]
    masked = [mask_number(each) for each in mask_times(tokens)]
    yield "1"
    yield from (f"w{each}" for each in words)
    yield from (f"p{one} {other}" for one, other in pairwise(words))
    yield from (f"m{each}" for each in masked)
    yield from list_ngrams(masked)
    yield from (f"b{each}" for each in masked[1:4])
    yield f"n{min(6, len(tokens) // 5)}"
    yield f"q{'?' in text or '？' in text}"
    yield f"d{any(each.isdecimal() for each in words)}"
    yield "t" + "+".join(sorted({each.time for each in tokens if each.time}))
    yield f"s{min(tokens[-1].sentence if tokens else 0, 3)}"
    for word in words:
        padded = f"<{word}>"
        yield from (f"g{padded[at : at + 4]}" for at in range(len(padded) - 3))
        yield from (f"h{padded[at : at + 5]}" for at in range(len(padded) - 4))
    for act, share in classify_act(text).items():
        yield f"a{act}{round(4 * share)}"


def mask_number(word: str) -> str:
    """Return a word; of a number, only how long it is."""
    return "9" * min(len(word), 3) if word.isdecimal() else word


@cache
def load_weights() -> npt.NDArray[np.float32]:
    """Load the weights that ship, bucket × kind: bytes, each with the scale of its column."""
    with np.load(BytesIO(read_bundled_file(WEIGHTS_FILE))) as stored:
        weights: npt.NDArray[np.float32] = stored["weights"].astype(np.float32) * stored["scale"]
        return weights


def list_clauses(text: str) -> list[str]:
    """Return the clauses of a text, without the marks between them."""
    return [each for part in CLAUSE_END.split(text) if (each := part.strip())]


def find_named(text: str, known: Mapping[str, str], language: str) -> list[str]:
    """Return the ids of those known things, each with its text, whose words a text shares most."""
    said = collect_content_terms(text, language)
    shared = {
        each: len(said & collect_content_terms(words, language)) for each, words in known.items()
    }
    most = max(shared.values(), default=0)
    return [each for each, count in shared.items() if count == most > 0]
