"""What does a sentence say is so no more? It is read as if it still were, and then turned round.

So every statement that a book knows has its end, too: "I no longer live in Porto" by the rule for
"I live in Porto".
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import Rewording, RuleBook, rule_book
from oldfriend.background.rules.matching import claims_in
from oldfriend.background.rules.naming import named_in
from oldfriend.background.rules.sentences import Sentence, starts_in
from oldfriend.domain.memories import Known
from oldfriend.memory.overtaking import has_one_value
from oldfriend.memory.search.words import words_in
from oldfriend.prompts.phrasebook import SPOKEN


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
        is_state = claim.kind in {"fact", "preference"} and claim.holds_from is None
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
    return is_same and (has_one_value(claim.kind, claim.key) or claim.value == told.value)


def as_known(claims: Iterable[Claim], known: Sequence[Known]) -> Iterator[Claim]:
    """The claims; what ends in fewer words than it is known by is what is known.

    "I'm not a teacher any more" ends "a primary school teacher", where only one can be.
    """
    for claim in claims:
        was = claim.ends or claim
        fuller = [each for each in known if is_said_by(was, each)]
        if was.holds_until is None or len(fuller) != 1:
            yield claim
        elif claim.ends is not None:
            yield replace(claim, ends=as_believed(was, fuller[0]))
        else:
            yield as_believed(was, fuller[0])


def is_said_by(was: Claim, known: Known) -> bool:
    """Whether what was so is what is known, in some of its words."""
    memory = known.memory
    is_same = (memory.kind, memory.key, memory.subject) == (was.kind, was.key, was.subject)
    if not (is_same and memory.is_live):
        return False
    if not has_one_value(was.kind, was.key):
        return memory.value != was.value and is_same_animal(was, known)
    fewer, more = {*words_in(was.value)}, {*words_in(memory.value)}
    return fewer < more and words_in(was.value)[-1:] == words_in(memory.value)[-1:]


def is_same_animal(was: Claim, known: Known) -> bool:
    """Whether both are one animal of a kind, however it is counted: "一条狗", "一只狗"."""
    language = known.memory.language
    if language not in SPOKEN:
        return False
    book = rule_book(language)
    kinds = {
        book.part_called(found["part"]).relation if found else value
        for value in (was.value, known.memory.value)
        for found in [book.along.one_pet.fullmatch(value)]
    }
    return len(kinds) == 1


def as_believed(was: Claim, known: Known) -> Claim:
    """What was so, as it is believed."""
    return replace(was, text=known.memory.text, value=known.memory.value)


def told_over(was: Claim, language: str) -> Claim | None:
    """That something holds no more, in a language; None for one that is not spoken here."""
    return is_over(was, rule_book(language)) if language in SPOKEN else None


def is_over(was: Claim, book: RuleBook) -> Claim:
    """That something holds no more."""
    inside = was.text if was.subject == "other" else was.text[:1].lower() + was.text[1:]
    text = once_reworded(inside, book.over_text)
    return replace(
        was, text=text[:1].upper() + text[1:], value=book.over_value.format(value=was.value),
        holds_from=was.holds_until, holds_until=None, ends=was,
    )  # fmt: skip


def tells_end(value: str) -> bool:
    """Whether a value says of another one that it holds no more, in any language."""
    ways = (rule_book(each).over_value.partition("{value}")[0] for each in SPOKEN)
    return value.startswith(tuple(ways))


def once_reworded(text: str, rewording: Rewording) -> str:
    """A text after the first of some rewordings that fits."""
    for words, put in rewording:
        better, count = words.subn(put, text, count=1)
        if count:
            return " ".join(better.split())
    return text
