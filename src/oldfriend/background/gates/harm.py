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

CLOSE: Final = 40
"""So near to its name a password stands."""
SENTENCE_END: Final = re.compile(r"[。\n]|[.!?](?=\s|$)")
SEPARATE: Final = re.compile(r"[\s,，、:：;；（）()\u3400-\u9fff]+")
SHORTEST_PASSWORD: Final = 5
LENGTHS_OF_PIN: Final = frozenset({4, 5, 6, 8})

ACTING: Final = frozenset({"preference", "pattern", "commitment", "expectation", "opinion"})
"""What would change how the companion acts."""


def secret_fault(case: Case) -> Reason | None:
    """A password, a key or the number of a card, in the claim or in the words that it rests on."""
    claim = case.claim
    value = () if claim.value in claim.text else (claim.value,)
    texts = [claim.text, *value, *(place.text for place in case.places)]
    return "secret" if any(holds_secret(text) for text in texts) else None


def holds_secret(text: str) -> bool:
    """Whether a text gives something away that only its owner should have."""
    plain = folded(text)
    if KEYS.search(plain) or any(is_card(number) for number in DIGITS.findall(plain)):
        return True
    return any(
        told.secret.search(plain) or any(map(gives_away, told.secret_noun.finditer(plain)))
        for told in every_telltale()
    )


def gives_away(noun: re.Match[str]) -> bool:
    """Whether something like a password stands close behind a word for one."""
    behind = noun.string[noun.end() : noun.end() + CLOSE]
    return any(map(is_like_password, SEPARATE.split(SENTENCE_END.split(behind)[0])))


def is_like_password(word: str) -> bool:
    """Whether a word is what people take for a password or a PIN: mixed, or a few digits."""
    plain = word.strip(".,;!?\"'“”„«»()")
    if plain.isdigit():
        return len(plain) in LENGTHS_OF_PIN
    is_mixed = any(c.isdigit() for c in plain) and any(c.isalpha() for c in plain)
    return is_mixed and len(plain) >= SHORTEST_PASSWORD and plain.isascii()


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
    if any(is_addressed(text) for text in texts):
        return "order"
    is_theirs = all(place.message.trust == "person" for place in case.places)
    if is_theirs and claim.kind not in ACTING:
        return "order" if any(suspicion_of(text).risk == "high" for text in texts) else None
    return "order" if any(is_command(text) for text in texts) else None


def gives_orders(text: str) -> bool:
    """Whether a text tells a machine what to be, to do or to keep."""
    return is_command(text) or is_addressed(text)


def is_command(text: str) -> bool:
    """Whether a text tells a machine what to be or to do."""
    plain = folded(text)
    is_order = any(told.order.search(plain) for told in every_telltale())
    return is_order or suspicion_of(text).risk != "none"


def is_addressed(text: str) -> bool:
    """Whether a text tells a machine what to keep of its user: nobody speaks so of themselves."""
    plain = folded(text)
    return any(told.addressed.search(plain) for told in every_telltale())


def harmless(sentences: Iterable[str]) -> list[str]:
    """The sentences that give neither orders nor secrets away."""
    return [each for each in sentences if not gives_orders(each) and not holds_secret(each)]


def harmless_text(text: str) -> str:
    """A text without the sentences that do harm."""
    if not gives_orders(text) and not holds_secret(text):
        return text
    rest = " ".join(harmless(sentences_of(text)))
    return "" if gives_orders(rest) or holds_secret(rest) else rest
