"""What would a good reader answer? Claims from the truth, in the form of ``prompts/extract``.

Items only; what a bad one makes of them stands in ``poison``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MemoryKind
from oldfriend_evals.lives.asked import Asked, line_of
from oldfriend_evals.lives.life import Belief, Cited, Life

LIST_OF_KIND: Final[Mapping[MemoryKind, str]] = {
    "event": "events",
    "fact": "facts",
    "preference": "preferences",
    "pattern": "patterns",
    "commitment": "commitments",
    "expectation": "expectations",
}
Fields = dict[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of an answer, and the list where it stands."""

    part: str
    fields: Fields

    def but(self, **fields: JsonValue) -> "Item":
        """The same with other fields."""
        return Item(part=self.part, fields={**self.fields, **fields})


def right_items(life: Life, asked: Asked) -> Iterator[Item]:
    """All that is worth keeping of what is to be read, but for what is taken back in it."""
    for belief in life.truth.beliefs:
        quotes = asked.quotes_of(belief) if not _is_taken_back(belief, asked) else ()
        if quotes and belief.id in asked.known:
            yield reinforcing(belief, quotes[0], asked)
        elif quotes:
            yield telling(belief, quotes[0], life, asked)
        if belief.end is not None and belief.end.how == "fulfilled":
            yield from fulfilling(belief, life, asked)
    yield from names_in(life, asked)


def _is_taken_back(belief: Belief, asked: Asked) -> bool:
    """Whether something else holds by the end of what is to be read, and it was not known."""
    end = belief.end
    if end is None or end.how != "superseded":
        return False
    return belief.id not in asked.known and end.line in asked.lines


def telling(belief: Belief, quote: Cited, life: Life, asked: Asked, *, wording: int = 0) -> Item:
    """A belief in one of its wordings, on the words that tell it."""
    text = belief.texts[wording % len(belief.texts)]
    names = [name.name for name in life.truth.names if name.name in text]
    fields: Fields = {
        "text": text,
        "quotes": [cited(quote, asked)],
        "subject": belief.subject,
        "confidence": 0.9,
        "signal": "explicit",
        "importance": 0.9 if belief.is_peak else 0.6,
        "names": [*names],
        **bearing_of(belief, asked),
        **details_of(belief, quote, life),
    }
    return Item(part=LIST_OF_KIND[belief.kind], fields=fields)


def bearing_of(belief: Belief, asked: Asked) -> Fields:
    """How it stands to what is known."""
    target = asked.known.get(belief.supersedes) if belief.supersedes else None
    return {"bearing": "supersedes", "target": target} if target else {"bearing": "new"}


def details_of(belief: Belief, quote: Cited, life: Life) -> Fields:
    """The fields of a kind."""
    match belief.kind:
        case "event":
            happened = str(belief.happened_on) if belief.happened_on else None
            return {
                "impact": belief.impact,
                "relational": [*belief.relational],
                "tags": [],
                "happened_at": happened,
            }
        case "fact":
            since = str(line_of(life, quote.line).day) if belief.supersedes else None
            start = str(belief.holds_from) if belief.holds_from else since
            until = str(belief.holds_until) if belief.holds_until else None
            key_value: Fields = {"key": belief.key, "value": belief.values[0]}
            return {**key_value, "holds_from": start, "holds_until": until}
        case "preference":
            return {"key": belief.key, "value": belief.values[0]}
        case "pattern":
            return {"pattern": belief.pattern}
        case _:
            return {"due_at": belief.due}


def reinforcing(belief: Belief, quote: Cited, asked: Asked) -> Item:
    """The same again."""
    return _again(belief, quote, asked, bearing="reinforces")


def fulfilling(belief: Belief, life: Life, asked: Asked) -> Iterator[Item]:
    """The words with which something promised or expected has come true."""
    if belief.end is None or belief.id not in asked.known or belief.end.line not in asked.lines:
        return
    words = Cited(line=belief.end.line, text=line_of(life, belief.end.line).spoken.text)
    yield _again(belief, words, asked, bearing="fulfils")


def _again(belief: Belief, quote: Cited, asked: Asked, *, bearing: str) -> Item:
    fields: Fields = {
        "text": belief.texts[0],
        "quotes": [cited(quote, asked)],
        "subject": belief.subject,
        "bearing": bearing,
        "target": asked.known[belief.id],
        "confidence": 0.9,
    }
    if belief.values:
        fields |= {"key": belief.key, "value": belief.values[0]}
    if belief.pattern is not None:
        fields["pattern"] = belief.pattern
    return Item(part=LIST_OF_KIND[belief.kind], fields=fields)


def names_in(life: Life, asked: Asked) -> Iterator[Item]:
    """Whoever is named for the first time, or by a further name, with the names said then."""
    for name in life.truth.names:
        said = [(name.line, name.aliases), *((each.line, (each.name,)) for each in name.later)]
        for at, aliases in said:
            if at in asked.lines:
                quote = Cited(line=at, text=line_of(life, at).spoken.text)
                yield Item(
                    part="names",
                    fields={
                        "name": name.name,
                        "kind": name.kind,
                        "aliases": [*aliases],
                        "quotes": [cited(quote, asked)],
                    },
                )


def cited(quote: Cited, asked: Asked) -> JsonValue:
    """A quote under the small name of its message."""
    return {"message": asked.lines[quote.line], "text": quote.text}
