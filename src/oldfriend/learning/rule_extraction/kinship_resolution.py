"""Kinship resolution: replaces a role such as "my mother" with the known name of that person.

Only for roles that one person holds at a time, and only if their name is known: a person may have
two sisters.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.relations import RELATION_KEY_SUFFIX
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.entity_mentions import by_quote
from oldfriend.learning.rule_extraction.role_changes import ONE_AT_A_TIME
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence

ALONE: Final = ONE_AT_A_TIME | {"mother", "father"}
"""Parts that one alone plays in a life."""
ARTICLES: Final = frozenset({"la", "el", "le", "die", "der", "the"})


def under_names(
    claims: Iterable[Claim],
    relations: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
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


def names_of_parts(relations: Iterable[Claim], known: Sequence[MemoryState]) -> dict[str, str]:
    """The one name of each who plays a part alone; a part with several names is not in it."""
    told = {(each.key, each.value) for each in relations}
    told |= {(each.memory.key, each.memory.value) for each in known if each.memory.is_live}
    names: dict[str, set[str]] = {}
    for key, part in told:
        if key.endswith(RELATION_KEY_SUFFIX) and part in ALONE:
            names.setdefault(part, set()).add(key.removesuffix(RELATION_KEY_SUFFIX))
    return {part: name for part, (name, *more) in names.items() if not more}


def under_name(claim: Claim, names: dict[str, str], book: RuleBook) -> Claim:
    """A claim about whoever plays a part, as one about them by name, if that is known."""
    kin, _, key = claim.key.rpartition(":")
    name = names.get(part_of(kin, book)) if claim.kind == "fact" else None
    if not name or claim.ended_claim is not None:
        return claim
    at = claim.text.casefold().find(kin.casefold())
    if at < 0:
        return claim
    text = claim.text[:at] + name + claim.text[at + len(kin) :]
    return replace(claim, key=f"{name}:{key}", text=text, names=(name,))


def of_part(
    claim: Claim, names: dict[str, str], known: Sequence[MemoryState]
) -> MemoryState | None:
    """What is known of the same, told of the part alone, where nothing is under the name."""
    name, _, key = claim.key.rpartition(":")
    parts = {part for part, each in names.items() if each == name}
    live = [each for each in known if each.memory.is_live and each.memory.kind == claim.kind]
    if not parts or not is_single_valued(claim):
        return None
    if any(each.memory.key == claim.key for each in live):
        return None
    for each in live:
        kin, _, other = each.memory.key.rpartition(":")
        language = each.memory.language
        if (
            other == key
            and language in list_languages("rules")
            and part_of(kin, load_rule_book(language)) in parts
        ):
            return each
    return None


def part_of(kin: str, book: RuleBook) -> str:
    """The part that words for one of theirs mean ("la madre"); "" where they say more of them."""
    word = kin.lower().rpartition(" ")[2]
    is_plain = word == kin.lower() or kin.lower().partition(" ")[0] in ARTICLES
    return book.part_called(word).relation if is_plain and word in book.parts else ""
