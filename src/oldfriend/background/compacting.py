"""What of long talk stays at hand? The oldest summaries of a level are folded into one above it.

By a model, or by their most telling sentences where there is none. What was folded is kept, and
comes back when what it was folded into ends (``memory/withdrawing``). Knows no messages.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from oldfriend.background.likeness import canonical_hash, matter_of
from oldfriend.background.marks import marks_of
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import ModelError, StaleDecision
from oldfriend.domain.ids import ObjectId, PersonId, SummaryId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Summary
from oldfriend.llm.model import Model, Request, Turn
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.changes import Ground, decide, newest_change_of
from oldfriend.memory.people import lock_person
from oldfriend.memory.search.words import is_unspaced, words_in
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.labelling import inert
from oldfriend.turn.structured import ask_for

PROMPT: Final = "summarise/1"
RULE: Final = "summarise-by-rules/1"
MOST_OF_A_LEVEL: Final = 5
FOLDED_AT_ONCE: Final = 5
MOST_IN_ALL: Final = 10
"""The sixth of a level folds the five oldest of it (ACCEPTANCE D4)."""
MOST_WORDS: Final = 500
TOLERATED: Final = 1.2
"""Words of a model's text over the limit that are let pass: it cannot count them."""
MOST_TOPICS: Final = 8
MOST_TOKENS: Final = 2_000
CHARACTERS_OF_A_WORD: Final = 1.6
"""In scripts without spaces."""
FORM: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "topics": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["text", "topics"],
    "additionalProperties": False,
}
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What was folded, and why it was not all: then everything is as it was before that fold."""

    folded: tuple[Summary, ...] = ()  # the new ones
    failed: str | None = None  # tried again when there is something to fold the next time


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The words of a summary that is being made."""

    text: str
    topics: tuple[str, ...]
    author: str


async def compact(
    db: Database, person: PersonId, *, model: Model | None, now: Micros
) -> Compacted:  # fmt: skip
    """Fold a person's summaries until no level has too many, nor all together.

    A model that fails changes nothing, and is named in what is returned. Raises StaleDecision
    when summaries changed while one was written.
    """
    done: list[Summary] = []
    while True:
        async with db.reading() as tx:
            sources = due_for_folding(await list_summaries(tx, person))
        if not sources:
            return Compacted(folded=tuple(done))
        try:
            told = await fold_by_model(model, sources) if model else fold_by_rules(sources)
        except ModelError as error:
            return Compacted(folded=tuple(done), failed=str(error))
        summary = folded_from(sources, told, now=now)
        async with db.writing() as tx:
            await lock_person(tx, person)
            await write_fold(tx, summary, sources, author=told.author, now=now)
        done.append(summary)


def due_for_folding(active: Sequence[Summary]) -> list[Summary]:
    """The summaries that are to be folded next, oldest first; none where there is room.

    The lowest level that is too full; where no level is but all together are too many, the
    lowest above the first that has several, and at last whatever is oldest.
    """
    levels: dict[int, list[Summary]] = {}
    for each in sorted(active, key=lambda summary: (summary.from_at, summary.id)):
        levels.setdefault(each.level, []).append(each)
    for level in sorted(levels):
        if len(levels[level]) > MOST_OF_A_LEVEL:
            return levels[level][:FOLDED_AT_ONCE]
    if len(active) <= MOST_IN_ALL:
        return []
    for level in sorted(levels):
        if level > 1 and len(levels[level]) > 1:
            return levels[level][:FOLDED_AT_ONCE]
    return sorted(active, key=lambda summary: (-summary.level, summary.from_at))[:FOLDED_AT_ONCE]


def folded_from(sources: Sequence[Summary], told: Told, *, now: Micros) -> Summary:
    """The summary that stands for others, a level above the highest of them."""
    segments = chain.from_iterable(each.segments for each in sources)
    return Summary(
        id=SummaryId(ObjectId(new_id(now))),
        person=sources[0].person,
        level=1 + max(each.level for each in sources),
        text=told.text,
        language=language_of(sources),
        topics=told.topics,
        segments=tuple(dict.fromkeys(segments)),
        sources=tuple(each.id for each in sources),
        from_at=min(each.from_at for each in sources),
        until_at=max(each.until_at for each in sources),
        learned_at=now,
    )


async def write_fold(
    tx: Transaction, summary: Summary, sources: Sequence[Summary], *, author: str, now: Micros
) -> None:
    """Learn a summary, and put away those that it was folded from. Raises StaleDecision."""
    active = await list_summaries(tx, summary.person)
    if not all(each in active for each in sources):
        raise StaleDecision("Summaries have changed while they were being folded.")
    ground = Ground(author=author)
    await decide(tx, summary, op="learned", base=0, ground=ground, now=now)
    for each in sources:
        base = await newest_change_of(tx, each.person, each.id)
        after = replace(each, is_active=False)
        await decide(tx, after, op="revised", base=base, ground=ground, now=now)


