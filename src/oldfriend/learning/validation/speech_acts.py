"""Speech acts: rejects claims based on questions, fantasies, mere assent or words about others.

Looks at the sentences that contain a quote, and among them at those that share words with the
claim, so that "Question for you. Should I …?" is a question. Irony is not recognized.
"""

import re
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.assent import is_affirmative
from oldfriend.learning.validation.assertion import LAUGHING_EMOJI, check_assertion
from oldfriend.learning.validation.clauses import (
    find_closest_clauses,
    get_content_stems,
    split_clauses,
)
from oldfriend.learning.validation.cue_words import CueWords, fold_characters, get_cue_words
from oldfriend.learning.validation.modality import check_modality
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.quoted_text import check_quoted_text
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import SegmentView, get_span_cue_words
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search.name_index import begins_with_name
from oldfriend.search.tokenizer import is_stop_word, tokenize
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for
from oldfriend.turn.intent import is_question, split_sentences

WORD: Final = re.compile(r"[^\W_]+")
CLAUSE_BREAK: Final = re.compile(
    r"[,;:.!?\n\u2026\u2014\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f]+"
)
MIN_TOLD_WORDS: Final = 3
"""Words before a tag such as "you know?" that make a statement."""
MAX_EMPTY_WORDS: Final = 4
"""So many stop words may state something ("I can't go on"); fewer do not."""
MIN_SUPPOSED_PART: Final = 0.5
"""Share of a claim's words that make it the companion's if it said them, and the person none."""
MIN_CLAUSES: Final = 2
MAX_SHORT_ANSWER: Final = 6
"""So few words say nothing but what was asked for."""
MAX_COMPARISON_DISTANCE: Final = 80
"""Characters before a name in which a comparison to it may stand."""
MAX_LAUGHTER_LENGTH: Final = 100
LENGTHENED: Final = re.compile(r"([^\W\d_])\1{2,}")
"""A lengthened letter: "nooo"."""
LAUGHTER_EDGE: Final = "".join(LAUGHING_EMOJI) + " "
SENTENCE_BREAK: Final = re.compile(r"[.!?\n\u2026\u3002]+")
DROP_QUESTION_MARKS: Final = str.maketrans("?？", "  ")


def check_speech_act(claim: Claim, span: QuoteSpan, view: SegmentView) -> RejectionReason | None:
    """Return why words of an allowed author are no evidence; None if they are."""
    if (rejection := check_quoted_text(claim, span, view)) is not None:
        return rejection
    if is_hypothetical_answer(claim, span, view):
        return "imagined"
    if is_taken_back(span, view):
        return "in jest"
    cue_words = get_span_cue_words(span)
    if (rejection := check_modality(claim, span, cue_words)) is not None:
        return rejection
    if is_only_question(claim, span, cue_words):
        return "question"
    if is_bare_assent(span.text, cue_words):
        is_answer = is_answer_to_question(span, view) and is_affirmative(span.message)
        return None if is_answer else "companion's suggestion"
    if is_empty_phrase(span.text, span.message.language, cue_words):
        return "no quote"
    return check_subject(claim, span, view) or check_assertion(claim, span, view)


def check_subject(claim: Claim, span: QuoteSpan, view: SegmentView) -> RejectionReason | None:
    """Return why a claim is not about the person: about somebody else, or only suggested."""
    if is_about_another(claim, span, view):
        return "about another"
    return "companion's suggestion" if is_companion_suggestion(claim, span, view) else None


def is_only_question(claim: Claim, span: QuoteSpan, cue_words: CueWords) -> bool:
    """Return whether all sentences on a claim ask; asking for a reminder expresses a wish."""
    sentences = [
        drop_later_question(claim, each, span) for each in find_matching_sentences(claim, span)
    ]
    if claim.kind == "commitment" and (
        not any("?" in fold_characters(each) for each in sentences)
        or any(cue_words.reminder_request.search(fold_characters(each)) for each in sentences)
    ):
        return False
    return all(is_question_about(claim, each, cue_words, span) for each in sentences)


def drop_later_question(claim: Claim, sentence: str, span: QuoteSpan) -> str:
    """Return a sentence up to the "¿" of a question that it ends with and that shares no word."""
    at, language = sentence.find("¿"), span.message.language
    claim_stems = get_content_stems(f"{claim.text} {claim.value}", language)
    is_later = at > 0 and not claim_stems & get_content_stems(sentence[at:], language)
    return sentence[:at] if is_later else sentence


