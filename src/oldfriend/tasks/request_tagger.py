"""Request tagger: learned to say of a message whether it asks for a reminder, when and of what.

A linear chain (CRF) over hashed features labels each token, and a softmax the message as a whole.
`oldfriend_evals.reader.train_requests` trains them. What the request networks say, which see other
features, is averaged with it: where the two disagree, neither is sure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.tasks.request_features import (
    Cue,
    TaggedToken,
    hash_features,
    list_message_features,
    list_token_features,
    list_tokens,
)
from oldfriend.tasks.request_network import log_shares, score_message
from oldfriend.tasks.time_words import TimeWord

LABELS: Final = ("other", "what", "when", "event")
"""What a token tells: what to remind of, when to, when something else is, or nothing of these."""
KINDS: Final = ("none", "todo", "ask", "reminder")
"""What a message asks for: "ask" is a reminder whose time is missing or open."""
NONE, TODO, ASK, REMINDER = (KINDS.index(each) for each in ("none", "todo", "ask", "reminder"))
WHEN: Final = LABELS.index("when")
MAX_NONE: Final = 0.55
"""A message asks for nothing from this probability on; its tokens are not labelled then."""
MAX_NONE_ASKED: Final = 0.55
"""One with a verb that asks ("remind me") and a sure time is no reminder from this one on."""
MAX_NONE_TIMED: Final = 0.37
"""With other words that often ask, from this one on; the limits were chosen on 3,256 messages of
writers who were left out, and once more on 1,400."""
MAX_NONE_TIMELESS: Final = 0.3
"""One in which no word surely tells when is none from this one on."""
MAX_NONE_UNCUED: Final = 0.2
"""One without words that often ask is none from this one on."""
MAX_NONE_OPEN: Final = 0.37
"""The same for one that asks, but whose time is missing or open: it is only asked back."""
MAX_NONE_TODO: Final = 0.05
"""No to-do from this one on: "my favourite book: Dune" is a fact."""
MAX_NONE_ORDER: Final = 0.03
"""Nothing from this one on, if it may be an order about the list: "move the dinner to 4 pm"."""
MIN_SURELY_WHEN: Final = 0.9
MAX_OPEN: Final = 0.4
"""A request whose time is likelier missing or open than that is asked about."""
KINDS_SHARE: Final = 0.5
LABELS_SHARE: Final = 0.5
"""How much the request networks count beside the linear weights, for kinds and labels."""
TINY: Final = 1e-9
WEIGHTS_FILE: Final = Path(__file__).parent / "request_tagger.npz"

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedMessage:
    """A message with the probabilities of the labels of its tokens, and of what it asks for."""

    text: str
    times: Sequence[TimeWord]
    tokens: Sequence[TaggedToken]
    labels: Scores  # token × label
    kinds: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketWeights:
    """The weights of buckets, bucket × label or kind: bytes, with the scale of each column."""

    packed: npt.NDArray[np.int8]
    scale: Scores

    def sum(self, features: Sequence[str]) -> Scores:
        """Return the sum of the weights of some features, for each label or kind."""
        rows = self.packed[hash_features(features)]
        summed: Scores = rows.sum(axis=0, dtype=np.int64) * self.scale
        return summed


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggerWeights:
    """The weights for tokens and messages, and those of labels that follow each other."""

    tokens: BucketWeights
    chain: Scores
    messages: BucketWeights


def tag_message(text: str, times: Sequence[TimeWord], cues: Sequence[Cue]) -> TaggedMessage:
    """Tag a message in which words of time, and words that often ask, were found."""
    tokens = list_tokens(text, times, cues)
    labels = np.zeros((len(tokens), len(LABELS)))
    if not tokens:
        kinds = np.eye(len(KINDS))[NONE]
        return TaggedMessage(text=text, times=times, tokens=tokens, labels=labels, kinds=kinds)
    weights, (seen_labels, seen_kinds) = load_weights(), score_message(tokens)
    summed = weights.messages.sum(list_message_features(text, tokens))
    kinds = mix(log_shares(summed), seen_kinds, KINDS_SHARE)
    if kinds[NONE] <= MAX_NONE:
        scores = [weights.tokens.sum(each) for each in list_token_features(tokens)]
        chained = np.log(sum_chain(np.array(scores), weights.chain) + TINY)
        labels = mix(chained, seen_labels, LABELS_SHARE)
    return TaggedMessage(text=text, times=times, tokens=tokens, labels=labels, kinds=kinds)


def mix(scores: Scores, others: Scores, share: float) -> Scores:
    """Return the probabilities of which two views gave the logarithms."""
    mixed: Scores = np.exp(log_shares((1 - share) * scores + share * others))
    return mixed


def find_limit(tagged: TaggedMessage, *, is_todo: bool, is_order: bool = False) -> float:
    """Return how likely a message may ask for nothing and still be read as a request.

    The surer the tagger is that words tell when to remind, the more it may speak against talk.
    """
    if not any(each.cue for each in tagged.tokens):
        if is_order:
            return MAX_NONE_ORDER
        return MAX_NONE_TODO if is_todo else MAX_NONE_UNCUED
    if is_todo:
        return MAX_NONE
    if is_open(tagged):
        return MAX_NONE_OPEN
    is_timed = float(tagged.labels[:, WHEN].max(initial=0.0)) >= MIN_SURELY_WHEN
    if is_timed and any(each.cue == "remind" for each in tagged.tokens):
        return MAX_NONE_ASKED
    return MAX_NONE_TIMED if is_timed else MAX_NONE_TIMELESS


def is_open(tagged: TaggedMessage) -> bool:
    """Whether the time of a request is missing or open: it may be what one must ask back about."""
    open_time, told_time = tagged.kinds[ASK], tagged.kinds[REMINDER]
    return bool(open_time > MAX_OPEN * (open_time + told_time))


def sum_chain(scores: Scores, chain: Scores) -> Scores:
    """Return the probability of each label of each token, over all ways to label the others."""
    forward, backward = scores.copy(), np.zeros_like(scores)
    for place in range(1, len(scores)):
        forward[place] += sum_logs(forward[place - 1][:, None] + chain, axis=0)
    for place in range(len(scores) - 2, -1, -1):
        backward[place] = sum_logs(chain + scores[place + 1] + backward[place + 1], axis=1)
    total = forward + backward
    likely: Scores = np.exp(total - total.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    return likely


def sum_logs(logs: Scores, *, axis: int) -> Scores:
    """Return the logarithm of a sum of numbers whose logarithms are given."""
    most = logs.max(axis=axis)
    inside: Scores = np.exp(logs - np.expand_dims(most, axis))
    found: Scores = most + np.log(inside.sum(axis=axis))
    return found


@cache
def load_weights() -> TaggerWeights:
    """Load the weights that ship."""
    with np.load(BytesIO(read_bundled_file(WEIGHTS_FILE))) as stored:
        return TaggerWeights(
            tokens=read_weights(stored, "tokens"),
            chain=stored["chain"].astype(np.float64),
            messages=read_weights(stored, "messages"),
        )


def read_weights(stored: Mapping[str, npt.NDArray[np.generic]], name: str) -> BucketWeights:
    """Return the weights of a name."""
    return BucketWeights(
        packed=stored[name].astype(np.int8), scale=stored[f"{name}_scale"].astype(np.float64)
    )
