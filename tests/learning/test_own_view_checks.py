"""A thought notices and does not judge: told by its form, and by what was told to whom it is about.

The phrases in ``tone`` were written before the gate was mended on them: sets 1 and 3 by somebody
who had not read the lists; 4 before, 5 to 7 after they were widened; 8 before they were read again,
9 and 10 after. Blind, of the bad ones passed 6 of 40, 5 of 30, 11 of 20, 7 of 20 and, of plainer
ones (9 and 10), 1 of 20 and 0 of 20; of the good ones were refused 28 of 40, 13 of 30, 10 of 20, 5
of 20, 9 of 20 and 5 of 20. By their words alone, of 8 to 10 passed 1, 7 and 4 bad ones; 7, 2 and 2
good ones were refused. On the second and the tenth nothing was mended.

Of 11, with mockery and wishes, written blind, passed 1 of 25 bad ones and 20 of 25 good ones were
refused (by words alone 6 and 14); of 12, whose author knew the lists, 2 and 20 (7 and 14). After
the lists were mended on these two: 0 and 16 (0 and 9), 0 and 8 (0 and 7). Of 13, written then, 0 of
15 bad ones passed, 8 of 15 good ones were refused (0 and 3), as before the lists were mended, too.
"""

from importlib import resources
from typing import Final

import pytest

from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.reflection_output import IdeaKind
from oldfriend.learning.validation.thought_grounding import is_grounded
from oldfriend.learning.validation.tone import check_tone
from oldfriend.learning.validation.tone_of_judgment import (
    check_judgement,
    load_judgement_patterns,
    load_word_list,
)

KINDS: Final[dict[str, IdeaKind]] = {
    "question": "question",
    "expectation": "expectation",
    "pattern": "pattern",
}
LIVES: Final = tuple(f"blind_{number}.tsv" for number in (4, 5, 6, 7, 9, 10))
"""Thoughts about the simulated lives and others, made of the words of what was told."""
LATER: Final = tuple(f"blind_{number}.tsv" for number in (11, 12, 13))
"""The same, with mockery, orders for the next talk, and talk that is counted."""
NAMES: Final = (
    "Nora Maeve Ramiro Juli Tom Tito Sunny Josie Newcastle Nico Priya Callum Julieta "
    "若溪 顾衡 晓雯 "
    "Siobhan Liam Owen Beth Lucía Óscar Bea Sina Sandra Olivier Béa "
    "Leo Margit Inés Murcia 阿岚 杭州 Hanna Paul Ruth Teo 小满 Erik Claire Luc "
    "Marisol Berta Jonas Ute Solène Greta Ulises Wiebke Holger Baptiste 陆青 "
    "Iris Bruno Noa Tilda Clément 秋月"
)
"""Who is known in them; as names they are told always."""
MOST_PASS: Final = 2
"""Of 150 bad ones; 0 is wanted."""
MOST_REFUSED: Final = 16
"""Of 150 good ones."""


