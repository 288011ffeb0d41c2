"""Evidence checks: decides whether quotes support a claim, by their author and how they were said.

What others say is evidence about themselves; pasted text supports only "read in …". The companion's
own words prove two things: what it promised, and what it thinks of a topic.

Nobody else can supply its views: one from forwarded words is not its own, though a change of mind
also needs the person's words. A view on the person's life counts only if they asked: advice must
not differ from one day to the next, so the answer counts then. A judgment of a person never counts.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import dropwhile, takewhile
from typing import Final, TypeAlias

from oldfriend.domain.belief_kinds import KINDS_BY_NAME, OwnWordsRule
from oldfriend.domain.memories import EntityKind
from oldfriend.domain.messages import Message, TrustClass, can_be_evidence
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.critical_tokens import extract_critical_tokens
from oldfriend.learning.extraction import ENDING_EFFECTS, Claim
from oldfriend.learning.validation.clauses import (
    find_closest_clauses,
    get_content_stems,
    split_clauses,
)
from oldfriend.learning.validation.cue_words import fold_characters, get_cue_words
from oldfriend.learning.validation.grounding import (
    collect_content_stems,
    get_nearby_messages,
    get_shared_part,
    has_shared_stems,
)
from oldfriend.learning.validation.modality import check_stated_modality, has_negation
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import (
    SegmentView,
    ValidationCase,
    get_span_cue_words,
)
from oldfriend.learning.validation.speech_acts import (
    check_speech_act,
    find_previous_message,
    is_bare_assent,
    is_pure_question,
)
from oldfriend.learning.validation.tone import has_clinical_label
from oldfriend.learning.validation.tone_of_judgment import has_character_judgement
from oldfriend.search.name_index import NameIndex
from oldfriend.search.tokenizer import is_unspaced, stem_word, tokenize

OwnWordsCheck: TypeAlias = Callable[
    [Claim, tuple[QuoteSpan, ...], SegmentView], RejectionReason | None
]

MAX_TOPIC_LENGTH: Final = 40
MIN_STATED_PART: Final = 0.5
"""Share of a view's words that must be said if its topic is not."""
LIVING_KINDS: Final[frozenset[EntityKind]] = frozenset({"person", "pet"})
EXTERNAL_TRUST: Final[frozenset[TrustClass]] = frozenset({"outside", "other", "tool"})
"""Authors whose words cannot be the source of a view."""


