"""The adversarial extractor: the truth, mostly poisoned.

For ``ScriptedModel(hostile(life, seed=1))``. The same request gets the same answer, whatever was
asked before. Answers only what is asked for "extract"; everything else with nothing.
"""

import json
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MoodSignal
from oldfriend.llm.model import CompletionRequest
from oldfriend_evals.lives.adversarial_claims import CONTRARY, EASY, Poison, PoisonContext
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.oracle_reader import LIST_OF_KIND, Fields, Item, build_right_items
from oldfriend_evals.lives.prompt_parser import ParsedPrompt, parse_prompt

POISONED: Final = 0.6
"""Share of an answer's claims that are wrong, where there is anything to make wrong ones of."""

HARD: Final = 0.2
"""How often an answer has a claim that only meaning can tell to be wrong."""

BROKEN: Final = 0.1
"""How often an answer is no JSON, until it is asked for again."""


_ENERGY: Final[Mapping[MoodSignal | None, int]] = {
    "warm": 7,
    "cool": 4,
    "tired": 2,
    "frustrated": 6,
    None: 5,
}
_LISTS: Final = (*LIST_OF_KIND.values(), "names", "same")


@dataclass(slots=True)
class GivenClaims:
    """How much of what was given is right, and how much of each kind of poison there was."""

    right: int = 0
    poison: dict[str, int] = field(default_factory=dict)
    broken: int = 0

    @property
    def poison_share(self) -> float:
        """Of all claims that were given, those that are wrong."""
        wrong = sum(self.poison.values())
        return wrong / (wrong + self.right) if wrong else 0.0


def build_adversarial_extractor(
    life: Life, *, seed: int, share: float = POISONED, given: GivenClaims | None = None
) -> Callable[[CompletionRequest], str]:
    """An extractor for one life; ``given`` counts what it answers.

    With a share of 0 it is a good one that only forgets its commas now and then.
    """
    counts = given if given is not None else GivenClaims()

    def answer(request: CompletionRequest) -> str:
        if request.purpose != "extract":
            return ""
        asked = parse_prompt(request, life)
        rng = random.Random(f"{seed} {_hash_request(request)}")
        if not asked.is_again and rng.random() < BROKEN:
            counts.broken += 1
            return '{"facts": [{"text": "'
        return json.dumps(_build_answer(life, asked, rng, share, counts), ensure_ascii=False)

    return answer


def _hash_request(request: CompletionRequest) -> int:
    # Draws must not change, for figures to compare: the role "instruction" was "house" once.
    said = "\n".join(str(turn) for turn in request.turns).replace("'instruction'", "'house'")
    return zlib.crc32(f"{request.call_instructions}\n{said}".encode())


def _build_answer(
    life: Life, asked: ParsedPrompt, rng: random.Random, share: float, counts: GivenClaims
) -> dict[str, JsonValue]:
    """Right and wrong items, shuffled, in the form that was asked for."""
    right = [item for item in build_right_items(life, asked) if item.part in asked.parts]
    claims = [item for item in right if item.part != "names"]
    wanted = round(len(claims) * share / (1 - share)) + 1
    poison = _draw_poison(PoisonContext(life=life, asked=asked, rng=rng), wanted) if share else []
    counts.right += len(claims)
    for name, _ in poison:
        counts.poison[name] = counts.poison.get(name, 0) + 1
    items = [*right, *(item for _, item in poison)]
    rng.shuffle(items)
    lists: Fields = {part: [] for part in _LISTS if part in asked.parts}
    for item in items:
        listed = lists[item.part]
        assert isinstance(listed, list)
        listed.append(item.fields)
    return {**lists, **_build_other_fields(life, asked)}


def _draw_poison(ground: PoisonContext, wanted: int) -> list[tuple[str, Item]]:
    """So many wrong items, of as many sorts as there are; all traps are fallen into."""
    chosen = [("trap", item) for item in EASY["trap"](ground)]
    piles = {
        name: list(make(ground)) for name, make in _draw_sorts(ground.rng).items() if name != "trap"
    }
    while len(chosen) < wanted and any(piles.values()):
        for name in ground.rng.sample(sorted(piles), len(piles)):
            if piles[name] and len(chosen) < wanted:
                pile = piles[name]
                chosen.append((name, pile.pop(ground.rng.randrange(len(pile)))))
    return [each for each in chosen if each[1].part in ground.asked.parts]


def _draw_sorts(rng: random.Random) -> dict[str, Poison]:
    return {**EASY, **CONTRARY} if rng.random() < HARD else dict(EASY)


def _build_other_fields(life: Life, asked: ParsedPrompt) -> dict[str, JsonValue]:
    """What is no claim: topics, a summary that quotes the person, the check of itself."""
    said: Sequence[str] = [
        line.spoken.text
        for line in life.lines
        if line.id in asked.lines and line.spoken.trust == "person"
    ]
    beside: dict[str, JsonValue] = {
        "topics": [],
        "summary": " ".join(said[:2])[:300],
        "mood": _find_mood(life, asked),
        "self_check": {"missed_peak": "none", "attribution": "all rests on the person's words"},
    }
    return {part: value for part, value in beside.items() if part in asked.parts}


def _find_mood(life: Life, asked: ParsedPrompt) -> JsonValue:
    """How the person seemed when the last session in it was over, where the truth says so."""
    felt = [felt for felt in life.truth.moods if felt.line in asked.lines]
    if not felt:
        return None
    signal = felt[-1].signal
    return {"phrase": signal or "as usual", "energy": _ENERGY[signal], "signal": signal}
