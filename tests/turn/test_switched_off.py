"""What is asked for outside and switched off is said, with how to switch it on."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import WebSettings
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.replies.reply_worker import answer_message
from oldfriend.turn.switched_off import find_lookup
from tests.clock import FrozenClock


@pytest.mark.parametrize(
    ("language", "text", "lookup"),
    [
        ("en", "What's the weather in Berlin?", "weather"),
        ("en", "Will it rain tomorrow?", "weather"),
        ("en", "search the web for tapas recipes", "search"),
        ("en", "Can you google the opening hours of the zoo?", "search"),
        ("en", "how much is 50 euros in dollars?", "currency"),
        ("en", "find me a restaurant near here", "places"),
        ("en", "read this: https://example.org/a", "page"),
        ("en", "https://example.org/a", None),
        ("en", "The weather was lovely in Rome.", None),
        ("en", "What was the weather when we met?", None),
        ("en", "I looked it up at home.", None),
        ("en", "Is it cold that you hate?", None),
        ("de", "Wie wird das Wetter morgen?", "weather"),
        ("de", "Such im Internet nach Tapas-Rezepten", "search"),
        ("de", "Was sind 50 Euro in Dollar?", "currency"),
        ("de", "Wie war das Wetter in Rom?", None),
        ("en", "Google hired me today.", None),
        ("en", "Google", None),
        ("en", "Weather in Rome was lovely last week.", None),
        ("en", "weather in Rome", "weather"),
        ("de", "Google hat mich eingestellt.", None),
        ("de", "Das Wetter heute war schön.", None),
        ("es", "Va a llover mañana.", None),
        ("es", "¿Va a llover mañana?", "weather"),
        ("es", "El tiempo en Roma fue muy bueno.", None),
        ("fr", "Google m'a embauché.", None),
        ("fr", "Il va pleuvoir demain.", None),
        ("fr", "La météo à Rome était vraiment bonne.", None),
        ("zh", "明天要下雨。", None),
        ("zh", "明天会下雨吗？", "weather"),
        ("es", "¿Qué tiempo hace en Madrid?", "weather"),
        ("es", "busca en internet recetas de tapas", "search"),
        ("es", "¿cuánto son 50 euros en dólares?", "currency"),
        ("fr", "Quel temps fera-t-il demain ?", "weather"),
        ("fr", "cherche des recettes sur internet", "search"),
        ("zh", "北京今天天气怎么样？", "weather"),
        ("zh", "上网查一下菜谱", "search"),
        ("zh", "今天天气真好。", None),
    ],
)
def test_what_is_asked_for_outside_is_read(language: str, text: str, lookup: str | None) -> None:
    """In five languages, as whole messages."""
    found = find_lookup(text, language)
    assert (found[0] if found else None) == lookup
    assert found is None or found[1] == language


@pytest.mark.parametrize(("weather", "told"), [(False, "weather = true"), (True, "connect model")])
async def test_switched_off_lookup_is_said(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *, weather: bool, told: str
) -> None:
    """Off: how to switch it on. On, and without a model: what else it needs."""
    clock.tick(minutes=1)
    settings = replace(app.settings, web=WebSettings(weather=weather))
    answered = await answer_message(
        replace(app, settings=settings),
        chat_context,
        MessageSubmission(text="What's the weather in Rome?"),
    )
    assert told in answered.reply.text
