"""The oracle reader: claims from the truth, in the form of ``prompts/extract``.

Items only; what a bad one makes of them stands in ``poison``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MemoryKind
from oldfriend_evals.lives.life import Belief, Cited, Life
from oldfriend_evals.lives.prompt_parser import ParsedPrompt, find_line

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


def build_right_items(life: Life, asked: ParsedPrompt) -> Iterator[Item]:
    """All that is worth keeping of what is to be read, but for what is taken back in it."""
    for belief in life.truth.beliefs:
        quotes = asked.list_quotes(belief) if not _is_taken_back(belief, asked) else ()
        if quotes and belief.id in asked.known:
            yield build_reinforcement(belief, quotes[0], asked)
        elif quotes:
            yield build_item(belief, quotes[0], life, asked)
        if belief.end is not None and belief.end.how == "fulfilled":
            yield from build_fulfillment(belief, life, asked)
    yield from list_names(life, asked)


def _is_taken_back(belief: Belief, asked: ParsedPrompt) -> bool:
    """Whether something else holds by the end of what is to be read, and it was not known."""
    end = belief.end
    if end is None or end.how != "superseded":
        return False
    return belief.id not in asked.known and end.line in asked.lines


def build_item(
    belief: Belief, quote: Cited, life: Life, asked: ParsedPrompt, *, wording: int = 0
) -> Item:
    """A belief in one of its wordings, on the words that tell it."""
    text = belief.texts[wording % len(belief.texts)]
    names = [name.name for name in life.truth.names if name.name in text]
    fields: Fields = {
        "text": text,
        "quotes": [cite_quote(quote, asked)],
        "subject": belief.subject,
        "confidence": 0.9,
        "signal": "explicit",
        "importance": 0.9 if belief.is_peak else 0.6,
        "names": [*names],
        **get_bearing(belief, asked),
        **build_details(belief, quote, life),
    }
    return Item(part=LIST_OF_KIND[belief.kind], fields=fields)


def get_bearing(belief: Belief, asked: ParsedPrompt) -> Fields:
    """How it stands to what is known."""
    target = asked.known.get(belief.supersedes) if belief.supersedes else None
    return {"bearing": "supersedes", "target": target} if target else {"bearing": "new"}


def build_details(belief: Belief, quote: Cited, life: Life) -> Fields:
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
            since = str(find_line(life, quote.line).day) if belief.supersedes else None
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


def build_reinforcement(belief: Belief, quote: Cited, asked: ParsedPrompt) -> Item:
    """The same again."""
    return _build_repetition(belief, quote, asked, bearing="reinforces")


def build_fulfillment(belief: Belief, life: Life, asked: ParsedPrompt) -> Iterator[Item]:
    """The words with which something promised or expected has come true."""
    if belief.end is None or belief.id not in asked.known or belief.end.line not in asked.lines:
        return
    words = Cited(line=belief.end.line, text=find_line(life, belief.end.line).spoken.text)
    yield _build_repetition(belief, words, asked, bearing="fulfils")


def _build_repetition(belief: Belief, quote: Cited, asked: ParsedPrompt, *, bearing: str) -> Item:
    fields: Fields = {
        "text": belief.texts[0],
        "quotes": [cite_quote(quote, asked)],
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


def list_names(life: Life, asked: ParsedPrompt) -> Iterator[Item]:
    """Whoever is named for the first time, or by a further name, with the names said then."""
    for name in life.truth.names:
        said = [(name.line, name.aliases), *((each.line, (each.name,)) for each in name.later)]
        for at, aliases in said:
            if at in asked.lines:
                quote = Cited(line=at, text=find_line(life, at).spoken.text)
                yield Item(
                    part="names",
                    fields={
                        "name": name.name,
                        "kind": name.kind,
                        "aliases": [*aliases],
                        "quotes": [cite_quote(quote, asked)],
                    },
                )


def cite_quote(quote: Cited, asked: ParsedPrompt) -> JsonValue:
    """A quote under the small name of its message."""
    return {"message": asked.lines[quote.line], "text": quote.text}
