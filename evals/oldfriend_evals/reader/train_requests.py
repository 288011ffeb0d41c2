"""Train the request tagger on messages in which the words of a reminder and of its time are marked.

    python -m oldfriend_evals.reader.train_requests [--measure FOLDS]

It writes ``tasks/request_tagger.npz`` in some minutes on one core. With ``--measure`` it writes
nothing, and prints how often messages of files that it was not trained on are read rightly.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from oldfriend.lang.language_pack import list_languages
from oldfriend.tasks.request_features import (
    BUCKETS,
    TaggedToken,
    hash_features,
    list_message_features,
    list_token_features,
    list_tokens,
)
from oldfriend.tasks.request_tagger import KINDS, LABELS, WEIGHTS_FILE, Scores, sum_chain
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend_evals.checksums import write_checksums
from oldfriend_evals.reader.material import FOLDER, load_chats

MATERIAL: Final = FOLDER / "requests" / "requests.jsonl"
TOKEN_PENALTY: Final = 0.5
KIND_PENALTY: Final = 3.0
TOKEN_STEPS: Final = 120
KIND_STEPS: Final = 100
TIMED_CHATS: Final = 2500
OTHER_CHATS: Final = 1250
"""Messages of chats that ask for no reminder: with words of time, and without."""
MAX_CHARS: Final = 300
MOST: Final = 127
MIN_TOKEN_WEIGHT: Final = 0.08
MIN_KIND_WEIGHT: Final = 0.01
"""Buckets whose weights are all smaller hardly change what is read, and are left out."""

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCase:
    """A message with what it asks for, and the label of each token if they are known."""

    source: str
    kind: int
    tokens: Sequence[TaggedToken]
    token_features: Sequence[Sequence[int]]
    message_features: Sequence[int]
    labels: Sequence[int] | None


def build_case(row: Mapping[str, Any]) -> RequestCase:
    """Return a message of the material with its features."""
    phrases, text = load_task_phrases(row["language"]), row["message"]
    tokens = list_tokens(text, phrases.book.find(text), phrases.list_cues(text))
    return RequestCase(
        source=row["source"],
        kind=KINDS.index(row["kind"]),
        tokens=tokens,
        token_features=[hash_features(each) for each in list_token_features(tokens)],
        message_features=hash_features(list_message_features(text, tokens)),
        labels=label(tokens, row["spans"]) if "spans" in row else None,
    )


def label(tokens: Sequence[TaggedToken], spans: Mapping[str, Sequence[Sequence[int]]]) -> list[int]:
    """Return the label of each token: of the first kind of span that it begins in."""
    labels = []
    for token in tokens:
        name = next(
            (
                each
                for each in ("when", "event", "what")
                if any(start <= token.start < end for start, end in spans[each])
            ),
            "other",
        )
        labels.append(LABELS.index(name))
    return labels


def load_rows() -> Iterator[Mapping[str, Any]]:
    """Yield the messages that were written for it, and messages of chats, which ask for nothing."""
    for line in MATERIAL.read_text("utf-8").splitlines():
        yield json.loads(line)
    timed, others = TIMED_CHATS, OTHER_CHATS
    for number, (language, text) in enumerate(list_chat_messages()):
        phrases = load_task_phrases(language)
        if len(text) > MAX_CHARS or phrases.list_cues(text):
            continue
        is_timed = bool(phrases.book.find(text))
        if (timed if is_timed else others) <= 0:
            continue
        timed, others = timed - is_timed, others - (not is_timed)
        yield {"source": f"chat{number}", "language": language, "message": text, "kind": "none"}


def list_chat_messages() -> Iterator[tuple[str, str]]:
    """Yield the messages of the chats in languages that have words for reminders, all mixed."""
    known = [each for each in list_languages() if load_task_phrases(each).language == each]
    messages = [
        (chat["lang"], said["text"])
        for chat in load_chats()
        if chat["lang"] in known
        for said in (*chat["messages"], *chat["questions"])
    ]
    order = np.random.default_rng(1).permutation(len(messages))
    yield from (messages[each] for each in order)


def build_matrix(rows: Sequence[Sequence[int]], buckets: int) -> csr_matrix:
    """Return features as a matrix, row × bucket."""
    ends = np.cumsum([0, *(len(each) for each in rows)])
    columns = np.fromiter(chain.from_iterable(rows), np.int32, int(ends[-1]))
    return csr_matrix((np.ones(len(columns), np.float32), columns, ends), (len(rows), buckets))


def fit_kinds(cases: Sequence[RequestCase]) -> Matrix:
    """Return the weights of a message's buckets for what it asks for."""
    features = build_matrix([each.message_features for each in cases], BUCKETS)
    return fit_softmax(features, np.eye(len(KINDS))[[each.kind for each in cases]], KIND_PENALTY)


