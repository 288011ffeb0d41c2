"""Would it do harm to keep this? Secrets, and orders to a machine that pose as memories."""

import re
from collections.abc import Iterable
from typing import Final

from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.talk import Case
from oldfriend.background.gates.telltales import every_telltale, folded
from oldfriend.turn.perceive import sentences_of
from oldfriend.turn.suspicion import suspicion_of

KEYS: Final = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAIza[A-Za-z0-9_-]{30,}|\beyJ[A-Za-z0-9_-]{20,}\."
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"
)
"""How keys of well-known services look, and the number of a bank account."""
DIGITS: Final = re.compile(r"\b\d(?:[ -]?\d){12,18}\b")
SPAN_OF_CARD: Final = (13, 19)

ACTING: Final = frozenset({"preference", "pattern", "commitment", "expectation"})
"""What would change how the companion acts."""


def secret_fault(case: Case) -> Reason | None:
    """A password, a key or the number of a card, in the claim or in the words that it rests on."""
    claim = case.claim
    texts = [claim.text, claim.value, *(place.text for place in case.places)]
    return "secret" if any(holds_secret(text) for text in texts) else None


def holds_secret(text: str) -> bool:
    """Whether a text gives something away that only its owner should have."""
    plain = folded(text)
    if KEYS.search(plain) or any(is_card(number) for number in DIGITS.findall(plain)):
        return True
    return any(told.secret.search(plain) for told in every_telltale())


def is_card(number: str) -> bool:
    """Whether digits are the number of a card, by their check digit (Luhn)."""
    digits = [int(digit) for digit in number if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    fewest, most = SPAN_OF_CARD
    return fewest <= len(digits) <= most and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def order_fault(case: Case) -> Reason | None:
    """Gives orders to a machine; what the person says of themselves may sound a little so."""
    claim = case.claim
    texts = [claim.text, claim.value, *(place.said for place in case.places)]
    is_theirs = all(place.message.trust == "person" for place in case.places)
    if is_theirs and claim.kind not in ACTING:
        return "order" if any(suspicion_of(text).risk == "high" for text in texts) else None
    return "order" if any(gives_orders(text) for text in texts) else None


def gives_orders(text: str) -> bool:
    """Whether a text tells a machine what to be or to do."""
    if suspicion_of(text).risk != "none":
        return True
    plain = folded(text)
    return any(told.order.search(plain) for told in every_telltale())


def harmless(sentences: Iterable[str]) -> list[str]:
    """The sentences that give neither orders nor secrets away."""
    return [each for each in sentences if not gives_orders(each) and not holds_secret(each)]


def harmless_text(text: str) -> str:
    """A text without the sentences that do harm."""
    if not gives_orders(text) and not holds_secret(text):
        return text
    return " ".join(harmless(sentences_of(text)))
