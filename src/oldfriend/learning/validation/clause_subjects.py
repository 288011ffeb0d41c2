"""Clause subjects: finds whom a clause speaks of, by the person named nearest before the claim."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.matching_clauses import MatchedClause, split_clause_bounds
from oldfriend.learning.validation.segment_view import SegmentView
from oldfriend.learning.validation.word_overlap import (
    extract_terms,
    find_relatives,
    find_shared_terms,
    is_date_word,
)
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation
from oldfriend.turn.attribution.direct_speech import is_said_by_speaker
from oldfriend.turn.attribution.quotations import find_quotations

WORD: Final = re.compile(r"\w+")
NEXT_WORD: Final = re.compile(r",? (\w{1,40})")
AUXILIARIES: Final = frozenset(
    {"is", "was", "has", "had", "does", "did", "will", "can", "got", "went", "made", "came", "took"}
)
"""Words that follow an English subject; without a subject, a sentence may begin with the verb."""
ANSWER_WORDS: Final = frozenset(
    {"no", "yes", "non", "oui", "sí", "nein", "ja", "não", "sim", "nee"}
)
SUBJECT_WINDOW: Final = 3
"""Number of words at the start of a clause that contain its subject."""
MIN_PREDICATE_WORDS: Final = 2
CONTRACTED_COPULAS: Final = frozenset({"it's", "that's", "c'est", "'s"})
"""Words that contain a copula; a copula and an article precede a predicate."""
MAX_TRAILING_WORDS: Final = 4
"""Words after "says" at the end of a sentence."""


@dataclass(frozen=True, slots=True, order=True)
class SubjectMarker:
    """Subject marker: a position where a sentence names the speaker, or somebody else."""

    at: int
    is_self: bool
    name: str


def is_reported_speech(claim: Claim, matched: MatchedClause, view: SegmentView) -> bool:
    """Return whether somebody else says it, and the claim does not say who."""
    cues = matched.cues
    found = _find_saying_verb(matched) or cues.attribution.search(matched.plain)
    if _get_quotation_end(matched) > 0:
        return False
    if (
        found is None
        or is_said_by_speaker(matched.plain, cues)
        or cues.says.search(fold_punctuation(claim.text))
    ):
        return False
    reporter = _get_teller(matched, found.start())
    if _ends_with_self(reporter, cues) or _names_person(claim, reporter, matched):
        return False
    if cues.other.search(reporter) and _names_earlier_referent(claim, matched, view):
        return False
    is_ahead = found.start() <= matched.first_shared
    if not is_ahead and not _ends_with_teller(matched, found.end()):
        return False
    region = (
        matched.plain[found.end() : matched.end] if is_ahead else matched.plain[: found.start()]
    )
    speaker_match, other_match = cues.self.search(region), cues.other.search(region)
    return speaker_match is None or (
        other_match is not None and other_match.start() < speaker_match.start()
    )


def _find_saying_verb(matched: MatchedClause) -> re.Match[str] | None:
    """Return the first verb of saying: no noun ("the thought") and no answer ("said no")."""
    cues, plain = matched.cues, matched.plain
    for found in cues.says.finditer(plain):
        before = plain[: found.start()].split()
        is_noun = bool(before) and not cues.is_unspaced and cues.article.fullmatch(before[-1])
        answer = NEXT_WORD.match(plain, found.end())
        if not is_noun and not (answer and answer.group(1) in ANSWER_WORDS):
            return found
    return None


def _ends_with_teller(matched: MatchedClause, at: int) -> bool:
    """Return whether a sentence ends soon after its verb of saying: "…, Marta says"."""
    rest = matched.plain[at:].strip(" .!?。！？")
    if matched.cues.is_unspaced:
        return not get_traits(matched.cues.language).is_han or len(rest) <= 1
    return len(rest.split()) <= MAX_TRAILING_WORDS


def _get_teller(matched: MatchedClause, at: int) -> str:
    """Return the words that name the reporter: those before the verb, or its clause up to it."""
    if at <= matched.first_shared:
        return matched.plain[:at]
    if matched.cues.is_unspaced:
        return matched.plain[: matched.first_shared]
    starts = [start for start, _ in split_clause_bounds(matched.plain, matched.cues) if start <= at]
    return matched.plain[starts[-1] : at]


def is_about_other_person(claim: Claim, matched: MatchedClause, view: SegmentView) -> bool:
    """Return whether the nearest person named before the shared words is somebody else."""
    markers = sorted(_iter_markers(matched, view))
    begin = max(
        _get_quotation_end(matched),
        *(matched.plain.rfind(each, 0, matched.first_shared) for each in ";:"),
    )
    ahead = [each for each in markers if begin <= each.at < matched.first_shared]
    if _is_cleft(claim, matched, markers) or _is_relative_clause(claim, matched):
        return True
    if not any(each.at >= matched.start for each in ahead) and _is_contrasted(claim, matched):
        return True
    if _has_other_possessive(matched):
        return not _names_relative(claim, matched) and not _names_earlier_referent(
            claim, matched, view
        )
    if ahead and _switches_to_speaker(matched, ahead[-1].at):
        return False
    if not ahead or ahead[-1].is_self or _is_about_named(claim, matched):
        return False
    if _is_job_title(ahead[-1], matched):
        return False
    concerns_speaker = any(
        each.is_self and matched.first_shared <= each.at < matched.end for each in markers
    )
    others = (each.name for each in ahead if not each.is_self)
    if concerns_speaker or any(_names_person(claim, name, matched) for name in others):
        return False
    is_pronoun = matched.cues.other.match(ahead[-1].name) is not None
    return not (is_pronoun and _names_earlier_referent(claim, matched, view))


def _switches_to_speaker(matched: MatchedClause, at: int) -> bool:
    """Return whether a "but" follows somebody's name, and the speaker is named after it."""
    buts = [
        each.end()
        for each in matched.cues.contrast.finditer(matched.plain, at, matched.first_shared)
    ]
    return bool(buts) and matched.cues.self.search(matched.plain, buts[-1]) is not None


