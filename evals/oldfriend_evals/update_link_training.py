"""Links of a message to the earlier one that it corrects, changes or ends.

    python -m oldfriend_evals.update_link_training

Pairs: the facts of the lives in ``blind/`` that have ended, with what ended them, and the cases of
``corrections/``, alone and in the middle of a life. First it is learned which messages read like an
update; then that is one of the features of a pair. Prints how often the message comes first or
second among all later ones, held out by a fifth of the texts, lives and cases, and the weights of
`oldfriend.search.later_links` that are fitted to all; writes ``lang/update_detection.npz``.
"""

import asyncio
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from sklearn.linear_model import LogisticRegression

from oldfriend.lang.message_acts import WEIGHTS_FILE as ACT_WEIGHTS_FILE
from oldfriend.lang.update_detection import WEIGHTS_FILE
from oldfriend.llm.embedding import Embedder
from oldfriend.llm.glosses import gloss_for_embedder
from oldfriend.runtime.wiring import open_app
from oldfriend.search import (
    IndexRow,
    PersonIndex,
    build_embedding_text,
    encode_document_terms,
)
from oldfriend.search.later_links import (
    compare_messages,
    extract_link_terms,
    find_later,
)
from oldfriend.search.types import Floats
from oldfriend_evals.blind_lives import BlindLife, list_folders, load_blind_life
from oldfriend_evals.checksums import write_checksums
from oldfriend_evals.correction_eval import (
    build_life,
    build_life_within,
    find_change,
    find_first,
    load_cases,
)
from oldfriend_evals.reader.train_acts import build_matrix
from oldfriend_evals.temporary_stores import build_settings

CASES: Final = sorted((Path(__file__).parent / "corrections").glob("*.jsonl"))
FOLDS: Final = 5
PENALTY: Final = 1.0
STEPS: Final = 30
INVERSE_PENALTY: Final = 1.0
STEPS_OF_UPDATES: Final = 200
LEVELS: Final = (-3.5, -2.0, -1.0, 0.0, 1.0, 2.0)
"""Logits for which it is printed how many are found, and how many others stand above."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example:
    """A message's features with each later one, and which of them change what it says."""

    group: str
    fold: int
    features: Floats
    is_change: Floats
    texts: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Messages in their order, and for some of them which later ones change what they say."""

    group: str
    fold: int
    language: str
    messages: Sequence[Mapping[str, Any]]
    changes: Mapping[int, frozenset[int]]


def list_told() -> Iterator[Told]:
    """List the lives and the cases."""
    lives = [load_blind_life(folder) for folder in list_folders()]
    for number, life in enumerate(lives):
        yield Told(
            group="ended facts",
            fold=number % FOLDS,
            language=life.about["language"],
            messages=life.messages,
            changes=list_endings(life),
        )
    for number, case in enumerate(load_cases(map(str, CASES))):
        alone = build_life(case)
        among = [
            each
            for each in lives
            if each.about["language"] == case["lang"] and not each.about["other"]
        ]
        within = build_life_within(case, among[number % len(among)])
        for group, life in (("cases alone", alone), ("cases within a life", within)):
            places = [
                place
                for place, each in enumerate(life.messages)
                if each["text"] in case["messages"]
            ]
            with_old = (
                place
                for place in places
                if find_first(life.messages[place]["text"], case["old"]) >= 0
            )
            old = next(with_old, places[0])
            changes = [
                place for place in places if life.messages[place]["text"] == find_change(case)
            ]
            yield Told(
                group=group,
                fold=number % FOLDS,
                language=case["lang"],
                messages=life.messages,
                changes={old: frozenset(changes[-1:])},
            )


def list_endings(life: BlindLife) -> dict[int, frozenset[int]]:
    """Return for the messages of ended facts those that ended them."""
    place = {each["id"]: number for number, each in enumerate(life.messages)}
    endings: dict[int, set[int]] = {}
    for fact in life.facts:
        told = fact.get("ended_by") or []
        ended = {place[each] for each in ([told] if isinstance(told, str) else told)}
        for old in (place[each] for each in fact["evidence"]):
            later = {each for each in ended if each > old}
            if later and old not in ended:
                endings.setdefault(old, set()).update(later)
    return {old: frozenset(later) for old, later in endings.items()}


async def build_index(embedder: Embedder, told: Told) -> PersonIndex:
    """Build the search index of some messages."""
    rows = [
        IndexRow(
            seq=number,
            chat="chat",
            session="session",
            said_at=number,
            speaker=str(each["from"]),
            role=str(each["from"]),
            language=told.language,
            imprint=encode_document_terms(each["text"], language=told.language),
        )
        for number, each in enumerate(told.messages)
    ]
    said = [(each["text"], told.language) for each in told.messages]
    glossed = await gloss_for_embedder(embedder.model, said)
    texts = [
        build_embedding_text(str(each["from"]), text)
        for each, text in zip(told.messages, glossed, strict=True)
    ]
    return PersonIndex.build(rows, await embedder.embed(texts))


async def list_examples(embedder: Embedder) -> list[Example]:
    """Compute the features of all pairs."""
    examples = list[Example]()
    for told in list_told():
        index = await build_index(embedder, told)
        for old, changes in told.changes.items():
            later = np.flatnonzero(find_later(index, old))
            terms = extract_link_terms(told.messages[old]["text"], told.language)
            (compared,) = compare_messages(index, [old], [terms])
            columns = (
                compared.idf,
                compared.share,
                compared.cosine,
                compared.deviation,
                np.full(len(index), not compared.has_vector),
                np.ones(len(index)),
            )
            examples.append(
                Example(
                    group=f"{told.group}{'' if compared.has_vector else ' without vectors'}",
                    fold=told.fold,
                    features=np.stack(columns, axis=1)[later].astype(np.float32),
                    is_change=np.isin(later, [*changes]).astype(np.float32),
                    texts=[told.messages[place]["text"] for place in later.tolist()],
                )
            )
    return [each for each in examples if each.is_change.any()]


def learn_updates(examples: Sequence[Example]) -> dict[str, float]:
    """Learn which messages tell an update, write it, and return the logits of texts held out."""
    labels: dict[str, float] = {}
    for each in examples:
        for text, is_change in zip(each.texts, each.is_change.tolist(), strict=True):
            labels[text] = max(is_change, labels.get(text, 0.0))
    texts, wanted = list(labels), np.array(list(labels.values()))
    matrix = build_matrix(texts)
    folds = np.array([zlib.crc32(text.encode()) % FOLDS for text in texts])
    logits = np.zeros(len(texts))
    for fold in range(FOLDS):
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=STEPS_OF_UPDATES)
        model.fit(matrix[folds != fold], wanted[folds != fold])
        logits[folds == fold] = model.decision_function(matrix[folds == fold])
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=STEPS_OF_UPDATES).fit(matrix, wanted)
    np.savez_compressed(
        WEIGHTS_FILE,
        weights=model.coef_[0].astype(np.float16),
        bias=np.float32(model.intercept_[0]),
    )
    write_checksums(WEIGHTS_FILE.parent, [ACT_WEIGHTS_FILE.name, WEIGHTS_FILE.name])
    return dict(zip(texts, logits.tolist(), strict=True))


def add_updates(example: Example, logits: Mapping[str, float]) -> Example:
    """Return an example with the logits that its messages tell an update as its first feature."""
    column = np.array([[logits[text]] for text in example.texts], np.float32)
    return replace(example, features=np.hstack([column, example.features]))


def fit(examples: Sequence[Example]) -> Floats:
    """Return the weights of a logistic regression, by Newton's method."""
    features = np.concatenate([each.features for each in examples]).astype(np.float64)
    wanted = np.concatenate([each.is_change for each in examples])
    weights = np.zeros(features.shape[1])
    penalty = PENALTY * np.eye(len(weights))
    penalty[-1, -1] = 0
    for _ in range(STEPS):
        found = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (wanted - found) - penalty @ weights
        curvature = (features * (found * (1 - found))[:, None]).T @ features + penalty
        weights += np.linalg.solve(curvature, gradient)
    return weights.astype(np.float32)


