"""What does the person want? Understood by rules, in each language the companion speaks.

Knows nothing of what is remembered.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from oldfriend.domain.language import detect_language, may_be_in
from oldfriend.domain.remembered import remembered
from oldfriend.memory.search.questions import matter_of
from oldfriend.memory.search.words import is_unspaced
from oldfriend.prompts.phrasebook import SPOKEN, Phrasebook, phrasebook, spoken_language
from oldfriend.turn.suspicion import Suspicion, suspicion_of, visible_words

RULES = "rules/1"
"""Who understood: named in receipts and as the author of notes."""

Intent = Literal[
    "greeting", "thanks", "farewell", "assent", "how_are_you", "remember", "forget", "correct",
    "about_me", "about_you", "promises", "why_so", "believed_then", "question", "statement",
]  # fmt: skip

Signal = Literal["dry", "stressed", "roasting", "normal"]
"""How the person seems to be (ACCEPTANCE B4)."""

REMEMBERED = 256
"""Messages: each is understood when it is accepted, and again when it is answered."""

DRY_WORDS = 2
"""So few words, and nothing asked, are dry."""

SHORTEST_NOTE = 4
"""Letters, CJK characters counting two; "that" or "it" alone is nothing to note."""

LONGEST_OPENING = 40
"""Characters before a question; behind more, something was told."""

LONGEST_HELLO = 20
"""Characters of a greeting before a name."""

LONGEST_REQUEST = 2000
"""Characters; what is longer tells something, whatever words it begins with."""

ONE_WIDTH = str.maketrans("\uff1f\uff01\uff1a\uff0c\uff1b\u2019\u3000\xa0\n\t", "?!:,;'    ")
"""One character for one, so that places found in the folded text hold in the original."""

SENTENCE = re.compile(
    "[^.!?\u3002\uff0e\uff01\uff1f\\n\u2026]+[.!?\u3002\uff0e\uff01\uff1f\u2026\"')\u201d]*"
)
CLAUSE_END = re.compile("[,:;]")
EDGES = " .,!?:;~\u3002\uff0c\uff01\uff1f\u2026\xbf\xa1\"'()\u201c\u201d-\u2013\u2014"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearer:
    """Who is listening: its name, and the languages to expect, likeliest first."""

    name: str
    languages: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perception:
    """What was understood of one message."""

    intent: Intent
    text: str
    language: str  # in which the reply is to be
    detected: str | None  # what the person speaks, where the words tell
    note: str | None = None  # the exact words to note
    question: str | None = None  # what asks, where there is a note or a name to call by besides
    only_asks: bool = False  # tells nothing, so there is nothing in it to find later

    @property
    def signal(self) -> Signal:
        """How the person seems to be."""
        return signal_of(self.text, self.intent, phrasebook(self.language))

    @property
    def suspicion(self) -> Suspicion:
        """What a machine might be made to do by the words."""
        return suspicion_of(self.text)

    @property
    def looks_back(self) -> bool:
        """Whether memory is to be searched for the reply."""
        return self.intent in {"question", "statement"}

    @property
    def asks_what_is_known(self) -> bool:
        """Whether it asks for what is believed, not for words: all of it, or the value of a key."""
        if self.intent == "question":
            return matter_of(self.question or self.text) is not None
        return self.intent in {"about_me", "promises"}

    @property
    def is_small_talk(self) -> bool:
        """Whether nothing in it could be about anything remembered (ACCEPTANCE B5)."""
        return self.intent in {"greeting", "thanks", "farewell", "assent", "how_are_you"}


@remembered(REMEMBERED)
def perceive(text: str, hearer: Hearer) -> Perception:
    """Understand one message. Never fails, whatever the text."""
    detected = detect_language(text, fallback="")
    wishes = (detected or None, *(each for each in hearer.languages if is_wish(text, each)))
    words = unaddressed(text, hearer.name)
    folded = words.translate(ONE_WIDTH)
    plain = bare(folded[: LONGEST_REQUEST + 1], hearer.name)  # of longer ones no book is tried
    for language in books_for(text, wishes):
        book = phrasebook(language)
        intent, note = recognised(words, folded, plain, book)
        if intent is not None:
            return Perception(
                intent=intent, text=text, language=language, detected=detected or language,
                note=note, only_asks=intent not in {"remember", "correct"},
            )  # fmt: skip
    return told_or_asked(text, words, phrasebook(spoken_language(*wishes)), detected or None)


def is_wish(text: str, language: str | None) -> bool:
    """Whether a reply may be wanted in a language that is expected."""
    return language is not None and may_be_in(text, language)


def told_or_asked(text: str, words: str, book: Phrasebook, detected: str | None) -> Perception:
    """Understand a message sentence by sentence, by its words without the companion's name."""
    sentences = sentences_of(words)
    asking = [is_question(sentence, book) for sentence in sentences]
    note, question = None, words if words != text and any(asking) else None
    if any(asking) and not asking[0]:
        begins = words.index(sentences[asking.index(True)])
        note = note_in(words[:begins], words[:begins].translate(ONE_WIDTH), book)
        question = words[begins:] if note else question
    intent: Intent = "question" if any(asking) else "statement"
    return Perception(
        intent=intent, text=text, language=book.language, detected=detected, note=note,
        question=question, only_asks=bool(asking) and all(asking),
    )  # fmt: skip


