"""The phrase books hold the same in each language."""

from string import Formatter

import pytest

from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, choose_language, load_phrases

ENGLISH = load_phrases("en")
OTHERS = [language for language in OFFLINE_LANGUAGES if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_every_phrase_exists_in_each_language_with_the_same_placeholders(language: str) -> None:
    """And takes the same names."""
    say = load_phrases(language).phrases

    assert say.keys() == ENGLISH.phrases.keys()
    for name, sentence in say.items():
        assert names_in(sentence) == names_in(ENGLISH.phrases[name]), name
        assert sentence != ENGLISH.phrases[name], name


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
def test_read_only_phrases_replace_the_same_phrases_in_each_language(language: str) -> None:
    """What is said instead takes the place of a phrase, and the same names."""
    book = load_phrases(language)
    aside = book.with_read_only_phrases().phrases

    assert book.read_only_phrases.keys() == ENGLISH.read_only_phrases.keys()
    assert {name for name in aside if aside[name] != book.phrases[name]} == set(
        book.read_only_phrases
    )
    for name, sentence in book.read_only_phrases.items():
        assert names_in(sentence) == names_in(book.phrases[name]), name


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
def test_every_language_has_patterns_for_every_intent(language: str) -> None:
    """No list is empty, and whole phrases are written as they are compared."""
    understand = load_phrases(language).patterns
    for phrases in (understand.greeting, understand.thanks, understand.farewell, understand.assent):
        assert len(phrases) >= 4
        assert all(phrase == phrase.lower().strip() for phrase in phrases)
    for patterns in (understand.remember, understand.remember_asked):
        assert patterns
        assert all("note" in pattern.groupindex for pattern in patterns)
    for pattern in (
        understand.about_me,
        understand.about_you,
        understand.asking,
        understand.forget,
        understand.wrong,
        understand.correct,
        understand.promises,
        understand.why_so,
        understand.believed_then,
        understand.who_is,
        understand.how_are_you,
        understand.stressed,
        understand.roasting,
        understand.your_view,
    ):
        assert pattern.pattern
        assert not pattern.search("")


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
def test_every_language_names_twelve_months(language: str) -> None:
    """Dates are written out."""
    assert len(set(load_phrases(language).date_formats.months)) == 12


def test_unsupported_language_falls_back_to_the_next_or_english() -> None:
    """On the next wish, in the end on English."""
    assert choose_language("ru", None, "de") == "de"
    assert choose_language("ru", None) == "en"


def names_in(sentence: str) -> set[str]:
    """The names that a sentence takes."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}
