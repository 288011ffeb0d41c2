"""A small conversation, and how it becomes an index without any model."""

from oldfriend.search import (
    IndexRow,
    PersonIndex,
    QueryEmbedding,
    SearchQuery,
    encode_document_terms,
)

DAY = 86_400_000_000
START = 1_700_000_000_000_000  # 14 November 2023
LINES = (
    ("s1", "Ana", "Hey Ben! How was the weekend?"),
    ("s1", "Ben", "Great! I bought a sailing boat in Hamburg, her name is Lisbeth."),
    ("s1", "Ana", "Wow, a boat! What did you pay for it?"),
    ("s1", "Ben", "Nine thousand euros, all my savings."),
    ("s2", "Ana", "My cat Mochi swallowed a hair tie yesterday."),
    ("s2", "Ben", "Oh no. Is she all right?"),
    ("s2", "Ana", "The vet took it out, she is purring again."),
    ("s3", "Ben", "I start at the bakery on Monday."),
    ("s3", "Ana", "Congratulations! Which one?"),
    ("s3", "Ben", "The small one beside the library."),
)


def rows(lines=LINES, *, first=0, language="en", role="other"):
    """Index rows, a session a day, a message a minute."""
    return [
        IndexRow(
            seq=number,
            chat="c",
            session=session,
            said_at=START + int(session[1:]) * 30 * DAY + number * 60_000_000,
            speaker=speaker,
            role=role,
            language=language,
            imprint=encode_document_terms(text, language=language),
        )
        for number, (session, speaker, text) in enumerate(lines, first)
    ]


def index_of(lines=LINES, **how):
    """An index without vectors."""
    return PersonIndex.build(rows(lines, **how))


def asking(text, *, vector=None, **how):
    """A question in English unless said otherwise."""
    if vector is not None:
        how = how | {"embedding": QueryEmbedding(vector=vector)}
    return SearchQuery(text=text, **({"language": "en"} | how))


def summary(found):
    """What was found, without the last digits that depend on the order of a sum."""
    hits = [
        (hit.seq, round(hit.score.value, 4), {why.cause for why in hit.reasons})
        for hit in found.hits
    ]
    return hits, round(found.answer_probability, 4)
