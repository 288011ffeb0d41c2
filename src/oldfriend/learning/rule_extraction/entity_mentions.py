"""Entity mentions: finds named people and things and their relation to the speaker."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from oldfriend.domain.memories import EntityKind
from oldfriend.lang.glossing import is_common_word
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.extraction import Claim, EntityMention, Quote, SameAsClaim
from oldfriend.learning.rule_extraction.datetimes import without_times
from oldfriend.learning.rule_extraction.rule_loader import Part, RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence

_CONFIDENCE = 0.9
COMMA: Final = re.compile(r"\s?[,，]")
LAST_WORD: Final = re.compile(r"(?<!\S)(?P<word>[^\W\d_][\w’'-]+) $")
BEGINNING: Final = re.compile(r"(?:^|[.!?:;…])\W{0,8}$")


def named_in(sentence: Sentence, book: RuleBook) -> Iterator[tuple[EntityMention, Claim | None]]:
    """Everybody whom a sentence names by the part they play, and what that tells."""
    told = without_times(sentence.plain, book)
    together = list(_named_together(sentence, book))
    alone = _named_alone(sentence, told, book)
    alone = (each for each in alone if not _are_in(each[1], together))
    for place, name, part in (*alone, *together):
        is_somebody = is_name(name, book) and name in told
        if is_somebody and not is_reported(sentence, place, book):
            named = EntityMention(name=name, kind=part.kind, quotes=(quote_of(sentence),))
            is_theirs = sentence.message.role == "person"
            yield named, _relation(named, part, book) if is_theirs else None


def _named_alone(sentence: Sentence, told: str, book: RuleBook) -> Iterator[tuple[int, str, Part]]:
    """Where somebody is named by the part they play: "my sister Ana".

    A part between commas is that of the name before it: "with Ana, my sister, Tom came".
    """
    founds = [found for each in book.naming for found in each.finditer(sentence.plain)]
    apposed = {
        found.start("part")
        for found in founds
        if COMMA.match(sentence.plain[found.end("name") : found.start("part")])
        and not BEGINNING.search(sentence.plain[: found.start("name")])  # "Hey, my sister, Ana"
        and is_name(found["name"], book)
    }
    for found in founds:
        if found.start("name") < found.start("part") or found.start("part") not in apposed:
            part = replace(book.part_called(found["part"]), word=found["part"])
            yield found.start(), _find_name(found, sentence.plain, told, book), part


def _find_name(found: re.Match[str], plain: str, told: str, book: RuleBook) -> str:
    """The name where one is found: with the first name before it, without what is no name."""
    start = found.start("name")
    words = found["name"].split()
    before = LAST_WORD.search(plain[:start]) if start == found.start() else None
    if before and _is_first_name(before["word"], plain[: before.start()], book):
        words.insert(0, before["word"])
    elif len(words) > 1 and start < found.start("part"):
        words = words if _is_first_name(words[0], plain[:start], book) else words[1:]
    named = words[1:] if len(words) > 1 and book.title.match(" ".join(words)) else words
    is_whole = all(is_name(each, book) for each in named) and " ".join(words) in told
    return " ".join(words if is_whole else words[:1])


def _is_first_name(word: str, before: str, book: RuleBook) -> bool:
    """Whether a word before a name belongs to it; one that begins a sentence is seldom a name."""
    folded = word.lower()
    is_other = folded in get_traits(book.language).stop_words or folded in book.parts
    if is_other or not word[:1].isupper() or not is_name(word, book):
        return False
    return not (BEGINNING.search(before) and is_common_word(word, book.language))


def _are_in(name: str, together: Iterable[tuple[int, str, Part]]) -> bool:
    """Whether what looks like a name is several, where no space parts them."""
    return any(each != name and each in name for _, each, _ in together)


def _named_together(sentence: Sentence, book: RuleBook) -> Iterator[tuple[int, str, Part]]:
    """Where several are, all of them by names: "we have two kids, Ana and Ben"."""
    for listing in book.listed:
        for found in listing.finditer(sentence.plain):
            names = [each.strip() for each in book.apart.split(found["names"])]
            if all(is_name(each, book) for each in names):
                part = book.part_of_each(found["several"])
                yield from ((found.start(), each, part) for each in names)


def speakers_in(sentences: Iterable[tuple[Sentence, RuleBook]]) -> Iterator[EntityMention]:
    """Everybody else who speaks in some talk, by the name beside their words; each once."""
    heard: set[str] = set()
    for sentence, book in sentences:
        message, name = sentence.message, sentence.message.speaker.strip()
        if message.role == "other" and name not in heard and is_name(name, book):
            heard.add(name)
            yield EntityMention(name=name, kind="person", quotes=(quote_of(sentence),))


def nicknamed_in(
    sentence: Sentence, book: RuleBook, last: EntityMention | None
) -> EntityMention | None:
    """Another name that a sentence gives to somebody: to whom it says, or who was named last."""
    for nickname in book.nickname:
        found = nickname.search(sentence.plain)
        if not found or not is_name(found["alias"], book):
            continue
        quotes = (quote_of(sentence),)
        known = found.groupdict().get("name")
        if known and is_name(known, book):
            return EntityMention(
                name=known, kind="person", quotes=quotes, aliases=(found["alias"],)
            )
        if last and last.name != found["alias"]:
            return replace(last, quotes=quotes, aliases=(found["alias"],))
    return None


def samenesses_in(sentence: Sentence, book: RuleBook) -> Iterator[SameAsClaim]:
    """What a sentence says about two names: one and the same, or two."""
    ways = [(said, False) for said in book.different] + [(said, True) for said in book.same]
    for said, is_same in ways:
        found = said.search(sentence.plain)
        if found and is_name(found["one"], book) and is_name(found["other"], book):
            quotes = (quote_of(sentence),)
            one, other = found["one"], found["other"]
            yield SameAsClaim(one=one, other=other, is_same=is_same, quotes=quotes)
            return


def joined(names: Iterable[EntityMention]) -> tuple[EntityMention, ...]:
    """Each name once, with all its other names and quotes."""
    kept: dict[str, EntityMention] = {}
    for named in names:
        known = kept.get(named.name.casefold())
        kept[named.name.casefold()] = _joined(known, named) if known else named
    return tuple(kept.values())


def named_as(
    kind: EntityKind, name: str, quotes: tuple[Quote, ...], book: RuleBook
) -> EntityMention | None:
    """Whom or what a fact names, where its words can be a name."""
    return EntityMention(name=name, kind=kind, quotes=quotes) if is_name(name, book) else None


def is_name(words: str, book: RuleBook) -> bool:
    """Whether words can be a name: they begin large, where the script has that."""
    first = words[:1]
    is_large = first.isupper() or (get_traits(book.language).is_han and first.isalpha())
    titled = book.title.match(words)
    name = words[titled.end() :] if titled else words
    parts = name if not get_traits(book.language).spaces else name.lower().split()
    return is_large and name not in book.caution.not_name and not {*parts} & book.caution.not_name


def is_reported(sentence: Sentence, place: int, book: RuleBook) -> bool:
    """Whether somebody else's words begin before a place in a sentence."""
    reported = book.caution.reported.search(sentence.plain)
    return bool(reported and reported.start() < place)


def quote_of(sentence: Sentence) -> Quote:
    """The whole sentence: the words around a statement tell how it was meant."""
    return Quote(message=sentence.message.id, text=sentence.words)


def by_quote(
    sentences: Iterable[tuple[Sentence, RuleBook]],
) -> Mapping[Quote, tuple[Sentence, RuleBook]]:
    """The sentences, to be found by what quotes them: a message has several."""
    return {quote_of(sentence): (sentence, book) for sentence, book in sentences}


def _relation(named: EntityMention, part: Part, book: RuleBook) -> Claim:
    return Claim(
        kind="fact",
        text=book.part_text.format(part=part.word[:1].upper() + part.word[1:], name=named.name),
        quotes=named.quotes,
        confidence=_CONFIDENCE,
        subject="other",
        key=f"{named.name}:relation",
        value=part.relation,
        names=(named.name,),
    )


def _joined(one: EntityMention, other: EntityMention) -> EntityMention:
    return replace(
        one,
        quotes=tuple(dict.fromkeys((*one.quotes, *other.quotes))),
        aliases=tuple(dict.fromkeys((*one.aliases, *other.aliases))),
    )
