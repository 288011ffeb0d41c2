"""Adversarial claims: each way to be wrong is one function, named after it.

All are wrong by the truth; most can be told by the words alone. Those that cannot, because the
quote is real and only does not carry the claim, stand apart (``CONTRARY``).
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.domain.json import JsonValue
from oldfriend_evals.lives.life import Belief, Cited, Life, Line, Trap
from oldfriend_evals.lives.oracle_reader import LIST_OF_KIND, Fields, Item, build_item
from oldfriend_evals.lives.prompt_parser import ParsedPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonContext:
    """What poison is made from: the life, what is to be read of it, and chance."""

    life: Life
    asked: ParsedPrompt
    rng: random.Random

    @property
    def lines(self) -> list[Line]:
        """The lines that are to be read."""
        return [line for line in self.life.lines if line.id in self.asked.lines]

    @property
    def told(self) -> list[tuple[Belief, Cited]]:
        """What of the truth stands in them, with the words."""
        return [
            (belief, quote)
            for belief in self.life.truth.beliefs
            for quote in self.asked.list_quotes(belief)
        ]

    @property
    def traps(self) -> list[Trap]:
        """What in them must not be kept."""
        return [trap for trap in self.life.truth.traps if trap.line in self.asked.lines]


Poison: TypeAlias = Callable[[PoisonContext], Iterator[Item]]


def trap(ground: PoisonContext) -> Iterator[Item]:
    """One-offs, jokes, wishes, secrets, suggestions and orders, each with its true words."""
    for each in ground.traps:
        fields: Fields = {
            "text": each.texts[0],
            "quotes": [_quote_whole_line(each.line, ground)],
            "confidence": 0.95,
            "signal": "explicit",
            "bearing": "new",
            "key": each.key,
            "value": each.value,
            "pattern": "behavior",
            "impact": 1,
            "due_at": None,
        }
        yield Item(part=LIST_OF_KIND[each.kind], fields=_select_own_fields(each.kind, fields))


def duplicate(ground: PoisonContext) -> Iterator[Item]:
    """What was told, or is known, once more as something new in other words."""
    for belief, quote in ground.told:
        yield build_item(belief, quote, ground.life, ground.asked, wording=1).but(
            bearing="new", target=None
        )


def unknown_message(ground: PoisonContext) -> Iterator[Item]:
    """Words of a message that nobody has shown."""
    for item in _list_told_items(ground):
        yield item.but(quotes=[{"message": f"m{ground.rng.randint(900, 999)}", "text": "…"}])


def invented_quote(ground: PoisonContext) -> Iterator[Item]:
    """A message that exists, and words that do not stand in it."""
    for line in ground.lines:
        words = {"en": "I have a yacht in Monaco", "es": "tengo un yate en Mónaco"}.get(
            ground.life.language, "我在摩纳哥有一艘游艇"
        )
        quote: JsonValue = {"message": ground.asked.lines[line.id], "text": words}
        fields: Fields = {
            "text": words,
            "quotes": [quote],
            "key": "yacht",
            "value": "Monaco",
            "confidence": 0.95,
        }
        yield Item(part="facts", fields=fields)


def companion_only(ground: PoisonContext) -> Iterator[Item]:
    """What only the companion has said, as if it were the person's."""
    for line in ground.lines:
        if line.spoken.role == "companion":
            fields: Fields = {
                "text": line.spoken.text,
                "quotes": [_quote_whole_line(line.id, ground)],
                "pattern": "belief",
                "confidence": 0.9,
            }
            yield Item(part="patterns", fields=fields)


def wrong_kind(ground: PoisonContext) -> Iterator[Item]:
    """Kinds and categories that do not exist."""
    for item in _list_told_items(ground):
        if item.part == "patterns":
            yield item.but(pattern="zodiac")
        elif item.part == "preferences":
            yield item.but(key="favourite_conspiracy")


def system_key(ground: PoisonContext) -> Iterator[Item]:
    """Facts under keys that are the house's own, or no keys at all."""
    for item in _list_told_items(ground):
        if item.part == "facts":
            key = ground.rng.choice(["onboarding_stage", "personality", "9lives", "k" * 60])
            yield item.but(key=key)


