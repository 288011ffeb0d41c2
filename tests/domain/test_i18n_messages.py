"""A saying is a sentence like any other, and tells by what it can be said in another language."""

from oldfriend.domain.errors import ImportRefused, InvalidInput, StoreFull
from oldfriend.domain.i18n_messages import LocalizedText, localizable


def test_localized_text_equals_its_sentence_and_loses_its_code_in_an_f_string() -> None:
    """Wherever a text goes, it goes; where it is put into another one, that one has no code."""
    empty = localizable("empty_file", "This file is empty.")

    assert empty == "This file is empty."
    assert not isinstance(f"{empty} Really.", LocalizedText)


def test_error_user_text_carries_the_message_code_and_values() -> None:
    """With its code and values; without a code, the sentence; or what all of its kind mean."""
    unknown = InvalidInput(localizable("name_taken", "Ana is taken.", name="Ana")).user_text
    full = StoreFull("No room in /data.").user_text

    assert isinstance(unknown, LocalizedText)
    assert isinstance(full, LocalizedText)
    assert (unknown, unknown.code, unknown.values) == (
        "Ana is taken.",
        "name_taken",
        {"name": "Ana"},
    )
    assert (full, full.code, full.values) == (
        "No room in /data.",
        "store_full",
        {"says": "No room in /data."},
    )
    assert not isinstance(InvalidInput("Not so.").user_text, LocalizedText)


def test_import_error_names_the_line_and_the_expected_content() -> None:
    """What was expected is part of the sentence; what has no code is told in general words."""
    nobody = localizable("import_nobody_says", "the speaker is missing.")
    told = ImportRefused(nobody, line=3, expected="a speaker").user_text
    plain = ImportRefused("the node is missing.", line=4).user_text

    assert isinstance(told, LocalizedText)
    assert isinstance(plain, LocalizedText)
    assert (told, told.code) == (
        "line 3: the speaker is missing. Expected a speaker.",
        "import_line",
    )
    assert told.values == {"line": 3, "what": nobody, "wanted": " Expected a speaker."}
    assert (plain, plain.code) == ("line 4: the node is missing.", "import_line_unlike")
