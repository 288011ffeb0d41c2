"""What may change a quoted fact is quoted as well, and nothing else is."""

from collections.abc import Sequence

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext
from oldfriend.learning.quote_selection import MAX_COMPARED, is_short_statement, select_follow_ups
from oldfriend.search import IndexRow, PersonIndex, encode_document_terms
from tests.beliefs.life import believed, tell
from tests.learning.segment_fixtures import said

OLD = "i play the cello in the town orchestra"
CHATTER = ("the bus was late", "what a lovely soup", "it rained again")


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


@pytest.fixture(autouse=True)
def link_without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take links by words alone, which are weaker than those with vectors."""
    monkeypatch.setattr("oldfriend.learning.quote_selection.MIN_LOGIT", -1.0)


def select(texts: Sequence[str], quoted: Sequence[int]) -> list[str]:
    """What is quoted of messages beside some that are quoted, by their place."""
    messages = [said(number, text) for number, text in enumerate(texts)]
    rows = [
        IndexRow(
            seq=each.seq,
            chat=each.chat,
            session=each.session,
            said_at=each.at,
            speaker=each.speaker,
            role=each.role,
            language=each.language,
            imprint=encode_document_terms(each.text, language=each.language),
        )
        for each in messages
    ]
    earlier = {each.id: messages[max(0, each.seq - MAX_COMPARED) : each.seq] for each in messages}
    ids = [MessageId(f"id-{each}") for each in quoted]
    told = [each for each in messages if each.id not in ids]
    return [each.text for each in select_follow_ups(PersonIndex.build(rows), told, earlier, ids)]


async def test_message_index_is_not_loaded_where_nothing_is_quoted(
    app: AppContext, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that only learns small talk keeps no index of everybody's messages."""
    compared: list[object] = []
    monkeypatch.setattr(
        "oldfriend.learning.quote_selection.list_candidate_seqs",
        lambda _index, statements: compared.extend(statements) or {},
    )
    await tell(app, chat_context, ["well okay then"])

    assert (await believed(app, chat_context), compared) == ([], [])


@pytest.mark.parametrize(
    "newer", ["sold the cello and left the town orchestra", "wait no its the viola"]
)
def test_follow_up_or_correction_of_a_quoted_message_is_selected(newer: str) -> None:
    """By shared words, or as a correction soon after."""
    assert select([OLD, CHATTER[0], newer, *CHATTER[1:]], [0]) == [newer]


def test_unrelated_message_is_not_selected_as_follow_up() -> None:
    """Nor what tells more of what is no fact."""
    assert not select([OLD, *CHATTER], [0])
    assert not select([CHATTER[0], OLD, "the bus was late again, the bus is always late"], [1])


def test_follow_up_of_a_selected_follow_up_is_selected_too() -> None:
    """A matter that changes twice."""
    changes = [
        "sold the cello and left the town orchestra",
        "the town orchestra took me back, with a new cello",
    ]
    assert select([OLD, CHATTER[0], changes[0], CHATTER[1], changes[1]], [0]) == changes


@pytest.mark.parametrize("text", ["do i still play the cello?", "cello " * 60])
def test_question_and_long_text_are_not_eligible_as_follow_up_quotes(text: str) -> None:
    """One tells nothing; the other is no single fact."""
    assert not is_short_statement(said(1, text))


async def test_follow_up_quote_is_believed_after_consolidation(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Read in one go with the older one."""
    newer = "so the gym on tuesdays with ash is off, sundays now"
    await tell(
        app, chat_context, ["i go to the gym on tuesdays and fridays with ash", *CHATTER, newer]
    )
    facts = [each.content for each in await believed(app, chat_context)]

    assert any(newer in each.text for each in facts if isinstance(each, StoredBelief))
