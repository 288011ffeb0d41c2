"""Assertion: decides whether a sentence asserts what a claim says, and of the right person."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.memories import MemoryKind, PatternKind
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.learning.critical_tokens import is_text_negated, iter_negations, parse_number_word
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.clause_subjects import (
    is_about_other_person,
    is_reported_speech,
    is_second_person,
)
from oldfriend.learning.validation.cue_words import get_cue_words
from oldfriend.learning.validation.matching_clauses import (
    MatchedClause,
    find_matched_clauses,
    split_clause_bounds,
)
from oldfriend.learning.validation.modality import has_negation, is_stated_negatively
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import SegmentView
from oldfriend.learning.validation.word_overlap import extract_terms, find_shared_terms
from oldfriend.turn.attribution.cues import SIGN_FOLDING, AttributionCues, fold_punctuation

WORD: Final = re.compile(r"[^\W_]+")
"""Kinds of claims that may be stated beside a condition and still hold without it."""
ENDINGS: Final = " .!¡…。！"
LAUGHING_EMOJI: Final = frozenset("😂🤣🙃😜😝🤡😉🤪😆😹😏😛")
SMIRKING_EMOJI: Final = frozenset("🙄🙃")
"""Emoji that show that a liking is meant ironically."""
EVENT: Final[MemoryKind] = "event"
"""Events are true even if somebody laughs about them."""
WISH_PATTERNS: Final[frozenset[PatternKind]] = frozenset(
    {"goal", "belief", "emotion", "preference"}
)
"""Patterns that a wish is evidence of."""
MAX_ASIDE_WORDS: Final = 4
"""A joking sentence of at most this many words is about the sentence before it."""
NEGATION_WINDOW: Final = 5
TRAILING_WINDOW: Final = 24
"""Words between "not" and what it denies, and characters after that in which it may follow."""
WITHOUT_WORDS: Final = frozenset({"without", "sin", "ohne", "sans", "sem", "senza", "zonder"})
LEADING_WINDOW: Final = 10
"""Characters before a word in which a "not" takes it back."""
OPENING_WORDS: Final = 4
MAX_ALMOST_DISTANCE: Final = 3
"""Maximum words between "nearly" and the event; a verb may stand between them."""
INTERJECTIONS: Final = frozenset({"oh", "ah", "uy", "ay", "ach", "ai", "ohh", "aw", "啊", "哦"})


def check_assertion(claim: Claim, span: QuoteSpan, view: SegmentView) -> RejectionReason | None:
    """Return why no sentence around a quote asserts the claim; None if one does."""
    rejection: RejectionReason | None = None
    matches = find_matched_clauses(claim, span, view.language)
    if any(is_joke(claim, matched) or is_sarcastic(claim, matched) for matched in matches):
        return "in jest"
    if is_smirked_at(claim, span, matches):
        return "in jest"
    if claim.kind != EVENT and is_unprompted_yes(matches, span, view):
        return "in jest"
    for matched in matches:
        rejection = _check_clause(claim, matched, view, span)
        if rejection is None:
            return None
    return rejection


def _check_clause(
    claim: Claim, matched: MatchedClause, view: SegmentView, span: QuoteSpan
) -> RejectionReason | None:
    if is_interrogative(claim, matched):
        return "question"
    if is_hypothetical(claim, matched):
        return "imagined"
    if is_negated(claim, matched) or has_almost_happened(claim, matched):
        return "denied"
    if claim.subject != "person" or span.message.trust == "other":
        return None
    if claim.kind == "triple" and matched.cues.language in list_languages("evidence_cues"):
        return None  # relation words show whose relation it is
    if (
        is_reported_speech(claim, matched, view)
        or is_about_other_person(claim, matched, view)
        or is_second_person(claim, matched)
    ):
        return "about another"
    return None


def is_interrogative(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the clause is a question, by its mark or by words that only ask."""
    if (
        matched.cues.language not in list_languages("evidence_cues")
        and "?" in matched.plain[matched.first_shared :]
    ):
        return "?" in matched.clause or matched.cues.is_unspaced
    return matched.cues.rhetorical.search(
        matched.clause
    ) is not None and not matched.cues.rhetorical.search(claim.text)


