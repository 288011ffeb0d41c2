"""Two halves of a reply by two models read as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.llm.fallback import OverlapFilter, build_continuation_request, remove_overlap
from tests.llm.request_fixtures import Listener, saying


@pytest.mark.parametrize(
    ("said", "text", "new"),
    [
        ("I like the", "like the sea", " sea"),  # repeats the last words, as asked
        ("I like the", " the sea", " sea"),
        ("the old clas", "old classroom", "sroom"),  # broke off within a word
        ("I like the", "I like the sea", " sea"),  # begins anew
        ("I like", "cats", " cats"),  # repeats nothing, and would stick together
        ("I like ", "cats", "cats"),
        ("I like", ", well, cats", ", well, cats"),
        ("the clas", "s went", " s went"),  # one equal letter is chance
        ("我今天去了海边", "去了海边，很开心", "，很开心"),
        ("我今天", "去了海边", "去了海边"),  # no spaces there
        ("我天天", "天气好", "天气好"),
        ("Hi", "Hi", ""),
        ("It is fine.", "", ""),
    ],
)
def test_overlap_with_the_text_so_far_is_removed(said, text, new):
    """And words keep their spaces."""
    assert remove_overlap(said, text) == new


@given(st.text("ab, 海", min_size=1), st.text("ab, 海"), st.data())
async def test_overlap_filter_result_is_independent_of_chunking(said, text, data):
    """Piece by piece gives what the whole gives."""
    listener, at_once = Listener(), Listener()
    joint, whole = OverlapFilter(said, listener), OverlapFilter(said, at_once)
    await whole.feed(text)
    await whole.close()

    rest = text
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        await joint.feed(rest[:size])
        rest = rest[size:]
    await joint.close()

    assert listener.text == at_once.text
    assert joint.said == said + listener.text


def test_continuation_request_quotes_the_last_words_in_the_house_role():
    """The next model must know where to go on, and nobody put that into a person's mouth."""
    request = build_continuation_request(
        saying("hello"), "Once upon a time there was a very old king who"
    )

    *_, broken_off, wish = request.turns
    assert broken_off.role == "companion"
    assert broken_off.text.endswith("king who")
    assert wish.role == "instruction"
    assert '"a very old king who"' in wish.text
