"""Summary roll-up: folds the oldest summaries of a level into one summary of the level above.

A model writes it. Folded summaries are kept, and return when the summary they were folded into ends
(``memory.retraction``). Knows no messages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import ModelError, StaleDecision
from oldfriend.domain.ids import ObjectId, PersonId, SummaryId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Summary
from oldfriend.learning.validation.text_quality import is_prose
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.memory.belief_views import list_summaries
from oldfriend.memory.journal import Provenance, get_latest_seq, record_decision
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.prompts.prompt import get_prompt
from oldfriend.search.tokenizer import is_unspaced, tokenize
from oldfriend.turn.prompt_labels import format_iso_day, sanitize
from oldfriend.turn.structured_output import complete_structured

PROMPT: Final = "summarise/2"
MAX_PER_LEVEL: Final = 5
ROLLUP_SIZE: Final = 5
MAX_SUMMARIES: Final = 10
"""The sixth summary of a level folds the level's five oldest."""
MAX_WORDS: Final = 500
WORD_LIMIT_TOLERANCE: Final = 1.2
"""Tolerance on the word limit of a model's text, because models cannot count words."""
MAX_TOPICS: Final = 8
MAX_TOKENS: Final = 2_000
UNSPACED_CHARS_PER_WORD: Final = 1.6
"""Characters per word in scripts without spaces."""
OUTPUT_SCHEMA: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "topics": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["text", "topics"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RollupResult:
    """Roll-up result: the new summaries, and the error that stopped it, which changed nothing."""

    summaries: tuple[Summary, ...] = ()  # the new ones
    error: str | None = None  # retried at the next roll-up


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDraft:
    """Summary draft: the text of a summary before it is written."""

    text: str
    topics: tuple[str, ...]


async def roll_up(
    db: Database, person: PersonId, *, model: LanguageModel, now: Micros
) -> RollupResult:
    """Fold a person's summaries until no level has too many, nor all levels together.

    A failing model changes nothing; its error is returned. Raises StaleDecision if summaries
    changed while one was written.
    """
    done: list[Summary] = []
    while True:
        async with db.begin_read() as tx:
            sources = select_for_rollup(await list_summaries(tx, person))
            zone = (await get_person_by_id(tx, person)).zone
        if not sources:
            return RollupResult(summaries=tuple(done))
        try:
            draft = await summarize(model, sources, zone=zone)
        except ModelError as error:
            return RollupResult(summaries=tuple(done), error=str(error))
        summary = build_rollup(sources, draft, now=now)
        async with db.begin_write() as tx:
            await lock_person(tx, person)
            await write_rollup(tx, summary, sources, now=now)
        done.append(summary)


def select_for_rollup(active: Sequence[Summary]) -> list[Summary]:
    """Select the summaries to fold next, oldest first; none if there is room.

    The lowest level that is too full; if none is but there are too many in all, the lowest level
    above the first that has several, and at last whatever is oldest.
    """
    levels: dict[int, list[Summary]] = {}
    for each in sorted(active, key=lambda summary: (summary.from_at, summary.id)):
        levels.setdefault(each.level, []).append(each)
    for level in sorted(levels):
        if len(levels[level]) > MAX_PER_LEVEL:
            return levels[level][:ROLLUP_SIZE]
    if len(active) <= MAX_SUMMARIES:
        return []
    for level in sorted(levels):
        if level > 1 and len(levels[level]) > 1:
            return levels[level][:ROLLUP_SIZE]
    return sorted(active, key=lambda summary: (-summary.level, summary.from_at))[:ROLLUP_SIZE]


def build_rollup(sources: Sequence[Summary], draft: SummaryDraft, *, now: Micros) -> Summary:
    """Build the summary that replaces others, one level above the highest of them."""
    segments = chain.from_iterable(each.segments for each in sources)
    return Summary(
        id=SummaryId(ObjectId(new_id(now))),
        person=sources[0].person,
        level=1 + max(each.level for each in sources),
        text=draft.text,
        language=get_majority_language(sources),
        topics=draft.topics,
        segments=tuple(dict.fromkeys(segments)),
        sources=tuple(each.id for each in sources),
        from_at=min(each.from_at for each in sources),
        until_at=max(each.until_at for each in sources),
        learned_at=now,
    )


async def write_rollup(
    tx: Transaction, summary: Summary, sources: Sequence[Summary], *, now: Micros
) -> None:
    """Write a summary and deactivate its sources. Raises StaleDecision."""
    active = await list_summaries(tx, summary.person)
    if not all(each in active for each in sources):
        raise StaleDecision("Summaries have changed while they were being folded.")
    provenance = Provenance(author=PROMPT)
    await record_decision(tx, summary, op="learned", base=0, provenance=provenance, now=now)
    for each in sources:
        base = await get_latest_seq(tx, each.person, each.id)
        after = replace(each, is_active=False)
        await record_decision(tx, after, op="revised", base=base, provenance=provenance, now=now)


async def summarize(model: LanguageModel, sources: Sequence[Summary], *, zone: str) -> SummaryDraft:
    """Write one summary of several, told with their days in a time zone.

    Raises BrokenOutput, and what the model raises.
    """
    max_words = get_word_limit(sources)

    def parse(answer: JsonValue) -> SummaryDraft:
        return parse_summary(answer, max_words=max_words)

    return await complete_structured(model, build_rollup_request(sources, max_words, zone), parse)


def build_rollup_request(
    sources: Sequence[Summary], max_words: int, zone: str
) -> CompletionRequest:
    """Build the request for a summary."""
    prompt = get_prompt(PROMPT)
    rendered = (
        prompt.render(
            "summary",
            **{
                "from": format_iso_day(each.from_at, zone),
                "until": format_iso_day(each.until_at, zone),
            },
            text=sanitize(each.text),
        )
        for each in sources
    )
    ask = prompt.render(
        "ask",
        language=get_majority_language(sources),
        most=str(max_words),
        summaries="\n".join(rendered),
    )
    return CompletionRequest(
        purpose="summary",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt"),
        turns=(PromptTurn(role="instruction", text=ask),),
        output=OUTPUT_SCHEMA,
        max_output_tokens=MAX_TOKENS,
        shown=tuple(each.id for each in sources),
    )


def parse_summary(answer: JsonValue, *, max_words: int) -> SummaryDraft:
    """Parse a model's summary. Raises ValueError if it is unusable."""
    match answer:
        case {"text": str(text), "topics": list(topics)}:
            text = " ".join(text.split())
        case _:
            raise ValueError('it needs a "text", and a list of "topics".')
    if not is_prose(text):
        raise ValueError('"text" is empty or no prose.')
    if count_words(text) > WORD_LIMIT_TOLERANCE * max_words:
        raise ValueError(f'"text" has {count_words(text)} words, and may have {max_words}.')
    kept = dict.fromkeys(each.strip() for each in topics if isinstance(each, str) and each.strip())
    return SummaryDraft(text=text, topics=tuple(kept)[:MAX_TOPICS])


def get_word_limit(sources: Sequence[Summary]) -> int:
    """Return the word limit of a summary: never longer than its sources."""
    return max(1, min(MAX_WORDS, sum(count_words(each.text) for each in sources)))


def count_words(text: str) -> int:
    """Count the words of a text; estimated in scripts without spaces."""
    characters = sum(map(is_unspaced, text))
    spaced = sum(not is_unspaced(word) for word in tokenize(text))
    return spaced + round(characters / UNSPACED_CHARS_PER_WORD)


def get_majority_language(sources: Sequence[Summary]) -> str:
    """Return the language of most summaries."""
    return Counter(each.language for each in sources).most_common(1)[0][0]
