"""Train the request kinds on messages of which is known what they ask for.

    python -m oldfriend_evals.reader.train_request_kinds [--measure FOLDS]

It writes ``turn/request_handlers/request_kinds.npz`` in some minutes on one core. With
``--measure`` it writes nothing, and prints what messages that were left out are taken for.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix

from oldfriend.turn.request_handlers.request_kinds import (
    BUCKETS,
    KINDS,
    MAX_CHARS,
    MIN_SURE,
    WEIGHTS_FILE,
    list_buckets,
)
from oldfriend_evals.checksums import write_checksums
from oldfriend_evals.reader.material import FOLDER
from oldfriend_evals.reader.train_requests import (
    Matrix,
    build_matrix,
    fit_softmax,
    load_rows,
    pack,
)

MATERIAL: Final = FOLDER / "requests" / "kinds.jsonl"
NAMES: Final[Sequence[str]] = KINDS
PENALTY: Final = 0.02
SHARES: Final[Mapping[str, float]] = {"kinds": 1.0, "reminders": 0.5, "chats": 0.3}
"""How much a message counts, by where it comes from."""
REMINDER_KINDS: Final[Mapping[str, str]] = {"todo": "todo_new", "none": "none"}
"""The kinds of the reminders' own material; all others ask for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCase:
    """A message, where it comes from, and what it asks for."""

    origin: str
    message: str
    kind: int
    buckets: Sequence[int]


def load_cases() -> Iterator[KindCase]:
    """Yield the messages that were written for it, those of the reminders, and those of chats."""
    for line in MATERIAL.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield build_case("kinds", row, row["kind"])
    for row in load_rows():
        is_chat = row["source"].startswith("chat")
        kind = REMINDER_KINDS.get(row["kind"], "reminder_new")
        yield build_case("chats" if is_chat else "reminders", row, kind)


def build_case(origin: str, row: Mapping[str, Any], kind: str) -> KindCase:
    """Return a message with its features."""
    message = row["message"][:MAX_CHARS]
    return KindCase(
        origin=origin,
        message=message,
        kind=NAMES.index(kind),
        buckets=list_buckets(message, row["language"]),
    )


def build_features(cases: Sequence[KindCase]) -> csr_matrix:
    """Return the features of messages, message × bucket, each message of the same length."""
    features = build_matrix([each.buckets for each in cases], BUCKETS)
    lengths = np.sqrt(np.maximum(np.diff(features.indptr), 1))
    features.data = (features.data / np.repeat(lengths, np.diff(features.indptr))).astype("float32")
    return features


def fit(cases: Sequence[KindCase]) -> Matrix:
    """Return the weights, bucket × kind."""
    right = np.eye(len(KINDS))[[each.kind for each in cases]]
    shares = np.array([SHARES[each.origin] for each in cases])
    return fit_softmax(build_features(cases), right, PENALTY, shares)


def measure(cases: Sequence[KindCase], folds: int) -> Iterator[str]:
    """Yield what messages are taken for by weights that were learned without them."""
    order = np.random.default_rng(1).permutation(len(cases)) % folds
    count = Counter[str]()
    for fold in range(folds):
        weights = fit([each for each, its in zip(cases, order, strict=True) if its != fold])
        left_out = [each for each, its in zip(cases, order, strict=True) if its == fold]
        scores = np.asarray(build_features(left_out) @ weights)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        for case, shares in zip(left_out, likely, strict=True):
            found = KINDS[int(shares.argmax())] if shares.max() >= MIN_SURE else "none"
            count[f"{case.origin}: {KINDS[case.kind]} taken for {found}"] += 1
    for name, number in sorted(count.items()):
        yield f"{name}: {number}"


def write(cases: Sequence[KindCase]) -> None:
    """Train on all messages, and write the weights with their checksum."""
    weights, scale = pack(fit(cases))
    np.savez_compressed(WEIGHTS_FILE, weights=weights, scale=scale)
    write_checksums(WEIGHTS_FILE.parent, [WEIGHTS_FILE.name])


def main() -> None:
    """Train, or measure what is left out of it."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--measure", type=int, metavar="FOLDS")
    chosen = arguments.parse_args()
    cases = [*load_cases()]
    if chosen.measure is None:
        write(cases)
        return
    for line in measure(cases, chosen.measure):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