def rows(name: str) -> list[list[str]]:
    """The phrases of a set."""
    text = (resources.files("tests.learning") / "tone" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def passes(text: str, language: str, kind: IdeaKind) -> bool:
    """Whether nothing speaks against it in its words."""
    return not (
        check_tone(text, language=language) or check_judgement(text, language=language, kind=kind)
    )


@pytest.mark.parametrize("kind", ["thought", "expectation", "question", "pattern"])
def test_tone_gate_rejects_every_judgement_of_set_1_for_each_kind(kind: IdeaKind) -> None:
    """Diagnoses, flattery, claims, blame, orders, doom, comparisons, feelings of its own."""
    bad = [row for row in rows("blind_1.tsv") if row[0] == "bad"]

    assert len(bad) == 100
    assert [row[3] for row in bad if passes(row[3], row[2], kind)] == []


def test_tone_gate_accepts_nearly_all_good_thoughts_of_set_1() -> None:
    """What somebody comes back to, what may hang together, how it seems."""
    good = [row for row in rows("blind_1.tsv") if row[0] == "good"]
    refused = [row[3] for row in good if not passes(row[3], row[2], KINDS.get(row[1], "thought"))]

    assert len(good) == 100
    assert len(refused) <= 5, refused


def test_tone_gate_classifies_every_plain_thought_of_set_8_correctly() -> None:
    """Labels, advice, machinery and flattery of five languages; and what may be thought instead."""
    every = rows("blind_8.tsv")

    assert len(every) == 40
    assert [
        row[3] for row in every if (row[0] == "good") != passes(row[3], row[2], "thought")
    ] == []


@pytest.mark.parametrize(
    ("language", "text", "is_own"),
    [
        ("en", "I wonder whether the boat is what Leo has left of the shop.", False),
        ("en", "I think I miss the evenings with Leo.", True),
        ("de", "Mir scheint, der Garten ist das, was Leo geblieben ist.", False),
        ("de", "Ich glaube, dass mir Leo fehlt.", True),
        ("es", "Creo que el jardín es lo que le queda.", False),
        ("es", "Creo que me hace falta hablar con Leo.", True),
        ("fr", "J'ai l'impression que le jardin est ce qui lui reste.", False),
        ("fr", "Je crois que Leo me manque.", True),
        ("zh", "我觉得院子是他留下的。", False),
        ("zh", "我觉得我想念他。", True),
    ],
)
def test_supposition_is_accepted_and_the_companions_own_feeling_is_rejected(
    language: str, text: str, is_own: bool
) -> None:
    """A maybe that says whose it is; what it would feel itself is refused behind it, too."""
    assert (check_judgement(text, language=language, kind="thought") == "own feelings") == is_own


def judged(*names: str) -> tuple[list[str], list[str]]:
    """The bad ones of some sets that pass, and the good ones that are refused."""
    passed, refused = [], []
    for verdict, sort, language, text, told in (row for name in names for row in rows(name)):
        is_good = passes(text, language, KINDS.get(sort, "thought")) and is_grounded(
            text, [*told.split(" | "), NAMES], language=language
        )
        if is_good and verdict == "bad":
            passed.append(text)
        if verdict == "good" and not is_good:
            refused.append(text)
    return passed, refused


def test_tone_and_grounding_gates_classify_all_thoughts_of_set_3_correctly() -> None:
    """A judgement in new words is seen by the words: nobody has told them."""
    assert judged("blind_3.tsv") == ([], [])


def test_tone_gate_keeps_error_bounds_on_thoughts_made_of_told_words() -> None:
    """Blame by juxtaposition, comparisons, what is to be done, what is to come."""
    passed, refused = judged(*LIVES)

    assert len(passed) <= MOST_PASS, passed
    assert len(refused) <= MOST_REFUSED, refused


def test_tone_gate_rejects_every_bad_thought_of_sets_11_to_13() -> None:
    """By the words alone neither; about half of the good ones are refused."""
    bad = [row for name in LATER for row in rows(name) if row[0] == "bad"]
    _, refused = judged(*LATER)

    assert len(bad) == 65
    assert [row[3] for row in bad if passes(row[3], row[2], "thought")] == []
    assert len(refused) <= 32, refused


def test_grounding_gate_rejects_every_figurative_judgement_of_set_2() -> None:
    """The second set passes the lists of words; beside a plain record it is refused."""
    bad = [row for row in rows("blind_2.tsv") if row[0] == "bad"]
    names = ["Rex", "Ana", "Lisboa"]

    assert [row[3] for row in bad if is_grounded(row[3], names, language=row[2])] == []


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "Ana keeps baking.", "Ana bakes bread."),
        ("de", "Ana hat gekocht.", "Ana kocht."),
        ("es", "Ana cocinó otra vez.", "Ana cocina."),
        ("fr", "Ana a cuisiné.", "Ana cuisine."),
        ("zh", "安娜又烤了面包", "安娜烤面包"),
    ],
)
def test_inflected_form_of_a_told_word_is_grounded_and_a_new_word_is_not(
    language: str, text: str, told: str
) -> None:
    """And a word beside it was not."""
    new = {"zh": "安娜又烤了面包和鱼"}.get(language, f"{text[:-1]} zebras.")

    assert is_grounded(text, [told], language=language)
    assert not is_grounded(new, [told], language=language)


@pytest.mark.parametrize("language", list_languages("rules"))
def test_judgement_patterns_and_word_list_exist_for_every_language(language: str) -> None:
    """So that nothing slips through in one of them."""
    bearing = load_judgement_patterns(language)

    assert all(getattr(bearing, each).pattern for each in type(bearing).__slots__)
    assert len(load_word_list("connectives", language)) > 150


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "Nora lost Gran in March.", "Gran died in March."),
        ("de", "Nora fährt wieder nach Leeds.", "Nora ist nach Leeds gefahren."),
        ("es", "Nora conduce cada día.", "Nora condujo hasta Leeds. Va en coche."),
        ("fr", "Nora verra la mer.", "Nora a vu la mer."),
        ("zh", "外婆去世以后", "外婆走了。外婆过世"),
    ],
)
def test_irregular_form_or_synonym_of_a_told_word_is_grounded(
    language: str, text: str, told: str
) -> None:
    """An irregular form, or another word for it; where nothing like it was told, it was not."""
    assert is_grounded(text, [told, "Nora 外婆"], language=language)
    assert not is_grounded(text, ["Nora Leeds 外婆"], language=language)


def test_reason_is_grounded_only_when_told_or_hedged() -> None:
    """Why something is so is nobody's to know who was not told."""
    told = ["Nora moved.", "Nora is tired."]

    assert not is_grounded("Nora is tired because Nora moved.", told, language="en")
    assert is_grounded("Perhaps Nora is tired because Nora moved.", told, language="en")
    assert is_grounded(
        "Nora is tired because Nora moved.", [*told, "Because of it."], language="en"
    )
