"""The bad reflector: scripted answers to each request to reflect, half of them bad.

For ``ScriptedModel(brooding(life, seed=1))``: a few good ideas and every way in which one can be
bad, more of all than is allowed. The same request gets the same answer. What came of it is told
by the very words that were given (``Brooded``), whatever the product's own lists say of them.
"""

import json
import random
import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend_evals.lives.life import Life

BROKEN: Final = 0.1
"""How often an answer is no JSON, until it is asked for again."""
BAD: Final = 0.5
"""How often an idea is a bad one."""
IN_WORDS: Final = ("clinical", "advice", "metadata", "order")
"""Bad by its words, however well it cites …"""
IN_FORM: Final = ("uncited", "invented", "stale", "foreign", "endless", "repeating", "past")
"""… and by its form, however well it is said."""
MORE_THAN_ALLOWED: Final[Mapping[str, int]] = {
    "thoughts": 6,
    "expectations": 4,
    "questions": 5,
    "patterns": 2,
    "suggestions": 2,
}
SORT_OF_LIST: Final[Mapping[str, str]] = {
    "thoughts": "thought",
    "expectations": "expectation",
    "questions": "question",
    "patterns": "pattern",
    "suggestions": "thought",
}
_ROOM: Final = 40
"""Tokens of an answer that are left for its brackets."""
_NAME: Final = re.compile(r'<(?:event|known) id="([ek]\d+)"')
_PATTERN: Final = re.compile(
    r'<known id="(k\d+)" kind="(?:behavior|belief|goal|preference|emotion|temporal|causal)"'
)
_TODAY: Final = re.compile(r"It is \w+, (\d{4}-\d\d-\d\d)")
Fields = dict[str, JsonValue]


