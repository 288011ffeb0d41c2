"""Web tools: what a model may look up outside, each only where it is switched on.

Results are facts with their source, set off as outside text; whatever they ask for is not done.
A page is read only at an address that the person wrote or a search returned, so that nothing known
leaves in an address that a model makes up.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolDefinition
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.prompt_labels import format_timestamp, frame_records, render_record, sanitize
from oldfriend.turn.tools.tool import (
    BoundTool,
    CostClass,
    OutputField,
    ToolArguments,
    ToolContext,
    ToolOutput,
    ToolSpec,
)
from oldfriend.turn.tools.tool_groups import WEB_GROUP
from oldfriend.turn.tools.tool_words import ToolWords, load_tool_words
from oldfriend.usage.tool_log import ToolSource, list_tool_uses
from oldfriend.web.findings import Finding
from oldfriend.web.links import list_all_links, normalize_link
from oldfriend.web.weather import SKY
from oldfriend.web.web_access import WebAccess

MAX_PAGE_CHARS: Final = 4_000
"""Characters of a page that a model reads."""
MAX_USES: Final = 4
"""Of one web tool in a turn."""
RECENT_MESSAGES: Final = 30
"""Messages of the chat in which the person may have written an address."""
MAX_SUMMARY_FINDINGS: Final = 4
NUMBERS: Final = frozenset({"amount"})
"""Arguments that are numbers; all others are texts."""
OUTPUTS: Final[Mapping[str, tuple[OutputField, ...]]] = {
    "web_search": (
        OutputField(name="title", importance="critical"),
        OutputField(name="summary", importance="critical"),
        OutputField(name="url", type="address"),
    ),
    "read_page": (
        OutputField(name="title", importance="critical"),
        OutputField(name="summary", importance="critical"),
        OutputField(name="url", type="address"),
    ),
    "weather": (
        OutputField(name="temperature", importance="critical"),
        OutputField(name="sky", importance="critical"),
        OutputField(name="rain", importance="critical"),
        OutputField(name="date", type="time"),
        OutputField(name="wind"),
        OutputField(name="place"),
        OutputField(name="humidity", importance="metadata"),
    ),
    "convert_currency": (
        OutputField(name="amount", importance="critical"),
        OutputField(name="rate"),
        OutputField(name="date", type="time"),
    ),
    "places": (
        OutputField(name="name", importance="critical"),
        OutputField(name="place", importance="critical"),
        OutputField(name="kind", importance="metadata"),
    ),
}


def get_web_prompt() -> Prompt:
    """Return what a model is told about looking things up."""
    return get_prompt("web/2")


def build_web_tools(web: WebAccess) -> tuple[ToolSpec, ...]:
    """Return the tools that are switched on; those that are not cost no tokens."""
    settings = web.settings
    is_search_asked = web.is_search_paid and settings.asks_before_paid
    switched = (
        (web.search_provider is not None, "web_search", is_search_asked),
        (settings.pages, "read_page", False),
        (settings.weather, "weather", False),
        (settings.currency, "convert_currency", False),
        (settings.places, "places", False),
    )
    return tuple(
        build_spec(name, web, needs_confirmation=asks) for is_on, name, asks in switched if is_on
    )


def build_spec(name: str, web: WebAccess, *, needs_confirmation: bool) -> ToolSpec:
    """Return a web tool as it is registered."""
    is_paid = name == "web_search" and web.is_search_paid
    cost: CostClass = "paid" if is_paid else "network"

    def build(context: ToolContext) -> BoundTool:
        return WebLookup(context=context, web=web, prompt=get_web_prompt()).bind(name)

    return ToolSpec(
        name=name,
        build=build,
        output=OUTPUTS[name],
        cost=cost,
        needs_confirmation=needs_confirmation,
        group=WEB_GROUP,
    )


def list_arguments(prompt: Prompt, name: str) -> dict[str, JsonValue]:
    """Return the arguments of a tool, as its prompt describes them."""
    return {
        part.removeprefix(f"{name}_"): {
            "type": "number" if part.removeprefix(f"{name}_") in NUMBERS else "string",
            "description": prompt.render(part),
        }
        for part in prompt.parts
        if part.startswith(f"{name}_")
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLookup:
    """The web tools of one turn."""

    context: ToolContext
    web: WebAccess
    prompt: Prompt

    def bind(self, name: str) -> BoundTool:
        """Return the tool with this name."""
        uses: Mapping[str, Callable[[ToolArguments], Awaitable[ToolOutput]]] = {
            "web_search": self.search,
            "read_page": self.read_page,
            "weather": self.find_weather,
            "convert_currency": self.convert,
            "places": self.find_places,
        }
        arguments = list_arguments(self.prompt, name)
        required: list[JsonValue] = [each for each in arguments if each != "place"]
        return BoundTool(
            definition=ToolDefinition(
                name=name,
                description=self.prompt.render(name),
                parameters={
                    "type": "object",
                    "properties": arguments,
                    "required": required,
                    "additionalProperties": False,
                },
            ),
            kind="read",
            run=uses[name],
            max_uses=MAX_USES,
            is_recorded=False,
        )

    @property
    def words(self) -> ToolWords:
        """Return the words of the person's language."""
        return load_tool_words(self.language)

    @property
    def language(self) -> str:
        """Return the person's language."""
        return self.context.utterance.message.language or "en"

    async def search(self, arguments: ToolArguments) -> ToolOutput:
        """Search the web."""
        findings = await self.web.search(str(arguments["query"]))
        self.context.found_links.update(filter(None, map(normalize_link, list_urls(findings))))
        return self._render(findings)

    async def read_page(self, arguments: ToolArguments) -> ToolOutput:
        """Read a page that the person or a search has named. Raises InvalidInput, FetchFailed."""
        asked = str(arguments["url"]).strip()
        link = normalize_link(asked)
        if link is None or link not in await self._list_known_links():
            refusal = self.prompt.render("not_named", url=sanitize(asked[:200]))
            raise InvalidInput(refusal)
        page = await self.web.read_page(link)
        text, left_out = page.text[:MAX_PAGE_CHARS], len(page.text) - MAX_PAGE_CHARS
        record = self._record(f"{page.title}: {text}" if page.title else text, page.url)
        parts = [frame_records(self.context.prompt, self.prompt.render("found"), [record])]
        if left_out > 0:
            parts.append(self.prompt.render("cut", count=f"{left_out:,}"))
        return ToolOutput(
            text="\n".join(parts),
            sources=(self._source(page.url, page.url, page.title),),
            summary=page.title or text[:MAX_PAGE_CHARS],
        )

    async def find_weather(self, arguments: ToolArguments) -> ToolOutput:
        """Find the weather, by default where the person lives. Raises InvalidInput, FetchFailed."""
        place = str(arguments.get("place") or "").strip() or await self._find_home()
        return self._render(await self.web.find_weather(place, language=self.language))

    async def convert(self, arguments: ToolArguments) -> ToolOutput:
        """Convert money."""
        amount = arguments["amount"]
        assert isinstance(amount, int | float)
        source, target = str(arguments["from"]), str(arguments["to"])
        return self._render(await self.web.convert(amount, source, target))

    async def find_places(self, arguments: ToolArguments) -> ToolOutput:
        """Find places."""
        query = str(arguments["query"])
        return self._render(await self.web.find_places(query, language=self.language))

    async def _list_known_links(self) -> set[str]:
        """Return the addresses that the person wrote here lately, or that a search returned."""
        utterance, deps = self.context.utterance, self.context.search_deps
        person = utterance.person.id
        async with deps.db.begin_read() as tx:
            recent = await list_recent_messages(
                tx, person, utterance.message.chat, limit=RECENT_MESSAGES, role="person"
            )
            since = self.context.clock() - DAY
            searches = await list_tool_uses(
                tx, person, limit=RECENT_MESSAGES, name="web_search", since=since
            )
        written = [each.text for each in recent if each.trust == "person"]
        found = {source.url for use in searches for source in use.sources}
        return {
            *list_all_links([utterance.own_words, *written]),
            *filter(None, map(normalize_link, found)),
            *self.context.found_links,
        }

    async def _find_home(self) -> str:
        """Return where the person lives, if they have said so and nothing speaks against it."""
        utterance, deps = self.context.utterance, self.context.search_deps
        if not utterance.is_in_group:
            async with deps.db.begin_read() as tx:
                beliefs = await deps.index_cache.get_belief_index(tx, utterance.person.id)
                profile = beliefs.build_profile(utterance.message.at)
            for state in profile.attributes:
                memory = state.memory
                is_sure = memory.status == "active" and memory.trust == "person"
                if memory.subject == "person" and memory.key == "location" and is_sure:
                    return memory.value
        raise InvalidInput(self.prompt.render("no_place"))

    def _render(self, findings: Sequence[Finding]) -> ToolOutput:
        """Return findings as records from outside, and in short for the person."""
        if not findings:
            return ToolOutput(text=self.prompt.render("nothing"))
        lines = [self._record(self._format(each), each.url, each.provider) for each in findings]
        sources = {each.url: each for each in findings}
        return ToolOutput(
            text=frame_records(self.context.prompt, self.prompt.render("found"), lines),
            sources=tuple(
                self._source(each.provider, each.url, each.title) for each in sources.values()
            ),
            summary="\n".join(
                f"• {self._format(each)}" for each in findings[:MAX_SUMMARY_FINDINGS]
            ),
        )

    def _format(self, finding: Finding) -> str:
        """Return a finding on one line, its facts under the names of their fields."""
        words = self.words
        facts = [
            f"{words.get_field_label(each.name)}: {words.get_sky(each.value)}"
            if each.value.startswith(SKY)
            else f"{words.get_field_label(each.name)}: {each.value}"
            for each in finding.facts
        ]
        return " – ".join(filter(None, [finding.title, "; ".join(facts)]))

    def _record(self, text: str, url: str, provider: str = "") -> str:
        """Return a text as a record from outside, with its source."""
        now = format_timestamp(self.context.clock(), self.context.utterance.message.zone)
        marks = {"when": now, "from": " ".join(filter(None, [provider, url])), "class": "outside"}
        return render_record(self.context.prompt, text, marks)

    def _source(self, provider: str, url: str, title: str) -> ToolSource:
        """Return a source as the receipt and the log keep it."""
        return ToolSource(provider=provider, url=url, title=title, at=self.context.clock())


def list_urls(findings: Sequence[Finding]) -> list[str]:
    """Return the addresses of findings."""
    return [each.url for each in findings]
