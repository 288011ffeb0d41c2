"""What changes an earlier message is found by what both say, without a word of any language."""

import pytest

from oldfriend.search import IndexRow, PersonIndex, encode_document_terms, list_later_links
from oldfriend.search.later_links import extract_link_terms

CHATTER = ("the bus was late", "what a lovely soup", "my plant has a new leaf", "it rained again")


def build(told: list[tuple[str, str]], language: str) -> PersonIndex:
    """Index messages of roles, one a moment."""
    return PersonIndex.build(
        [
            IndexRow(
                seq=number,
                chat="chat",
                session="session",
                said_at=number,
                speaker=role,
                role=role,
                language=language,
                imprint=encode_document_terms(text, language=language),
            )
            for number, (role, text) in enumerate(told)
        ]
    )


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("en", "the plumber charges 450 for the boiler", "no the plumber says 540 for the boiler"),
        ("de", "der klempner kommt am freitag", "der klempner kommt erst am montag"),
        ("es", "mi vecina se llama Marisa", "perdona, mi vecina se llama Maruxa"),
        ("zh", "那件大衣要一千二", "不对，大衣是两千一"),
        ("xx", "fodd kelmar wuste trupik", "fodd kelmar ansil brome"),
    ],
)
def test_later_message_that_changes_another_ranks_first(language: str, old: str, new: str) -> None:
    """Before chatter, and before what was said earlier."""
    told = [old, *CHATTER[:2], new, *CHATTER[2:]]
    index = build([("person", new), *(("person", text) for text in told)], language)
    links = list_later_links(index, {1: extract_link_terms(old, language)}, limit=9)[1]

    assert links[0].seq == 4
    assert links[0].logit > links[1].logit + 1
    assert 0 not in {each.seq for each in links}


def test_companion_and_excluded_messages_are_not_later_links() -> None:
    """Nor does what is left out; and a message that is not there has none after it."""
    old = "the plumber comes on friday"
    index = build(
        [("person", old), ("companion", "the plumber on friday then"), ("person", old)], "en"
    )
    terms = extract_link_terms(old, "en")

    links = list_later_links(index, {0: terms, 7: terms}, limit=9)
    assert {seq: [each.seq for each in found] for seq, found in links.items()} == {0: [2]}
    assert not list_later_links(index, {0: terms}, excluded_seqs=[2], limit=9)[0]
