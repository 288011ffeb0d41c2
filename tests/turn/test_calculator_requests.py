"""The calculator: arithmetic, percent, units and days, by words and without a model."""

import pytest

from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("what's 17% of 340", "57.8"),
        ("What is 17 percent of 340?", "57.8"),
        ("3.5 miles in km", "5.632704 km"),
        ("(12+7)*3", "57"),
        ("How much is 12 times 12?", "144"),
        ("2^10 =", "1,024"),
        ("340 + 17%", "397.8"),
        ("convert 100 °F to °C", "37.7777777778 °C"),
        ("how many grams in 2 pounds?", "907.18474 g"),
        ("what is the square root of 2?", "1.41421356237"),
        ("0.1 + 0.2", "0.3"),
        ("Was ist 17 Prozent von 340?", "57,8"),
        ("3,5 Meilen in km", "5,632704 km"),
        ("¿Cuánto es el 17% de 340?", "57,8"),
        ("¿Cuántos kilómetros son 3,5 millas?", "5,632704 km"),
        ("Combien font 12 fois 12 ?", "144"),
        ("3,5 miles en km", "5,632704 km"),
        ("12乘以12等于多少？", "144"),
        ("5英里等于多少公里？", "8.04672 km"),
    ],
)
async def test_calculations_are_done(talk: Talk, text: str, result: str) -> None:
    """Exactly, in the separators of the language."""
    outcome = await say(talk, text)

    assert outcome.reply.details["handled"] == ["calculator"]
    assert outcome.reply.text.endswith(f"= {result}")


@pytest.mark.parametrize(
    "text",
    [
        "We won 3-2",
        "On 12/7 I fly to Rome",
        "call +351 912 345 678",
        "What is 42?",
        "I owe Ana 12+7 euros for the tickets",
        "9^9^9^9",
        "what is 10^100000?",
        "1/0 =",
        "(" * 150 + "1" + ")" * 150,
        "what's 2 + two bananas",
        "2026-11-29",
    ],
)
async def test_what_is_no_calculation_is_left_alone(talk: Talk, text: str) -> None:
    """Nor is what would take all the time in the world."""
    outcome = await say(talk, text)
    assert "handled" not in outcome.reply.details
