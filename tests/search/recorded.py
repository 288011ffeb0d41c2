"""What do the shipped conversations answer to some of their questions? Told in numbers to compare.

Where finding is meant to change, `python -m tests.search.recorded` records it anew.
"""

import json
from pathlib import Path

import numpy as np

from oldfriend.search import QueryEmbedding, SearchQuery, search
from oldfriend.search.tokenizer import to_term, tokenize
from oldfriend_evals.datasets import load_own_conversations
from oldfriend_evals.retrieval_eval import build_index

RECORDED = Path(__file__).with_name("recorded.json")
EACH = 6  # of so many questions one is asked
SHOWN = 5
DIRECTIONS = np.random.default_rng(1).standard_normal((4096, 48)).astype(np.float32)


def embed(texts):
    """Vectors that are close where texts share words; no model is needed."""
    return np.stack([vector_of(text) for text in texts])


def vector_of(text):
    """The sum of a text's words, each in a direction of its own."""
    terms = [to_term(word, "en") % len(DIRECTIONS) for word in tokenize(text)]
    vector = DIRECTIONS[terms].sum(axis=0) + DIRECTIONS[0]
    return vector / np.linalg.norm(vector)


def conversations():
    """Each shipped conversation as an index, and what is asked of it."""
    for conversation in load_own_conversations():
        yield conversation.name, build_index(conversation, embed), list(questions_of(conversation))


def questions_of(conversation):
    """Some of a conversation's questions, every other one without its meaning."""
    for number, query in enumerate(conversation.queries[::EACH]):
        yield SearchQuery(
            text=query.text,
            language=query.language,
            embedding=QueryEmbedding(vector=vector_of(query.text)) if number % 2 else None,
            asked_at=conversation.asked_at,
            zone_offset_s=conversation.zone_offset_s,
            exclude=frozenset(range(number % 4)),
        )


def answers(index, questions):
    """What each question finds: how surely, and the first hits with their scores and causes."""
    for question in questions:
        found = search(index, question, SHOWN)
        hits = [
            [hit.seq, round(hit.score.value, 6), " ".join(why.cause for why in hit.reasons)]
            for hit in found.hits
        ]
        yield [round(found.answer_probability, 6), *hits]


if __name__ == "__main__":
    told = {name: list(answers(index, asked)) for name, index, asked in conversations()}
    lines = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(answer) for answer in all_of_it) + "\n]"
        for name, all_of_it in told.items()
    ]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
