"""A belief that is not certain is told so, however long ago it was said."""

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import EvidenceStats, MemoryState, Status, StoredBelief
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.turn.belief_texts import format_belief_sentence


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
@pytest.mark.parametrize(
    ("status", "is_doubted"), [("active", False), ("tentative", True), ("disputed", True)]
)
def test_doubt_is_told_of_a_state_of_long_ago(
    language: str, status: Status, is_doubted: bool
) -> None:
    """Its time and the doubt both stand there."""
    book = load_phrases(language)
    memory = StoredBelief(
        id=MemoryId(ObjectId("m")),
        person=PersonId("p"),
        kind="fact",
        text="Ulm.",
        language=language,
        key="location",
        value="Ulm",
        status=status,
        learned_at=0,
    )
    stats = EvidenceStats(strength=1, confidence=1, times_seen=1, first_seen=0, last_seen=0)
    known = MemoryState(memory=memory, stats=stats, base_seq=1)
    told = format_belief_sentence(known, book, "UTC", as_of=20_000 * DAY)
    doubt = book.phrases["known_unsure"].partition("{text}")[0]
    assert ("2024" in told, doubt in told) == (True, is_doubted)
