"""What is known of the regular expressions of the product besides what they are.

Calls of all functions that build one from their arguments; and for those that are shown only so
much of a text, how many characters that are.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from oldfriend.beliefs.belief_pages import build_prefix_patterns
from oldfriend.channels.message_details import is_called_by_name
from oldfriend.channels.telegram.event_mapping import compile_mention
from oldfriend.domain.messages import MAX_SENTENCE_CHARS
from oldfriend.lang import reply_language
from oldfriend.lang.language_pack import list_languages
from oldfriend.lang.named_days import load_named_day_books
from oldfriend.learning.resolution.cascade import build_animal_patterns
from oldfriend.learning.rule_extraction.corrected_words import mark_denied
from oldfriend.learning.rule_extraction.ended_states import in_known_spelling
from oldfriend.learning.rule_extraction.promises import framed
from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from oldfriend.learning.rule_extraction.sentences import statements_in
from oldfriend.learning.validation.cue_words import get_cue_words
from oldfriend.learning.validation.relation_checks import has_breakup, has_given_birth
from oldfriend.learning.validation.speech_acts import MAX_COMPARISON_DISTANCE, MAX_LAUGHTER_LENGTH
from oldfriend.memory.deletion.selection import is_whole_word
from oldfriend.memory.restatement_detection import load_restatement_words
from oldfriend.presenters.dated_sentences import tell_with_time
from oldfriend.proactive import proactive_phrases
from oldfriend.search.own_names import find_own_names, to_first_person
from oldfriend.search.question_pattern_loader import QuestionGrammar, list_all_grammars
from oldfriend.search.question_patterns import MAX_QUESTION_LENGTH, MAX_SCANNED_LENGTH
from oldfriend.search.question_pronouns import load_pronoun_grammar
from oldfriend.search.role_references import ReferenceGrammar, list_reference_grammars
from oldfriend.search.subject_query import is_only_about_kin
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS
from oldfriend.turn import switched_off
from oldfriend.turn.belief_wording import strip_due
from oldfriend.turn.intent import MAX_ADDRESS_CHARS, compile_address_patterns, compile_name_pattern
from oldfriend.turn.question_parts import compile_between
from oldfriend.turn.request_handlers import cancel_all_requests, clock_requests
from oldfriend.watches.watch_phrases import MAX_SENTENCE_CHARS as MAX_WATCH_CHARS
from tests.learning.rule_extraction.message_fixtures import message
from tests.learning.segment_fixtures import believed

NAMES = ("Mira", "小美")
SPOKEN = "hello, 你好"
"""In the scripts of all languages."""
BOUNDS: Mapping[str, int] = {
    "learning/rule_extraction/rule_loader.py:_all_prefiltered": MAX_SENTENCE_CHARS,
    "learning/rule_extraction/rule_loader.py:_compiled": MAX_SENTENCE_CHARS,
    "learning/rule_extraction/promises.py:framed": MAX_SENTENCE_CHARS,
    "proactive/proactive_phrases.py:load_proactive_phrases": proactive_phrases.MAX_REQUEST_CHARS,
    "goals/goal_phrases.py:load_goal_phrases": MAX_SENTENCE_CHARS,
    "goals/goal_phrases.py:compiled": MAX_SENTENCE_CHARS,
    "search/question_pattern_loader.py:patterns": MAX_QUESTION_LENGTH,
    "turn/intent.py:compile_address_patterns": MAX_ADDRESS_CHARS,
    "turn/request_handlers/clock_requests.py:load_patterns": clock_requests.MAX_CHARS,
    "turn/switched_off.py:load_questions": switched_off.MAX_CHARS,
    "watches/watch_phrases.py:load_watch_phrases": MAX_WATCH_CHARS,
    "watches/watch_phrases.py:compiled": MAX_WATCH_CHARS,
    "tasks/action_phrases.py:load_action_phrases": MAX_REQUEST_CHARS,
    "turn/request_handlers/cancel_all_requests.py:load_patterns": cancel_all_requests.MAX_CHARS,
    "tasks/task_phrases.py:_compile": MAX_REQUEST_CHARS,
    "tasks/time_words.py:_compile": MAX_REQUEST_CHARS,
}
"""By the functions that make them. All others may be shown texts of any length."""


def bounded() -> Iterator[tuple[re.Pattern[str], int]]:
    """Those of which not all that the same function compiles are shown only so much."""
    for language in list_languages("rules"):
        told = get_cue_words(language)
        yield told.laughter, MAX_LAUGHTER_LENGTH
        yield told.comparison, MAX_COMPARISON_DISTANCE
    for book in list_all_grammars():
        yield book.own_kin_pattern, MAX_SCANNED_LENGTH


def matched() -> Iterator[re.Pattern[str]]:
    """Those that are only asked whether they stand at one place, and never searched for."""
    for questions in list_all_grammars():
        yield from (shape.pattern.compiled for shape in questions.patterns)
    for language in list_languages("rules"):
        book = load_rule_book(language)
        yield from (getattr(each, "compiled", each) for each in book.did)
        for rule in book.rules:
            yield from (each.compiled for each in (*rule.said, *rule.told))
            yield framed(rule.text)
    yield from (each.asks_name for each in list_reference_grammars(SPOKEN))
    for language in list_languages("tasks"):
        for sentences in load_task_phrases(language).sentences.values():
            yield from sentences
    yield from of_requests()
    for language in list_languages("proactive"):
        phrases = proactive_phrases.load_proactive_phrases(language)
        yield from (*phrases.names.values(), *phrases.asks.values())


def of_requests() -> Iterator[re.Pattern[str]]:
    """Of whole messages that ask for the time, for a lookup, or to end everything."""
    for language in list_languages("tasks"):
        for patterns in cancel_all_requests.load_patterns(language).values():
            yield from patterns
        yield from (each for _, each in clock_requests.load_patterns(language))
        yield from (each for _, each in switched_off.load_questions(language, has_mark=True))


def of_books() -> None:
    """Of the books whose expressions are compiled when they are needed."""
    reply_language.load_name_patterns()
    for language in list_languages("tasks"):
        cancel_all_requests.load_nouns(language)
        clock_requests.load_clues(language)
    for book in list_all_grammars():
        for name, kept in vars(QuestionGrammar).items():
            if isinstance(kept, cached_property):
                getattr(book, name)


def of_references() -> None:
    """Of the words by which people are called by a role."""
    for grammar in list_reference_grammars(SPOKEN):
        grammar.list_roles(" ".join(grammar.words))
        for name, kept in vars(ReferenceGrammar).items():
            if isinstance(kept, cached_property):
                getattr(grammar, name)


def of_named_days() -> None:
    """Of the ways to name a day."""
    for book in load_named_day_books():
        for name in ("any_word", "any_weekday", "weekdays", "times"):
            getattr(book, name)


def of_names() -> None:
    """Of the companion, and of others."""
    for name in NAMES:
        compile_address_patterns(name)
        compile_name_pattern(name)
        is_called_by_name("Hello.", name * 2)
        compile_mention(name)
        is_whole_word(name, "hello")
        restated = load_restatement_words("en")
        assert restated is not None
        mark_denied(f"Not {name}.", name, restated)
        for language in list_languages("rules"):
            to_first_person("Hello.", find_own_names(f"Hello {name}.", [name], language), language)


def of_languages() -> None:
    """In each of the spoken languages."""
    assert all(of_requests())
    for language in list_languages("proactive"):
        proactive_phrases.load_proactive_phrases(language)
    for language in list_languages("rules"):
        build_prefix_patterns("long walks, 散步", language)
        build_animal_patterns("cat", language)
        has_given_birth("Ana", "Hello.", language=language)
        has_breakup("Hello.", language=language)
        is_only_about_kin("Hello.", language)
        load_pronoun_grammar(language)
        compile_between(language)
        for rule in load_rule_book(language).rules:
            framed(rule.text)


def tell_with_past_forms() -> None:
    """The past forms and joints of each language that has some."""
    for language in list_languages("address"):
        tell_with_time("", language, 0, "UTC")


def quote_without_due_time() -> None:
    """Words with a due time, as it is written in the language in which they were said."""
    due = believed("", "commitment", "Bring the cake: 3 December 2026.", due_at=1, zone="UTC")
    strip_due(due.memory, due.memory.text, "UTC")


def spell_as_known() -> None:
    """A value in lower case, as it is believed."""
    book = load_rule_book("en")
    (sentence,) = statements_in(message("i live in ulm."), book)
    in_known_spelling(sentence, [believed("k", "fact", "Lives in Ulm.", value="Ulm")])
