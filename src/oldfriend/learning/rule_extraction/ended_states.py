"""Ended states: what is told to be over, and what is over with it, as after a breakup.

A "no longer" sentence is read with the rules for the same state while it holds, so every rule also
covers its ending: "I no longer live in Porto" is read by the rule for "I live in Porto". Of a
breakup, the words name the partner, or it is the only one known. Of two other people, neither stays
married.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.relations import PARTNER_ROLES, PET_ROLES, RELATION_KEY_SUFFIX
from oldfriend.domain.supersession import get_valid_since
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.critical_tokens import is_text_negated
from oldfriend.learning.extraction import Claim, Quote, RelationClaim
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.entity_mentions import by_quote, named_in
from oldfriend.learning.rule_extraction.rule_loader import Rewording, RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.learning.rule_extraction.simple_statements import says_more
from oldfriend.search.attribute_lookup import parse_key_owner
from oldfriend.search.tokenizer import tokenize

OCCUPATION: Final = "occupation"
WORKPLACE: Final = "workplace"
ANIMALS: Final = "pets"
STATUS: Final = "relationship_status"
PARTNER: Final = "partner"
FORMER: Final = "ex"
MARRIED: Final = frozenset({"husband", "wife", "spouse", "partner"})
"""Who may be divorced from."""
MAY_BE_LOVED: Final = frozenset({*PARTNER_ROLES, "friend"})
"""Who may be parted from; German calls a girlfriend a friend."""
CONFIDENCE: Final = 0.9
PREPOSITION_CHARS: Final = 2
"""Letters of a word without which a place may still be read: "j'habite (à) Lyon"."""
_CLAUSE: Final = re.compile(r"[,;:，；、—–]")
_AROUND: Final = " ,;:，；、—–"


def endings_in(
    sentence: Sentence,
    book: RuleBook,
    known: Collection[str],
    told: Iterable[Claim],
    believed: Sequence[MemoryState],
    earlier: Iterable[Claim] = (),
) -> Iterator[Claim]:
    """What was so until a sentence was said, and that it is over; beside what it tells otherwise.

    A rule of its own for something that has ended goes before ("I don't eat meat any more").
    ``earlier``: what the same conversation told before.
    """
    before = turned_round(sentence, book)
    if before is None:
        yield from denied_in(sentence, book, known, told, believed, earlier)
        return
    before = in_known_spelling(before, believed)
    told = list(told)
    for claim in (*claims_in(before, book, known), *relations_over(sentence, before, book)):
        is_state = claim.kind in ATTRIBUTE_KINDS and claim.holds_from is None
        if is_state and not any(is_beside(claim, each) for each in told):
            was = replace(claim, holds_until=sentence.message.at)
            yield was
            yield is_over(was, book)


def denied_in(
    sentence: Sentence,
    book: RuleBook,
    known: Collection[str],
    told: Iterable[Claim],
    believed: Iterable[MemoryState],
    earlier: Iterable[Claim],
) -> Iterator[Claim]:
    """What is believed and is no more, as a clause denies just that: "I don't live in Paris".

    What the sentence tells beside it still holds: "I don't drive, I live in Paris".
    """
    if sentence.is_question:
        return
    held = [each for each in believed if each.memory.kind == "fact" and each.memory.is_live]
    facts = {(each.memory.key, each.memory.subject, each.memory.value) for each in held}
    facts |= {(each.key, each.subject, each.value) for each in earlier if each.kind == "fact"}
    so = {(each.key, each.subject, each.value.casefold()) for each in told}
    for clause in clauses_in(sentence):
        for claim, rest in affirmed_in(clause, book, known, held):
            is_held = (claim.key, claim.subject, claim.value) in facts
            is_told = (claim.key, claim.subject, claim.value.casefold()) in so
            if is_held and not is_told and not says_more(rest):
                was = replace(claim, holds_from=None, holds_until=sentence.message.at)
                yield was
                yield is_over(was, book)


def clauses_in(sentence: Sentence) -> Iterator[Sentence]:
    """The parts of a sentence, each of which may be denied by itself."""
    marks = (found.end() for found in _CLAUSE.finditer(sentence.plain))
    bounds = sorted({*sentence.starts, *marks, len(sentence.plain)})
    for begin, end in pairwise(bounds):
        if plain := sentence.plain[begin:end].strip(_AROUND):
            yield replace(sentence, plain=plain, starts=(0,))


def affirmed_in(
    clause: Sentence, book: RuleBook, known: Collection[str], held: Sequence[MemoryState]
) -> Iterator[tuple[Claim, str]]:
    """The facts whose very words a clause denies, each with what it says behind them.

    Not those that are still read without a word behind the negation, which may be all that it
    denies: "I don't just work at Siemens".
    """
    plain = clause.plain
    for denying, put in book.instead.affirmed:
        plain = denying.sub(put, plain)
    plain = " ".join(plain.split())
    if plain == clause.plain or not is_text_negated(clause.plain, book.language):
        return
    before = clause.plain.split()
    words = in_known_spelling(replace(clause, plain=plain), held).plain.split()
    alike = [one == other for one, other in zip(before, words, strict=False)]
    denied = alike.index(False) if False in alike else len(words)
    for claim in facts_in(words, clause, book, known):
        ahead, _, rest = " ".join(words).partition(claim.value) if claim.value else ("", "", "")
        until = len(ahead.split()) if claim.value else len(words)
        if not any(
            words[at] in before
            and len(words[at]) > PREPOSITION_CHARS
            and any(
                is_same_fact(claim, each)
                for each in facts_in([*words[:at], *words[at + 1 :]], clause, book, known)
            )
            for at in range(denied, until)
        ):
            yield claim, rest


def is_same_fact(one: Claim, other: Claim) -> bool:
    """Whether two claims tell the same, however they word it."""
    return (one.key, one.subject, one.value) == (other.key, other.subject, other.value)


def facts_in(
    words: Sequence[str], clause: Sentence, book: RuleBook, known: Collection[str]
) -> list[Claim]:
    """The facts that words tell in place of those of a clause."""
    told = claims_in(replace(clause, plain=" ".join(words)), book, known)
    return [each for each in told if each.kind == "fact"]


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


def in_known_spelling(sentence: Sentence, believed: Iterable[MemoryState]) -> Sentence:
    """A sentence with the values that are believed spelled as they are: "ulm" is "Ulm"."""
    plain = sentence.plain
    for each in believed:
        value, memory = each.memory.value, each.memory
        lower = value.lower()
        may_be_named = memory.is_live and lower not in {value, ""} and len(lower) == len(value)
        if may_be_named and lower in plain:
            plain = value.join(re.split(rf"(?<!\w){re.escape(lower)}(?!\w)", plain))
    return replace(sentence, plain=plain)


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


def over_along(
    claims: Sequence[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """What is so no more because of what else is told to be over."""
    read = by_quote(sentences)
    began = {each.memory.key: get_valid_since(each) for each in known if each.memory.is_live}
    ended = {
        (each.ended_claim.key, each.ended_claim.value)
        for each in claims
        if each.ended_claim is not None
    }
    told = told_by(claims, read, known)
    told = [(at, each) for at, each in told if (each.key, each.value) not in ended]
    for claim in claims:
        sentence, book = read[claim.quotes[0]]
        since_then = claim.holds_from or sentence.message.at
        with_it = [(at, was) for at, was in told if goes_along(was, claim, sentence, book)]
        if any(at >= sentence.message.at for at, _ in with_it):
            continue
        for at, was in with_it:
            if began.get(was.key, at) <= since_then + DAY:
                until = max(since_then, began.get(was.key, at))
                yield is_over(replace(was, quotes=claim.quotes, holds_until=until), book)


def goes_along(was: Claim, over: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether what was told cannot hold any more, with what is over."""
    if tells_end(was.value):
        return False
    if over.key == OCCUPATION and over.subject == "person" and over.value in book.along.jobless:
        return was.key == WORKPLACE and was.subject == "person"
    if over.key != ANIMALS or over.ended_claim is None:
        return False
    one = book.along.one_pet.fullmatch(over.ended_claim.value)
    kind = book.part_called(one["part"]).relation if one else ""
    is_it = kind in PET_ROLES and was.key.endswith(RELATION_KEY_SUFFIX) and was.value == kind
    return is_it and is_gone(kind, sentence, book)


