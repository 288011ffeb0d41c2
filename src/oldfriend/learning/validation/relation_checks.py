"""Relation checks: accepts a relation if both ends are named in the quote and may be related so.

What others say relates only themselves. Checked by names and by the author of the words; which kind
of relation the words express is left to the extractor.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, Literal, cast, get_args

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import Entity, EntityKind, RelationType
from oldfriend.domain.messages import Message
from oldfriend.domain.relations import build_edge, is_valid_relation
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.learning.extraction import EntityMention, RelationClaim
from oldfriend.learning.validation.clauses import split_clauses
from oldfriend.learning.validation.cue_words import fold_characters
from oldfriend.learning.validation.entity_names import is_name_in, is_valid_name
from oldfriend.learning.validation.evidence_checks import validate_evidence
from oldfriend.learning.validation.grounding import get_nearby_messages
from oldfriend.learning.validation.irony_and_refusal import check_irony
from oldfriend.learning.validation.modality import has_negation, take_first_words
from oldfriend.learning.validation.normalization import finalize_claim, normalize_claim
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.safety import check_prompt_injection, check_secret
from oldfriend.learning.validation.schema_checks import check_ranges, check_times
from oldfriend.learning.validation.segment_view import (
    SegmentView,
    ValidationCase,
    get_span_cue_words,
)
from oldfriend.learning.validation.text_quality import (
    check_confidence,
    check_length,
    check_pronouns,
)
from oldfriend.search.tokenizer import tokenize

RelationCue = Literal[
    "partner", "parent", "child", "sibling", "relative", "friend", "colleague", "home", "work"
]
CUES_BY_RELATION: Final[Mapping[RelationType, frozenset[RelationCue]]] = {
    "partner_of": frozenset({"partner"}),
    "parent_of": frozenset({"parent", "child"}),
    "child_of": frozenset({"parent", "child"}),
    "sibling_of": frozenset({"sibling"}),
    "relative_of": frozenset({"relative", "parent", "child", "sibling", "partner"}),
    "friend_of": frozenset({"friend", "colleague", "partner"}),
    "colleague_of": frozenset({"colleague", "friend", "work"}),
    "lives_in": frozenset({"home"}),
    "works_at": frozenset({"work", "colleague"}),
}
EXPLICIT_ONLY: Final[frozenset[RelationType]] = frozenset({"partner_of"})
"""Relations that are not believed until they are stated explicitly."""
MAX_REFERRING_WORDS: Final = 5
"""Words of a sentence that may leave out whom it is about: "es mi hermana", "hes my brother"."""
PLACE_CUES: Final[frozenset[RelationCue]] = frozenset({"home", "work"})

RELATION_CHECKS: Final = (
    check_ranges,
    check_times,
    check_length,
    check_pronouns,
    check_confidence,
    check_secret,
    check_prompt_injection,
    check_irony,
)


def validate_relation(
    relation: RelationClaim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> RelationClaim | RejectionReason:
    """Return a relation as it may be believed, or the first reason against it."""
    supporting = validate_evidence(relation.claim, spans, view)
    if isinstance(supporting, str):
        return supporting
    case = ValidationCase(claim=normalize_claim(relation.claim, view), spans=supporting, view=view)
    rejection = next(
        (rejection for check in RELATION_CHECKS if (rejection := check(case)) is not None), None
    )
    rejection = (
        rejection
        or check_ends(relation, supporting, view)
        or check_relation_cues(relation, case)
        or check_visit(case)
    )
    if rejection is not None:
        return rejection
    value = list_end_names(relation.second or relation.first, view)[0]
    return replace(relation, claim=replace(finalize_claim(case), value=value))


def check_ends(
    relation: RelationClaim, spans: Sequence[QuoteSpan], view: SegmentView
) -> RejectionReason | None:
    """Reject ends that are unnamed, not mentioned nearby, or cannot be related so."""
    ends = [each for each in (relation.first, relation.second) if each]
    names = [list_end_names(each, view) for each in ends]
    if not all(any(is_valid_name(name, view) for name in each) for each in names):
        return "unfit name"
    if is_same_entity(names):
        return "unfit name"
    sentences = [span.sentence_text for span in spans]
    case = ValidationCase(claim=relation.claim, spans=tuple(spans), view=view)
    nearby_texts = [message.text for span in spans for message in get_nearby_messages(span, case)]
    speakers = [span.message.speaker for span in spans if span.message.trust == "other"]
    are_near = all(is_named_in(each, [*nearby_texts, *speakers]) for each in names)
    is_named = any(is_named_in(each, sentences) for each in names)
    if not are_near or not (is_named or all(is_referred_to(names, span, view) for span in spans)):
        return "unfit name"
    if not all(is_named_in(each, [relation.claim.text]) for each in names):
        return "unfit name"
    if speakers and not is_named_in(list_end_names(relation.first, view), speakers):
        return "words of another"
    return None if is_valid_edge(relation, view) else "unfit kind"


def is_referred_to(ends: Sequence[tuple[str, ...]], span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether a sentence has a pronoun for an end: the only name in what was said before.

    "Saw Ana today." "She's my sister."
    """
    cue_words, sentence = get_span_cue_words(span), fold_characters(span.sentence_text)
    is_short = len(tokenize(sentence)) <= MAX_REFERRING_WORDS
    has_pronoun = cue_words.pronoun.search(sentence) or cue_words.leading_pronoun.search(sentence)
    if list_named(sentence, ends, view) or not (is_short or has_pronoun):
        return False
    own = [each for each in view.list_before(span.message) if is_same_speaker(each, span.message)]
    start = span.message.text.find(span.sentence_text)
    for text in (span.message.text[: max(start, 0)], *(each.text for each in own[-1:])):
        if named := list_named(text, ends, view):
            return len(named) == 1 and any(not named[0].isdisjoint(fold_names(e)) for e in ends)
    return False


