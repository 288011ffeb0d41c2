"""A word that is put right, with its mark or behind an "oops", takes the place of the wrong one."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from tests.clock import FrozenClock
from tests.learning.test_learning_from_messages import believed, told

PUT_RIGHT = [
    ("I'm vegetarian", "*oops* I meant pescatarian", "pescatarian"),
    ("I'm vegetarian", "*pescatarian", "pescatarian"),
    ("I live in Leeds.", "*York", "York"),
    ("I love jazz.", "*fusion", "fusion"),
    ("My daughter is 7.", "*8", "8 years old"),
    ("Ich wohne in Köln.", "*Bonn", "Bonn"),
    ("Ich bin Vegetarierin.", "*ups* ich meinte Veganerin", "Veganerin"),
    ("Vivo en Granada.", "*Jaén", "Jaén"),
    ("Soy vegetariana.", "*vegana", "vegana"),
    ("J'habite à Lyon.", "*Lille", "Lille"),
    ("Je suis végétarienne.", "*végane", "végane"),
]
OTHER = ["*hugs*", "*kneels* I live in the castle of York.", "* York is nice", "*sigh* work again"]


@pytest.mark.parametrize("is_at_once", [True, False])
@pytest.mark.parametrize(("first", "right", "value"), PUT_RIGHT)
async def test_marked_word_takes_the_place_of_the_wrong_one(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    first: str,
    right: str,
    value: str,
    *,
    is_at_once: bool,
) -> None:
    """Read in one talk, or when the wrong word has been read already."""
    if is_at_once:
        await told(app, chat_context, [first, right])
    else:
        await told(app, chat_context, [first])
        clock.tick(minutes=5)
        await told(app, chat_context, [right])

    known = [each.memory for each in await believed(app, chat_context)]
    assert [each.value for each in known if each.kind in {"fact", "preference"}] == [value]


@pytest.mark.parametrize("other", OTHER)
async def test_stars_that_mark_no_word_change_nothing(
    app: AppContext, chat_context: ChatContext, other: str
) -> None:
    """Feelings, stage directions and lists are not corrections."""
    await told(app, chat_context, ["I live in Leeds.", other])

    known = [each.memory for each in await believed(app, chat_context)]
    assert "Leeds" in [each.value for each in known]
    assert not any("York" in each.value for each in known)