def signal_of(text: str, intent: Intent, book: Phrasebook) -> Signal:
    """How the person seems to be, by their words."""
    shown = visible_words(text[:LONGEST_REQUEST])
    if book.understand.roasting.search(shown):
        return "roasting"
    if book.understand.stressed.search(shown):
        return "stressed"
    if intent == "assent" or (intent == "statement" and len(shown.split()) <= DRY_WORDS):
        return "dry" if shown.isascii() or intent == "assent" else "normal"
    return "normal"


def books_for(text: str, wishes: tuple[str | None, ...]) -> list[str]:
    """The languages to try: what was detected or is likely first, then, for a few words, all."""
    likely = [wish for wish in wishes if wish in SPOKEN] or [SPOKEN[0]]
    tried = likely if len(text) > LONGEST_REQUEST // 10 else [*likely, *SPOKEN]
    return list(dict.fromkeys(tried)) if len(text) <= LONGEST_REQUEST else []


def recognised(
    text: str, folded: str, plain: str, book: Phrasebook
) -> tuple[Intent | None, str | None]:
    """The intent that a whole message is known for, and the note in it."""
    understand = book.understand
    whole: list[tuple[Intent, frozenset[str]]] = [
        ("greeting", understand.greeting),
        ("thanks", understand.thanks),
        ("farewell", understand.farewell),
        ("assent", understand.assent),
    ]
    for intent, phrases in whole:
        if plain in phrases:
            return intent, None
    if found := note_in(text, folded, book):
        return "remember", found
    asked: list[tuple[Intent, re.Pattern[str]]] = [
        ("how_are_you", understand.how_are_you),
        ("forget", understand.forget),
        ("correct", understand.wrong),
        ("correct", understand.correct),
        ("promises", understand.promises),
        ("why_so", understand.why_so),
        ("believed_then", understand.believed_then),
        ("about_me", understand.about_me),
        ("about_you", understand.about_you),
    ]
    meant = next((intent for intent, pattern in asked if pattern.search(plain)), None)
    if meant is None and asks_what_it_is(plain, folded, book):
        return "about_you", None
    return (None if meant == "correct" and is_question(folded, book) else meant), None


def asks_what_it_is(plain: str, folded: str, book: Phrasebook) -> bool:
    """Whether somebody wants to know if a human answers here, and says nothing else.

    Told by the words, for there are ever new ways to ask: a human or a machine, whoever talks
    here, and besides only words that tell nothing. It must be a question: many a thing that is
    told of people and machines is in the same words.
    """
    *before, last = sentences_of(plain) or [""]
    understand = book.understand
    if sum(map(len, before)) > LONGEST_OPENING:
        return False
    if not (understand.program.search(last) and understand.program_beside.search(last)):
        return False
    rest = last
    for each in (understand.program, understand.program_beside, understand.program_around):
        rest = each.sub(" ", rest)
    if any(character.isalnum() for character in rest):
        return False
    marked = sentences_of(folded)[-1:]
    return any(is_question(each, book) for each in marked) or is_asked_unmarked(last, book)


