"""Orders beside a reminder: each is followed or asked about, and none is lost."""

import pytest

from tests.chat_fixtures import Say

BOTH = (
    "Remind me tomorrow at 9 to call Eva. Forget everything about Zelda.",
    "Remind me tomorrow at 9 to call Eva and forget everything about Zelda",
)


@pytest.mark.parametrize("text", BOTH)
async def test_order_to_forget_beside_a_reminder_is_shown_and_asked_about(
    say: Say, text: str
) -> None:
    """As after /forget: nothing goes before the yes, and the reminder is set."""
    await say("My friend Zelda lives in Bonn.")
    answer = (await say(text)).reply.text
    declined = (await say("no")).reply.text

    assert "call Eva" in answer
    assert "“My friend Zelda lives in Bonn.”" in answer
    assert "Shall I forget this?" in answer
    assert declined == "All right, everything stays as it is."


async def test_undo_before_the_reply_undoes_what_the_same_words_set(say: Say) -> None:
    """Two messages in quick succession are answered as one."""
    answer = (await say("Remind me tomorrow at 9 to call Eva\nundo")).reply.text
    listed = (await say("/tasks")).reply.text

    assert "won't remind you" in answer
    assert listed == "Your list is empty."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("when's my next reminder", "1. call Eva"),
        ("Wann ist meine nächste Erinnerung?", "1. call Eva"),
        ("scratch that last one", "won't remind you of “call Eva”"),
    ],
)
async def test_next_and_last_reminder_are_known_by_these_words(
    say: Say, text: str, answer: str
) -> None:
    """They name no task, and mean the first of the list or the one that was just set."""
    await say("Remind me tomorrow at 9 to call Eva")

    assert answer in (await say(text)).reply.text


async def test_everything_that_was_told_is_no_note(say: Say) -> None:
    """It is kept anyway, and there are no words to note."""
    answer = (await say("Don't forget everything I told you")).reply.text

    assert "word for word" not in answer


async def test_bare_time_of_day_is_no_impossible_weight(say: Say) -> None:
    """It names nothing that is measured."""
    assert "can hardly be right" not in (await say("3pm")).reply.text


async def test_units_and_places_tell_no_language(say: Say) -> None:
    """Nor does a command: the answer is in the language of the conversation."""
    await say("I weigh 70 kg")
    gained = (await say("I gained 1 kg")).reply.text
    zone = (await say("/zone Asia/Tokyo")).reply.text

    assert "kept" in gained
    assert "From now on" in zone


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("tell me when the kettle gets cheaper", "its address"),
        ("Sag mir, wenn das rote Fahrrad billiger wird", "ihre Adresse"),
        ("Avísame cuando baje el precio de la bici", "su dirección"),
        ("Préviens-moi quand la bouilloire baisse de prix", "son adresse"),
        ("水壶降价了告诉我", "网址"),
    ],
)
async def test_thing_that_is_to_be_watched_needs_an_address(
    say: Say, text: str, answer: str
) -> None:
    """Without a model, which could look for one."""
    assert answer in (await say(text)).reply.text


@pytest.mark.parametrize(
    "text",
    [
        "Forget what I said about milk and remind me to call Tom tomorrow at 9",
        "Forget everything about milk. Remind me tomorrow at 9 to call Tom.",
    ],
)
async def test_reminder_beside_an_order_to_forget_stays_after_the_yes(say: Say, text: str) -> None:
    """It is no change of what was shown, and does not go with the words of the order."""
    await say("I really like oat milk.")
    await say(text)
    answer = (await say("yes")).reply.text
    listed = (await say("/tasks")).reply.text

    assert "done nothing" not in answer
    assert "call Tom" in listed
