"""Search memory tool: lets a model search the memory again, by words, person, time or speaker.

What it shows is labelled like what is recalled automatically, and counts as recalled for the reply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final

from oldfriend.domain.clock import Micros, get_zone, parse_period, to_micros
from oldfriend.domain.errors import InvalidInput, OldfriendError, StoreCorrupt
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import ToolDefinition
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.memory_context import estimate_line_tokens
from oldfriend.turn.prompt_labels import frame_records, label_item, sanitize
from oldfriend.turn.prompt_ranking import select_candidates, select_fitting_items
from oldfriend.turn.recalled import RecalledBelief, RecalledItem, RecalledMessage, get_item_id
from oldfriend.turn.record_keys import estimate_keyed_tokens
from oldfriend.turn.retrieval import READ_ERRORS
from oldfriend.turn.tools.memory_lookup import FoundMemories, MemoryLookup, MemoryRequest
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec

SEARCH_TOOL: Final = "search_memory"
ARGUMENTS: Final = ("query", "about", "said_by", "from_date", "to_date", "around")
MAX_USES: Final = 3
"""Searches in one turn."""
MAX_RESULT_TOKENS: Final = 1_000
MIN_RESULT_TOKENS: Final = 100
"""Below this hardly a record fits."""
MAX_ECHO_CHARS: Final = 40
"""Characters of a faulty argument that are repeated to the model."""
RESULT_LINES: Final[Mapping[str, Mapping[str, str]]] = {
    "beliefs": {},
    "messages": {},
    "unsure": {},
    "above": {},
    "more": {"count": "9,999"},
}
"""The titles and remarks of a result, with values to estimate their length."""


def get_search_prompt() -> Prompt:
    """Return what a model is told about searching."""
    return get_prompt("search_memory/3")


def build_search_tool(context: ToolContext) -> BoundTool:
    """Build the tool that searches the memory of the person that the turn is for."""
    prompt = get_search_prompt()
    search = MemorySearch(context=context, prompt=prompt, tokens_left=context.recall_tokens)
    return BoundTool(
        definition=ToolDefinition(
            name=SEARCH_TOOL,
            description=prompt.render("description"),
            parameters={
                "type": "object",
                "properties": {
                    name: {"type": "string", "description": prompt.render(name)}
                    for name in ARGUMENTS
                },
                "required": [],
                "additionalProperties": False,
            },
        ),
        kind="read",
        run=search.run,
        max_uses=MAX_USES,
        is_recorded=False,
    )


SEARCH_MEMORY: Final = ToolSpec(name=SEARCH_TOOL, build=build_search_tool)


@dataclass(slots=True, kw_only=True)
class MemorySearch:
    """The searches of one turn, with the tokens that are left for their results."""

    context: ToolContext
    prompt: Prompt
    tokens_left: int

    async def run(self, arguments: ToolArguments) -> ToolOutput:
        """Return what was found. Raises InvalidInput, StoreError."""
        context, budget = self.context, min(self.tokens_left, MAX_RESULT_TOKENS)
        request = parse_request(arguments, self.prompt, context.utterance.message.zone)
        if budget < MIN_RESULT_TOKENS:
            raise InvalidInput(self.prompt.render("no_room"))
        lookup = MemoryLookup(
            search_deps=context.search_deps,
            utterance=context.utterance,
            person_name=context.person_name,
            prompt=self.prompt,
        )
        try:
            found = await lookup.find(request)
        except OldfriendError:
            raise
        except READ_ERRORS as error:
            raise StoreCorrupt(str(error) or type(error).__name__) from error
        output = self._render(found, budget)
        self.tokens_left -= estimate_tokens(output.text)
        context.shown_ids.update(map(get_item_id, output.items))
        return output

    def _render(self, found: FoundMemories, budget: int) -> ToolOutput:
        """Return the best that fits, beliefs first, then messages by time."""
        prompt = self.prompt
        above = frozenset[str]() if found.is_reading else frozenset(self.context.shown_ids)
        new = [each for each in found.items if get_item_id(each) not in above]
        is_new_only = len(new) < len(found.items)
        kept = self._select(new, budget)
        if not kept:
            return ToolOutput(text=prompt.render("nothing_new" if is_new_only else "nothing"))
        beliefs = [each for each in kept if isinstance(each, RecalledBelief)]
        messages = sorted(
            (each for each in kept if isinstance(each, RecalledMessage)),
            key=lambda each: (each.message.at, each.message.seq),
        )
        listed = sum(isinstance(each, RecalledMessage) for each in found.items)
        new_messages = sum(isinstance(each, RecalledMessage) for each in new)
        more = found.message_count - (listed - new_messages) - len(messages)
        parts = [] if found.is_sure else [prompt.render("unsure")]
        for title, items in (("beliefs", beliefs), ("messages", messages)):
            if items:
                lines = self.context.record_keys.label(
                    self.context.prompt, [*map(self._label, items)], [*map(get_item_id, items)]
                )
                parts.append(frame_records(self.context.prompt, prompt.render(title), lines))
        if is_new_only:
            parts.append(prompt.render("above"))
        if more > 0:
            parts.append(prompt.render("more", count=f"{more:,}"))
        return ToolOutput(
            text="\n".join(parts), items=(*beliefs, *messages), source_ids=found.source_ids
        )

    def _select(self, items: Sequence[RecalledItem], budget: int) -> list[RecalledItem]:
        """Return the best items that fit beside the titles and remarks, in their order."""
        candidates = select_candidates(items)
        costs = [
            estimate_keyed_tokens(self.context.prompt, self._label(each)) for each in candidates
        ]
        beliefs, messages, *remarks = (
            estimate_line_tokens(
                frame_records(self.context.prompt, self.prompt.render(part, **values), ())
            )
            for part, values in RESULT_LINES.items()
        )
        return select_fitting_items(candidates, costs, budget - sum(remarks), (beliefs, messages))

    def _label(self, item: RecalledItem) -> str:
        context = self.context
        return label_item(context.prompt, item, zone=context.utterance.message.zone)


def parse_request(arguments: ToolArguments, prompt: Prompt, zone: str) -> MemoryRequest:
    """Parse the arguments of a search; days are those of a zone. Raises InvalidInput."""
    given = {name: str(arguments.get(name) or "").strip() for name in ARGUMENTS}
    if not any(given.values()):
        raise InvalidInput(prompt.render("no_argument"))
    since, _ = parse_day(given, "from_date", prompt, zone)
    _, until = parse_day(given, "to_date", prompt, zone)
    if since is not None and until is not None and until <= since:
        raise InvalidInput(prompt.render("wrong_order"))
    return MemoryRequest(
        query=given["query"],
        about=given["about"],
        said_by=given["said_by"],
        since=since,
        until=until,
        around=parse_moment(given["around"], prompt),
    )


def parse_day(
    given: dict[str, str], name: str, prompt: Prompt, zone: str
) -> tuple[Micros | None, Micros | None]:
    """Return the first µs of a day, month or year and the first after it; None without one."""
    text = given[name]
    if not text:
        return None, None
    period = parse_period(text, zone)
    if period is not None:
        return period[0], period[1] + 1
    try:
        first = datetime.fromisoformat(text).date()
        begin, end = (
            to_micros(datetime.combine(day, time(), get_zone(zone)))
            for day in (first, first + timedelta(days=1))
        )
    except (ValueError, OverflowError) as error:
        refusal = prompt.render("bad_day", name=name, given=sanitize(text[:MAX_ECHO_CHARS]))
        raise InvalidInput(refusal) from error
    return begin, end


def parse_moment(text: str, prompt: Prompt) -> datetime | None:
    """Return a moment to the minute, as it stands in a label; None without one."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError as error:
        refusal = prompt.render("bad_moment", given=sanitize(text[:MAX_ECHO_CHARS]))
        raise InvalidInput(refusal) from error
