"""Ended states: reads "no longer" sentences with the rules for the same state while it holds.

So every rule also covers its ending: "I no longer live in Porto" is read by the rule for "I live in
Porto".
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.memories import MemoryState
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.entity_mentions import named_in
from oldfriend.learning.rule_extraction.rule_loader import Rewording, RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.search.tokenizer import tokenize


def endings_in(
    sentence: Sentence, book: RuleBook, known: Collection[str], told: Iterable[Claim]
) -> Iterator[Claim]:
    """What was so until a sentence was said, and that it is over; beside what it tells otherwise.

    A rule of its own for something that has ended goes before ("I don't eat meat any more").
    """
    before = turned_round(sentence, book)
    if before is None:
        return
    told = list(told)
    for claim in (*claims_in(before, book, known), *relations_over(sentence, before, book)):
        is_state = claim.kind in ATTRIBUTE_KINDS and claim.holds_from is None
        if is_state and not any(is_beside(claim, each) for each in told):
            was = replace(claim, holds_until=sentence.message.at)
            yield was
            yield is_over(was, book)


def relations_over(sentence: Sentence, before: Sentence, book: RuleBook) -> Iterator[Claim]:
    """Who is no longer what they were to the person: "Lisa is no longer my boss"."""
    still = {named.name for named, _ in named_in(sentence, book)}
    for named, relation in named_in(before, book):
        if relation is not None and named.name not in still:
            yield relation


def turned_round(sentence: Sentence, book: RuleBook) -> Sentence | None:
    """A sentence as if what it says is over still were so; None where it says nothing of that."""
    plain = once_reworded(sentence.plain, book.over)
    if plain == sentence.plain or sentence.is_question:
        return None
    return replace(sentence, plain=plain, starts=tuple(starts_in(plain, book)))


def is_beside(claim: Claim, told: Claim) -> bool:
    """Whether something told otherwise leaves nothing to be turned round.

    Of the person's likings any does that is not just another; of facts another value, where there
    is one at a time.
    """
    if claim.kind != told.kind:
        return False
    if claim.kind != "fact":
        return claim.key != told.key or claim.value == told.value
    is_same = (claim.key, claim.subject) == (told.key, told.subject)
    return is_same and (is_single_valued(claim) or claim.value == told.value)


def as_known(claims: Iterable[Claim], known: Sequence[MemoryState]) -> Iterator[Claim]:
    """The claims; what ends in fewer words than it is known by is what is known.

    "I'm not a teacher any more" ends "a primary school teacher", where only one can be.
    """
    for claim in claims:
        was = claim.ended_claim or claim
        fuller = [each for each in known if is_said_by(was, each)]
        if was.holds_until is None or len(fuller) != 1:
            yield claim
        elif claim.ended_claim is not None:
            yield replace(claim, ended_claim=as_believed(was, fuller[0]))
        else:
            yield as_believed(was, fuller[0])


def is_said_by(was: Claim, known: MemoryState) -> bool:
    """Whether what was so is what is known, in some of its words."""
    memory = known.memory
    is_same = (memory.kind, memory.key, memory.subject) == (was.kind, was.key, was.subject)
    if not (is_same and memory.is_live):
        return False
    if not is_single_valued(was):
        return memory.value != was.value and is_same_animal(was, known)
    fewer, more = {*tokenize(was.value)}, {*tokenize(memory.value)}
    return fewer < more and tokenize(was.value)[-1:] == tokenize(memory.value)[-1:]


def is_same_animal(was: Claim, known: MemoryState) -> bool:
    """Whether both are one animal of a kind, however it is counted: "一条狗", "一只狗"."""
    language = known.memory.language
    if language not in list_languages("rules"):
        return False
    book = load_rule_book(language)
    kinds = {
        book.part_called(found["part"]).relation if found else value
        for value in (was.value, known.memory.value)
        for found in [book.along.one_pet.fullmatch(value)]
    }
    return len(kinds) == 1


def as_believed(was: Claim, known: MemoryState) -> Claim:
    """What was so, as it is believed."""
    return replace(was, text=known.memory.text, value=known.memory.value)


def build_termination(was: Claim, language: str) -> Claim | None:
    """That something holds no more, in a language; None for one that is not spoken here."""
    return is_over(was, load_rule_book(language)) if language in list_languages("rules") else None


def is_over(was: Claim, book: RuleBook) -> Claim:
    """That something holds no more."""
    inside = was.text if was.subject == "other" else was.text[:1].lower() + was.text[1:]
    text = once_reworded(inside, book.over_text)
    return replace(
        was,
        text=text[:1].upper() + text[1:],
        value=book.over_value.format(value=was.value),
        holds_from=was.holds_until,
        holds_until=None,
        ended_claim=was,
    )


def tells_end(value: str) -> bool:
    """Whether a value says of another one that it holds no more, in any language."""
    ways = (
        load_rule_book(each).over_value.partition("{value}")[0] for each in list_languages("rules")
    )
    return value.startswith(tuple(ways))


def once_reworded(text: str, rewording: Rewording) -> str:
    """A text after the first of some rewordings that fits."""
    for words, put in rewording:
        better, count = words.subn(put, text, count=1)
        if count:
            return " ".join(better.split())
    return text