def is_question_about(claim: Claim, sentence: str, cue_words: CueWords, span: QuoteSpan) -> bool:
    """Return whether a sentence on a claim is a question."""
    language = span.message.language
    if not is_pure_question(sentence, cue_words, language):
        return False
    plain = strip_laughter(fold_characters(sentence), cue_words)
    clauses = split_clauses(sentence)
    if len(clauses) < MIN_CLAUSES:
        return True
    if "?" in plain and not ends_with_other_question(claim, sentence, cue_words, language):
        return True
    claim_stems = get_content_stems(f"{claim.text} {claim.value}", language)
    matching = [each for each in clauses if claim_stems & get_content_stems(each.text, language)]
    return all(is_pure_question(each.text, cue_words, language) for each in matching or clauses)


def ends_with_other_question(
    claim: Claim, sentence: str, cue_words: CueWords, language: str
) -> bool:
    """Return whether only the last clause asks, and about something else than those before it.

    Judged by its words; in a language without known question words, by whether the speaker talks
    about themself before it.
    """
    clauses = split_clauses(sentence)
    claim_stems = get_content_stems(f"{claim.text} {claim.value}", language)
    last = clauses[-1].text.translate(DROP_QUESTION_MARKS)
    if claim_stems & get_content_stems(last, language) or "?" in clauses[-1].before:
        return False
    if language in list_languages("evidence_cues"):
        if is_pure_question(last, cue_words, language) and len(tokenize(last)) >= MIN_TOLD_WORDS:
            return True
        if len(tokenize(last)) > 1:
            return False
    before = fold_punctuation(clauses[-1].before)
    return any(each.self.search(before) for each in load_cues_for(sentence, language)[:1])


def find_matching_sentences(claim: Claim, span: QuoteSpan) -> tuple[str, ...]:
    """Return the sentences around a quote that share words with a claim; all if none does."""
    language = span.message.language
    claim_stems = get_content_stems(f"{claim.text} {claim.value}", language)
    sentences = tuple(span.iter_sentences()) or (span.text,)
    return (
        tuple(each for each in sentences if claim_stems & get_content_stems(each, language))
        or sentences
    )


def find_closest_sentences(claim: Claim, span: QuoteSpan) -> tuple[str, ...]:
    """Return the sentences around a quote that share most words with a claim."""
    language = span.message.language
    claim_stems = get_content_stems(f"{claim.text} {claim.value}", language)
    sentences = tuple(span.iter_sentences()) or (span.text,)
    shared = [len(claim_stems & get_content_stems(each, language)) for each in sentences]
    return tuple(each for each, n in zip(sentences, shared, strict=True) if n == max(shared))


def strip_laughter(sentence: str, cue_words: CueWords) -> str:
    """Return a sentence without the laughter, in words or emoji, at its end."""
    end = max(0, len(sentence) - MAX_LAUGHTER_LENGTH)
    return sentence[:end] + cue_words.laughter.sub("", sentence[end:])


def is_pure_question(sentence: str, cue_words: CueWords, language: str) -> bool:
    """Return whether a sentence is a question that states nothing."""
    sentence = strip_laughter(sentence, cue_words)
    plain = fold_characters(sentence)
    if not is_question(sentence, load_phrases(choose_language(language))):
        return False
    if "?" not in plain and cue_words.exclamation.search(plain):
        return False
    found = cue_words.assertive_question.search(plain)
    if found is None:
        return True
    rest = plain[found.end() :] if found.start() == 0 else plain[: found.start()]
    return len(tokenize(rest)) < MIN_TOLD_WORDS


def is_bare_assent(words: str, cue_words: CueWords) -> bool:
    """Return whether words say no more than yes, maybe or no."""
    spoken = WORD.findall(fold_characters(words).lower())
    return bool(spoken) and all(word in cue_words.assent for word in spoken)


