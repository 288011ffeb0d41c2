"""What the person has had forgotten is not believed again, until they tell it anew."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from oldfriend.domain.clock import DAY
from oldfriend.learning.consolidate import drop_forgotten
from oldfriend.learning.extraction import Claim, Extraction, Quote
from oldfriend.learning.validate import UnconfirmedClaim, ValidatedExtraction
from oldfriend.memory.deletion.tombstones import format_belief_words, format_quote_keys

LAID = 100


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A message, as far as it matters here."""

    id: str
    at: int
    details: Mapping[str, str] = field(default_factory=dict)


def left_of(claim: Claim, forgotten: str) -> int:
    """How many claims are left, when something was forgotten."""
    extraction = Extraction(author="model/1", claims=(claim,))
    waiting = UnconfirmedClaim(claim=claim, reason="unfounded")
    checked = ValidatedExtraction(
        extraction=extraction, unconfirmed=(waiting,), rejected=Counter(), normalized=Counter()
    )
    messages = [
        Heard(id="before", at=LAID - 1),
        Heard(id="after", at=LAID + 1),
        Heard(id="dated", at=LAID + 1, details={"dated": "2036-01-01"}),
        Heard(id="ahead", at=LAID + 3_650 * DAY),
    ]
    passed = drop_forgotten(
        checked,
        messages,
        lambda words, at: words == forgotten and at <= LAID,
        LAID + DAY,
    )
    assert len(passed.unconfirmed) == len(passed.extraction.claims)
    return len(passed.extraction.claims)


def claim(*messages: str) -> Claim:
    """Where somebody lives, as they told."""
    quotes = tuple(Quote(message=each, text="Porto") for each in messages)
    return Claim(kind="fact", text="Lives in Porto.", quotes=quotes, key="location", value="Porto")


def test_claim_matching_a_tombstone_by_text_or_value_is_dropped() -> None:
    """All else stays."""
    assert left_of(claim("before"), "Lives in Porto.") == 0
    assert left_of(claim("before"), format_belief_words("fact", "location", "Porto")) == 0
    assert left_of(claim("before"), "Lives in Lisbon.") == 1


def test_claim_resting_only_on_forgotten_quotes_is_dropped() -> None:
    """However it is worded; other words beside them let it stay."""
    assert (
        left_of(claim("before"), *format_quote_keys("fact", "location", "Porto", said_at=LAID - 1))
        == 0
    )
    assert (
        left_of(
            claim("before", "after"),
            *format_quote_keys("fact", "location", "Porto", said_at=LAID - 1),
        )
        == 1
    )


def test_claim_with_a_quote_after_the_tombstone_is_kept() -> None:
    """Also where old words say it, too."""
    assert left_of(claim("before", "after"), "Lives in Porto.") == 1


def test_words_dated_ahead_were_not_said_again() -> None:
    """A wrong date in a file does not bring back what was forgotten."""
    assert left_of(claim("ahead"), "Lives in Porto.") == 0
    assert left_of(claim("dated"), "Lives in Porto.") == 0
