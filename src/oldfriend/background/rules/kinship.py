"""Of whom with a name is it told, when only the part they play is said? "My mother" is Ingrid.

Only of whom there is one at a time, and where one is known by name: who has a sister may have two.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook, rule_book
from oldfriend.background.rules.naming import by_quote
from oldfriend.background.rules.replacing import ONE_AT_A_TIME
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import Known
from oldfriend.domain.ties import RELATION_OF
from oldfriend.memory.overtaking import has_one_value
from oldfriend.prompts.phrasebook import SPOKEN

ALONE: Final = ONE_AT_A_TIME | {"mother", "father"}
"""Parts that one alone plays in a life."""
ARTICLES: Final = frozenset({"la", "el", "le", "die", "der", "the"})


def under_names(
    claims: Iterable[Claim], relations: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[Known],
) -> Iterator[Claim]:  # fmt: skip
    """The claims; those about whom a name is known for are told, and filed, under it.

    But where something of the same was filed under the part before, it stays the place for it.
    """
    names = names_of_parts(relations, known)
    read = by_quote(sentences)
    for claim in claims:
        _, book = read[claim.quotes[0]]
        named = under_name(claim, names, book)
        was = of_part(named, names, known)
        yield named if was is None else replace(named, key=was.memory.key)


def names_of_parts(relations: Iterable[Claim], known: Sequence[Known]) -> dict[str, str]:
    """The one name of each who plays a part alone; a part with several names is not in it."""
    told = {(each.key, each.value) for each in relations}
    told |= {(each.memory.key, each.memory.value) for each in known if each.memory.is_live}
    names: dict[str, set[str]] = {}
    for key, part in told:
        if key.endswith(RELATION_OF) and part in ALONE:
            names.setdefault(part, set()).add(key.removesuffix(RELATION_OF))
    return {part: name for part, (name, *more) in names.items() if not more}


def under_name(claim: Claim, names: dict[str, str], book: RuleBook) -> Claim:
    """A claim about whoever plays a part, as one about them by name, if that is known."""
    kin, _, key = claim.key.rpartition(":")
    name = names.get(part_of(kin, book)) if claim.kind == "fact" else None
    if not name or claim.ends is not None:
        return claim
    at = claim.text.casefold().find(kin.casefold())
    if at < 0:
        return claim
    text = claim.text[:at] + name + claim.text[at + len(kin) :]
    return replace(claim, key=f"{name}:{key}", text=text, names=(name,))


def of_part(claim: Claim, names: dict[str, str], known: Sequence[Known]) -> Known | None:
    """What is known of the same, told of the part alone, where nothing is under the name."""
    name, _, key = claim.key.rpartition(":")
    parts = {part for part, each in names.items() if each == name}
    live = [each for each in known if each.memory.is_live and each.memory.kind == claim.kind]
    if not parts or not has_one_value(claim.kind, claim.key):
        return None
    if any(each.memory.key == claim.key for each in live):
        return None
    for each in live:
        kin, _, other = each.memory.key.rpartition(":")
        language = each.memory.language
        if other == key and language in SPOKEN and part_of(kin, rule_book(language)) in parts:
            return each
    return None


def part_of(kin: str, book: RuleBook) -> str:
    """The part that words for one of theirs mean ("la madre"); "" where they say more of them."""
    word = kin.lower().rpartition(" ")[2]
    is_plain = word == kin.lower() or kin.lower().partition(" ")[0] in ARTICLES
    return book.part_called(word).relation if is_plain and word in book.parts else ""
