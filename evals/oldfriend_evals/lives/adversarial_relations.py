"""Adversarial relations and opinions: each way to be wrong is one function.

All are wrong by the truth of a life. How many are believed is for others to count.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import RelationType
from oldfriend.llm.model import CompletionRequest
from oldfriend_evals.lives.life import Life, LineId, Tied
from oldfriend_evals.lives.opinion_eval import build_opinion, quote_line
from oldfriend_evals.lives.prompt_parser import find_line, parse_prompt
from oldfriend_evals.lives.relation_eval import ONE_WAY, build_relation_item, is_person

Lines: TypeAlias = Mapping[LineId, str]
Falsehood: TypeAlias = Callable[[Life, Lines], Iterator[JsonValue]]
OTHER_TIE: Final[Mapping[RelationType, RelationType]] = {
    "partner_of": "sibling_of",
    "parent_of": "partner_of",
    "child_of": "partner_of",
    "sibling_of": "partner_of",
    "relative_of": "partner_of",
    "friend_of": "sibling_of",
    "colleague_of": "partner_of",
    "works_at": "lives_in",
    "lives_in": "works_at",
    "owns": "works_at",
}


def change_relation(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """The right two in the right words, tied in another way."""
    for tied in list_told_relations(life, lines):
        tie = OTHER_TIE[tied.tie]
        if not any(
            {each.one, each.other} == {tied.one, tied.other} and each.tie == tie
            for each in life.truth.ties
        ):
            yield build_relation_item(tied.one, tie, tied.other, tied, life, lines)


def reverse_relation(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """A tie that goes one way, the other way."""
    for tied in list_told_relations(life, lines):
        if tied.tie in ONE_WAY:
            yield build_relation_item(tied.other, tied.tie, tied.one, tied, life, lines)


def exchange_person(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """One end of a tie exchanged for somebody who is named elsewhere."""
    for tied in list_told_relations(life, lines):
        said = find_line(life, tied.line).spoken.text
        others = [
            each.name
            for each in life.truth.names
            if each.name not in said and not is_person(each.name, life)
        ]
        for name in others[:2]:
            yield build_relation_item(name, tied.tie, tied.other, tied, life, lines)


def relate_by_companion(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """Two who are named in a line of the companion, tied by it."""
    for line in life.lines:
        named = [each.name for each in life.truth.names if each.name in line.spoken.text]
        if line.id in lines and line.spoken.role == "companion" and len(named) > 1:
            yield build_relation(life, lines, line.id, named[0], "partner_of", named[1])


def relate_co_mentioned(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """Two whom the person names in one line that ties them in no way."""
    for line in life.lines:
        said = line.spoken
        named = [
            each.name
            for each in life.truth.names
            if each.kind == "person" and each.name in said.text and not is_person(each.name, life)
        ]
        if line.id in lines and said.trust == "person" and len(named) > 1:
            one, other = named[:2]
            if not any({each.one, each.other} == {one, other} for each in life.truth.ties):
                yield build_relation(life, lines, line.id, one, "partner_of", other)


def attribute_persons_opinion(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """What the person says of a topic, as the companion's opinion."""
    for stand in life.truth.stands:
        for line in life.lines:
            if (
                line.id in lines
                and line.spoken.trust == "person"
                and stand.topic in line.spoken.text
            ):
                yield build_opinion(
                    stand.contrary, stand, [quote_line(life, lines, line.id)], bearing="new"
                )


def contradict_own_opinion(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """The contrary of what the companion says, on its own words."""
    for stand in life.truth.stands:
        if stand.line in lines:
            yield build_opinion(
                stand.contrary, stand, [quote_line(life, lines, stand.line)], bearing="new"
            )


def attribute_opinion_of_person(life: Life, lines: Lines) -> Iterator[JsonValue]:
    """What the companion says to the person, as its opinion of them."""
    name = life.person.split()[0]
    words = {"en": "{} is too soft.", "es": "{} es demasiado blanda.", "zh": "{}太软弱。"}
    for stand in life.truth.stands:
        if stand.line in lines:
            text = words[life.language].format(name)
            yield build_opinion(text, stand, [quote_line(life, lines, stand.line)], bearing="new")


TIES: Final[Mapping[str, Falsehood]] = {
    each.__name__: each
    for each in (
        change_relation,
        reverse_relation,
        exchange_person,
        relate_by_companion,
        relate_co_mentioned,
    )
}
OPINIONS: Final[Mapping[str, Falsehood]] = {
    each.__name__: each
    for each in (attribute_persons_opinion, contradict_own_opinion, attribute_opinion_of_person)
}


def list_told_relations(life: Life, lines: Lines) -> Iterator[Tied]:
    """The ties that some lines tell."""
    return (tied for tied in life.truth.ties if tied.line in lines)


def build_relation(
    life: Life, lines: Lines, line: LineId, one: str, tie: RelationType, other: str
) -> JsonValue:
    """A tie that is said to stand in a line."""
    return build_relation_item(
        one, tie, other, Tied(one=one, tie=tie, other=other, line=line), life, lines
    )


def build_misleading_reader(life: Life, name: str) -> Callable[[CompletionRequest], str]:
    """A reader that tells one falsehood only, with the names that are in what it reads."""

    def answer(request: CompletionRequest) -> str:
        asked = parse_prompt(request, life)
        part, make = ("ties", TIES[name]) if name in TIES else ("opinions", OPINIONS[name])
        found: dict[str, JsonValue] = {each: [] for each in asked.parts}
        found |= {
            "names": list_names(life, asked.lines),
            "summary": "",
            "mood": None,
            "self_check": {"missed_peak": "none", "attribution": "all theirs"},
        }
        found[part] = [*make(life, asked.lines)]
        return json.dumps(found, ensure_ascii=False)

    return answer


def list_names(life: Life, lines: Lines) -> list[JsonValue]:
    """Who is named in some lines, each with the first line that does."""
    found: list[JsonValue] = []
    for each in life.truth.names:
        at = next((line for line in lines if each.name in find_line(life, line).spoken.text), None)
        if at is not None and not is_person(each.name, life):
            found.append(
                {
                    "name": each.name,
                    "kind": each.kind,
                    "aliases": [],
                    "quotes": [quote_line(life, lines, at)],
                }
            )
    return found
