"""The right messages are found, and why is said."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oldfriend.search import (
    IndexRow,
    PersonIndex,
    SearchResult,
    encode_document_terms,
    search,
)
from oldfriend.search.tokenizer import to_ngrams
from oldfriend.search.types import MIN_ANSWER_PROBABILITY
from tests.search.conversation import LINES, START, asking, index_of, rows, summary

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def found(index, text, k=3, **how):
    return [hit.seq for hit in search(index, asking(text, **how), k).hits]


@pytest.mark.parametrize(
    ("question", "seq"),
    [
        ("What is the name of Ben's boat?", 1),
        ("what did the boat cost, how many euros?", 3),
        ("Who swallowed the hair tie?", 4),
        ("Which bakery did Ben start at?", 7),
    ],
)
def test_question_finds_its_answer_among_the_top_hits(question, seq):
    """Plain questions find the words that answer them."""
    assert seq in found(index_of(), question)


def test_hit_reason_lists_the_query_words_and_the_speaker():
    """`why` must read like an explanation."""
    hits = search(index_of(), asking("What is the name of Ben's boats?"), 3).hits
    hit = next(hit for hit in hits if hit.seq == 1)

    words = next(reason.words for reason in hit.reasons if reason.cause == "words")
    assert set(words) == {"name", "boats"}
    assert any(reason.cause == "said_by" and reason.name == "Ben" for reason in hit.reasons)


def test_scores_and_probabilities_lie_between_zero_and_one():
    """Callers compare and show them."""
    result = search(index_of(), asking("boat"), 10)

    assert 0 <= result.answer_probability <= 1
    assert all(0 <= hit.score.value <= 1 for hit in result.hits)
    assert [hit.score.value for hit in result.hits] == sorted(
        (hit.score.value for hit in result.hits), reverse=True
    )


def test_excluded_message_is_never_found():
    """What stands in the window already must not be recalled again."""
    assert 1 not in found(index_of(), "What is the boat's name?", 10, exclude=frozenset({1}))


def test_message_without_encoded_terms_is_never_found():
    """The companion's own offline replies are not evidence."""
    silent = [row._replace(imprint=b"") if row.seq == 1 else row for row in rows()]

    assert 1 not in found(PersonIndex.build(silent), "What is the boat's name?", 10)


def test_query_with_a_typo_still_finds_the_message():
    """People misspell."""
    assert found(index_of(), "who told me about hambrug?", 1) == [1]


def test_short_chinese_query_finds_its_message():
    """ "Too short" holds for alphabets only."""
    lines = [("s1", "小明", "我家的猫叫麻薯"), ("s1", "小红", "真可爱"), ("s1", "小明", "船在港口")]
    index = index_of(lines, language="zh")

    assert found(index, "麻薯", 1, language="zh") == [0]
    assert found(index, "船", 1, language="zh") == [2]


@pytest.mark.parametrize("text", ["", "  ", "a", "?!", "…"])
def test_empty_query_finds_nothing(text):
    """An empty query is no reason to recall."""
    assert search(index_of(), asking(text), 5) == SearchResult(hits=(), answer_probability=0.0)


def test_an_empty_history_finds_nothing():
    """The first day."""
    assert search(PersonIndex.build([]), asking("Where is the boat?"), 5).hits == ()


def test_query_of_stop_words_only_still_finds_the_message():
    """ "Who are you?" has no other words."""
    lines = [("s1", "Ben", "Who are you?"), ("s2", "Ana", "Cheese and bread")]

    assert found(index_of(lines), "who are you", 1) == [0]


def test_message_of_the_asked_month_ranks_first():
    """Three messages alike; the date tells them apart."""
    lines = [(f"s{month}", "Ben", "We went sailing again.") for month in (1, 2, 3)]

    assert found(index_of(lines), "When did Ben go sailing in January 2024?", 1) == [1]


def test_first_person_query_prefers_messages_of_the_asker():
    """Asked by Ana, "I" is Ana."""
    lines = [("s1", "Ben", "I bought a red bicycle."), ("s2", "Ana", "I bought a blue bicycle.")]

    assert found(index_of(lines), "What bicycle did I buy?", 1) == [1]


