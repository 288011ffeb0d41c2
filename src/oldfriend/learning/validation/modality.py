"""Modality: rejects claims from imagined, wished, doubted, denied statements, or marked as such.

A condition, doubt or negation counts only in the clause that states the claim or before it in the
same sentence; never in another sentence, and never after it.
"""

import re
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.learning.critical_tokens import is_text_negated
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.clauses import Clause, find_closest_clauses, get_content_stems
from oldfriend.learning.validation.cue_words import CueWords, fold_characters
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.search.tokenizer import is_unspaced

NEGATIVE_KEYS: Final = frozenset({"dislikes", "allergies"})
"""Keys of values that are stated in words that contain a negation: "can't have plasters"."""
NEGATION_WINDOW: Final = 4
"""Words after "not" that it may still deny ("is not really leaving")."""
WORD: Final = re.compile(r"\w+")
BUT: Final = re.compile(r"\b(?:but|pero|aber|mais)\b|但是?")
"""What follows it is true, whatever is wished before."""
MIN_SHARED_LENGTH: Final = 4
"""Letters of a word that a clause and a claim must at least share."""
NEGATION_WINDOW_WIDE: Final = 4
"""Characters after a negation that it may deny, in scripts whose characters are words."""


def check_stated_modality(
    claim: Claim, language: str, cue_words: CueWords
) -> RejectionReason | None:
    """Return why a claim is no belief by the modality that its reader gives; None if it may be one.

    A wish is evidence of a goal, what others say of themselves is evidence about them, and what is
    denied may be claimed by a claim that itself denies it.
    """
    match claim.modality:
        case "asserted":
            return None
        case "reported":
            return "words of another" if claim.subject == "person" else None
        case "joke":
            return "in jest"
        case "wish":
            return "imagined" if needs_more_than_wish(claim) else None
        case "denied":
            is_kept = claim.effect != "new" or has_negation(claim.text, language, cue_words)
            return None if is_kept else "denied"
        case "imagined" | "question":
            return claim.modality


def check_modality(claim: Claim, span: QuoteSpan, cue_words: CueWords) -> RejectionReason | None:
    """Return why the words around a quote do not say that the claim is true; None if they do."""
    clauses, language = find_closest_clauses(claim, span), span.message.language
    if not clauses:
        return "imagined" if is_imagined_nearby(claim, span, cue_words) else None
    if all(is_imagined(claim, each, cue_words) for each in clauses):
        return "imagined"
    if claim.effect != "new":
        return None
    if all(is_uncertain(claim, each, cue_words, language) for each in clauses):
        return "imagined"
    is_said_not_to_be = KINDS_BY_NAME[claim.kind].is_refuted_by_denial and is_denied(
        claim, clauses[-1], cue_words, language
    )
    if not is_said_not_to_be:
        return None
    return "promise refused" if claim.kind == "commitment" else "denied"


def is_imagined_nearby(claim: Claim, span: QuoteSpan, cue_words: CueWords) -> bool:
    """Return whether a quote that shares no word with a claim stands among imagined things."""
    if claim.effect in {"reinforces", "fulfils", "cancels"}:
        return False
    text = fold_characters(" ".join(span.iter_sentences()) or span.text)
    return cue_words.hypothetical.search(text) is not None


def is_imagined(claim: Claim, clause: Clause, cue_words: CueWords) -> bool:
    """Return whether a clause, or what leads up to it, is imagined or only wished for."""
    until = clause.before + truncate_after_shared(claim, clause.text)
    until = until[max((found.end() for found in BUT.finditer(until)), default=0) :]
    if cue_words.hypothetical.search(until):
        return True
    return needs_more_than_wish(claim) and cue_words.wish.search(until) is not None


def truncate_after_shared(claim: Claim, clause: str) -> str:
    """Return a clause up to the last word that it shares with a claim."""
    if WIDE_CHARS.search(clause):
        return clause
    claimed = f"{claim.text} {claim.value}".casefold()
    shared = (
        each.end()
        for each in WORD.finditer(clause)
        if len(each.group()) >= MIN_SHARED_LENGTH and each.group() in claimed
    )
    return clause[: max(shared, default=len(clause))]


def needs_more_than_wish(claim: Claim) -> bool:
    """Return whether a wish is no evidence for a claim; for goals, beliefs and feelings it is."""
    return claim.kind != "pattern" or claim.pattern in {
        "behavior",
        "temporal",
        "causal",
    }


def is_uncertain(claim: Claim, clause: Clause, cue_words: CueWords, language: str) -> bool:
    """Return whether a clause leaves the claim open, by a condition or a doubt."""
    kind = KINDS_BY_NAME[claim.kind]
    if kind.needs_condition_met and is_conditional(claim, clause, cue_words, language):
        return True
    return kind.is_refuted_by_doubt and is_hedged(claim, clause, cue_words, language)


def is_conditional(claim: Claim, clause: Clause, cue_words: CueWords, language: str) -> bool:
    """Return whether a claim follows an "if" or is its consequence; words before "if" are not."""
    found = cue_words.condition.search(clause.text)
    if found is None:
        hangs = cue_words.condition.search(clause.before) is not None
        return hangs and cue_words.consequence.search(clause.text) is not None
    words = get_content_stems(f"{claim.text} {claim.value}", language)
    ahead, behind = clause.text[: found.start()], clause.text[found.end() :]
    is_polite = cue_words.addressee.match(behind.lstrip()) is not None
    if is_polite and not cue_words.consequence.search(behind):
        return False  # a polite offer: "if you need me, I'm in Glasgow"
    own = words & get_content_stems(ahead, language)
    return len(words & get_content_stems(behind, language)) >= len(own)


def is_hedged(claim: Claim, clause: Clause, cue_words: CueWords, language: str) -> bool:
    """Return whether the speaker is unsure of most of a claim that does not say so."""
    if not cue_words.hedge.search(clause.text) or cue_words.hedge.search(
        fold_characters(claim.text)
    ):
        return False
    words = get_content_stems(claim.value or claim.text, language)
    return 2 * len(words & get_content_stems(clause.text, language)) >= len(words)


def is_denied(claim: Claim, clause: Clause, cue_words: CueWords, language: str) -> bool:
    """Return whether a clause negates the claim's words directly, and the claim is not negated.

    A claim that knows what it denies is exempt: "not in Porto but in Faro".
    """
    is_negative = is_stated_negatively(claim) or has_negation(claim.text, language, cue_words)
    if claim.denied_value or is_negative:
        return False
    words = get_content_stems(f"{claim.text} {claim.value}", language)
    said = cue_words.distinction.sub(" ", clause.text)
    behind = (said[found.end() :] for found in cue_words.negation.finditer(said))
    return any(words & get_content_stems(take_first_words(each), language) for each in behind)


def is_stated_negatively(claim: Claim) -> bool:
    """Return whether the value of a claim, whoever it is about, is stated by a negation."""
    return claim.key.rpartition(":")[2] in NEGATIVE_KEYS


def has_negation(text: str, language: str, cue_words: CueWords) -> bool:
    """Return whether a text contains a negation."""
    return (
        is_text_negated(text, language)
        or cue_words.negation.search(fold_characters(text)) is not None
    )


def take_first_words(text: str) -> str:
    """Return the first few words of a text."""
    plain = text.strip()
    if plain and is_unspaced(plain[0]):
        return plain[:NEGATION_WINDOW_WIDE]
    return " ".join(plain.split()[:NEGATION_WINDOW])