@dataclass(slots=True)
class GivenIdeas:
    """What was given, by its very words: good, or in which way bad; and how often."""

    sorts: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    broken: int = 0

    def give(self, text: str, sort: str) -> None:
        """Note what is given."""
        self.sorts[_flatten(text)] = sort
        self.counts[sort] += 1

    def find_fault(self, text: str) -> str:
        """In which way a text that came of it is bad; empty for a good one, or one of others."""
        sort = self.sorts.get(_flatten(text), "")
        return sort if sort in {*IN_WORDS, *IN_FORM} else ""

    @property
    def bad_share(self) -> float:
        """Of all ideas that were given, those that are bad."""
        bad = sum(self.counts[each] for each in (*IN_WORDS, *IN_FORM))
        return bad / max(self.counts.total(), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionPrompt:
    """What ideas are made of: whose life it is, what was shown of it, and chance."""

    life: Life
    rng: random.Random
    names: tuple[str, ...]  # small ones, that may be cited
    patterns: tuple[str, ...]  # … of patterns
    today: date

    def say(self, sort: str, *, language: str = "", is_good: bool = True) -> str:
        """Some words of a sort; those of good form are never those of bad form."""
        person = self.life.person.split()[0]
        for _ in range(99):
            called = self.rng.choice(self.life.truth.names).name
            words = self.rng.choice(_load_words(language or self.life.language)[sort])
            text = words.format(name=person, other=called)
            if (zlib.crc32(text.encode()) % 2 == 0) == is_good:
                return text
        return ""

    def cited(self, part: str) -> list[JsonValue]:
        """What there is to cite for an idea, an event among it where there is one."""
        if part == "patterns":
            return [*self.patterns[:2]]
        events = [name for name in self.names if name.startswith("e")]
        first = self.rng.choice(events or self.names)
        return [*dict.fromkeys([first, self.rng.choice(self.names)])]


def build_bad_reflector(
    life: Life, *, seed: int, given: GivenIdeas | None = None
) -> Callable[[CompletionRequest], str]:
    """One who thinks badly about a life; ``given`` notes what it says."""
    noted = given if given is not None else GivenIdeas()

    def answer(request: CompletionRequest) -> str:
        asked = " ".join(turn.text for turn in request.turns if isinstance(turn, PromptTurn))
        rng = random.Random(f"{seed} {zlib.crc32((request.call_instructions + asked).encode())}")
        if len(request.turns) == 1 and rng.random() < BROKEN:
            noted.broken += 1
            return '{"thoughts": [{"text": "'
        head = parse_request(life, rng, request, asked)
        if request.purpose == "describe":
            return _parse_object(draw_description(head, noted))
        return _parse_object(draw_ideas(head, noted, request))

    return answer


def parse_request(
    life: Life, rng: random.Random, request: CompletionRequest, asked: str
) -> ReflectionPrompt:
    """What a request shows."""
    day = _TODAY.search(request.call_instructions)
    return ReflectionPrompt(
        life=life,
        rng=rng,
        names=tuple(_NAME.findall(asked)),
        patterns=tuple(_PATTERN.findall(asked)),
        today=life.days[0].date if day is None else date.fromisoformat(day[1]),
    )


def draw_ideas(head: ReflectionPrompt, noted: GivenIdeas, request: CompletionRequest) -> Fields:
    """Lists of ideas, shuffled, as many as fit into what may be said."""
    properties = (request.output or {}).get("properties")
    wanted = list(properties) if isinstance(properties, dict) else []
    lists: dict[str, list[JsonValue]] = {part: [] for part in wanted}
    parts = [part for part in wanted for _ in range(MORE_THAN_ALLOWED[part])]
    head.rng.shuffle(parts)
    room = request.max_output_tokens - _ROOM
    for part in parts:
        sort, idea = draw_idea(head, part)
        text, cost = str(idea["text"]), estimate_tokens(_parse_object(idea)) + 1
        if text and cost <= room:
            room -= cost
            noted.give(text, sort)
            lists[part].append(idea)
    return {part: [*told] for part, told in lists.items()}


def draw_idea(head: ReflectionPrompt, part: str) -> tuple[str, Fields]:
    """An idea for a list, and what is to be said of it: its sort when good, or how it is bad."""
    sort = SORT_OF_LIST[part]
    if head.rng.random() >= BAD:
        return sort, build_idea(head, part, head.say(sort))
    bad = head.rng.choice([*IN_WORDS, *IN_FORM])
    if bad == "past" and part != "expectations":
        bad = "uncited"
    if bad in IN_WORDS:
        return bad, build_idea(head, part, head.say(bad, is_good=head.rng.random() < 0.5))
    return bad, spoil_idea(head, part, bad)


def build_idea(head: ReflectionPrompt, part: str, text: str) -> Fields:
    """An idea in the form of its list."""
    idea: Fields = {"text": text, "cites": head.cited(part)}
    ahead = head.today + timedelta(days=head.rng.randint(2, 12))
    more: Mapping[str, Fields] = {
        "thoughts": {
            "about": head.rng.choice(["person", "companion"]),
            "impact": head.rng.randint(-12, 12),
            "tags": ["unsaid"],
        },
        "expectations": {"due_at": str(ahead) if head.rng.random() < 0.6 else None},
        "patterns": {"pattern": "causal"},
        "suggestions": {"block": head.rng.choice(["persona", "user", "style"]), "reason": text},
    }
    return {**idea, **more.get(part, {})}


def spoil_idea(head: ReflectionPrompt, part: str, bad: str) -> Fields:
    """An idea that is well said, and of bad form."""
    sort = SORT_OF_LIST[part]
    other = {"en": "es", "es": "zh", "zh": "en"}[head.life.language]
    language = other if bad == "foreign" else ""
    idea = build_idea(head, part, head.say(sort, language=language, is_good=False))
    text = str(idea["text"])
    match bad:
        case "uncited":
            return {**idea, "cites": []}
        case "invented":
            return {**idea, "cites": ["x1", "the diary"]}
        case "stale":  # small names of another time
            return {**idea, "cites": [f"e{head.rng.randint(60, 99)}", *head.names[:1]]}
        case "endless":
            return {**idea, "text": f"{text} " * (2_200 // max(len(text), 1))}
        case "repeating":
            return {**idea, "text": f"{text} {text} {text} {text} {text}"}
        case "past":
            return {**idea, "due_at": str(head.today - timedelta(days=3))}
        case _:
            return idea


def draw_description(head: ReflectionPrompt, noted: GivenIdeas) -> Fields:
    """Who somebody is, told badly half of the time."""
    bad = head.rng.choice(IN_WORDS) if head.rng.random() < BAD else ""
    text = head.say(bad or "thought")
    noted.give(text, bad or "thought")
    return {"text": text, "cites": [*head.names[:2]]}


def list_phrases(language: str, sort: str, *, name: str, other: str) -> list[str]:
    """All that may be said of a sort, about somebody and what is in their life."""
    return [each.format(name=name, other=other) for each in _load_words(language)[sort]]


@cache
def _load_words(language: str) -> Mapping[str, Sequence[str]]:
    file = files("oldfriend_evals.lives") / "bad_reflector.toml"
    words: Mapping[str, Sequence[str]] = tomllib.loads(file.read_text("utf-8"))[language]
    return words


def _parse_object(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _flatten(text: str) -> str:
    return " ".join(text.split())