def is_same_speaker(one: Message, other: Message) -> bool:
    """Return whether two messages have the same author."""
    return (one.trust, one.speaker) == (other.trust, other.speaker)


def list_named(
    text: str, ends: Iterable[tuple[str, ...]], view: SegmentView
) -> list[frozenset[str]]:
    """Return the folded names of each of some ends and known entities that a text names."""
    known: list[Entity | EntityMention] = [*view.inputs.entities, *view.mentions]
    names = [*ends, *((each.name, *each.aliases) for each in known)]
    return [each for each in dict.fromkeys(map(fold_names, names)) if is_named_in(each, [text])]


def fold_names(names: Iterable[str]) -> frozenset[str]:
    """Return names without regard to capitals."""
    return frozenset(name.casefold() for name in names)


def check_relation_cues(relation: RelationClaim, case: ValidationCase) -> RejectionReason | None:
    """Reject words that express another relation, or this one in reverse."""
    text = " ".join(span.sentence_text for span in case.spans)
    nearby = " ".join(each.text for span in case.spans for each in get_nearby_messages(span, case))
    language = get_evidence_language(case)
    is_over = relation.claim.holds_until is not None
    is_breakup = is_over and relation.kind == "partner_of" and has_breakup(text, language=language)
    if not (
        is_breakup or can_support_relation(relation.kind, text, nearby=nearby, language=language)
    ):
        return "unfounded"
    is_denied = not is_over and is_partner_denied(relation, case)
    if is_workplace_unproven(relation, case) or is_denied or is_impossible_child(relation, case):
        return "unfounded"
    is_own = not (relation.first and relation.second)
    is_backwards = is_own and is_reversed(
        relation.kind, text, by_first=not relation.first, language=language
    )
    return "unfounded" if is_backwards else None


def is_workplace_unproven(relation: RelationClaim, case: ValidationCase) -> bool:
    """Return whether a work relation to a town rests on words that only say somebody is there."""
    if relation.kind != "works_at" or get_end_kind(relation.second, case.view) != "place":
        return False
    clauses = list_clauses_naming(list_end_names(relation.second, case.view), case)
    cue_sets = [find_relation_cues(each, get_evidence_language(case)) for each in clauses]
    return not any("work" in cues and "home" not in cues for cues in cue_sets)


def is_partner_denied(relation: RelationClaim, case: ValidationCase) -> bool:
    """Return whether one of the two is named only to say that they are not the other."""
    if relation.kind != "partner_of" or not (relation.first and relation.second):
        return False
    cue_words, language = get_span_cue_words(case.spans[0]), get_evidence_language(case)
    ends = [list_end_names(each, case.view) for each in (relation.first, relation.second)]
    clause_lists = [
        [truncate_after_name(each, names) for each in list_clauses_naming(names, case)]
        for names in ends
    ]
    return any(
        bool(clauses) and all(has_negation(each, language, cue_words) for each in clauses)
        for clauses in clause_lists
    )


def truncate_after_name(clause: str, names: Sequence[str]) -> str:
    """Return a clause up to a name and a few words after it: the rest denies other things."""
    ends = [clause.find(name) + len(name) for name in map(fold_characters, names) if name in clause]
    end = min(ends)
    return clause[:end] + take_first_words(clause[end:])


def is_impossible_child(relation: RelationClaim, case: ValidationCase) -> bool:
    """Return whether somebody who had a child would be their own child."""
    child = {"child_of": relation.first, "parent_of": relation.second}.get(relation.kind, "")
    text = " ".join(span.sentence_text for span in case.spans)
    return any(
        has_given_birth(name, text, language=get_evidence_language(case))
        for name in (list_end_names(child, case.view) if child else ())
    )


def list_clauses_naming(names: Iterable[str], case: ValidationCase) -> list[str]:
    """Return the clauses of the quoted sentences that name somebody."""
    clauses = [each.text for span in case.spans for each in split_clauses(span.sentence_text)]
    return [each for each in clauses if any(fold_characters(name) in each for name in names)]


