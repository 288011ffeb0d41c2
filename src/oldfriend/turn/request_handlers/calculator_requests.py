"""Calculator requests: sums, units and days, as in "17% of 340", "3.5 miles in km", "(12+7)*3"."""

from typing import Final

from oldfriend.measurements.calculator import (
    Calculation,
    read_calculation,
)
from oldfriend.measurements.lexicon import list_lexicons
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.measurement_texts import (
    MeasurementTexts,
    load_measurement_texts,
)

NAME: Final = "calculator"


async def handle_calculation(context: HandlerContext) -> HandledRequest | None:
    """Calculate what a message asks for."""
    for lexicon in list_lexicons(context.perception.language):
        fixed = context.perception.fixed_language
        texts = load_measurement_texts(fixed or lexicon.language)
        calculation = read_calculation(context.text, lexicon)
        if calculation is not None:
            return HandledRequest(name=NAME, text=tell(calculation, texts))
    return None


def tell(calculation: Calculation, texts: MeasurementTexts) -> str:
    """Tell a result, with what was calculated."""
    unit = f" {calculation.unit}" if calculation.unit else ""
    result = f"{texts.exact(calculation.value)}{unit}"
    return texts.say("calculated", asked=calculation.asked, result=result)


CALCULATOR: Final = RequestHandler(name=NAME, handle=handle_calculation, reads_questions=True)
