"""However somebody asks what is promised, expected or to be done, it is understood."""

import pytest

from oldfriend.prompts.locale_phrases import load_phrases


@pytest.mark.parametrize(
    ("language", "text", "is_asked"),
    [
        ("en", "what do i have to do", True),
        ("en", "what should i not forget", True),
        ("en", "what is on my list", True),
        ("en", "do i have any plans", True),
        ("es", "qué tengo que hacer", True),
        ("fr", "qu'est-ce que je dois faire", True),
        ("de", "was muss ich noch machen", True),
        ("zh", "我还要做什么", True),
        ("en", "what should i do", False),
        ("en", "what do i have to do at work", False),
        ("de", "was soll ich machen", False),
    ],
)
def test_question_about_open_commitments_is_detected(
    language: str, text: str, is_asked: bool
) -> None:
    """Who asks for advice, or of one matter, asks for something else."""
    promises = load_phrases(language).patterns.promises

    assert bool(promises.search(text)) == is_asked