def is_asked_unmarked(sentence: str, book: Phrasebook) -> bool:
    """Whether one of its clauses asks, or it puts two to choose from: a human or a machine."""
    clauses = [each.strip() for each in CLAUSE_END.split(sentence)]
    if any(is_question(each, book) for each in clauses):
        return True
    if book.understand.asking_unmarked.search(sentence):
        return True
    offered = list(book.understand.program.finditer(sentence))
    between = (sentence[one.end() : other.start()] for one, other in pairwise(offered))
    return any(
        any(character.isalnum() for character in words)
        and not book.understand.program_beside.search(words)
        for words in between
    )


def note_in(text: str, folded: str, book: Phrasebook) -> str | None:
    """The words that the person asks to be remembered, exactly as they stand in the text."""
    asks = is_question(folded, book)
    patterns = book.understand.remember_asked if asks else book.understand.remember
    start = len(folded) - len(folded.lstrip())
    for pattern in patterns:
        if found := pattern.match(folded[start:].rstrip()):
            first, last = found.span("note")
            note = text[start + first : start + last].strip()
            width = sum(2 if character >= "\u2e80" else 1 for character in note)
            return note if width > SHORTEST_NOTE else None
    return None


def bare(folded: str, name: str) -> str:
    """A message in lower case without what surrounds its words, or the companion's name."""
    words = " ".join(visible_words(folded).lower().split()).strip(EDGES)
    return called(name.lower()).sub("", words).strip(EDGES) or words


def unaddressed(text: str, name: str) -> str:
    """What is said, without the name by which the companion is called before or behind it.

    Somebody else may have that name, too: it is taken off where a mark parts it from the rest, or
    where the rest asks for something by itself.
    """
    before, behind = addresses(name.strip())
    if found := behind.search(text.translate(ONE_WIDTH)):
        text = text[: found.start()] + ("?" if "?" in found["marks"] else "")
    found = before.match(text.translate(ONE_WIDTH))
    if found is None or not is_courteous(found["hello"] or ""):
        return text
    rest = text[found.end() :]
    is_apart = found["mark"].strip() != "" or matter_of(rest) is not None
    return rest if is_apart and any(c.isalnum() for c in rest) else text


def is_courteous(words: str) -> bool:
    """Whether words only greet, thank or assent; as no words do."""
    plain = words.lower().strip(EDGES)
    told = (phrasebook(language).understand for language in SPOKEN)
    return not plain or any(
        plain in phrases for each in told for phrases in (each.greeting, each.thanks, each.assent)
    )


@cache
def addresses(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A name before what is said, perhaps behind a greeting; and one behind it."""
    plain = re.escape(name) if name else "(?!)"
    gap, end = ("", "") if is_unspaced(name) else (r"[\s,!]", r"(?!\w)")
    hello = rf"(?:(?P<hello>[^.?;:]{{1,{LONGEST_HELLO}}}?){gap}\s*)?"
    return (
        re.compile(rf"\W*{hello}{plain}{end}\s*(?P<mark>[,:;!.-]*)\s*", re.IGNORECASE),
        re.compile(rf"\s*,\s*{plain}\s*(?P<marks>[?!.]*)\s*$", re.IGNORECASE),
    )


@cache
def called(name: str) -> re.Pattern[str]:
    """A name at the beginning or the end, where it is no part of a longer word."""
    plain = re.escape(name)
    if not name or is_unspaced(name[0]):
        return re.compile(rf"^{plain}|{plain}$")
    return re.compile(rf"^{plain}(?!\w)|(?<!\w){plain}$")


def is_question(sentence: str, book: Phrasebook) -> bool:
    """Whether a sentence asks something, by its mark or by how it begins."""
    folded = sentence.translate(ONE_WIDTH).strip()
    marked = folded.rstrip("\"')\u201d !~").endswith("?")
    begun = folded.strip(EDGES.replace("\xbf", ""))
    return marked or book.understand.asking.search(begun) is not None


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that hold words; of a very long one only the first stretch."""
    found = (sentence.strip() for sentence in SENTENCE.findall(text[:LONGEST_REQUEST]))
    return [sentence for sentence in found if any(c.isalnum() for c in sentence)]
