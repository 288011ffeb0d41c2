"""A name is found as a whole word, in every case that it takes, and in no longer word."""

import time
from collections.abc import Callable

import pytest

from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity
from oldfriend.domain.unicode_text import fold_text
from oldfriend.search.name_index import NamedIn, NameSpans, begins_with_name, has_lookalike_only


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("ana's mum rang", "en", "Ana"),
        ("anas birthday is soon", "en", "Ana"),
        ("Ich war auf Anas Fest", "de", "Ana"),
        ("chez l'Ana d'à côté", "fr", "Ana"),
        ("jose came", "es", "José"),
        ("fui con maria silva", "pt", "Maria Silva"),
        ("Ana'nın evi", "tr", "Ana"),
        ("ali’ye sordum", "tr", "Ali"),
        ("я видел анну", "ru", "Анна"),
        ("idę do Anny", "pl", "Anna"),
        ("Liisan luona", "fi", "Liisa"),
        ("וליאור בא", "he", "ליאור"),
        ("我和ana去吃饭", "zh", "Ana"),
        ("王小明来了", "zh", "小明"),
        ("민수가 왔어", "ko", "민수"),
        ("ＡＮＡ came", "en", "Ana"),
    ],
)
def test_name_is_found_with_clitics_endings_and_accents(
    text: str, language: str, name: str
) -> None:
    """With clitics, endings and prefixes, without accents, in any width."""
    assert name in NamedIn(text, language)


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("my uncle is a paleontologist", "en", "Leon"),
        ("i ate a banana", "en", "Ana"),
        ("willing to go", "en", "Will"),
        ("toma un café", "es", "Tom"),
        ("ich benutze es", "de", "Ben"),
        ("analysis", "fi", "Ana"),
        ("silva maria", "pt", "Maria Silva"),
        ("anything", "en", ""),
    ],
)
def test_name_is_not_found_inside_a_longer_word(text: str, language: str, name: str) -> None:
    """Neither in its middle nor at its beginning."""
    assert name not in NamedIn(text, language)


EVA = Entity(
    id=EntityId(ObjectId("eva")), person=PersonId("nora"), name="Eva", kind="person", learned_at=0
)


@pytest.mark.parametrize(
    ("text", "language", "is_lookalike"),
    [
        ("Evan lives over by the sea", "en", True),
        ("evan lives by the sea", "en", True),
        ("Eva lives over by the sea", "en", False),
        ("Evas Bruder wohnt am Meer", "de", False),
        ("Evan met Eva by the sea", "en", False),
        ("she lives over by the sea", "en", False),
        ("her evaluation is on Friday", "en", False),
    ],
)
def test_lookalike_name_is_not_the_entity(text: str, language: str, is_lookalike: bool) -> None:
    """Unless the one who is meant is named, too."""
    assert has_lookalike_only(text, language, [EVA]) == is_lookalike


def test_begins_with_name_matches_whole_words_only() -> None:
    """Not as a part of another name."""
    assert begins_with_name("eva is late", "eva")
    assert begins_with_name("evas bruder kommt", "eva")
    assert not begins_with_name("evan is late", "eva")


def build_entity(name: str, *aliases: str) -> Entity:
    """Somebody with a name."""
    made = EntityId(ObjectId(name))
    return Entity(
        id=made, person=PersonId("p"), name=name, aliases=aliases, kind="person", learned_at=0
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("did Ana ring?", [("ana", "Ana Silva")]),
        ("Ana Silva's dog", [("ana", "Ana Silva"), ("ana silva", "Ana Silva")]),
        ("anastasia and Diana", [("ana", "Ana Silva")]),
        ("nita told Jos\u00e9", [("nita", "Ana Silva"), ("jose", "Jos\u00e9")]),
        ("\u738b\u5c0f\u660e\u6765\u4e86", [("\u5c0f\u660e", "\u5c0f\u660e")]),
        ("nobody at all", []),
        ("An", []),
    ],
)
def test_span_of_a_name_begins_a_word_or_stands_anywhere_without_spaces(
    text: str, expected: list[tuple[str, str]]
) -> None:
    """A whole name, its first word or an alias; letters of an ending may follow."""
    known = [
        build_entity("Ana Silva", "Nita"),
        build_entity("Jos\u00e9"),
        build_entity("\u5c0f\u660e"),
    ]
    folded = fold_text(text)

    found = [(folded[slice(*span)], each.name) for span, each in NameSpans(known).find(folded)]

    assert found == expected


def test_finding_names_takes_no_longer_among_thousands() -> None:
    """Each question was once compared with every name, a hundredth of a second for 5,000."""
    folded = fold_text("What did Anka7 Bo tell me about the garden?")
    few, many = (
        NameSpans([build_entity(f"Anka{number} Bo") for number in range(count)])
        for count in (10, 10_000)
    )

    assert [each.name for _, each in many.find(folded)] == ["Anka7 Bo", "Anka7 Bo"]
    assert time_ms(lambda: many.find(folded)) < 20 * time_ms(lambda: few.find(folded))


def time_ms(work: Callable[[], object]) -> float:
    """The least processor milliseconds of a few tries."""
    times: list[float] = []
    for _ in range(20):
        before = time.process_time_ns()
        work()
        times.append((time.process_time_ns() - before) / 1e6)
    return min(times)