def _is_job_title(marker: SubjectMarker, matched: MatchedClause) -> bool:
    """Return whether a doctor or boss is the subject of another clause, with "I" left out."""
    is_apart = matched.cues.is_unspaced and marker.at < matched.start
    is_family = bool(find_relatives(marker.name, matched.cues.language))
    return is_apart and not is_family and matched.cues.kin.search(marker.name) is not None


def _is_about_named(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the clause names somebody whom the claim names."""
    clause = matched.clause.casefold()
    return any(name and name.casefold() in clause for name in claim.names)


def _has_other_possessive(matched: MatchedClause) -> bool:
    """Return whether "his" or "her" stands directly before the shared words.

    After a verb of saying it names the hearer: "told her aspirin harms me".
    """
    before = matched.before
    found = list(matched.cues.theirs.finditer(before))
    if not found or before[found[-1].end() :].strip():
        return False
    said = before[: found[-1].start()].split()[-1:]
    return not (said and matched.cues.says.fullmatch(said[0]))


def _names_relative(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether a claim names a relative, or anybody else, named in the sentence."""
    kin = (found.group() for found in matched.cues.kin.finditer(matched.before))
    return any(_names_person(claim, name, matched) for name in kin)


def _get_quotation_end(matched: MatchedClause) -> int:
    """Return the end of the last quotation before the shared words: reported speech ends there."""
    quotations = (
        each.end for each in find_quotations(matched.sentence) if each.end <= matched.first_shared
    )
    return max(quotations, default=0)


def _names_earlier_referent(claim: Claim, matched: MatchedClause, view: SegmentView) -> bool:
    """Return whether a claim says who "she" is: somebody or something named before, or known."""
    language = matched.cues.language
    sentence_terms = extract_terms(matched.sentence, language)
    claim_terms = extract_terms(claim.text, language)
    unexplained = [
        each
        for each in claim_terms
        if each not in find_shared_terms(claim_terms, sentence_terms, language)
    ]
    texts = [message.text for message in view.all_messages if message.trust == "person"]
    texts += [memory.text for memory in view.known.values()]
    earlier_terms = [term for text in texts for term in extract_terms(text, language)]
    return bool(find_shared_terms(unexplained, earlier_terms, language))


def _is_contrasted(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether an unknown name begins the clause, and the speaker is another's subject."""
    clause = matched.sentence[matched.start : matched.first_shared]
    others = matched.plain[: matched.start] + matched.plain[matched.end :]
    if matched.cues.subject.search(others) is None or matched.cues.self.search(matched.clause):
        return False
    language = matched.cues.language
    words = [found.group() for found in WORD.finditer(matched.sentence, matched.start)]
    first = len(WORD.findall(clause))
    before = ["", *words]
    for word, behind in list(pairwise([*words, ""]))[: min(first, SUBJECT_WINDOW)]:
        if matched.cues.article.fullmatch(before[words.index(word)].lower()):
            continue  # a noun: German capitalizes them
        is_of_matter = bool(extract_terms(word, language)) and not is_date_word(word, language)
        if is_of_matter and word[0].isupper():
            is_verb = behind in AUXILIARIES or behind.endswith(("s", "ed"))
            return (language != "en" or is_verb) and not _names_person(claim, word.lower(), matched)
    return False


def _is_relative_clause(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the clause is about the person named just before it: "Mia, who …"."""
    found = matched.cues.who.match(matched.clause.lstrip())
    before = WORD.findall(matched.sentence[: matched.start])
    if found is None or matched.cues.is_unspaced or not before:
        return False
    is_somebody = before[-1][0].isupper() or matched.cues.kin.fullmatch(before[-1].lower())
    is_parted = matched.plain[: matched.start].rstrip().endswith(",")
    return bool(is_somebody and is_parted) and not _names_person(claim, before[-1].lower(), matched)


def _is_cleft(claim: Claim, matched: MatchedClause, markers: Sequence[SubjectMarker]) -> bool:
    """Return whether the clause ends with its subject: "the one with asthma is my aunt"."""
    inside = [each for each in markers if matched.start <= each.at < matched.end]
    behind = [each for each in inside if each.at > matched.first_shared and not each.is_self]
    if not behind or any(each.is_self for each in inside):
        return False
    between = matched.plain[matched.first_shared : behind[0].at]
    found = list(matched.cues.copula.finditer(between))
    is_said = bool(found) and len(between[found[-1].end() :].split()) < SUBJECT_WINDOW
    return is_said and not _names_person(claim, behind[0].name, matched)


def _iter_markers(matched: MatchedClause, view: SegmentView) -> Iterator[SubjectMarker]:
    """Yield where a sentence names the speaker or somebody else, and in which words."""
    cues, plain = matched.cues, matched.plain
    others = [
        (found.start(), found.end())
        for pattern in (cues.kin, cues.other)
        for found in pattern.finditer(plain)
    ]
    others += _iter_name_spans(plain, view, cues)
    starts = []
    for start, end in others:
        if plain.startswith("が", end) and start < matched.start:
            continue  # the subject of another clause only
        is_named = not _is_predicate(plain, start, cues)
        if (
            is_named
            and not _is_object(matched, start)
            and not _is_accompanying(plain, start, end, cues)
        ):
            name = plain[start:end] + _get_following_name(matched.sentence, end)
            starts.append(start)
            yield SubjectMarker(start, is_self=False, name=name)
    for found in cues.self.finditer(plain):
        if not any(0 <= start - found.start() <= len(found.group()) + 2 for start in starts):
            yield SubjectMarker(found.start(), is_self=True, name=found.group())


def _is_predicate(plain: str, at: int, cues: AttributionCues) -> bool:
    """Return whether a word says what somebody is, rather than who: "it's a girl"."""
    words = plain[:at].split()
    if (
        cues.is_unspaced
        or len(words) < MIN_PREDICATE_WORDS
        or not cues.article.fullmatch(words[-1])
    ):
        return False
    return cues.copula.fullmatch(words[-2]) is not None or words[-2] in CONTRACTED_COPULAS


def _is_object(matched: MatchedClause, at: int) -> bool:
    """Return whether the speaker is the subject of the clause that names somebody else."""
    cues = matched.cues
    if cues.is_unspaced:
        return False
    start = max(a for a, b in split_clause_bounds(matched.plain, cues) if a <= at)
    before = matched.plain[start:at]
    subjects = list(cues.self.finditer(before.rstrip()))
    if not subjects or subjects[0].end() == len(before.rstrip()):
        return False
    between = before[subjects[0].end() :]
    tells = (cues.says.search(between), cues.own_says.search(before), cues.that.search(between))
    return not any(tells)


def _get_following_name(sentence: str, at: int) -> str:
    """Return the name that follows a relation: "my sister Hannah"."""
    word = NEXT_WORD.match(sentence, at)
    return f" {word.group(1)}".lower() if word and word.group(1)[0].isupper() else ""


def _iter_name_spans(
    plain: str, view: SegmentView, cues: AttributionCues
) -> Iterator[tuple[int, int]]:
    for name in view.names:
        at = plain.find(name) if len(name) > 1 else -1
        while at >= 0:
            end = at + len(name)
            is_whole = not plain[at - 1 : at].isalnum() and not plain[end : end + 1].isalnum()
            if is_whole or cues.is_unspaced:
                yield at, end
            at = plain.find(name, end)


def _is_accompanying(plain: str, start: int, end: int, cues: AttributionCues) -> bool:
    """Return whether somebody only accompanies: "with my sister", 和妹妹, 妹と."""
    traits = get_traits(cues.language)
    if traits.is_cjk and not traits.is_han:
        return cues.governing_word.match(plain, end) is not None
    if traits.is_han and cues.other.match(plain, start) and plain[start - 1 : start].isalpha():
        return True
    if cues.is_unspaced:
        head = plain[max(0, start - 3) : start].rstrip("我你他她的")
        return any(head.endswith(each) for each in _list_endings(cues))
    words = plain[:start].split()
    while words and (cues.self.fullmatch(words[-1]) or cues.article.fullmatch(words[-1])):
        words.pop()
    return bool(words) and cues.governing_word.fullmatch(words[-1].strip(",.")) is not None


def _list_endings(cues: AttributionCues) -> list[str]:
    return [each for each in cues.governing_word.pattern.split("|") if each]


def _ends_with_self(teller: str, cues: AttributionCues) -> bool:
    """Return whether the words before "says" end with the speaker as their subject."""
    own = [found.start() for found in cues.subject.finditer(teller)]
    others = [found.start() for name in (cues.kin, cues.other) for found in name.finditer(teller)]
    return bool(own) and own[-1] > max(others, default=-1)


def _names_person(claim: Claim, words: str, matched: MatchedClause) -> bool:
    """Return whether a claim names somebody named in a sentence, or the same sort of relative."""
    language = matched.cues.language
    ours = extract_terms(claim.text, language)
    if find_shared_terms(extract_terms(words, language), ours, language):
        return True
    at = matched.plain.find(words)
    near = matched.plain[max(0, at) : at + len(words) + 1] if matched.cues.is_unspaced else words
    if find_relatives(near, language) & find_relatives(claim.text, language):
        return True
    return any(name and name.casefold() in words for name in claim.names)


def is_second_person(claim: Claim, matched: MatchedClause) -> bool:
    """Return whether the clause addresses somebody, without the speaker; promises may do so."""
    if claim.kind == "commitment":
        return False
    return matched.cues.you.search(matched.clause) is not None and not matched.cues.self.search(
        matched.plain
    )