def is_gone(kind: str, sentence: Sentence, book: RuleBook) -> bool:
    """Whether the words say that there is no animal of a kind any more, and say no more.

    Who has no dog at work may have one at home.
    """
    before = turned_round(sentence, book)
    animals = book.along.one_pet.finditer(before.plain) if before is not None else ()
    one = next((each for each in animals if book.part_called(each["part"]).relation == kind), None)
    if before is None or one is None:
        return False
    begins = max((each for each in before.starts if each <= one.start()), default=0)
    rest = before.plain[one.end() :]
    ends = next((each for each in starts_in(rest, book) if each), len(rest))
    lead = book.lead.match(before.plain)
    is_led = lead is not None and lead.end() >= begins
    return (is_led or not says_more(before.plain[:begins])) and not says_more(rest[:ends])


def told_by(
    claims: Iterable[Claim],
    read: Mapping[Quote, tuple[Sentence, RuleBook]],
    known: Iterable[MemoryState],
) -> list[tuple[Micros, Claim]]:
    """What is believed and what is told, as it was told, and when last."""
    return [
        *((each.stats.last_seen, as_told(each)) for each in known if each.memory.is_live),
        *(
            (max(read[quote][0].message.at for quote in each.quotes if quote in read), each)
            for each in claims
        ),
    ]


def as_told(known: MemoryState) -> Claim:
    """What is known of somebody, as it was told."""
    memory = known.memory
    return Claim(
        kind="fact",
        text=memory.text,
        quotes=(),
        confidence=CONFIDENCE,
        subject=memory.subject,
        key=memory.key,
        value=memory.value,
        names=(parse_key_owner(memory),),
    )


