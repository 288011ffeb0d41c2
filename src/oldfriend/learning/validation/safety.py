"""Safety: rejects secrets, and instructions to a machine that are disguised as memories."""

import re
from collections.abc import Iterable
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.learning.validation.cue_words import fold_characters, list_all_cue_words
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import ValidationCase
from oldfriend.turn.injection_detection import detect_injection
from oldfriend.turn.intent import split_sentences

CREDENTIAL_PATTERN: Final = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAIza[A-Za-z0-9_-]{30,}|\beyJ[A-Za-z0-9_-]{20,}\."
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"
)
"""Formats of API keys of well-known services, and of IBANs."""
CARD_DIGITS: Final = re.compile(r"\b\d(?:[ -]?\d){12,18}\b")
CARD_LENGTHS: Final = (13, 19)

MAX_SECRET_DISTANCE: Final = 40
"""Maximum distance between a password and the word for it."""
SENTENCE_END: Final = re.compile(r"[。\n]|[.!?](?=\s|$)")
SEPARATORS: Final = re.compile(r"[\s,，、:：;；（）()\u3400-\u9fff]+")
MIN_PASSWORD_LENGTH: Final = 5
PIN_LENGTHS: Final = frozenset({4, 5, 6, 8})


def check_secret(case: ValidationCase) -> RejectionReason | None:
    """Reject a claim with a password, key or card number in it or in its quotes."""
    claim = case.claim
    value = () if claim.value in claim.text else (claim.value,)
    texts = [claim.text, *value, *(span.text for span in case.spans)]
    return "secret" if any(has_secret(text) for text in texts) else None


def has_secret(text: str) -> bool:
    """Return whether a text discloses a credential or a card number."""
    plain = fold_characters(text)
    if CREDENTIAL_PATTERN.search(plain) or any(
        is_card_number(number) for number in CARD_DIGITS.findall(plain)
    ):
        return True
    return any(
        cue_words.secret.search(plain)
        or any(map(is_followed_by_secret, cue_words.secret_noun.finditer(plain)))
        for cue_words in list_all_cue_words()
    )


def is_followed_by_secret(noun: re.Match[str]) -> bool:
    """Return whether something like a password follows closely after a word for one."""
    behind = noun.string[noun.end() : noun.end() + MAX_SECRET_DISTANCE]
    return any(map(is_password_like, SEPARATORS.split(SENTENCE_END.split(behind)[0])))


def is_password_like(word: str) -> bool:
    """Return whether a word looks like a password or PIN: letters and digits, or a few digits."""
    plain = word.strip(".,;!?\"'“”„«»()")
    if plain.isdigit():
        return len(plain) in PIN_LENGTHS
    is_mixed = any(c.isdigit() for c in plain) and any(c.isalpha() for c in plain)
    return is_mixed and len(plain) >= MIN_PASSWORD_LENGTH and plain.isascii()


def is_card_number(number: str) -> bool:
    """Return whether digits are a card number, by their check digit (Luhn)."""
    digits = [int(digit) for digit in number if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    shortest, longest = CARD_LENGTHS
    return shortest <= len(digits) <= longest and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def check_prompt_injection(case: ValidationCase) -> RejectionReason | None:
    """Reject instructions to a machine; the person's facts about themselves may sound a bit so."""
    claim = case.claim
    texts = [claim.text, claim.value, *(span.sentence_text for span in case.spans)]
    if any(is_memory_instruction(text) for text in texts):
        return "order"
    is_by_person = all(span.message.trust == "person" for span in case.spans)
    if is_by_person and not KINDS_BY_NAME[claim.kind].steers_companion:
        return "order" if any(detect_injection(text).risk == "high" for text in texts) else None
    return "order" if any(is_machine_instruction(text) for text in texts) else None


def has_prompt_injection(text: str) -> bool:
    """Return whether a text tells a machine what to be, to do or to remember."""
    return is_machine_instruction(text) or is_memory_instruction(text)


def is_machine_instruction(text: str) -> bool:
    """Return whether a text tells a machine what to be or to do."""
    plain = fold_characters(text)
    is_order = any(cue_words.instruction.search(plain) for cue_words in list_all_cue_words())
    return is_order or detect_injection(text).risk != "none"


def is_memory_instruction(text: str) -> bool:
    """Return whether a text tells a machine what to remember of its user: no person talks so."""
    plain = fold_characters(text)
    return any(cue_words.memory_instruction.search(plain) for cue_words in list_all_cue_words())


def filter_safe(sentences: Iterable[str]) -> list[str]:
    """Return the sentences without instructions and secrets."""
    return [each for each in sentences if not has_prompt_injection(each) and not has_secret(each)]


def remove_unsafe_sentences(text: str) -> str:
    """Return a text without its unsafe sentences; empty if it stays unsafe."""
    if not has_prompt_injection(text) and not has_secret(text):
        return text
    rest = " ".join(filter_safe(split_sentences(text)))
    return "" if has_prompt_injection(rest) or has_secret(rest) else rest
