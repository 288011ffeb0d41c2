"""The references do what they say, so that being faster than they are means something."""

from contextlib import closing

from oldfriend_evals.baselines import PlainSearch, build_fts_query
from oldfriend_evals.corpus import draw_vectors


def test_plain_search_query_uses_content_words():
    assert build_fts_query("What is the name of my boat?") == 'owner:u1 AND text:("name" OR "boat")'


def test_plain_search_query_of_stopwords_uses_all_words():
    assert build_fts_query("Who are you?") == 'owner:u1 AND text:("who" OR "are" OR "you")'


async def test_plain_search_accepts_any_question(tmp_path):
    vectors = draw_vectors(2, seed=1, dimension=8)
    texts = ["The boat is called Ida.", "It rains."]

    with closing(PlainSearch(tmp_path / "plain.db", texts, vectors)) as plain:
        for question in ("What is the boat's name?", 'a "quote" AND (NOT', "名前"):
            await plain.find(build_fts_query(question), vectors[0])