def describe(examples: Sequence[Example], logits: Sequence[Floats]) -> Iterator[str]:
    """Yield a line for each group: how often a change is first, found, and others stand above."""
    for group in dict.fromkeys(each.group for each in examples):
        chosen = [
            (own, each.is_change > 0)
            for each, own in zip(examples, logits, strict=True)
            if each.group == group
        ]
        best = np.array([own[is_change].max() for own, is_change in chosen])
        other = np.array([own[~is_change].max(initial=-np.inf) for own, is_change in chosen])
        ranks = [1 + int((own[~yes] > own[yes].max()).sum()) for own, yes in chosen]
        first, second = (np.mean([rank <= most for rank in ranks]) for most in (1, 2))
        above = ", ".join(
            f"{least}: {np.mean(best > least):.2f}/{np.mean(other > least):.2f}" for least in LEVELS
        )
        yield f"{group} ({len(ranks)}): first {first:.2f}, second {second:.2f}; found/other {above}"


async def measure() -> None:
    """Print how well changes are found, held out, and the weights fitted to all."""
    with TemporaryDirectory(prefix="oldfriend-links-") as folder:
        async with open_app(build_settings(Path(folder) / "data")) as app:
            embedder = app.search_deps.embedder
            assert embedder is not None
            examples = await list_examples(embedder)
    logits_of_updates = learn_updates(examples)
    examples = [add_updates(each, logits_of_updates) for each in examples]
    folds = [fit([each for each in examples if each.fold != fold]) for fold in range(FOLDS)]
    logits = [each.features @ folds[each.fold] for each in examples]
    for line in describe(examples, logits):
        sys.stdout.write(f"{line}\n")
    update, idf, share, cosine, deviation, no_vector, bias = fit(examples).tolist()
    sys.stdout.write(
        f"UPDATE_WEIGHT {update:.3f}, IDF_WEIGHT {idf:.3f}, SHARE_WEIGHT {share:.2f}, "
        f"COSINE_WEIGHT {cosine:.2f}, "
        f"DEVIATION_WEIGHT {deviation:.3f}, BIAS {bias:.2f}, "
        f"BIAS_WITHOUT_VECTOR {bias + no_vector:.2f}\n"
    )


if __name__ == "__main__":
    asyncio.run(measure())
