"""Material of the reader's training: chats with questions, acts and facts, and public questions.

``material/`` holds chats that were written for it (its README says by whom); the public pairs are
QAMR's (MIT; its sentences are Wikipedia's and Wikinews's, CC BY-SA and CC BY), read from a file.
"""

import gzip
import json
import math
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from oldfriend.llm.reading import COMPANION_SPEAKER, OWN_SPEAKER, Passage

FOLDER: Final = Path(__file__).parent / "material"
UNSPACED_LANGUAGES: Final = frozenset({"zh", "ja"})
"""Languages that the network's vocabulary hardly knows: no material for it."""
CANDIDATES: Final = 7
HELD_OUT: Final = 12
"""One chat or line of so many is kept for measuring."""
WORD: Final = re.compile(r"\w+")
KEY_QUESTIONS: Final[Mapping[str, Sequence[str]]] = {
    "name": ("what is my name", "who am i"),
    "age": ("how old am i", "what is my age"),
    "birthday": ("when is my birthday", "what day was i born"),
    "home": ("where do i live", "where is my home now"),
    "origin": ("where am i from", "where did i grow up"),
    "job": ("what is my job", "what do i do for work"),
    "employer": ("who do i work for", "where do i work"),
    "school": ("what do i study", "which school do i go to"),
    "partner": ("who is my partner", "what is my husband or wife called"),
    "child": ("what is my child called", "who is my son or daughter"),
    "parent": ("what is my mother or father called", "who is my mum or dad"),
    "sibling": ("what is my brother or sister called", "who is my sibling"),
    "friend": ("who is my friend", "what is my best mate called"),
    "pet": ("what pet do i have", "what is my cat or dog called"),
    "allergy": ("what am i allergic to", "what can i not tolerate"),
    "diet": ("what do i not eat", "what is my diet"),
    "medicine": ("which medicine do i take", "what tablets am i on"),
    "health": ("what is wrong with my health", "which illness do i have"),
    "likes": ("what do i like", "what do i love"),
    "dislikes": ("what do i dislike", "what do i hate"),
    "hobby": ("what is my hobby", "what do i do in my free time"),
    "habit": ("what do i do regularly", "what is my habit"),
    "language": ("which language do i speak", "what language am i learning"),
    "skill": ("what can i do well", "what am i good at"),
    "owns": ("what do i own", "what did i buy"),
    "plan": ("what am i going to do", "what is my plan"),
    "event": ("what happened to me", "what did i just do"),
    "past_home": ("where did i live before", "where did i use to live"),
    "past_job": ("what was my job before", "where did i use to work"),
    "wants": ("what do i want", "what do i wish for"),
}
"""What is asked of a message to find a fact of its writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with passages; ``answers`` are the numbers of those that answer it, with spans."""

    question: str
    passages: Sequence[Passage]
    answers: Mapping[int, tuple[int, int]]
    language: str
    kind: str  # "qamr", "chat" or "slot"


