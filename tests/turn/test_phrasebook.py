"""The phrase books hold the same in each language."""

from string import Formatter

import pytest

from oldfriend.prompts.phrasebook import SPOKEN, phrasebook, spoken_language

ENGLISH = phrasebook("en")
OTHERS = [language for language in SPOKEN if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_there_in_each_language(language: str) -> None:
    """And takes the same names."""
    say = phrasebook(language).say

    assert say.keys() == ENGLISH.say.keys()
    for name, sentence in say.items():
        assert names_in(sentence) == names_in(ENGLISH.say[name]), name
        assert sentence != ENGLISH.say[name], name


@pytest.mark.parametrize("language", SPOKEN)
def test_nothing_is_called_kept_while_nothing_can_be_written(language: str) -> None:
    """What is said instead takes the place of a phrase, and the same names."""
    book = phrasebook(language)
    aside = book.while_nothing_is_kept().say

    assert book.say_aside.keys() == ENGLISH.say_aside.keys()
    assert {name for name in aside if aside[name] != book.say[name]} == set(book.say_aside)
    for name, sentence in book.say_aside.items():
        assert names_in(sentence) == names_in(book.say[name]), name


@pytest.mark.parametrize("language", SPOKEN)
def test_every_language_understands_every_kind_of_request(language: str) -> None:
    """No list is empty, and whole phrases are written as they are compared."""
    understand = phrasebook(language).understand
    for phrases in (understand.greeting, understand.thanks, understand.farewell, understand.assent):
        assert len(phrases) >= 4
        assert all(phrase == phrase.lower().strip() for phrase in phrases)
    for patterns in (understand.remember, understand.remember_asked):
        assert patterns
        assert all("note" in pattern.groupindex for pattern in patterns)
    for pattern in (understand.about_me, understand.about_you, understand.asking,
                    understand.forget, understand.wrong, understand.correct, understand.promises,
                    understand.why_so, understand.believed_then, understand.who_is,
                    understand.how_are_you, understand.stressed,
                    understand.roasting, understand.your_view):  # fmt: skip
        assert pattern.pattern
        assert not pattern.search("")


@pytest.mark.parametrize("language", SPOKEN)
def test_every_language_names_twelve_months(language: str) -> None:
    """Dates are written out."""
    assert len(set(phrasebook(language).time.months)) == 12


def test_what_is_not_spoken_falls_back() -> None:
    """On the next wish, in the end on English."""
    assert spoken_language("ru", None, "de") == "de"
    assert spoken_language("ru", None) == "en"


def names_in(sentence: str) -> set[str]:
    """The names that a sentence takes."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}