def is_sarcastic(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether a liking is claimed of what hardly anybody likes."""
    text = f"{matched.clause} {fold_punctuation(claim.text)}"
    if claim.kind == EVENT or matched.cues.chore.search(text) is None:
        return False
    likes = matched.cues.likes.finditer(matched.plain)
    return any(not _is_negated_before(matched, each.start()) for each in likes)


def is_smirked_at(claim: Claim, span: QuoteSpan, matches: Iterable[MatchedClause]) -> bool:
    """Return whether a face that does not mean it stands behind what the speaker claims to like."""
    if claim.kind != "preference" or is_stated_negatively(claim):
        return False
    return not SMIRKING_EMOJI.isdisjoint(span.message.text[span.start :]) and not any(
        _has_negation(claim.text, each) for each in matches
    )


def _is_negated_before(matched: MatchedClause, at: int) -> bool:
    return matched.cues.negation.search(matched.plain[max(0, at - LEADING_WINDOW) : at]) is not None


def is_unprompted_yes(matches: Iterable[MatchedClause], span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether liking follows a loud, unasked-for yes: "oh yeah, I love …"."""
    before = view.list_before(span.message)[-1:]
    if any(each.trust != "person" and "?" in each.text.translate(SIGN_FOLDING) for each in before):
        return False
    for matched in matches:
        words = WORD.findall(matched.plain)[:OPENING_WORDS]
        plain = " ".join(words)
        yes_matches = list(matched.cues.affirmation.finditer(plain))
        is_emphatic = len(yes_matches) > 1 or (
            bool(yes_matches) and bool(words) and words[0] in INTERJECTIONS
        )
        if is_emphatic and matched.cues.likes.search(matched.plain):
            return True
    return False


def is_joke(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the sentence, or a short one after it, says that it is a joke."""
    short = matched.next_sentence if len(matched.next_sentence.split()) <= MAX_ASIDE_WORDS else ""
    is_taken_back = matched.cues.retraction.fullmatch(short.strip()) and not is_stated_negatively(
        claim
    )
    if is_taken_back or matched.cues.joke.search(short) or is_reversed(claim, matched):
        return True
    jokes = matched.cues.joke.finditer(matched.plain)
    if any(
        not _is_negated_before(matched, each.start()) and _is_about_clause(matched, each.start())
        for each in jokes
    ):
        return True
    return claim.kind != EVENT and _is_laughed_at(matched, short)


def is_reversed(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether a sentence ends with a bare denial behind its statement: "I'm rich, NOT!"."""
    *_, (start, _) = split_clause_bounds(matched.plain, matched.cues)
    tail = matched.plain[start:].strip(ENDINGS)
    if "?" in matched.plain or start < matched.last_shared or is_stated_negatively(claim):
        return False
    is_denied = _has_negation(claim.text, matched) or matched.cues.negation.search(matched.clause)
    endings = (matched.cues.retraction, matched.cues.negation)
    return not is_denied and any(each.fullmatch(tail) for each in endings)


def _has_negation(text: str, matched: MatchedClause) -> bool:
    return matched.cues.negation.search(fold_punctuation(text)) is not None


def _is_about_clause(matched: MatchedClause, at: int) -> bool:
    """Return whether a word stands in the clause, before it, or in a short one after it."""
    behind = matched.plain[matched.end : at].split()
    return at < matched.end or len(behind) <= MAX_ASIDE_WORDS


def _is_laughed_at(matched: MatchedClause, short: str) -> bool:
    """Return whether only laughter follows the clause."""
    laughs = [
        each.start()
        for each in matched.cues.laughter.finditer(
            matched.plain, min(matched.first_shared, matched.end)
        )
    ]
    laughs += [
        at
        for at, each in enumerate(matched.plain)
        if each in LAUGHING_EMOJI and at >= matched.first_shared
    ]
    if any(_is_trailing(matched, at) for at in laughs):
        return True
    return bool(LAUGHING_EMOJI & set(short) or matched.cues.laughter.match(short.strip()))


def _is_trailing(matched: MatchedClause, at: int) -> bool:
    """Return whether nothing else is said between a clause and a laugh, nor after the laugh."""
    behind = matched.cues.laughter.sub(" ", matched.plain[at:])
    texts = (matched.plain[matched.end : at], behind)
    return not any(any(map(str.isalnum, each)) for each in texts)


def is_hypothetical(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the claim depends on a condition, or is only wished for or supposed."""
    claim_text, cues = fold_punctuation(claim.text), matched.cues
    if _is_conditional(claim, matched):
        return True
    is_lasting = claim.kind == "fact" and (claim.key or cues.self.search(matched.before))
    if is_lasting and cues.dream_night.search(matched.before):
        return True  # one night proves nothing lasting
    wide = split_clause_bounds(matched.plain, cues, with_and=False)
    start = max((a for a, _ in wide if a <= matched.start), default=0)
    found = cues.wish.search(matched.plain[start : max(matched.first_shared, start)])
    is_goal = claim.kind == "pattern" and claim.pattern in WISH_PATTERNS
    if not is_goal and found is not None and found.group() not in claim_text:
        return True
    if (
        cues.language in list_languages("evidence_cues")
        or not KINDS_BY_NAME[claim.kind].must_be_certain
    ):
        return False
    return cues.hedge.search(matched.clause) is not None and not cues.hedge.search(claim_text)


def _is_conditional(claim: Claim, matched: MatchedClause) -> bool:
    cues = matched.cues
    if cues.condition.search(fold_punctuation(claim.text)):
        return False
    if claim.kind == "preference" and not cues.wish.search(matched.plain):
        return False  # a preference under a condition is still a preference
    return any(
        _sets_condition(claim, matched, start, end) for start, end in _iter_clauses_until(matched)
    )


def _sets_condition(claim: Claim, matched: MatchedClause, start: int, end: int) -> bool:
    """Return whether a clause sets a condition for the claim."""
    cues, clause = matched.cues, matched.plain[start:end]
    found = cues.condition.search(clause)
    if found is None or not _begins_clause(clause, found.start(), cues):
        return False
    if clause.endswith(":") and not get_cue_words(cues.language).condition.search(clause):
        return True  # "let us suppose:" opens what a condition ("if you ask me:") would end
    is_over = cues.resumption.search(matched.plain[end : matched.first_shared]) is not None
    if is_over or clause[found.end() : found.end() + 1] == ",":
        return False
    is_polite = cues.you.match(clause[found.end() :].lstrip()) or (
        cues.you.search(clause) and not cues.self.search(clause)
    )
    return not is_polite and (
        start == matched.start or not _is_unconditional(claim, clause, matched)
    )


def _is_unconditional(claim: Claim, clause: str, matched: MatchedClause) -> bool:
    """Return whether a statement does not depend on its condition: "if I'm late, I work nights"."""
    is_lasting = KINDS_BY_NAME[claim.kind].is_lasting and bool(claim.key or claim.pattern)
    if not is_lasting or matched.cues.is_unspaced:
        return _has_shared_terms(claim, clause, matched)
    moods = (matched.cues.wish, matched.cues.irrealis)
    return clause.endswith(":") or not any(each.search(matched.plain) for each in moods)


def _iter_clauses_until(matched: MatchedClause) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the clauses up to the one that shares words with the claim."""
    for start, end in split_clause_bounds(matched.plain, matched.cues):
        if start < matched.start:
            yield start, end
    yield matched.start, max(matched.first_shared, matched.start)


def _begins_clause(clause: str, at: int, cues: AttributionCues) -> bool:
    """Return whether a word begins a clause, or follows a conjunction."""
    before = clause[:at].split()
    if cues.is_unspaced or not before:
        return True
    joints = (cues.continuation, cues.contrast, cues.resumption)
    if len(before) == 1 and before[0].strip(",") in INTERJECTIONS:
        return True
    return len(before) == 1 and any(each.fullmatch(before[0].strip(",")) for each in joints)


def _has_shared_terms(claim: Claim, clause: str, matched: MatchedClause) -> bool:
    language = matched.cues.language
    ours = extract_terms(claim.text, language)
    return bool(find_shared_terms(extract_terms(clause, language), ours, language))


def has_almost_happened(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether an event only nearly happened; "nearly twenty" is an amount instead."""
    found = matched.cues.near_miss.search(matched.clause)
    if found is None or not KINDS_BY_NAME[claim.kind].is_refuted_by_doubt or claim.effect != "new":
        return False
    if matched.cues.near_miss.search(fold_punctuation(claim.text)):
        return False
    behind = matched.clause[found.end() :]
    begin = matched.start + found.end()
    words = WORD.findall(
        matched.plain[
            begin : matched.first_shared if matched.first_shared >= begin else matched.last_shared
        ]
    )
    nearest = 0 if matched.cues.language == "en" else MAX_ALMOST_DISTANCE
    word = WORD.match(behind.lstrip())
    if word is None or matched.last_shared < begin or len(words) > nearest:
        return False
    is_counted = word.group()[0].isdecimal() or parse_number_word(
        word.group(), matched.cues.language
    )
    return not is_counted


def _is_negated_elsewhere(matched: MatchedClause) -> bool:
    """Return whether the negation is far before the claim's words, or is undone by another."""
    language = matched.cues.language
    found = [
        *matched.cues.negation.finditer(matched.clause),
        *iter_negations(matched.clause, language),
    ]
    if not found:
        return False
    at, end = matched.first_shared - matched.start, matched.last_shared - matched.start
    end += TRAILING_WINDOW if get_traits(matched.cues.language).negation_follows else 0
    near = [
        each
        for each in found
        if len(matched.clause[each.end() : at].split()) <= NEGATION_WINDOW
        and each.start() <= end
        and not (each.group() in WITHOUT_WORDS and each.start() > at)
    ]
    undone = any(each.group() in WITHOUT_WORDS for each in found) and len(found) > 1
    return not near or undone


def is_negated(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the clause is negated and the claim, which is no dislike, is not."""
    is_ended = claim.holds_until is not None or claim.ended_claim is not None
    if claim.effect != "new" or claim.denied_value or is_ended or is_stated_negatively(claim):
        return False
    if claim.kind == "triple" or matched.first_shared == len(matched.plain):
        return False
    language, claim_texts = matched.cues.language, (claim.text, claim.value)
    if any(matched.cues.negation.search(fold_punctuation(each)) for each in claim_texts):
        return False
    if not matched.cues.is_unspaced and _is_negated_elsewhere(matched):
        return False
    if (
        matched.plain.startswith("が", matched.last_shared)
        and "ない" not in matched.plain[matched.last_shared :][:NEGATION_WINDOW]
    ):
        return False  # the negation denies something else about it, not its existence
    if get_traits(language).is_han:  # Chinese negation characters are part of many words
        is_clause_negated, *are_claims_negated = (
            is_text_negated(each, language) for each in (matched.clause, *claim_texts)
        )
    elif language in list_languages("evidence_cues"):
        words = get_cue_words(language)
        is_clause_negated, *are_claims_negated = (
            has_negation(each, language, words)
            for each in (words.distinction.sub(" ", matched.clause), *claim_texts)
        )
    else:
        is_clause_negated, *are_claims_negated = (
            bool(matched.cues.negation.search(fold_punctuation(each)))
            for each in (matched.clause, *claim_texts)
        )
    return is_clause_negated and not any(are_claims_negated)
