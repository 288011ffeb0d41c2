"""Train the classifier of message acts on the messages that were written for it.

    python -m oldfriend_evals.reader.train_acts

It writes ``lang/message_acts.npz`` in a minute, and prints how often it is right on chats and lines
that are held out, by language.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from oldfriend.lang.message_acts import (
    ACTS,
    BUCKETS,
    WEIGHTS_FILE,
    WORD_PLACES,
    MessageAct,
    hash_word,
    list_buckets,
    list_learned_languages,
    list_words,
)
from oldfriend.lang.update_detection import WEIGHTS_FILE as UPDATE_WEIGHTS_FILE
from oldfriend_evals.checksums import write_checksums
from oldfriend_evals.reader.material import FOLDER, is_held_out, load_chats

INVERSE_PENALTY: Final = 8.0
MIN_COUNTS: Final[Mapping[str, int]] = {"en": 2}
"""How often a word must be there to be known as one; in English, of which there is most, twice."""
NEWS: Final = "news-"
"""What the names of files begin with whose lines are all statements, of good, bad or no news."""
COPIES_OF_LINES: Final = 3
"""The single lines are short and easily mistaken: each counts as often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActCase:
    """A message with its act."""

    text: str
    act: MessageAct
    language: str
    is_held_out: bool
    weight: int = 1


def list_cases() -> Iterator[ActCase]:
    """Yield all messages with an act, and the questions that are asked later."""
    for chat in load_chats():
        asked = [(question["text"], "question") for question in chat["questions"]]
        said = [(message["text"], message["act"]) for message in chat["messages"]]
        for text, act in [*said, *asked]:
            if act in ACTS:
                yield ActCase(
                    text=text,
                    act=act,
                    language=chat["lang"],
                    is_held_out=is_held_out(chat["messages"][0]["text"]),
                )
    for file in sorted(FOLDER.glob("*.tsv")):
        is_news = file.name.startswith(NEWS)
        for line in file.read_text("utf-8").splitlines():
            act, language, text = line.split("\t")
            yield ActCase(
                text=text,
                act="statement" if is_news else parse_act(act, line),
                language=language,
                is_held_out=is_held_out(text),
                weight=1 if is_news else COPIES_OF_LINES,
            )


def parse_act(name: str, line: str) -> MessageAct:
    """Return the act of that name. Raises ValueError with the line."""
    for act in ACTS:
        if act == name:
            return act
    raise ValueError(f"{name!r} is no act: {line}")


def build_matrix(texts: Sequence[str]) -> csr_matrix:
    """Return the features of texts: text × bucket, each text of length 1."""
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, text in enumerate(texts):
        buckets = list_buckets(text).tolist()
        rows += [row] * len(buckets)
        columns += buckets
        values += [len(buckets) ** -0.5] * len(buckets)
    return csr_matrix((values, (rows, columns)), shape=(len(texts), BUCKETS))


def fit(cases: Sequence[ActCase]) -> LogisticRegression:
    """Return a model of the acts."""
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=400)
    model.fit(
        build_matrix([case.text for case in cases]),
        [ACTS.index(case.act) for case in cases],
        sample_weight=[case.weight for case in cases],
    )
    return model


def tell_accuracy(model: LogisticRegression, cases: Sequence[ActCase]) -> None:
    """Print how often questions and commands are found, and wrongly seen, by language."""
    likely: npt.NDArray[np.float64] = model.predict_proba(
        build_matrix([case.text for case in cases])
    )
    by_language: dict[str, list[tuple[MessageAct, npt.NDArray[np.float64]]]] = defaultdict(list)
    for case, row in zip(cases, likely, strict=True):
        by_language[case.language].append((case.act, row))
    for language, rows in sorted(by_language.items()):
        told = []
        for act in ("question", "command"):
            number = ACTS.index(act)
            is_act = [each == act for each, _ in rows]
            is_seen = [row[number] >= 0.5 for _, row in rows]
            right = sum(one and two for one, two in zip(is_act, is_seen, strict=True))
            told.append(f"{act} {right} of {sum(is_act)}, {sum(is_seen) - right} wrong")
        sys.stdout.write(f"{language} ({len(rows)}): {'; '.join(told)}\n")


def build_word_set(cases: Sequence[ActCase]) -> npt.NDArray[np.uint8]:
    """Return the words of each learned language as packed bits; see ``message_acts``."""
    learned = list_learned_languages()
    counts = Counter(
        (case.language, word)
        for case in cases
        if case.language in learned
        for word in list_words(case.text)
    )
    is_there = np.zeros(WORD_PLACES, bool)
    for (language, word), count in counts.items():
        if count >= MIN_COUNTS.get(language, 1):
            is_there[hash_word(language, word)] = True
    return np.packbits(is_there)


def main() -> None:
    """Train, tell how good it is on what is held out, and write what all of it gives."""
    cases = list(list_cases())
    model = fit([case for case in cases if not case.is_held_out])
    tell_accuracy(model, [case for case in cases if case.is_held_out])
    model = fit(cases)
    np.savez_compressed(
        WEIGHTS_FILE,
        allow_pickle=False,
        weights=model.coef_.T.astype(np.float16),
        bias=model.intercept_.astype(np.float32),
        words=build_word_set(cases),
    )
    write_checksums(WEIGHTS_FILE.parent, [WEIGHTS_FILE.name, UPDATE_WEIGHTS_FILE.name])


if __name__ == "__main__":
    main()
