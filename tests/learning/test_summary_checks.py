"""Sentences of a summary: those of what was said stay, in whatever words; others go."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from oldfriend.domain.ids import MessageId
from oldfriend.learning.extraction import Claim, Extraction, Quote
from oldfriend.learning.validate import MAX_UNCONFIRMED_PER_MESSAGE, validate_extraction
from oldfriend.learning.validation.segment_view import build_segment_view
from oldfriend.learning.validation.summary_checks import split_summary
from oldfriend.learning.validation.text_quality import is_prose
from oldfriend_evals.poison.cases import build_material
from tests.learning.segment_fixtures import talk

TALKS: Final = Path(__file__).parent / "summaries" / "talks.jsonl"
"""Casual talks in English, German and Spanish, with 40 faithful sentences and 20 others."""
MAX_FAITHFUL_DROPPED: Final = 2
MIN_UNFAITHFUL_DROPPED: Final = 15


def iter_kept(kind: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a kind with what is left of it as a summary."""
    for line in TALKS.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        material = build_material(row)
        for sentence in row[kind]:
            read = Extraction(author="careful/1", summary=sentence)
            yield sentence, validate_extraction(read, material).extraction.summary


def test_faithful_summary_sentences_are_mostly_kept() -> None:
    """Whole, also where they say in other words what was said."""
    dropped = [sentence for sentence, kept in iter_kept("faithful") if kept != sentence]

    assert len(dropped) <= MAX_FAITHFUL_DROPPED, dropped


def test_unfaithful_summary_sentences_are_mostly_dropped() -> None:
    """Other names and values, others' words as the person's, suggestions, jokes."""
    dropped = [sentence for sentence, kept in iter_kept("unfaithful") if not kept]

    assert len(dropped) >= MIN_UNFAITHFUL_DROPPED, dropped


@pytest.mark.parametrize(
    "sentences",
    [
        ["Saw Dr. Lindner about the back.", "It hurts."],
        ["J. R. Mackie liked it, e.g. the end.", "It is due on 1. February at 3.30 p.m. or so."],
        ["Kauft z. B. Eis bei Fr. Weber.", "Hört am 3.12. von der Uni, am 4. Januar von der Post."],
        ["La Sra. Molina corre 3,5 km.", "El Dr. Ferro no."],
        ["它很好。", "我也是。"],
        ["Nobody knew but I.", "Then it rained."],
    ],
)
def test_a_summary_is_split_between_sentences_only(sentences: Sequence[str]) -> None:
    """Not behind titles, initials, ordinals and in numbers."""
    view = build_segment_view(talk("nothing"))

    assert list(split_summary(" ".join(sentences), view)) == sentences


SOLD: Final = "I dreamed that I sold the house in Leeds last week."
SALE: Final = Claim(
    kind="event",
    text="Sold the house in Leeds last week.",
    quotes=(Quote(message=MessageId("id-1"), text="I sold the house in Leeds last week"),),
)


def read_sale(*claims: Claim, topics: Sequence[str] = (), summary: str = "") -> Extraction:
    """What may be kept of a reading that takes the dream at its word."""
    lines = (SOLD, "I have a flat in Leeds, by the canal.")
    read = Extraction(
        author="extract/1", claims=(SALE, *claims), topics=tuple(topics), summary=summary
    )
    checked = validate_extraction(read, talk(*lines))
    assert [each.claim.text for each in checked.unconfirmed] == [SALE.text]
    return checked.extraction


def test_what_waits_is_told_by_no_sentence_and_no_topic() -> None:
    """In whatever words; what only shares a word with it stays."""
    topics = ["sale of the house in Leeds", "house sale", "the canal"]
    told = "They sold their house in Leeds. They have a flat by the canal."
    left = read_sale(topics=topics, summary=told)

    assert left.summary == "They have a flat by the canal."
    assert left.topics == ("the canal",)


def test_what_waits_of_another_segment_is_not_summarized() -> None:
    """A model that reads several at once writes one summary, which is kept with the last."""
    whole = talk(SOLD, "I have a flat in Leeds, by the canal.")
    last = replace(whole, messages=whole.messages[1:])
    told = "They sold their house in Leeds. They have a flat by the canal."
    checked = validate_extraction(
        Extraction(author="extract/1", summary=told),
        last,
        summarized=whole,
        claims_beside=[SALE],
    )

    assert checked.extraction.summary == "They have a flat by the canal."
    assert checked.unconfirmed == ()


def test_what_is_believed_may_be_told_in_words_of_what_waits() -> None:
    """Of the same place, for example."""
    flat = Claim(
        kind="fact",
        key="home",
        value="a flat in Leeds",
        text="Has a flat in Leeds, by the canal.",
        quotes=(Quote(message=MessageId("id-2"), text="I have a flat in Leeds, by the canal."),),
    )
    left = read_sale(flat, topics=["flat in Leeds"], summary="They have a flat in Leeds.")

    assert [each.text for each in left.claims] == [flat.text]
    assert left.summary == "They have a flat in Leeds."
    assert left.topics == ("flat in Leeds",)


def test_claims_beyond_those_that_may_wait_are_counted() -> None:
    """Under a reason of their own."""
    quote = "I dreamed that I owned a boat, a barn and a mill"
    claims = [
        Claim(
            kind="fact",
            key=f"property:{each}",
            value=each,
            text=f"Owns a {each}.",
            quotes=(Quote(message=MessageId("id-1"), text=quote),),
        )
        for each in ("boat", "barn", "mill")
    ]
    checked = validate_extraction(
        Extraction(author="extract/1", claims=tuple(claims)), talk(f"{quote}.")
    )

    assert len(checked.unconfirmed) == MAX_UNCONFIRMED_PER_MESSAGE
    assert checked.rejected["too many"] == 1
    assert checked.rejected.total() == len(claims)


@pytest.mark.parametrize(
    "text",
    [
        "They owe 100000000 won to the bank.",
        "She sang la la la la la with her son.",
        "[Ana] moved to Porto.",
        'Er sagte "fertig": 3 Tage hat es gedauert.',
        "“Done”: she said that twice.",
    ],
)
def test_one_run_of_characters_or_a_mark_makes_no_summary_data(text: str) -> None:
    """What is said around it is sentences still."""
    assert is_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "Ana moved to Porto.", "kind": "fact"}',
        '[{"text": "Ana moved."}]',
        '["Ana moved.", "She sings."]',
        '  summary: {"text": "Ana moved."}',
        'kind": "fact", "text": "Ana moved."',
        "<summary>Ana moved.</summary>",
        "| Ana | Porto |",
        "```json",
        "Tea, tea, tea, tea, tea, tea, tea, tea, tea.",
        "Yes. aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "12 345",
    ],
)
def test_data_and_what_is_mostly_repeated_is_no_summary(text: str) -> None:
    """However it goes on."""
    assert not is_prose(text)