def test_vector_search_finds_a_message_without_shared_words():
    """Meaning counts beside words, and a missing vector does no harm."""
    vectors = np.random.default_rng(0).normal(size=(len(LINES), 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[3] = 0
    index = PersonIndex.build(rows(), vectors)

    result = search(index, asking("feline surgery", vector=vectors[6]), 1)
    assert [hit.seq for hit in result.hits] == [6]
    assert "meaning" in {reason.cause for reason in result.hits[0].reasons}


def test_what_has_no_vector_yet_ranks_by_its_words():
    """Just told, it comes before what only seems close in meaning."""
    chatter = ("the bus was late", "what a lovely soup", "it rained again", "tea count seven")
    lines = (*LINES, *(("s4", "Ana", text) for text in chatter))
    vectors = np.random.default_rng(0).normal(size=(len(lines), 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = vectors[9].copy()
    vectors[6] = 0
    index = PersonIndex.build(rows(lines), vectors)

    assert found(index, "what was taken out by the vet?", 1, vector=asked) == [6]


def with_vector(cosine):
    """One message, and a question whose vector is that close to the message's."""
    vector = np.zeros((1, 384), dtype=np.float32)
    vector[0, :4] = 0.5
    away = np.zeros(384, dtype=np.float32)
    away[4:8] = 0.5
    asked = cosine * vector[0] + np.sqrt(1 - cosine**2) * away
    cat = [("s1", "Kim", "My cat is called Miso and she is afraid of thunder.")]
    return PersonIndex.build(rows(cat), vector), asked.astype(np.float32)


def test_single_message_is_found_by_vector_similarity():
    """On the first day nothing can be told from how the other messages are."""
    index, vector = with_vector(0.4)
    hit = search(index, asking("Who is scared of storms?", vector=vector), 3).hits[0]

    assert {reason.cause for reason in hit.reasons} == {"meaning"}
    assert 0.1 <= hit.score.value <= 1


def test_answer_probability_grows_with_similarity_of_a_single_message():
    """Being the best of one is nothing; words and closeness must carry."""
    sure = [
        search(index, asking(text, vector=vector), 1).answer_probability
        for text, (index, vector) in [
            ("Where did they go on holiday?", with_vector(0.05)),
            ("Who is scared of storms?", with_vector(0.4)),
            ("Is my cat afraid of thunder?", with_vector(0.7)),
        ]
    ]

    assert sure == sorted(sure)
    assert sure[0] < MIN_ANSWER_PROBABILITY < sure[-1]


@pytest.mark.parametrize("count", range(1, len(LINES) + 1))
def test_hit_reasons_name_matching_words_in_a_small_history(count):
    """No hit is found for its conversation alone when words explain it, at any size."""
    index = index_of(LINES[:count])

    for hit in search(index, asking("Did Ana's cat get a boat in Hamburg?"), 20).hits:
        causes = {reason.cause for reason in hit.reasons}
        assert causes != {"session"}
        text = LINES[hit.seq][2].lower()
        assert all(
            word in text
            for reason in hit.reasons
            if reason.cause == "words"
            for word in reason.words
        )


def test_hit_reason_shows_the_corrected_spelling():
    """A reason lists no word that the message does not hold."""
    hit = search(index_of(), asking("who told me about hambrug?"), 1).hits[0]

    assert next(reason.words for reason in hit.reasons if reason.cause == "words") == ("hamburg",)


def test_further_hits_score_well_below_a_clear_best_hit():
    """A second quote is worth adding only when its score is near the first one's."""
    first, second, *_ = search(index_of(), asking("What did Ben pay for the boat?"), 3).hits
    result = search(index_of(), asking("Where did Ben buy the sailing boat Lisbeth?"), 3)

    assert first.score.value >= second.score.value > 0
    assert result.hits[0].score.value == pytest.approx(result.answer_probability)
    assert result.hits[1].score.value < 0.7 * result.hits[0].score.value


def test_unrelated_query_has_a_lower_answer_probability():
    """Nothing good enough is told from something good."""
    index = index_of()
    plain = search(index, asking("What is the name of the boat Ben bought in Hamburg?"), 3)
    foreign = search(index, asking("What did the astronaut cook for the volcano festival?"), 3)

    assert plain.answer_probability > foreign.answer_probability
    assert plain.is_answerable
    assert not foreign.is_answerable


def test_search_result_is_independent_of_row_order():
    """Imports bring old messages later."""
    forwards, backwards = index_of(), PersonIndex.build(list(reversed(rows())))

    for text in ("boat name", "vet", "bakery"):
        ours, theirs = search(forwards, asking(text), 5), search(backwards, asking(text), 5)
        assert summary(ours) == summary(theirs)


@settings(max_examples=60, deadline=None)
@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=6), st.sampled_from(["en", "zh", "de", "xx"]))
def test_search_accepts_any_text_and_query(question, texts, language):
    """No string breaks search: emoji, lone surrogates, right-to-left, control characters."""
    index = PersonIndex.build(
        [
            IndexRow(
                number,
                "c",
                "s",
                START,
                "Ana",
                "person",
                language,
                encode_document_terms(text, language=language),
            )
            for number, text in enumerate(texts)
        ]
    )

    result = search(index, asking(question, language=language, asked_at=START), 5)
    assert len(result.hits) <= len(texts)


def test_search_handles_a_very_long_message():
    """Somebody will paste a book."""
    book = "The boat sails. 船 " * 8_000
    index = index_of([("s1", "Ana", book), *LINES])

    assert found(index, book, 2)


def test_repeated_search_gives_the_same_result():
    """Search changes nothing."""
    index, question = index_of(), asking("boat")

    assert search(index, question, 3) == search(index, replace(question), 3)


@pytest.mark.parametrize(
    ("language", "question", "lines", "answer"),
    [
        ("de", "Was kostete die Fahrt?", ["Bin müde.", "Die Zugfahrt war teuer.", "Ja."], 1),
        ("de", "wo war die hundelampe", ["Ok.", "Die Lampen für Hunde sind weg."], 1),
        ("it", "la partta di calcetto", ["Ho fame.", "Una partita ieri sera.", "Piove."], 1),
        ("ru", "велосипедист", ["Привет.", "Сегодня дождь.", "Купил велосипед."], 2),
    ],
)
def test_word_is_found_by_shared_ngrams(language, question, lines, answer):
    """Compounds, endings and typos share no term, but parts."""
    index = index_of([("s1", "Ana", text) for text in lines], language=language)

    (hit,) = search(index, asking(question, language=language), 1).hits

    assert hit.seq == answer
    assert {"words", "words_like"} & {reason.cause for reason in hit.reasons}


def test_ngram_postings_follow_added_and_removed_messages():
    """As if the index had been built of what is left."""
    first = [("s1", "Ana", "Die Zugfahrt war teuer."), ("s1", "Ben", "Ach so.")]
    later = [("s2", "Ana", "Heute nur Regen."), ("s2", "Ben", "Die Autofahrten auch.")]
    index = index_of(first, language="de")
    index.extend(rows(later, first=2, language="de"))
    question = asking("Was kostete die Fahrt?", language="de")

    assert summary(search(index, question, 4)) == summary(
        search(index_of([*first, *later], language="de"), question, 4)
    )
    index.remove([0])
    assert [hit.seq for hit in search(index, question, 1).hits] == [3]
    assert index.find_ngram_hits(to_ngrams("fahrt", "de")).messages.tolist() != []
    index.remove([3])
    assert index.find_ngram_hits(to_ngrams("fahrt", "de")).messages.tolist() == []


def test_english_index_has_no_ngrams():
    """They cost nothing where they were not measured to help."""
    assert not index_of().has_ngrams


@pytest.mark.parametrize(("language", "counts"), [("de", True), ("zh", True), ("ko", False)])
def test_the_bundled_vectors_count_where_texts_are_glossed(language, counts):
    """It knows English only, and a text in Korean cannot be put into English."""
    vectors = np.eye(len(LINES), 384, dtype=np.float32) + np.float32(0.01)
    index = PersonIndex.build(rows(language=language), vectors)
    asked = asking("Boot", language=language, vector=vectors[3])
    causes = {cause for _, _, causes in summary(search(index, asked, 10))[0] for cause in causes}

    assert ("meaning" in causes) is counts
