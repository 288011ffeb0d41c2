"""What was told before is not quoted again; what is new is believed where the tagger is sure."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.learning.quote_confidence import (
    adjust_for_novelty,
    estimate_confidence,
    is_believed,
)
from tests.beliefs.life import believed, tell


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


def test_a_quote_is_believed_by_how_sure_the_tagger_is_and_how_new_it_is() -> None:
    """The second clause counts, too, and a lone one has to be sure."""
    assert is_believed(estimate_confidence([0.7]))
    assert not is_believed(estimate_confidence([0.6]))
    assert is_believed(estimate_confidence([0.6, 0.3]))
    assert not is_believed(adjust_for_novelty(estimate_confidence([0.7]), 0.5))
    assert adjust_for_novelty(0.9, 1) == pytest.approx(0.9)
    assert 0 <= estimate_confidence([0.0]) < estimate_confidence([1.0, 1.0]) <= 1


async def test_what_was_told_before_is_not_quoted_twice(
    app: AppContext, chat_context: ChatContext
) -> None:
    """However it is written."""
    first = "my son sam starts school in september"
    await tell(app, chat_context, [first, "my son sam starts school in september!!"])

    texts = [str(each.content.text) for each in await believed(app, chat_context)]
    assert [text for text in texts if "sam starts" in text] == [f"Says: “{first}”"]


@pytest.mark.parametrize(
    "texts",
    [
        (
            "My grandmother left me her piano when she died in 2011.",
            "My grandmother left me her piano when she died in 2011. I play it every Sunday.",
        ),
        (
            "Meine Tochter fängt im September mit der Schule an",
            "meine tochter fängt im september mit der schule an. der ranzen ist schon da",
        ),
    ],
)
async def test_sentence_that_is_told_again_with_another_is_quoted_once(
    app: AppContext, chat_context: ChatContext, texts: tuple[str, str]
) -> None:
    """The longer quote takes the place of the shorter one; the shorter one adds nothing."""
    for text in (*texts, texts[0]):
        await tell(app, chat_context, [text])

    quotes = [each.content for each in await believed(app, chat_context)]
    assert [each.value for each in quotes if each.is_quoted_fact and each.is_live] == [texts[1]]