def partings_in(
    claims: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """For each parting that is told, that somebody is the one of before."""
    loved = [each for each in known if each.memory.is_live and is_loved(each)]
    read = by_quote(sentences)
    for claim in [each for each in claims if each.key == STATUS]:
        sentence, book = read[claim.quotes[0]]
        if not tells_parting(claim, book):
            continue
        before = [
            each
            for each in loved
            if is_before(each, claim, sentence) and may_part(each, claim, book)
        ]
        named = [each for each in before if name_of(each) in claim.quotes[0].text]
        if not named and names_another(claim, known):
            continue
        left = {each.memory.key: each for each in named or before}
        if len({name_of(each) for each in left.values()}) == 1:
            for each in left.values():
                yield former(each, claim, book)


def names_another(parted: Claim, known: Iterable[MemoryState]) -> bool:
    """Whether the words name somebody else: "Tom and I broke up" tells nothing of a wife."""
    return any(
        each.memory.key.endswith(RELATION_KEY_SUFFIX) and name_of(each) in parted.quotes[0].text
        for each in known
    )


def parted_at_once(
    claims: Sequence[Claim], sentences: Iterable[tuple[Sentence, RuleBook]]
) -> Iterator[Claim]:
    """The claims; whom somebody names as the one they part from was so until then."""
    read = by_quote(sentences)
    parted = [each for each in claims if each.key == STATUS]
    for claim in claims:
        sentence, book = read[claim.quotes[0]]
        is_love = claim.key.endswith(RELATION_KEY_SUFFIX) and claim.value in MAY_BE_LOVED
        by = [
            each
            for each in parted
            if is_love
            and each.quotes[0] == claim.quotes[0]
            and tells_parting(each, book)
            and is_ended(claim.value, each, book)
        ]
        name = claim.key.removesuffix(RELATION_KEY_SUFFIX)
        if by and is_parted_from(name, sentence, book):
            yield as_former(replace(claim, holds_from=by[0].holds_from), name, book)
        else:
            yield claim


def is_parted_from(name: str, sentence: Sentence, book: RuleBook) -> bool:
    """Whether the words say so of whoever has this name."""
    return any(
        found["name"] == name
        for said in book.parting.named
        for found in said.finditer(sentence.plain)
    )


def singles_in(
    ties: Iterable[RelationClaim],
    claims: Sequence[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """For each couple of others that has parted, that neither is married as was said before."""
    read = by_quote(sentences)
    told = told_by(claims, read, known)
    for tied in ties:
        sentence, book = read[tied.quotes[0]]
        keys = {f"{name}:{STATUS}" for name in (tied.first, tied.second)}
        has_parted = tied.kind == "partner_of" and tied.claim.holds_until is not None
        for at, was in told if has_parted else ():
            is_so = was.key in keys and was.value in book.parting.coupled
            if is_so and at < sentence.message.at:
                yield is_over(
                    replace(was, quotes=tied.quotes, holds_until=tied.claim.holds_until), book
                )


def tells_parting(claim: Claim, book: RuleBook) -> bool:
    """Whether somebody says that they part, or when they did; who is divorced tells neither."""
    is_own = claim.subject == "person" and claim.holds_from is not None
    return is_own and claim.value in book.parting.values


def is_before(known: MemoryState, parted: Claim, sentence: Sentence) -> bool:
    """Whether it was so when they parted, and has not been said since they told it."""
    is_so = parted.holds_from is not None and get_valid_since(known) <= parted.holds_from + DAY
    return is_so and known.stats.last_seen < sentence.message.at


def may_part(known: MemoryState, parted: Claim, book: RuleBook) -> bool:
    """Whether they can have parted in that way: nobody is divorced from a girlfriend."""
    memory = known.memory
    return memory.key == PARTNER or is_ended(memory.value, parted, book)


def is_ended(part: str, parted: Claim, book: RuleBook) -> bool:
    """Whether who plays a part in a life can be parted from in that way."""
    return part in MARRIED or parted.value not in book.parting.divorced


def is_loved(known: MemoryState) -> bool:
    """Whether it tells who is the person's husband, girlfriend or the like."""
    memory = known.memory
    return memory.key == PARTNER or (
        memory.key.endswith(RELATION_KEY_SUFFIX) and memory.value in PARTNER_ROLES
    )


def name_of(known: MemoryState) -> str:
    """Whom it tells of."""
    memory = known.memory
    return memory.value if memory.key == PARTNER else memory.key.removesuffix(RELATION_KEY_SUFFIX)


def former(known: MemoryState, parted: Claim, book: RuleBook) -> Claim:
    """That somebody is so no more, since then."""
    memory, name = known.memory, name_of(known)
    told = Claim(
        kind="fact",
        text=memory.text,
        quotes=parted.quotes,
        confidence=parted.confidence,
        subject=memory.subject,
        key=memory.key,
        value=memory.value,
        names=(name,),
        holds_until=parted.holds_from,
    )
    if memory.key == PARTNER:
        return is_over(told, book)
    return as_former(replace(told, holds_from=parted.holds_from, holds_until=None), name, book)


def as_former(told: Claim, name: str, book: RuleBook) -> Claim:
    """That they are the one of before."""
    text = book.part_text.format(part=book.parting.former, name=name)
    return replace(told, text=text, value=FORMER)