def validate_evidence(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> tuple[QuoteSpan, ...] | RejectionReason:
    """Return the spans that support a claim, or why none does."""
    kind = KINDS_BY_NAME[claim.kind]
    language = detect_language(claim.text, fallback=view.language)
    if (rejection := check_stated_modality(claim, language, get_cue_words(language))) is not None:
        return rejection
    if kind.own_words is not None and (claim.subject == "companion" or kind.is_companions):
        return OWN_WORDS_CHECKS[kind.own_words](claim, spans, view) or spans
    if any(span.message.trust == "outside" for span in spans):
        return check_outside_source(claim, spans, view) or spans
    allowed = tuple(span for span in spans if is_allowed_author(claim, span))
    if not allowed:
        return get_author_rejection(spans)
    rejections = [check_speech_act(claim, span, view) for span in allowed]
    supporting = tuple(
        span for span, rejection in zip(allowed, rejections, strict=True) if rejection is None
    )
    return add_answered_question(supporting, spans, view) or next(filter(None, rejections))


def is_allowed_author(claim: Claim, span: QuoteSpan) -> bool:
    """Return whether this author's words may support a claim of this kind."""
    message = span.message
    if message.trust == "other":
        return is_self_report(claim, message)
    return can_be_evidence(message.trust) and message.role != "marker"


def is_self_report(claim: Claim, message: Message) -> bool:
    """Return whether a claim about somebody else rests on their own words, and names them."""
    names = [message.speaker, *message.speaker.split()[:1]]
    is_named = any(name and name.casefold() in claim.text.casefold() for name in names)
    return claim.subject == "other" and KINDS_BY_NAME[claim.kind].may_rest_on_others and is_named


def get_author_rejection(spans: Iterable[QuoteSpan]) -> RejectionReason:
    """Return why words that are not the person's support nothing."""
    trusts = {span.message.trust for span in spans}
    if "other" in trusts:
        return "words of another"
    return "companion's words" if "companion" in trusts else "not evidence"


def check_outside_source(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> RejectionReason | None:
    """Return why outside words do not support a claim; only new "read in …" events may use them."""
    cue_word_lists = [get_cue_words(view.language), *(get_span_cue_words(span) for span in spans)]
    names_source = any(
        each.source_prefix.search(fold_characters(claim.text)) for each in cue_word_lists
    )
    is_whole = all(span.message.trust in {"outside", "person"} for span in spans)
    if claim.kind == "event" and claim.effect == "new" and names_source and is_whole:
        return None
    return "outside words"


def add_answered_question(
    supporting: tuple[QuoteSpan, ...], spans: tuple[QuoteSpan, ...], view: SegmentView
) -> tuple[QuoteSpan, ...]:
    """Add the companion's question if the person only said yes to it."""
    answers = [span for span in supporting if is_bare_assent(span.text, get_span_cue_words(span))]
    question_ids = {
        question.id
        for span in answers
        if (question := find_previous_message(span, view)) is not None
    }
    return tuple(
        span
        for span in spans
        if span in supporting
        or (span.message.trust == "companion" and span.message.id in question_ids)
    )


def check_promise(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> RejectionReason | None:
    """Return why a promise of the companion does not hold; None if it does."""
    own_spans = [span for span in spans if span.message.trust == "companion"]
    if any(span.message.trust == "outside" for span in spans):
        return "promise without word"
    if claim.effect in ENDING_EFFECTS:
        return None  # keeping a promise needs no further promise
    if not own_spans:
        return "promise without word"
    promised = [span for span in own_spans if is_promise(span)]
    if not promised:
        return "promise without word"
    if claim.due_at is None or not any(has_named_time(span, view) for span in promised):
        return "promise without time"
    return "promise refused" if any(is_refused(span, view) for span in promised) else None


def is_promise(span: QuoteSpan) -> bool:
    """Return whether words promise; in a language without word lists, whether they do not ask."""
    if span.message.language not in list_languages("evidence_cues"):
        return "?" not in fold_characters(span.sentence_text)
    return get_span_cue_words(span).promise.search(fold_characters(span.sentence_text)) is not None


def has_named_time(span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether the promising message, or the one it answers, says when.

    In a language without word lists the time that the claim gives is enough.
    """
    if span.message.language not in list_languages("evidence_cues"):
        return True
    messages = [*view.list_before(span.message)[-1:], span.message]
    cue_words = get_span_cue_words(span)
    return any(cue_words.named_time.search(fold_characters(message.text)) for message in messages)


def is_refused(span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether the person's next message refuses the promise."""
    after = view.list_after(span.message)
    answer = next((each for each in after if each.trust == "person"), None)
    if answer is None:
        return False
    return get_cue_words(answer.language).refusal.search(fold_characters(answer.text)) is not None


def check_own_view(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> RejectionReason | None:
    """Return why a claim is no view of the companion; None if it is one."""
    own_spans = [span for span in spans if span.message.trust == "companion"]
    other_trusts = {span.message.trust for span in spans} - {"companion"}
    if not own_spans or (
        other_trusts and (claim.effect != "supersedes" or other_trusts != {"person"})
    ):
        return "not its own words"
    if claim.effect == "supersedes" and not other_trusts:
        return "not its own words"
    if all(
        is_pure_question(span.sentence_text, get_span_cue_words(span), span.message.language)
        for span in own_spans
    ):
        return "question"
    if any(is_from_outside(claim, span, view) for span in own_spans):
        return "outside words"
    questions = list_questions_before(own_spans, view)
    if (
        not is_valid_topic(claim.key)
        or not is_stated(claim, own_spans, questions, view)
        or is_polarity_flipped(claim, own_spans)
    ):
        return "unfounded"
    if is_off_topic(claim, own_spans):
        return "unfounded"
    may_state = not is_about_someones_life(claim, own_spans, view) or (
        was_asked_about(claim, own_spans, questions, view) and is_own_view(claim, own_spans)
    )
    return None if may_state else "about another"


def is_valid_topic(key: str) -> bool:
    """Return whether a topic is a few words."""
    return any(character.isalpha() for character in key) and len(key) <= MAX_TOPIC_LENGTH


def list_questions_before(own_spans: list[QuoteSpan], view: SegmentView) -> tuple[Message, ...]:
    """Return the person's questions just before the companion's words."""
    return tuple(
        message
        for span in own_spans
        for message in iter_person_messages_before(span, view)
        if is_pure_question(message.text, get_cue_words(message.language), message.language)
    )


def iter_person_messages_before(span: QuoteSpan, view: SegmentView) -> Iterable[Message]:
    """Return the person's messages that the companion's message answers."""
    before = reversed(view.list_before(span.message))
    before = dropwhile(lambda each: each.trust == "companion", before)
    return takewhile(lambda each: each.trust == "person", before)


def was_asked_about(
    claim: Claim, own_spans: list[QuoteSpan], asked: tuple[Message, ...], view: SegmentView
) -> bool:
    """Return whether the person asked about the view's subject.

    What they said along with the question counts, too; names count if they are the topic. A topic
    word ("telling") may have another form that is mostly a stop word ("tell").
    """
    if not asked or not has_same_language(claim, own_spans):
        return bool(asked)
    language = detect_language(claim.text, fallback=own_spans[0].message.language)
    cue_words, topic = (
        get_cue_words(language),
        get_content_stems(fold_characters(claim.key), language),
    )
    texts = [
        fold_characters(each.text)
        for span in own_spans
        for each in iter_person_messages_before(span, view)
    ]
    heard_stems = collect_content_stems(texts, language) | topic & get_all_stems(texts, language)
    opening_phrases = (
        found[0]
        for span in own_spans
        for found in cue_words.judgement_statement.finditer(fold_characters(span.sentence_text))
    )
    view_stems = get_content_stems(
        cue_words.low_content_word.sub(" ", fold_characters(claim.text)), language
    )
    subject_stems = topic | view_stems - collect_known_names(claim, own_spans, view, language)
    return has_shared_stems(
        subject_stems - collect_content_stems(opening_phrases, language), heard_stems
    )


def get_all_stems(texts: Iterable[str], language: str) -> frozenset[str]:
    """Return the stems of all words in texts, including stop words."""
    return frozenset(stem_word(word, language) for text in texts for word in tokenize(text))


def is_own_view(claim: Claim, own_spans: list[QuoteSpan]) -> bool:
    """Return whether the companion says "I think", without judging anybody's character."""
    if not any(
        get_span_cue_words(span).judgement_statement.search(fold_characters(span.text))
        for span in own_spans
    ):
        return False
    language = detect_language(claim.text, fallback=own_spans[0].message.language)
    if get_cue_words(language).addressee.search(fold_characters(claim.text)):
        return False  # a belief stands alone and addresses nobody
    return not has_clinical_label(claim.text) and not has_character_judgement(
        claim.text, language=language
    )


def is_stated(
    claim: Claim, own_spans: list[QuoteSpan], asked: tuple[Message, ...], view: SegmentView
) -> bool:
    """Return whether the words contain the claim, if both are in one language.

    The question may supply the topic, but neither it nor names supply the view.
    """
    if not has_same_language(claim, own_spans):
        return True
    language = detect_language(claim.text, fallback=own_spans[0].message.language)
    heard_stems = get_content_stems(" ".join(span.sentence_text for span in own_spans), language)
    mentioned_stems = heard_stems | get_content_stems(
        " ".join(each.text for each in asked), language
    )
    topic, names = (
        get_content_stems(claim.key, language),
        collect_known_names(claim, own_spans, view, language),
    )
    view_stems = get_content_stems(claim.text, language)
    is_named = has_shared_stems(topic, mentioned_stems) and has_shared_stems(
        view_stems - topic - names, heard_stems
    )
    return is_named or get_shared_part(view_stems - names, heard_stems) >= MIN_STATED_PART


def collect_known_names(
    claim: Claim, own_spans: list[QuoteSpan], view: SegmentView, language: str
) -> frozenset[str]:
    """Return the stems of all names that are known, claimed or mentioned."""
    texts = [claim.text, *(span.sentence_text for span in own_spans)]
    written = (name for text in texts for name in extract_critical_tokens(text, language).names)
    return collect_content_stems(
        [view.inputs.person.name, *view.names, *claim.names, *written], language
    )


def has_same_language(claim: Claim, own_spans: list[QuoteSpan]) -> bool:
    """Return whether claim and words are in one language."""
    default = own_spans[0].message.language
    text = " ".join(span.sentence_text for span in own_spans)
    return detect_language(claim.text, fallback=default) == detect_language(text, fallback=default)


def is_polarity_flipped(claim: Claim, own_spans: list[QuoteSpan]) -> bool:
    """Return whether the claim negates what the words do not, or the words negate all of it."""
    if not has_same_language(claim, own_spans):
        return False
    language = detect_language(claim.text, fallback=own_spans[0].message.language)
    cue_words = get_cue_words(language)
    heard_stems = get_content_stems(" ".join(span.sentence_text for span in own_spans), language)
    parts = [each.text for each in split_clauses(claim.text)]
    stated_parts = [
        each for each in parts if has_shared_stems(get_content_stems(each, language), heard_stems)
    ] or parts
    if all(has_negation(each, language, cue_words) for each in stated_parts):
        return not any(has_negation(span.sentence_text, language, cue_words) for span in own_spans)
    clauses = [each for span in own_spans for each in find_closest_clauses(claim, span)]
    return bool(clauses) and all(has_negation(each.text, language, cue_words) for each in clauses)


def is_off_topic(claim: Claim, own_spans: list[QuoteSpan]) -> bool:
    """Return whether more of a claim matches another clause than the one that says "I think".

    In a tie, the clause mentioned first in the claim counts: "I'm for cats: a dog asks about your
    day" names both, and speaks for one of them.
    """
    if not has_same_language(claim, own_spans):
        return False
    language = detect_language(claim.text, fallback=own_spans[0].message.language)
    cue_words, claim_stems = get_cue_words(language), get_content_stems(claim.text, language)
    clauses = [each.text for span in own_spans for each in split_clauses(span.sentence_text)]
    matches = [
        claim_stems & get_content_stems(cue_words.judgement_statement.sub(" ", each), language)
        for each in clauses
    ]
    views = [
        said
        for each, said in zip(clauses, matches, strict=True)
        if cue_words.judgement_statement.search(each)
    ]
    best_view, max_matched = (
        max(views, key=len, default=frozenset()),
        max(map(len, matches), default=0),
    )
    if not best_view or len(best_view) < max_matched:
        return bool(best_view)
    rivals = frozenset().union(*(each for each in matches if len(each) == max_matched)) - best_view
    return find_first_term(best_view | rivals, claim.text, language) in rivals


def find_first_term(terms: frozenset[str], text: str, language: str) -> str | None:
    """Return which of some stems a text mentions first."""
    stems = (term for word in tokenize(text) for term in get_content_stems(word, language))
    return next((term for term in stems if term in terms), None)


def is_from_outside(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether outside words on the same subject stand just before."""
    case = ValidationCase(claim=claim, spans=(span,), view=view)
    language = span.message.language
    outside_texts = [
        each.text for each in get_nearby_messages(span, case) if each.trust in EXTERNAL_TRUST
    ]
    return has_shared_stems(
        get_content_stems(f"{claim.text} {claim.key}", language),
        collect_content_stems(outside_texts, language),
    )


def is_about_someones_life(claim: Claim, own_spans: list[QuoteSpan], view: SegmentView) -> bool:
    """Return whether a claim is about the person, or somebody in their life."""
    cue_words = get_cue_words(detect_language(claim.text, fallback=view.language))
    texts = [claim.text, claim.key, *(span.text for span in own_spans)]
    if any(cue_words.addressee.search(fold_characters(each)) for each in texts):
        return True
    if any(
        get_span_cue_words(span).addressee.search(fold_characters(span.text)) for span in own_spans
    ):
        return True
    own_names = view.inputs.person.name.casefold().split()
    if any(name in tokenize(text) for name in own_names for text in texts):
        return True
    if any(name in text for name in own_names if is_unspaced(name) for text in texts):
        return True
    known = [each for each in view.inputs.entities if each.kind in LIVING_KINDS]
    named = [each.name for each in view.mentions if each.kind in LIVING_KINDS]
    joined = " ".join(texts)
    return bool(NameIndex(known).list_named_entities(joined)) or any(
        each.casefold() in joined.casefold() for each in named
    )


OWN_WORDS_CHECKS: Final[Mapping[OwnWordsRule, OwnWordsCheck]] = {
    "promise": check_promise,
    "view": check_own_view,
}
"""The check of each rule, which returns why a claim does not hold."""
