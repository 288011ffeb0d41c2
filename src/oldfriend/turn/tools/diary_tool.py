"""Diary tool: lets a model search and read what the person wrote into their diary."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.diary.diary_search import DiaryHit, find_similar, search_entries
from oldfriend.diary.diary_store import (
    DiaryEntry,
    DiaryFilter,
    compute_stats,
    find_entry,
    list_entries,
    list_on_this_day,
    list_tags,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import MAX_QUERY_CHARS
from oldfriend.search import QueryEmbedding, SearchQuery
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.query_embedding import embed_query
from oldfriend.turn.tools.record_results import (
    build_refusal,
    define_tool,
    get_records_prompt,
    get_today,
    read_limit,
    read_span,
    read_text,
)
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec
from oldfriend.turn.tools.tool_groups import RECORDS_GROUP

DIARY_TOOL: Final = "diary"
SEARCHED, MAX_SEARCHED = 10, 50
BY_DATE, MAX_BY_DATE = 20, 50
SIMILAR, MAX_SIMILAR = 5, 20
MAX_ENTRY_CHARS: Final = 2_000
MAX_RESULT_CHARS: Final = 12_000
MAX_TAGS_SHOWN: Final = 100
MAX_USES: Final = 5


def build_diary_tool(context: ToolContext) -> BoundTool:
    """Build the tool that reads the diary of the person that the turn is for."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        query, language = read_text(arguments, "query")[:MAX_QUERY_CHARS], get_language(context)
        embedding: QueryEmbedding | None = None
        if query and read_text(arguments, "action") in {"", "search"}:
            embedding = await embed_query(context.search_deps.embedder, query, language)
        async with context.search_deps.db.begin_read() as tx:
            reader = DiaryReader(
                tx=tx,
                person=context.utterance.person.id,
                context=context,
                arguments=arguments,
                query=SearchQuery(text=query, language=language, embedding=embedding),
            )
            return await reader.run()

    return BoundTool(
        definition=define_tool(
            DIARY_TOOL,
            {
                "action": "diary_action",
                "query": "query",
                "entry": "entry",
                "from_date": "from_date",
                "to_date": "to_date",
                "month_day": "month_day",
                "tags": "tags",
                "city": "city",
                "limit": "limit",
            },
        ),
        kind="read",
        run=use,
        max_uses=MAX_USES,
        is_recorded=False,
    )


def get_language(context: ToolContext) -> str:
    """Return the language in which the person spoke."""
    return context.utterance.message.language or "en"