def get_evidence_language(case: ValidationCase) -> str:
    """Return the language of the evidence."""
    return case.spans[0].message.language or case.view.language


def check_visit(case: ValidationCase) -> RejectionReason | None:
    """Reject a visit that is still in the future."""
    claim = case.claim
    if claim.key != "visited" or claim.holds_from is None:
        return None
    last_said_at = max(span.message.at for span in case.spans)
    return "impossible time" if claim.holds_from > last_said_at + DAY else None


def list_end_names(end: str, view: SegmentView) -> tuple[str, ...]:
    """Return all names of the entity at an end, given by id or name."""
    for entity in view.inputs.entities:
        names = (entity.name, *entity.aliases)
        if end == entity.id or end.casefold() in {name.casefold() for name in names}:
            return names
    for mention in view.mentions:
        names = (mention.name, *mention.aliases)
        if end.casefold() in {name.casefold() for name in names}:
            return names
    return (end,)


def is_same_entity(names: Sequence[tuple[str, ...]]) -> bool:
    """Return whether both ends have a name in common."""
    folded = [{name.casefold() for name in each} for each in names]
    return len(folded) > 1 and not folded[0].isdisjoint(folded[1])


def is_named_in(names: Iterable[str], texts: Sequence[str]) -> bool:
    """Return whether one of the texts contains one of the names."""
    return any(is_name_in(name, texts) for name in names)


def is_valid_edge(relation: RelationClaim, view: SegmentView) -> bool:
    """Return whether the relation exists, and fits the kinds of both ends."""
    ends = [
        EntityId(ObjectId(each)) if each else None for each in (relation.first, relation.second)
    ]
    if build_edge(relation.kind, ends[0], ends[1]) is None:
        return False
    kinds = [get_end_kind(each, view) for each in (relation.first, relation.second)]
    return is_valid_relation(relation.kind, kinds[0], kinds[1])


def get_end_kind(end: str, view: SegmentView) -> EntityKind:
    """Return the kind of the entity at an end; "other" if unknown."""
    if not end:
        return "person"
    known: list[Entity | EntityMention] = [*view.inputs.entities, *view.mentions]
    names = {name.casefold() for name in list_end_names(end, view)}
    return next((each.kind for each in known if each.name.casefold() in names), "other")


def can_support_relation(kind: RelationType, text: str, *, nearby: str, language: str) -> bool:
    """Return whether words can express a relation: they name it, or no other of its sort.

    ``nearby`` is the text around them.
    """
    wanted = CUES_BY_RELATION.get(kind)
    if wanted is None:
        return True
    named = find_relation_cues(text, language)
    if wanted & named:
        return True
    if kind in EXPLICIT_ONLY:
        return not named - PLACE_CUES and bool(wanted & find_relation_cues(nearby, language))
    same_sort = (
        PLACE_CUES if wanted & PLACE_CUES else frozenset(load_relation_cues(language)) - PLACE_CUES
    )
    return not named & same_sort


def is_reversed(kind: RelationType, text: str, *, by_first: bool, language: str) -> bool:
    """Return whether the words name a parent where the relation says child, or vice versa."""
    named = find_relation_cues(text, language) & {"parent", "child"}
    if kind not in {"parent_of", "child_of"} or len(named) != 1:
        return False
    other_is_parent = (kind == "child_of") == by_first
    return other_is_parent != (named == {"parent"})


def has_given_birth(name: str, text: str, *, language: str) -> bool:
    """Return whether a text says that somebody had a child."""
    verb = load_relation_lists(language)["birth"]
    return (
        re.search(
            rf"{re.escape(fold_characters(name))}{verb}", fold_characters(text), re.IGNORECASE
        )
        is not None
    )


def has_breakup(text: str, *, language: str) -> bool:
    """Return whether a text says that a couple has separated."""
    return (
        re.search(load_relation_lists(language)["parted"], fold_characters(text), re.IGNORECASE)
        is not None
    )


def find_relation_cues(text: str, language: str) -> frozenset[RelationCue]:
    """Return the relation cues in a text."""
    plain = fold_characters(text)
    found = {cue for cue, pattern in load_relation_cues(language).items() if pattern.search(plain)}
    return frozenset(found)


@cache
def load_relation_cues(language: str) -> Mapping[RelationCue, re.Pattern[str]]:
    """Load the patterns for the relation cues of a language."""
    return {
        cast(RelationCue, cue): re.compile(pattern, re.IGNORECASE)
        for cue, pattern in load_relation_lists(language).items()
        if cue in get_args(RelationCue)
    }


@cache
def load_relation_lists(language: str) -> Mapping[str, str]:
    """Load all lists of a language."""
    return load_language_pack(choose_language_with("relation_cues", language)).read("relation_cues")
