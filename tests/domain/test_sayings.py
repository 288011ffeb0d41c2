"""A saying is a sentence like any other, and tells by what it can be said in another language."""

from oldfriend.domain.errors import ImportRefused, InvalidInput, StoreFull
from oldfriend.domain.sayings import Saying, saying


def test_a_saying_reads_as_its_sentence() -> None:
    """Wherever a text goes, it goes; where it is put into another one, that one has no code."""
    empty = saying("empty_file", "This file is empty.")

    assert empty == "This file is empty."
    assert not isinstance(f"{empty} Really.", Saying)


def test_an_error_hands_on_what_it_says() -> None:
    """With its code and values; without a code, the sentence; or what all of its kind mean."""
    unknown = InvalidInput(saying("name_taken", "Ana is taken.", name="Ana")).says
    full = StoreFull("No room in /data.").says

    assert isinstance(unknown, Saying)
    assert isinstance(full, Saying)
    assert (unknown, unknown.code, unknown.values) == (
        "Ana is taken.", "name_taken", {"name": "Ana"},
    )  # fmt: skip
    assert (full, full.code, full.values) == (
        "No room in /data.", "store_full", {"says": "No room in /data."},
    )  # fmt: skip
    assert not isinstance(InvalidInput("Not so.").says, Saying)


def test_what_is_amiss_in_a_line_tells_which_and_what() -> None:
    """What was expected is part of the sentence; what has no code is told in general words."""
    nobody = saying("import_nobody_says", "nobody says this.")
    told = ImportRefused(nobody, line=3, expected="a speaker").says
    plain = ImportRefused("the node is missing.", line=4).says

    assert isinstance(told, Saying)
    assert isinstance(plain, Saying)
    assert (told, told.code) == ("line 3: nobody says this. Expected a speaker.", "import_line")
    assert told.values == {"line": 3, "what": nobody, "wanted": " Expected a speaker."}
    assert (plain, plain.code) == ("line 4: the node is missing.", "import_line_unlike")