def fit_softmax(
    features: csr_matrix, right: Matrix, penalty: float, shares: Matrix | None = None
) -> Matrix:
    """Return the weights, bucket × kind, that tell the right kind of each row.

    ``right`` is row × kind; ``shares`` is how much each row counts, 1 by default.
    """
    used = np.unique(features.indices)
    features, buckets = features[:, used].tocsr(), features.shape[1]
    turned = features.T.tocsr()
    counts = np.ones(len(right)) if shares is None else shares

    def compute_loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(len(used), right.shape[1])
        scores = np.asarray(features @ weights)
        scores -= scores.max(axis=1, keepdims=True)
        likely = np.exp(scores)
        total = likely.sum(axis=1, keepdims=True)
        told = ((scores - np.log(total)) * right).sum(axis=1)
        loss = penalty / 2 * (flat @ flat) - counts @ told
        missed = (likely / total - right) * counts[:, None]
        slope = np.asarray(turned @ missed) + penalty * weights
        return float(loss), slope.ravel()

    found = minimize(
        compute_loss,
        np.zeros(len(used) * right.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": KIND_STEPS},
    )
    return spread(found.x.reshape(len(used), right.shape[1]), used, buckets)


def spread(weights: Matrix, used: npt.NDArray[np.int32], buckets: int) -> Matrix:
    """Return the weights of the buckets that were used among those of all."""
    all_weights = np.zeros((buckets, weights.shape[1]))
    all_weights[used] = weights
    return all_weights


class ChainLoss:
    """The loss of a linear chain over all messages at once."""

    def __init__(self, cases: Sequence[RequestCase]) -> None:
        """Take the messages whose labels are known."""
        known = [(each, each.labels) for each in cases if each.labels]
        known.sort(key=lambda pair: len(pair[1]))
        features = build_matrix(
            [each for case, _ in known for each in case.token_features], BUCKETS
        )
        self.used = np.unique(features.indices)
        self.features = features[:, self.used].tocsr()
        self.turned = self.features.T.tocsr()
        self.lengths = np.array([len(labels) for _, labels in known])
        starts = np.cumsum(self.lengths) - self.lengths
        steps = np.arange(self.lengths.max())
        is_inside = steps < self.lengths[:, None]
        self.places = np.where(is_inside, starts[:, None] + steps, -1)
        self.right = np.eye(len(LABELS))[[each for _, labels in known for each in labels]]
        self.pairs = np.zeros((len(LABELS), len(LABELS)))
        for _, labels in known:
            for pair in pairwise(labels):
                self.pairs[pair] += 1

    def compute(self, flat: Matrix) -> tuple[float, Matrix]:
        """Return the loss and its slope for weights and the chain, one after the other."""
        count = len(LABELS)
        weights = flat[: -count * count].reshape(len(self.used), count)
        links = flat[-count * count :].reshape(count, count)
        scores = np.asarray(self.features @ weights)
        total, likely, pairs = self.sum_all(scores, links)
        right = float((scores * self.right).sum() + (links * self.pairs).sum())
        slope = np.asarray(self.turned @ (likely - self.right)) + TOKEN_PENALTY * weights
        slope_links = pairs - self.pairs + TOKEN_PENALTY * links
        loss = total - right + TOKEN_PENALTY / 2 * float(flat @ flat)
        return loss, np.concatenate([slope.ravel(), slope_links.ravel()])

    def sum_all(self, scores: Matrix, links: Matrix) -> tuple[float, Matrix, Matrix]:
        """Return the sum over all ways to label, and how likely labels and pairs of them are."""
        rows, steps, count = *self.places.shape, len(LABELS)
        forward, backward = np.zeros((steps, rows, count)), np.zeros((steps, rows, count))
        here = [scores[np.maximum(self.places[:, step], 0)] for step in range(steps)]
        first = [int(np.searchsorted(self.lengths, step, "right")) for step in range(steps)]
        forward[0] = here[0]
        for step in range(1, steps):
            forward[step] = forward[step - 1]
            into = forward[step - 1, first[step] :, :, None] + links
            forward[step, first[step] :] = add_logs(into, 1) + here[step][first[step] :]
        total = add_logs(forward[-1], 1)
        likely, pairs = np.zeros_like(scores), np.zeros((count, count))
        for step in range(steps - 1, -1, -1):
            left = first[step]
            both = forward[step, left:] + backward[step, left:] - total[left:, None]
            likely[self.places[left:, step]] = np.exp(both)
            if step:
                out = here[step][left:] + backward[step, left:]
                joined = forward[step - 1, left:, :, None] + links + out[:, None, :]
                pairs += np.exp(joined - total[left:, None, None]).sum(axis=0)
                backward[step - 1, left:] = add_logs(links + out[:, None, :], 2)
        return float(total.sum()), likely, pairs


def add_logs(logs: Matrix, axis: int) -> Matrix:
    """Return the logarithm of a sum of numbers whose logarithms are given."""
    most = logs.max(axis=axis, keepdims=True)
    found: Matrix = (most + np.log(np.exp(logs - most).sum(axis=axis, keepdims=True))).squeeze(axis)
    return found


def fit_tokens(cases: Sequence[RequestCase]) -> tuple[Matrix, Matrix]:
    """Return the weights of a token's buckets for its label, and those of labels in a row."""
    loss, count = ChainLoss(cases), len(LABELS)
    found = minimize(
        loss.compute,
        np.zeros(len(loss.used) * count + count * count),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": TOKEN_STEPS, "maxcor": 8},
    )
    weights = found.x[: -count * count].reshape(len(loss.used), count)
    return spread(weights, loss.used, BUCKETS), found.x[-count * count :].reshape(count, count)


def measure(cases: Sequence[RequestCase], folds: int) -> Iterator[str]:
    """Yield how often files that were left out are read rightly."""
    sources = sorted({each.source for each in cases if not each.source.startswith("chat")})
    count = Counter[str]()
    for fold in range(folds):
        left_out = set(sources[fold::folds])
        known = [each for each in cases if each.source not in left_out]
        kinds = fit_kinds(known)
        weights, links = fit_tokens(known)
        for case in cases:
            if case.source in left_out:
                count.update(compare(case, kinds, weights, links))
        yield f"fold {fold}: {dict(sorted(count.items()))}"


def compare(case: RequestCase, kinds: Matrix, weights: Matrix, links: Matrix) -> Iterator[str]:
    """Yield what of a message is read rightly or wrongly."""
    found = KINDS[int(kinds[case.message_features].sum(axis=0).argmax())]
    yield f"{KINDS[case.kind]} read as {found}"
    if not case.labels:
        return
    scores: Scores = np.array([weights[each].sum(axis=0) for each in case.token_features])
    labels = sum_chain(scores, links).argmax(axis=1)
    for number, name in enumerate(LABELS):
        is_right = [each == number for each in labels] == [each == number for each in case.labels]
        yield f"{name} {'right' if is_right else 'wrong'}"


def pack(weights: Matrix) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return weights as bytes, with the scale of each column."""
    scale = np.maximum(np.abs(weights).max(axis=0), 1e-6) / MOST
    return np.round(weights / scale).astype(np.int8), scale.astype(np.float32)


def prune(weights: Matrix, least: float) -> Matrix:
    """Return weights without the buckets in which none is as large as that."""
    pruned: Matrix = np.where(np.abs(weights).max(axis=1, keepdims=True) < least, 0, weights)
    return pruned


def write(cases: Sequence[RequestCase]) -> None:
    """Train on all messages, and write the weights with their checksum."""
    weights, links = fit_tokens(cases)
    tokens, tokens_scale = pack(prune(weights, MIN_TOKEN_WEIGHT))
    messages, messages_scale = pack(prune(fit_kinds(cases), MIN_KIND_WEIGHT))
    np.savez_compressed(
        WEIGHTS_FILE,
        tokens=tokens,
        tokens_scale=tokens_scale,
        chain=links.astype(np.float32),
        messages=messages,
        messages_scale=messages_scale,
    )
    write_checksums(
        WEIGHTS_FILE.parent, sorted(each.name for each in WEIGHTS_FILE.parent.glob("*.npz"))
    )


def main() -> None:
    """Train, or measure what is left out of it."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--measure", type=int, metavar="FOLDS")
    chosen = arguments.parse_args()
    cases = [case for row in load_rows() if (case := build_case(row)).tokens]
    if chosen.measure is None:
        write(cases)
        return
    for line in measure(cases, chosen.measure):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
