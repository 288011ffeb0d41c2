"""Calculate tool: exact arithmetic and units, so that no model does sums in its head."""

from typing import Final

from oldfriend.measurements.calculator import read_calculation
from oldfriend.measurements.lexicon import get_lexicon
from oldfriend.turn.request_handlers.calculator_requests import tell
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.tools.record_results import build_refusal, define_tool, read_text
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolSpec
from oldfriend.turn.tools.tool_groups import RECORDS_GROUP

CALCULATE_TOOL: Final = "calculate"


def build_calculate_tool(context: ToolContext) -> BoundTool:
    """Build the tool that calculates."""
    del context

    async def use(arguments: ToolArguments) -> str:
        asked = read_text(arguments, "expression")
        calculation = read_calculation(f"{asked} =", get_lexicon("en"))
        if calculation is None:
            raise build_refusal("not_calculable", given=asked)
        return tell(calculation, load_measurement_texts("en"))

    return BoundTool(
        definition=define_tool(
            CALCULATE_TOOL, {"expression": "expression"}, required=("expression",)
        ),
        kind="idempotent",
        run=use,
        is_recorded=False,
    )


CALCULATE: Final = ToolSpec(name=CALCULATE_TOOL, build=build_calculate_tool, group=RECORDS_GROUP)