def unknown_target(ground: PoisonContext) -> Iterator[Item]:
    """Changes to beliefs that nobody has shown."""
    for item in _list_told_items(ground):
        bearing = ground.rng.choice(["contradicts", "supersedes", "reinforces"])
        yield item.but(bearing=bearing, target=f"k{ground.rng.randint(700, 799)}")


def flipped_sign(ground: PoisonContext) -> Iterator[Item]:
    """Grief as joy, and joy as grief."""
    for belief, quote in ground.told:
        if belief.kind == "event" and abs(belief.impact) >= 3:
            item = build_item(belief, quote, ground.life, ground.asked)
            yield item.but(impact=-belief.impact)


def bad_impact(ground: PoisonContext) -> Iterator[Item]:
    """Impacts that are no whole number from −10 to 10."""
    for item in _list_told_items(ground):
        if item.part == "events":
            yield item.but(impact=ground.rng.choice([42, -11, 3.5, True, "much"]))


def endless(ground: PoisonContext) -> Iterator[Item]:
    """Texts without end, and nearly without beginning."""
    for item in _list_told_items(ground):
        text = str(item.fields["text"])
        yield item.but(text=text * 40 if ground.rng.random() < 0.5 else text[:2])


def pronoun(ground: PoisonContext) -> Iterator[Item]:
    """Somebody of whom nobody will know later who it was."""
    said = {"en": "She is like that.", "es": "Ella es así siempre.", "zh": "她就是这样的人。"}
    for item in _list_told_items(ground):
        if item.part in {"patterns", "events"}:
            yield item.but(text=said[ground.life.language])


def weak_sign(ground: PoisonContext) -> Iterator[Item]:
    """What is hardly shown by the words, and hardly believed by the reader either."""
    for item in _list_told_items(ground):
        if item.part == "patterns":
            yield item.but(signal="implicit", confidence=0.3)


def contradiction(ground: PoisonContext) -> Iterator[Item]:
    """The contrary of something known, on words that have nothing to do with it; once."""
    no = {"en": "No longer so: {}", "es": "Ya no es verdad: {}", "zh": "不再是这样：{}"}
    known = [
        belief
        for belief in ground.life.truth.beliefs
        if belief.kind == "pattern" and belief.id in ground.asked.known
    ]
    beside = [line for line in ground.lines if line.spoken.trust == "person"]
    if known and beside:
        belief, line = ground.rng.choice(known), ground.rng.choice(beside)
        fields: Fields = {
            "text": no[ground.life.language].format(belief.texts[0]),
            "quotes": [_quote_whole_line(line.id, ground)],
            "bearing": "supersedes",
            "target": ground.asked.known[belief.id],
            "pattern": belief.pattern,
            "confidence": 0.95,
        }
        yield Item(part="patterns", fields=fields)


EASY: Final[Mapping[str, Poison]] = {
    each.__name__: each
    for each in (
        trap,
        duplicate,
        unknown_message,
        invented_quote,
        companion_only,
        wrong_kind,
        system_key,
        unknown_target,
        flipped_sign,
        bad_impact,
        endless,
        pronoun,
        weak_sign,
    )
}
"""Poison that the words, or the form, give away."""

CONTRARY: Final[Mapping[str, Poison]] = {contradiction.__name__: contradiction}
"""Poison with true quotes that say something else; only meaning tells."""


def _list_told_items(ground: PoisonContext) -> Iterator[Item]:
    """Right claims, to be spoiled."""
    for belief, quote in ground.told:
        yield build_item(belief, quote, ground.life, ground.asked)


def _quote_whole_line(line_id: str, ground: PoisonContext) -> JsonValue:
    line = next(line for line in ground.lines if line.id == line_id)
    return {"message": ground.asked.lines[line.id], "text": line.spoken.text}


def _select_own_fields(kind: str, fields: Fields) -> Fields:
    """The fields that a kind has."""
    foreign: Mapping[str, Sequence[str]] = {
        "event": ("key", "value", "pattern", "due_at"),
        "fact": ("pattern", "impact", "due_at"),
        "preference": ("pattern", "impact", "due_at"),
        "pattern": ("key", "value", "impact", "due_at"),
    }
    left_out = foreign.get(kind, ("key", "value", "pattern", "impact"))
    return {name: value for name, value in fields.items() if name not in left_out}