def load_chats(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Return all chats that were written for it."""
    return [
        json.loads(line)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
        if line.strip()
    ]


def is_held_out(text: str) -> bool:
    """Tell whether what begins with a text is kept for measuring."""
    return zlib.crc32(text.encode()) % HELD_OUT == 0


def split_chats(
    chats: Sequence[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the chats to train with, and those that are held out."""
    kept: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for chat in chats:
        kept[is_held_out(chat["messages"][0]["text"])].append(chat)
    return kept


def list_passages(chat: Mapping[str, Any]) -> list[Passage]:
    """Return a chat's messages as passages."""
    speakers = {
        "person": OWN_SPEAKER,
        "companion": COMPANION_SPEAKER,
        "other": chat.get("other") or "friend",
    }
    texts = [message["text"] for message in chat["messages"]]
    return [
        Passage(
            text=message["text"],
            speaker=speakers[message["from"]],
            before=texts[number - 1] if number else "",
        )
        for number, message in enumerate(chat["messages"])
    ]


def list_chat_cases(chat: Mapping[str, Any]) -> Iterator[Case]:
    """Yield a case for each question of a chat, over all its messages."""
    passages = list_passages(chat)
    places = {message["id"]: number for number, message in enumerate(chat["messages"])}
    for question in chat["questions"]:
        answers: dict[int, tuple[int, int]] = {}
        for message, span in question["answers"]:
            start = passages[places[message]].text.find(span)
            if start >= 0:
                answers[places[message]] = (start, start + len(span))
        yield Case(
            question=question["text"],
            passages=passages,
            answers=answers,
            language=chat["lang"],
            kind="chat",
        )


def list_slot_cases(chat: Mapping[str, Any], source: random.Random) -> Iterator[Case]:
    """Yield a case for each fact of a chat, and as many without one."""
    passages = list_passages(chat)
    for number, message in enumerate(chat["messages"]):
        if message["from"] == "companion":
            continue
        passage = Passage(text=message["text"], speaker=OWN_SPEAKER, before=passages[number].before)
        told = {key: span for key, span in message.get("facts", ()) if key in KEY_QUESTIONS}
        others = [key for key in KEY_QUESTIONS if key not in told]
        for key in [*told, *source.sample(others, 1 + len(told))]:
            start = message["text"].find(told[key]) if key in told else -1
            yield Case(
                question=source.choice(KEY_QUESTIONS[key]),
                passages=[passage],
                answers={0: (start, start + len(told[key]))} if start >= 0 else {},
                language=chat["lang"],
                kind="slot",
            )


def narrow_case(case: Case, source: random.Random) -> Case:
    """Return the case with its answers and the likeliest and some other passages."""
    if len(case.passages) <= CANDIDATES:
        return case
    order = rank_by_words(case)
    kept = [*case.answers, *(number for number in order if number not in case.answers)]
    hard = kept[: CANDIDATES - 2]
    chosen = [*hard, *source.sample(kept[CANDIDATES - 2 :], 2)]
    return Case(
        question=case.question,
        passages=[case.passages[number] for number in chosen],
        answers={chosen.index(n): span for n, span in case.answers.items() if n in chosen},
        language=case.language,
        kind=case.kind,
    )


def rank_by_words(case: Case) -> list[int]:
    """Return passages by how many rare words they share with the question."""
    words = [set(WORD.findall(f"{each.text} {each.before}".casefold())) for each in case.passages]
    counts = Counter(word for each in words for word in each)
    asked = set(WORD.findall(case.question.casefold()))
    scores = [
        sum(math.log(1 + len(words) / counts[word]) for word in asked & each) for each in words
    ]
    return sorted(range(len(words)), key=lambda number: -scores[number])


def load_public_pairs(file: Path) -> list[Case]:
    """Return QAMR's questions, each with its sentence and some that share its words."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][1:]
    texts = list(dict.fromkeys(row["text"] for row in rows))
    numbers = {text: number for number, text in enumerate(texts)}
    by_word = group_by_word(texts)
    return [
        Case(
            question=row["question"],
            passages=[
                Passage(text=texts[number], speaker="")
                for number in [
                    numbers[row["text"]],
                    *list_sharing(row["question"], numbers[row["text"]], by_word, len(texts)),
                ]
            ],
            answers={0: (row["answer"][0], row["answer"][1])},
            language="en",
            kind="qamr",
        )
        for row in rows
    ]


def group_by_word(texts: Iterable[str]) -> Mapping[str, list[int]]:
    """Return the numbers of the texts that hold each word."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for word in set(WORD.findall(text.casefold())):
            grouped[word].append(number)
    return grouped


def list_sharing(
    question: str, own: int, by_word: Mapping[str, list[int]], count: int, limit: int = 4
) -> list[int]:
    """Return the other texts that share most with a question, rare words counting more."""
    scores: Counter[int] = Counter()
    for word in set(WORD.findall(question.casefold())):
        holding = by_word.get(word, [])
        if len(holding) < count // 20:
            for number in holding:
                scores[number] += round(100 * math.log(count / len(holding)))
    return [number for number, _ in scores.most_common(limit + 1) if number != own][:limit]