async def fold_by_model(model: Model, sources: Sequence[Summary]) -> Told:
    """What a model makes of them. Raises BrokenOutput, and what the model raises."""
    most = most_words(sources)

    def parse(answer: JsonValue) -> Told:
        return told_from(answer, most=most)

    return await ask_for(model, request_for(sources, most), parse)


def request_for(sources: Sequence[Summary], most: int) -> Request:
    """What a model is asked."""
    prompt = get_prompt(PROMPT)
    laid_out = (
        prompt.render(
            "summary",
            **{"from": day_of(each.from_at), "until": day_of(each.until_at)},
            text=inert(each.text),
        )
        for each in sources
    )
    ask = prompt.render(
        "ask", language=language_of(sources), most=str(most), summaries="\n".join(laid_out)
    )
    return Request(
        purpose="summary",
        prompt=prompt.id,
        stable=prompt.render("stable"),
        turns=(Turn(role="house", text=ask),),
        output=FORM,
        most_tokens=MOST_TOKENS,
        shown=tuple(each.id for each in sources),
    )


def told_from(answer: JsonValue, *, most: int) -> Told:
    """What a model has written. Raises ValueError where it will not do."""
    match answer:
        case {"text": str(text), "topics": list(topics)}:
            text = " ".join(text.split())
        case _:
            raise ValueError('it needs a "text", and a list of "topics".')
    if not text:
        raise ValueError('"text" is empty.')
    if count_words(text) > TOLERATED * most:
        raise ValueError(f'"text" has {count_words(text)} words, and may have {most}.')
    kept = dict.fromkeys(each.strip() for each in topics if isinstance(each, str) and each.strip())
    return Told(text=text, topics=tuple(kept)[:MOST_TOPICS], author=PROMPT)


def fold_by_rules(sources: Sequence[Summary]) -> Told:
    """Their most telling sentences, as many as there is room for, in their order."""
    language = language_of(sources)
    sentences = [each for source in sources for each in sentences_of(source.text)]
    once = {canonical_hash(each, language): each for each in reversed(sentences)}
    distinct = [each for each in sentences if once.pop(canonical_hash(each, language), None)]
    common = Counter(chain.from_iterable(matter_of(each, language) for each in distinct))
    chosen: list[int] = []
    room = most_words(sources)
    for place in sorted(
        range(len(distinct)), key=lambda at: -weight_of(distinct[at], common, language)
    ):
        if (words := count_words(distinct[place])) <= room:
            room -= words
            chosen.append(place)
    between = "" if all(each[-1] in "。！？" for each in distinct) else " "
    return Told(
        text=between.join(distinct[place] for place in sorted(chosen) or range(len(distinct))[:1]),
        topics=topics_of(sources),
        author=RULE,
    )


def weight_of(sentence: str, common: Mapping[str, int], language: str) -> float:
    """How much a sentence tells: names, numbers and times, and what the talk kept coming to."""
    marks = marks_of(sentence, language)
    matter = matter_of(sentence, language)
    recurring = sum(common[stem] - 1 for stem in matter) / max(len(matter), 1)
    return 2 * len(set(marks.names)) + len(marks.numbers) + len(marks.times) + recurring


def topics_of(sources: Sequence[Summary]) -> tuple[str, ...]:
    """What most of them were about."""
    named = Counter(topic for each in sources for topic in dict.fromkeys(each.topics))
    return tuple(topic for topic, _ in named.most_common(MOST_TOPICS))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text."""
    return [each.strip() for each in _SENTENCE_END.split(text) if each.strip()]


def most_words(sources: Sequence[Summary]) -> int:
    """How long it may become: never longer than what it stands for (ACCEPTANCE D6)."""
    return max(1, min(MOST_WORDS, sum(count_words(each.text) for each in sources)))


def count_words(text: str) -> int:
    """How many words a text has; of scripts without spaces, about how many."""
    characters = sum(map(is_unspaced, text))
    spaced = sum(not is_unspaced(word) for word in words_in(text))
    return spaced + round(characters / CHARACTERS_OF_A_WORD)


def language_of(sources: Sequence[Summary]) -> str:
    """The language in which most of them are written."""
    return Counter(each.language for each in sources).most_common(1)[0][0]


def day_of(at: Micros) -> str:
    """The day of a moment."""
    return from_micros(at).strftime("%Y-%m-%d")