@dataclass(frozen=True, kw_only=True)
class DiaryReader:
    """One use of the tool."""

    tx: Transaction
    person: PersonId
    context: ToolContext
    arguments: ToolArguments
    query: SearchQuery

    async def run(self) -> ToolOutput:
        """Return what was asked for. Raises InvalidInput."""
        match read_text(self.arguments, "action"):
            case "get":
                return await self.get_entry()
            case "by_date":
                limit = read_limit(self.arguments, BY_DATE, MAX_BY_DATE)
                return render_entries(
                    await list_entries(self.tx, self.person, self.read_filter(), limit=limit)
                )
            case "on_this_day":
                return await self.list_on_this_day()
            case "similar":
                return await self.find_similar()
            case "tags":
                tags = await list_tags(self.tx, self.person)
                return ToolOutput(text=dump(dict(tags[:MAX_TAGS_SHOWN])))
            case "stats":
                return await self.tell_stats()
            case _:
                return await self.search()

    def read_filter(self) -> DiaryFilter:
        """Return which entries are meant. Raises InvalidInput."""
        days = read_span(self.arguments)
        tags = read_text(self.arguments, "tags").split(",")
        return DiaryFilter(
            first=days.first,
            last=days.last,
            tags=tuple(tag for each in tags if (tag := each.strip().lstrip("#"))),
            city=read_text(self.arguments, "city"),
        )

    async def search(self) -> ToolOutput:
        """Search by words and meaning."""
        hits = await search_entries(
            self.tx,
            self.person,
            self.query,
            self.read_filter(),
            self.context.search_deps.index_cache,
            limit=read_limit(self.arguments, SEARCHED, MAX_SEARCHED),
        )
        return render_hits(hits)

    async def get_entry(self) -> ToolOutput:
        """Return one entry. Raises InvalidInput."""
        wanted = read_text(self.arguments, "entry")
        entry = await find_entry(self.tx, self.person, wanted)
        if entry is None:
            raise build_refusal("no_entry", entry=wanted)
        return render_entries([entry], most_chars=MAX_RESULT_CHARS)

    async def list_on_this_day(self) -> ToolOutput:
        """Return the entries of a day in all years. Raises InvalidInput."""
        given = read_text(self.arguments, "month_day") or get_today(self.context).strftime("%m-%d")
        month, _, day = given.partition("-")
        if not (month.isdecimal() and day.isdecimal() and len(given) == len("12-24")):
            raise build_refusal("bad_day", given=given)
        limit = read_limit(self.arguments, BY_DATE, MAX_BY_DATE)
        return render_entries(
            await list_on_this_day(self.tx, self.person, int(month), int(day), limit=limit)
        )

    async def find_similar(self) -> ToolOutput:
        """Return the entries closest to one. Raises InvalidInput."""
        wanted = read_text(self.arguments, "entry")
        hits = await find_similar(
            self.tx,
            self.person,
            wanted,
            model=self.context.search_deps.index_cache.model,
            limit=read_limit(self.arguments, SIMILAR, MAX_SIMILAR),
        )
        if hits is None:
            raise build_refusal("no_entry", entry=wanted)
        return render_hits(hits)

    async def tell_stats(self) -> ToolOutput:
        """Return how many entries there are."""
        stats = await compute_stats(self.tx, self.person, self.read_filter())
        return ToolOutput(
            text=dump(
                {
                    "entries": stats.entries,
                    "words": stats.words,
                    "days": stats.days,
                    "first": None if stats.first is None else stats.first.isoformat(),
                    "last": None if stats.last is None else stats.last.isoformat(),
                    "by_year": {f"{year}": count for year, count in stats.by_year.items()},
                }
            )
        )


def render_hits(hits: Sequence[DiaryHit]) -> ToolOutput:
    """Render entries that were searched for, with their scores and how they were found."""
    found: list[dict[str, JsonValue]] = [
        {"rrf_score": round(each.rrf_score, 5), "match_sources": [*each.match_sources]}
        for each in hits
    ]
    return render_entries([each.entry for each in hits], found=found)


def render_entries(
    entries: Sequence[DiaryEntry],
    *,
    found: Sequence[Mapping[str, JsonValue]] = (),
    most_chars: int = MAX_ENTRY_CHARS,
) -> ToolOutput:
    """Render entries as JSON, as many as fit, and name the messages with which they came."""
    if not entries:
        return ToolOutput(text=get_records_prompt().render("no_entries"))
    rendered: list[JsonValue] = []
    size, shown = 0, 0
    for at, entry in enumerate(entries):
        record = {**render_entry(entry, most_chars), **(found[at] if found else {})}
        size += len(dump(record))
        if rendered and size > MAX_RESULT_CHARS:
            break
        rendered.append(record)
        shown += 1
    sources = tuple(each.message for each in entries[:shown] if each.message is not None)
    records = tuple(each.id for each in entries[:shown])
    return ToolOutput(text=dump(rendered), source_ids=sources, records=records)


def render_entry(entry: DiaryEntry, most_chars: int) -> dict[str, JsonValue]:
    """Return an entry as JSON, without what it does not have."""
    text = entry.text if len(entry.text) <= most_chars else f"{entry.text[:most_chars]} …"
    details: dict[str, JsonValue] = {
        "id": entry.id,
        "day": entry.day.isoformat(),
        "text": sanitize(text),
        "place": sanitize(entry.place),
        "city": sanitize(entry.city),
        "weather": sanitize(entry.weather),
        "tags": [sanitize(each) for each in entry.tags],
        "media": {name: count for name, count in entry.media.items() if count},
    }
    return {name: value for name, value in details.items() if value}


def dump(value: JsonValue) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


DIARY_SPEC: Final = ToolSpec(name=DIARY_TOOL, build=build_diary_tool, group=RECORDS_GROUP)
