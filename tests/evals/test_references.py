"""The references do what they say, so that being faster than they are means something."""

from contextlib import closing

from oldfriend_evals.corpus import random_vectors
from oldfriend_evals.references import PlainSearch, any_word_of


def test_plain_search_query_uses_content_words():
    assert any_word_of("What is the name of my boat?") == 'owner:u1 AND text:("name" OR "boat")'


def test_plain_search_query_of_stopwords_uses_all_words():
    assert any_word_of("Who are you?") == 'owner:u1 AND text:("who" OR "are" OR "you")'


async def test_plain_search_accepts_any_question(tmp_path):
    vectors = random_vectors(2, seed=1, dimension=8)
    texts = ["The boat is called Ida.", "It rains."]

    with closing(PlainSearch(tmp_path / "plain.db", texts, vectors)) as plain:
        for question in ("What is the boat's name?", 'a "quote" AND (NOT', "名前"):
            await plain.find(any_word_of(question), vectors[0])
