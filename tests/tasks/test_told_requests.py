"""Sentences that tell of a reminder: a question about the past, a denied request, another asker."""

import pytest

from oldfriend.tasks.request_sentences import read_requests


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Did you remind me to call Ana tomorrow at 9?"),
        ("en", "I'd never ask you to remind me to feed the cat at 7am"),
        ("en", "Had you already told me to call Ana tomorrow at 9?"),
        ("de", "Hast du mich daran erinnert, morgen um 9 Ana anzurufen?"),
        ("de", "ich hätte dich nie gebeten mich morgen um 9 an Müll zu erinnern"),
        ("de", "Meine Schwester erinnert mich morgen um 9 an den Müll"),
        ("es", "nunca te pediría que me recuerdes a las 9 lo del gas"),
        ("es", "mi jefe me recuerda mañana a las 9 que llame"),
        ("fr", "ma mère me rappelle demain à 9h d'acheter du pain"),
        ("fr", "je ne t'ai jamais demandé de me rappeler d'appeler Ana demain à 9h"),
        ("zh", "我老板提醒我后天下午3点交报告"),
        ("zh", "我从来没让你提醒我明天9点倒垃圾"),
        ("en", "ugh why does my dad remind me about the bins every 10 minutes"),
        ("fr", "pourquoi ma mère me rappelle la vaisselle toutes les 10 minutes"),
        ("zh", "为什么我妈每十分钟提醒我洗碗"),
    ],
)
def test_sentence_that_tells_of_a_reminder_asks_for_none(language: str, text: str) -> None:
    """Who asks, and whether, is told by the words around the verb."""
    assert not read_requests(text, (language, "en"))[1]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Did you sleep well? Remind me tomorrow at 9 to call Ana"),
        ("en", "why does my phone never ring, remind me tomorrow at 9 to look at it"),
        ("en", "why don't you remind me about the bins at 6pm"),
        ("en", "Don't forget to remind me tomorrow at 9 to call Ana"),
        ("de", "Kannst du mich morgen um 9 daran erinnern, Ana anzurufen?"),
        ("de", "Erinnerst du mich morgen um 9 an Müll?"),
        ("es", "¿Me recuerdas mañana a las 9 llamar a Ana?"),
        ("es", "Quiero que me recuerdes mañana a las 9 lo del gas"),
        ("fr", "Tu me rappelles demain à 9h d'acheter du pain ?"),
        ("fr", "J'aimerais que quelqu'un me rappelle demain à 9h d'acheter du pain"),
        ("zh", "请你明天9点提醒我开会"),
        ("zh", "麻烦小助手提醒我后天下午3点交报告"),
    ],
)
def test_sentence_that_asks_still_asks(language: str, text: str) -> None:
    """Beside a question, as a question, and as a wish."""
    assert [each.action for each in read_requests(text, (language, "en"))[1]] == ["remind"]


@pytest.mark.parametrize(
    ("language", "text", "what", "order"),
    [
        (
            "en",
            "forget everything I said about work and remind me tomorrow at 9am to rest",
            "rest",
            "forget everything I said about work",
        ),
        (
            "es",
            "recuérdame mañana a las 9 llamar a Ana y olvida todo sobre Pedro",
            "llamar a Ana",
            "olvida todo sobre Pedro",
        ),
        (
            "de",
            "vergiss alles über Tom und erinnere mich morgen um 9 Uhr an Müll",
            "Müll",
            "vergiss alles über Tom",
        ),
    ],
)
def test_order_to_forget_is_no_part_of_the_reminder_beside_it(
    language: str, text: str, what: str, order: str
) -> None:
    """It is left to what forgets."""
    _, asked, rest = read_requests(text, (language, "en"))
    assert [each.what for each in asked] == [what]
    assert rest == [order]


def test_only_an_order_to_forget_what_was_said_is_apart() -> None:
    """Removing a cover is to be reminded of."""
    text = "remind me tomorrow at 9 to water the plants and remove the cover"
    ((asked,), _) = read_requests(text, ("en",))[1:]
    assert "cover" in asked.what
