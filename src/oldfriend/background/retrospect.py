"""What is looked back on before something is thought? Beliefs under small names, within a budget.

Only what rests on words of people here: what was read somewhere is not brooded over. What it
thought before is shown, so that it is not thought again, and cannot be cited.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.background.ideas import form_of_ideas
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Known, MemoryKind
from oldfriend.domain.messages import estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.llm.model import Purpose, Request, Turn
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.people import get_companion, get_person_by_id
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.context import day_of
from oldfriend.turn.labelling import inert, moment

MOST_EVENTS: Final = 24
MOST_OTHERS: Final = 30
MOST_THOUGHTS: Final = 12
PEAK: Final = 8
"""What was felt so strongly is a shock (ACCEPTANCE G14)."""
MULLED_OVER: Final[frozenset[MemoryKind]] = frozenset(
    {"pattern", "fact", "preference", "commitment", "expectation"}
)
WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrospect:
    """What is looked back on, the most telling first."""

    person: Person
    companion: str
    now: Micros
    since: Micros  # what was learned from then on is new
    language: str  # in which most of it was said
    events: tuple[Known, ...]  # e1, e2 …
    others: tuple[Known, ...]  # k1, k2 …
    thoughts: tuple[Known, ...]  # without names
    names: tuple[str, ...]  # of all who are known by one

    @property
    def citable(self) -> Mapping[str, Known]:
        """What the small names stand for."""
        events = {f"e{n}": each for n, each in enumerate(self.events, 1)}
        return events | {f"k{n}": each for n, each in enumerate(self.others, 1)}

    @property
    def shown(self) -> tuple[MemoryId, ...]:
        """The ids of everything that a model gets to see."""
        return tuple(each.memory.id for each in (*self.events, *self.others, *self.thoughts))

    @property
    def shock(self) -> Known | None:
        """What was learned since and felt very strongly."""
        return next((e for e in self.events if is_shock(e) and self.is_new(e)), None)

    @property
    def has_news(self) -> bool:
        """Whether anything was learned since."""
        return any(map(self.is_new, (*self.events, *self.others)))

    def is_new(self, known: Known) -> bool:
        """Whether something was learned since."""
        return known.memory.learned_at > self.since

    def is_correction(self, known: Known) -> bool:
        """Whether something new sets right what was believed."""
        return self.is_new(known) and "correction" in known.memory.relational


def is_shock(known: Known) -> bool:
    """Whether something was felt very strongly."""
    return known.memory.kind == "event" and abs(known.memory.impact) >= PEAK


async def look_back(
    tx: Transaction, person: PersonId, *, since: Micros, now: Micros
) -> Retrospect:  # fmt: skip
    """What there is to think about, as it is believed now."""
    somebody = await get_person_by_id(tx, person)
    companion = await get_companion(tx)
    known = [each for each in await list_memories(tx, person) if is_own(each)]
    events = [each for each in known if each.memory.kind == "event"]
    others = [each for each in known if each.memory.kind in MULLED_OVER]
    thoughts = [each for each in known if each.memory.kind == "thought"]

    def telling(each: Known) -> tuple[bool, bool, int, Micros]:
        memory = each.memory
        is_new = memory.learned_at > since
        return is_new, memory.kind == "pattern", abs(memory.impact), memory.learned_at

    named = [each for each in await list_entities(tx, person) if each.ended_at is None]
    return Retrospect(
        names=tuple(name for each in named for name in (each.name, *each.aliases)),
        person=somebody,
        companion=companion.name,
        now=now,
        since=since,
        language=language_of(events or others, somebody),
        events=tuple(sorted(events, key=telling, reverse=True)[:MOST_EVENTS]),
        others=tuple(sorted(others, key=telling, reverse=True)[:MOST_OTHERS]),
        thoughts=tuple(
            sorted(thoughts, key=lambda each: each.memory.learned_at, reverse=True)[:MOST_THOUGHTS]
        ),
    )


def is_own(known: Known) -> bool:
    """Whether something rests on words of people here, and is sure enough to be thought about."""
    return known.memory.trust != "outside" and known.memory.status != "tentative"


def language_of(known: Sequence[Known], person: Person) -> str:
    """The language in which most of it was said."""
    said = Counter(each.memory.language for each in known)
    return said.most_common(1)[0][0] if said else person.language or "en"


def fitted(retrospect: Retrospect, prompt: Prompt, *, most_tokens: int) -> Retrospect:
    """The same, without the least telling of it, so that it takes no more tokens than that."""
    while estimate_tokens(laid_out(retrospect, prompt)) > most_tokens:
        longest = max(
            (retrospect.thoughts, retrospect.others, retrospect.events), key=len
        )  # fmt: skip
        if len(longest) <= 1:
            return retrospect
        if longest is retrospect.thoughts:
            retrospect = replace(retrospect, thoughts=longest[:-1])
        elif longest is retrospect.others:
            retrospect = replace(retrospect, others=longest[:-1])
        else:
            retrospect = replace(retrospect, events=longest[:-1])
    return retrospect


def scene_of(retrospect: Retrospect, prompt: Prompt) -> str:
    """Whose life it is, what day it is, and in which language to think."""
    zone, now = retrospect.person.zone, retrospect.now
    return prompt.render(
        "scene",
        person=inert(retrospect.person.name),
        companion=inert(retrospect.companion),
        weekday=WEEKDAYS[from_micros(now, zone).weekday()],
        when=moment(now, zone),
        language=retrospect.language,
    )


def laid_out(retrospect: Retrospect, prompt: Prompt) -> str:
    """All that is looked back on, as a model may read it."""
    parts: list[tuple[str, list[str]]] = [
        ("events_title", list(lines_of(retrospect.events, "e", retrospect, prompt))),
        ("known_title", list(lines_of(retrospect.others, "k", retrospect, prompt))),
        ("thoughts_title", [thought_line(each, prompt) for each in retrospect.thoughts]),
    ]
    return "\n\n".join("\n".join([prompt.render(title), *lines]) for title, lines in parts if lines)


def lines_of(
    known: Iterable[Known], letter: str, retrospect: Retrospect, prompt: Prompt
) -> Iterator[str]:
    """Beliefs under their small names, each on a line."""
    zone = retrospect.person.zone
    for number, each in enumerate(known, 1):
        memory = each.memory
        at = memory.happened_at if memory.due_at is None else memory.due_at
        yield prompt.render(
            "event" if memory.kind == "event" else "known",
            **{
                "id": f"{letter}{number}", "kind": memory.pattern or memory.kind,
                "when": day_of(each.standing.last_seen if at is None else at, zone),
                "felt": f"{memory.impact:+d}" if memory.impact else "0",
                "new": "yes" if retrospect.is_new(each) else "no",
                "class": memory.trust, "text": inert(memory.text),
            },
        )  # fmt: skip


def thought_line(known: Known, prompt: Prompt) -> str:
    """Something that was thought before."""
    return prompt.render("thought", about=known.memory.subject, text=inert(known.memory.text))


def request_over(
    retrospect: Retrospect, prompt: str, *, purpose: Purpose, wanted: Sequence[str],
    most_tokens: int,
) -> Request:  # fmt: skip
    """What a model is asked that looks back."""
    words = get_prompt(prompt)
    return Request(
        purpose=purpose,
        prompt=words.id,
        stable=words.render("stable"),
        changing=scene_of(retrospect, words),
        turns=(Turn(role="house", text=words.render("ask", life=laid_out(retrospect, words))),),
        output=form_of_ideas(wanted),
        most_tokens=most_tokens,
        shown=retrospect.shown,
    )
