"""What the reader tells orders what was found, and is sure only where the search agrees."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.inbound.accept import ChatContext
from oldfriend.llm.reading import COMPANION_SPEAKER, OWN_SPEAKER, Passage, Reader, Reading
from oldfriend.turn.answer_reading import read_answers
from oldfriend.turn.offline_ranking import compute_fused_score, list_newest_first
from oldfriend.turn.recalled import RecalledMessage, RecallQuery, RecallResult
from oldfriend.turn.retrieval import recall
from tests.chat_fixtures import Say

QUESTION = "where is the key of the shed"
RIGHT = "the shed key hangs behind the boiler"


class GivenReader:
    """A reader whose logits are given by words of the passage."""

    def __init__(self, logits: dict[str, float], question: str = QUESTION) -> None:
        """Know the logits; any other passage has -9."""
        self.logits = logits
        self.question = question
        self.passages: list[Passage] = []

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Give them."""
        assert question == self.question
        self.passages += passages
        return [Reading(logit=self.find(each.text), start=0, end=0) for each in passages]

    def find(self, text: str) -> float:
        """The logit of a text."""
        return next((logit for words, logit in self.logits.items() if words in text), -9.0)


class BrokenReader:
    """A reader that cannot be loaded."""

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Fail."""
        raise EmbeddingFailed("It is damaged.")


@pytest.fixture
async def found(app: AppContext, chat_context: ChatContext, say: Say) -> RecallResult:
    """What is found for the question after two things were told."""
    await say(RIGHT)
    await say("the key of my bike is lost, the shed is open")
    query = RecallQuery(text=QUESTION, language="en", at=app.clock())
    return await recall(app.search_deps, chat_context.person, query, limit=20)


async def read_with(
    app: AppContext,
    chat_context: ChatContext,
    reader: Reader | None,
    found: RecallResult,
    language: str,
) -> RecallResult:
    """Read what was found with a given reader."""
    deps = replace(app.search_deps, reader=reader)
    return await read_answers(deps, chat_context.person, QUESTION, language, found)


@pytest.mark.parametrize("words", ["boiler", "bike"])
async def test_reader_score_reranks_the_recalled_messages(
    app: AppContext, chat_context: ChatContext, found: RecallResult, words: str
) -> None:
    """The order of the search is kept beside it."""
    read = await read_with(app, chat_context, GivenReader({words: 4.0}), found, "en")

    assert [each.message for each in read.messages] == [each.message for each in found.messages]
    assert words in max(read.messages, key=compute_fused_score).message.text
    assert read.reader_probability == pytest.approx(0.982, abs=1e-3)


@pytest.mark.parametrize(
    ("place", "language", "is_sure"),
    [(0, "en", True), (1, "en", False), (0, "es", True), (1, "es", False)],
)
async def test_answer_is_sure_only_when_reader_and_search_agree(
    app: AppContext,
    chat_context: ChatContext,
    found: RecallResult,
    place: int,
    language: str,
    is_sure: bool,
) -> None:
    """Not where the search found another one; where it only ranks, what says all that is asked."""
    reader = GivenReader({found.messages[place].message.text: 6.0})
    read = await read_with(app, chat_context, reader, found, language)

    assert (read.sure_message == found.messages[0].message.id) is is_sure


@pytest.mark.parametrize(
    ("reader", "language"), [(None, "en"), (BrokenReader(), "en"), (GivenReader({}), "ko")]
)
async def test_search_result_is_unchanged_without_a_working_reader(
    app: AppContext,
    chat_context: ChatContext,
    found: RecallResult,
    reader: Reader | None,
    language: str,
) -> None:
    """Nothing is lost, and nothing is sure."""
    assert await read_with(app, chat_context, reader, found, language) == found


async def test_reader_passage_includes_the_speaker_and_preceding_message(
    app: AppContext, chat_context: ChatContext, found: RecallResult
) -> None:
    """In the same chat."""
    reader = GivenReader({})
    await read_with(app, chat_context, reader, found, "en")
    passages = {each.text: each for each in reader.passages}

    assert passages[RIGHT].speaker == OWN_SPEAKER
    assert all(each.speaker in {OWN_SPEAKER, COMPANION_SPEAKER} for each in reader.passages)
    assert next(each for text, each in passages.items() if "bike" in text).before


async def test_the_reader_gets_other_languages_word_by_word_in_english(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The question, the messages, and what was said before them."""
    await say("me duele la rodilla otra vez, no puedo correr")
    await say("la llave del candado está detrás de la caldera")
    query = RecallQuery(text="¿dónde está la llave del candado?", language="es", at=app.clock())
    found = await recall(app.search_deps, chat_context.person, query, limit=20)
    reader = GivenReader({}, question="¿where is the key of the padlock?")
    deps = replace(app.search_deps, reader=reader)
    await read_answers(deps, chat_context.person, query.text, "es", found)
    texts = [each.text for each in reader.passages]

    assert any("the key of the padlock is behind" in text for text in texts)


async def test_newest_of_several_close_answers_is_listed_first(
    app: AppContext, chat_context: ChatContext, found: RecallResult
) -> None:
    """However much better an older one seems to answer: a newer one may correct it."""
    read = await read_with(
        app, chat_context, GivenReader({"boiler": 3.0, "bike": -3.0}), found, "en"
    )
    closest = sorted(read.messages, key=lambda each: "bike" in each.message.text)

    assert "bike" in list_newest_first(closest, read)[0].message.text


async def test_newer_answer_found_only_by_the_reader_is_listed_before_an_older_one(
    app: AppContext, chat_context: ChatContext, found: RecallResult
) -> None:
    """Though it shares too little with the question to be close by the search."""
    read = await read_with(
        app, chat_context, GivenReader({"boiler": 3.0, "bike": 2.0}), found, "en"
    )
    closest = [each for each in read.messages if "boiler" in each.message.text]

    assert "bike" in list_newest_first(closest, read)[0].message.text


async def test_ranking_follows_the_fused_reader_and_search_score(
    app: AppContext, chat_context: ChatContext, found: RecallResult
) -> None:
    """What is listed as considered stands as it was judged, and beliefs keep their places."""
    first, *others = [each.message.text for each in found.messages]
    result = await read_with(
        app, chat_context, GivenReader({first: -5.0} | dict.fromkeys(others, 4.0)), found, "en"
    )

    ranked = [each.message.id for each in result.ranking if isinstance(each, RecalledMessage)]
    by_both = sorted(result.messages, key=lambda each: -compute_fused_score(each))
    assert ranked == [each.message.id for each in by_both]
    assert ranked != [each.message.id for each in result.messages]