def is_answer_to_question(span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether the message before asked plainly, and suggested nothing."""
    question = find_answered_question(span, view)
    if question is None:
        return False
    cue_words = get_cue_words(question.language)
    questions = (fold_characters(each).rpartition(":")[2] for each in list_questions(question))
    return not any(cue_words.suggestion.search(each) for each in questions)


def find_answered_question(span: QuoteSpan, view: SegmentView) -> Message | None:
    """Return the previous message if it asks something; else None."""
    message = find_previous_message(span, view)
    if (
        message is None
        or message.trust not in {"companion", "other"}
        or not list_questions(message)
    ):
        return None
    return message


def list_questions(message: Message) -> list[str]:
    """Return the questions in a message."""
    phrases = load_phrases(choose_language(message.language))
    return [each for each in split_sentences(message.text) if is_question(each, phrases)]


def find_previous_message(span: QuoteSpan, view: SegmentView) -> Message | None:
    """Return the last message of somebody else before the quoted one."""
    before = view.list_before(span.message)
    return next((each for each in reversed(before) if each.trust != span.message.trust), None)


def is_empty_phrase(words: str, language: str, cue_words: CueWords) -> bool:
    """Return whether words are a few stop words that could stand anywhere."""
    spoken = tokenize(words)
    if len(spoken) >= MAX_EMPTY_WORDS or cue_words.strong_feeling.search(fold_characters(words)):
        return False
    return all(is_stop_word(word, language) for word in spoken)


def is_about_another(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether what is claimed of the person was said of somebody else ("Ana hates it")."""
    if is_comparison(claim, span, get_span_cue_words(span), view):
        return True
    if (
        claim.subject != "person"
        or not KINDS_BY_NAME[claim.kind].is_personal
        or span.message.trust == "other"
    ):
        return False
    cue_words, clause = get_span_cue_words(span), fold_characters(get_quoted_clause(span))
    if cue_words.reported_speech.search(clause):
        return True
    closest = [each.text for each in find_closest_clauses(claim, span)]
    closest = closest or list(find_closest_sentences(claim, span))
    if all(
        is_about_others(each, cue_words) for each in closest
    ) and not cue_words.relation_noun.search(claim.text):
        return True
    if claim.kind == "pattern" and is_about_named_other(claim, view):
        return True
    leading_person = get_leading_person(clause, cue_words, view)
    if not leading_person or leading_person.casefold() in claim.text.casefold():
        return False
    rest = clause[clause.casefold().find(leading_person.casefold()) + len(leading_person) :]
    is_of_speaker = cue_words.speaker.search(rest) or has_self_reference(rest, span.message)
    return not cue_words.relation_noun.search(claim.text) and not is_of_speaker


def is_about_named_other(claim: Claim, view: SegmentView) -> bool:
    """Return whether a pattern begins with somebody's name, and so is not the person's."""
    plain = claim.text.casefold()
    names = {*view.names, *map(str.casefold, claim.names)}
    rests = (plain[len(name) :] for name in names if name and plain.startswith(name))
    return any(rest[:1] == " " and not rest.startswith(" and ") for rest in rests)


def is_about_others(sentence: str, cue_words: CueWords) -> bool:
    """Return whether a sentence is about somebody else, and does not mention the speaker."""
    plain = fold_characters(sentence).strip()
    found = cue_words.other_subject.search(plain)
    return found is not None and not cue_words.speaker.search(plain[found.end() :])


def get_quoted_clause(span: QuoteSpan) -> str:
    """Return the quoted words, from the start of their clause."""
    breaks = [found.end() for found in CLAUSE_BREAK.finditer(span.message.text, 0, span.start)]
    return span.message.text[max(breaks, default=0) : span.end].strip()


def get_leading_person(clause: str, cue_words: CueWords, view: SegmentView) -> str:
    """Return whom a clause begins with: a name, or "my sister"; "" if nobody."""
    possessive = cue_words.possessive_start.match(clause)
    relative = cue_words.relation_noun.match(clause, possessive.end()) if possessive else None
    if relative is not None:
        return relative.group()
    plain = clause.casefold()
    return next((name for name in view.names if name and begins_with_name(plain, name)), "")


def is_comparison(claim: Claim, span: QuoteSpan, cue_words: CueWords, view: SegmentView) -> bool:
    """Return whether the claim's leading name is only a comparison ("cold, like Tom")."""
    plain, message_text = claim.text.casefold(), fold_characters(span.message.text).casefold()
    names = filter(None, {*view.names, *map(str.casefold, claim.names)})
    leading_names = [each for each in names if begins_with_name(plain, each)]
    leading_name = max(leading_names, key=len, default="")
    positions = (
        [each.start() for each in re.finditer(re.escape(leading_name), message_text)]
        if leading_name
        else []
    )
    return bool(positions) and all(
        cue_words.comparison.search(message_text, max(0, at - MAX_COMPARISON_DISTANCE), at)
        for at in positions
    )


def is_hypothetical_answer(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether a short answer is to a question about a hypothetical: it proves nothing."""
    if (
        not KINDS_BY_NAME[claim.kind].is_refuted_by_doubt
        or len(tokenize(span.message.text)) > MAX_SHORT_ANSWER
    ):
        return False
    question = find_answered_question(span, view)
    if question is None:
        return False
    cue_words = get_cue_words(question.language)
    return all(
        cue_words.conditional.search(fold_characters(each)) for each in list_questions(question)
    )


def is_taken_back(span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether the speaker takes words back once somebody has reacted to them.

    By calling them a joke, or by a laughing no to a mere exclamation: "no lol". A longer reaction
    may ask about something else, and so may be what a no answers.
    """
    after = view.list_after(span.message)
    if span.message.trust != "person" or len(after) < len(("reaction", "answer")):
        return False
    reaction, answer = after[:2]
    if reaction.trust != "companion" or answer.trust != "person":
        return False
    is_exclamation = len(tokenize(reaction.text)) <= MAX_SHORT_ANSWER
    return calls_itself_joke(answer) or (is_exclamation and is_laughing_no(answer))


def is_laughing_no(answer: Message) -> bool:
    """Return whether a message begins with a no and a laugh."""
    plain = LENGTHENED.sub(r"\1", fold_punctuation(answer.text)).strip(LAUGHTER_EDGE)
    opening = CLAUSE_BREAK.split(plain, maxsplit=1)[0]
    first_sentence = SENTENCE_BREAK.split(answer.text, maxsplit=1)[0]
    bare_answers = get_cue_words(answer.language).assent
    for cues in load_cues_for(answer.text, answer.language):
        if cues.affirmation.match(opening):
            return False
        if cues.joke.match(opening) and cues.retraction.match(opening):
            return True
        jests = (cues.joke.search(opening), cues.laughter.search(fold_punctuation(first_sentence)))
        is_no = any(
            cues.retraction.fullmatch(word)
            or (word in bare_answers and cues.negation.fullmatch(word))
            for word in opening.split()[:2]
        )
        if is_no and (any(jests) or LAUGHING_EMOJI & set(first_sentence)):
            return True
    return False


def calls_itself_joke(answer: Message) -> bool:
    """Return whether a message begins by calling what was said before it a joke, or denies it.

    Denied with a laugh. A joking yes ("na klar") and a comparison ("as if I cared") take back
    nothing.
    """
    sentence = SENTENCE_BREAK.split(answer.text.strip(), maxsplit=1)[0][:MAX_SENTENCE_CHARS]
    plain = LENGTHENED.sub(r"\1", fold_punctuation(sentence))
    cues = load_cues_for(answer.text, answer.language)[0]
    if cues.affirmation.match(plain):
        return False
    ironic = get_cue_words(answer.language).ironic
    jokes = [found.group() for each in (cues.joke, ironic) for found in each.finditer(plain)]
    if any(not (cues.affirmation.search(each) or cues.condition.search(each)) for each in jokes):
        return True
    is_no = any(each.search(plain) for each in (cues.retraction, cues.negation))
    return is_no and cues.laughter.match(plain) is not None


def is_companion_suggestion(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether a claim's words were said by the companion, and none by the person."""
    language = view.language
    claim_stems = get_content_stems(claim.value or claim.text, language)
    if not claim_stems or claim_stems & get_content_stems(span.message.text, language):
        return False
    before = view.list_before(span.message)
    companion_text = " ".join(each.text for each in before if each.trust == "companion")
    if len(claim_stems & get_content_stems(companion_text, language)) < MIN_SUPPOSED_PART * len(
        claim_stems
    ):
        return False
    person_text = " ".join(each.text for each in before if each.trust == "person")
    return not claim_stems & get_content_stems(person_text, language) and not is_answer_to_question(
        span, view
    )


def has_self_reference(words: str, message: Message) -> bool:
    """Return whether words refer to their speaker, if only by a verb form: "dice que soy terca"."""
    cues = load_cues_for(message.text, message.language)[0]
    return cues.self.search(fold_punctuation(words)) is not None
