"""Whom beliefs mention is looked up in all of them at once, and stays true while they change."""

from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import StoredBelief
from oldfriend.search.mention_index import MentionIndex

WORDS = ("ana", "an", "banana", "nan", "李雷", "x")
TEXTS = st.lists(st.sampled_from([*WORDS, " ", "\n"]), max_size=6).map("".join)


def belief(text: str) -> StoredBelief:
    """One that says so."""
    return StoredBelief(
        id=MemoryId("m"), person=PersonId("p"), kind="fact", text=text, language="en", learned_at=0
    )


@given(st.lists(TEXTS, max_size=8), st.sets(st.integers(0, 7)))
def test_mention_index_finds_exactly_the_beliefs_containing_a_word(
    texts: list[str], gone: set[int]
) -> None:
    """Also once some were taken out."""
    mentions = MentionIndex()
    for seq, text in enumerate(texts):
        mentions.add(seq, belief(text))
    for left in (set(range(len(texts))), set(range(len(texts))) - gone):
        mentions.remove([seq for seq in range(len(texts)) if seq not in left])
        for word in WORDS:
            assert mentions.list_mentions([word], ()) == {seq for seq in left if word in texts[seq]}
