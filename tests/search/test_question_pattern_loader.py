"""A book is opened, and a shape compiled, for every question that it has a shape for."""

import re
import subprocess
import sys
from random import Random

import pytest

from oldfriend.lang.language_pack import list_languages
from oldfriend.search.question_pattern_loader import list_all_grammars, list_grammars
from oldfriend.search.question_patterns import find_requested_attribute
from tests.expression_expansions import expand

EACH = 12
WITHOUT_SPACE = re.compile(r"ou[a-z]")
"""One shape lets a space be left out where nobody leaves one out: "oùétudie Ana"."""


@pytest.mark.parametrize("language", list_languages("questions"))
def test_every_question_pattern_is_selected_for_its_questions(language: str) -> None:
    """Whoever adds a shape without one of the marks of its language is told here."""
    random, book = (
        Random(11),
        dict(zip(list_languages("questions"), list_all_grammars(), strict=True))[language],
    )
    for shape in book.patterns:
        for _ in range(EACH):
            asked = expand(shape.pattern.compiled.pattern, random)
            if shape.pattern.compiled.match(asked) is None:  # it needs what stands around
                continue
            if WITHOUT_SPACE.match(asked):
                continue
            assert shape in book.list_candidates(asked), (shape.pattern.compiled.pattern, asked)
            assert book in list_grammars(asked), asked


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("So, do you still know where I live?", "location"),
        ("Hey, sag mal, wo wohne ich?", "location"),
        ("你能不能告诉我我住在哪里?", "location"),
        ("能不能我女儿叫什么?", "daughter"),
    ],
)
def test_question_is_recognized_after_a_leading_phrase(question: str, keys: str) -> None:
    """However much of what stands before it may be part of that."""
    matter = find_requested_attribute(question)

    assert matter is not None
    assert keys in matter.keys


def test_english_question_loads_only_the_english_grammar() -> None:
    """Those take longer to open than the question takes to be answered."""
    code = (
        "from oldfriend.search import question_pattern_loader, question_patterns\n"
        "question_patterns.find_requested_attribute('Which birds did I see with Ana?')\n"
        "print(question_pattern_loader._load_grammar.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
