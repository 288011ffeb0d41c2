"""What does the person want? Understood by rules, in each language the companion speaks.

Knows nothing of what is remembered.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.language import detect_language
from oldfriend.prompts.phrasebook import SPOKEN, Phrasebook, phrasebook, spoken_language
from oldfriend.turn.outcome import Utterance

RULES = "rules/1"
"""Who understood: named in receipts and as the author of notes."""

Intent = Literal[
    "greeting", "thanks", "farewell", "assent", "remember", "about_me", "about_you", "question",
    "statement",
]  # fmt: skip

LONGEST_REQUEST = 2000
"""Characters; what is longer tells something, whatever words it begins with."""

ONE_WIDTH = str.maketrans("\uff1f\uff01\uff1a\uff0c\uff1b\u2019\u3000\xa0\n\t", "?!:,;'    ")
"""One character for one, so that places found in the folded text hold in the original."""

SENTENCE = re.compile(
    "[^.!?\u3002\uff0e\uff01\uff1f\\n\u2026]+[.!?\u3002\uff0e\uff01\uff1f\u2026\"')\u201d]*"
)
EDGES = " .,!?:;~\u3002\uff0c\uff01\uff1f\u2026\xbf\xa1\"'()\u201c\u201d-\u2013\u2014"


@dataclass(frozen=True, slots=True, kw_only=True)
class Perception:
    """What was understood of one message."""

    intent: Intent
    language: str  # in which the reply is to be
    detected: str | None  # what the person speaks, where the words tell
    note: str | None = None  # the exact words to note
    only_asks: bool = False  # tells nothing, so there is nothing in it to find later

    @property
    def looks_back(self) -> bool:
        """Whether memory is to be searched for the reply."""
        return self.intent in {"question", "statement"}


def perceive(said: Utterance) -> Perception:
    """Understand one message."""
    text = said.message.text
    detected = detect_language(text, fallback="")
    wishes = (detected or None, said.person.language, said.locale_language)
    for language in books_for(text, wishes):
        book = phrasebook(language)
        intent, note = recognised(text, book, name=said.companion.name)
        if intent is not None:
            return Perception(
                intent=intent, language=language, detected=detected or language, note=note,
                only_asks=intent != "remember",
            )  # fmt: skip
    language = spoken_language(*wishes)
    asking = [is_question(sentence, phrasebook(language)) for sentence in sentences_of(text)]
    return Perception(
        intent="question" if any(asking) else "statement",
        language=language,
        detected=detected or None,
        only_asks=bool(asking) and all(asking),
    )


def books_for(text: str, wishes: tuple[str | None, ...]) -> list[str]:
    """The languages to try: what was detected or is likely first, then, for a few words, all."""
    likely = [wish for wish in wishes if wish in SPOKEN] or [SPOKEN[0]]
    tried = likely if len(text) > LONGEST_REQUEST // 10 else [*likely, *SPOKEN]
    return list(dict.fromkeys(tried)) if len(text) <= LONGEST_REQUEST else []


def recognised(text: str, book: Phrasebook, *, name: str) -> tuple[Intent | None, str | None]:
    """The intent that a whole message is known for, and the note in it."""
    understand = book.understand
    folded = text.translate(ONE_WIDTH)
    plain = bare(folded, name)
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
    if matches(plain, understand.about_me):
        return "about_me", None
    if matches(plain, understand.about_you):
        return "about_you", None
    return None, None


def note_in(text: str, folded: str, book: Phrasebook) -> str | None:
    """The words that the person asks to be remembered, exactly as they stand in the text."""
    asks = is_question(folded, book)
    patterns = book.understand.remember_asked if asks else book.understand.remember
    start = len(folded) - len(folded.lstrip())
    for pattern in patterns:
        if found := pattern.match(folded[start:].rstrip()):
            first, last = found.span("note")
            return text[start + first : start + last].strip() or None
    return None


def bare(folded: str, name: str) -> str:
    """A message in lower case without what surrounds its words, or the companion's name."""
    words = " ".join(folded.lower().split()).strip(EDGES)
    without_name = words.removesuffix(name.lower()).removeprefix(name.lower()).strip(EDGES)
    return without_name or words


def is_question(sentence: str, book: Phrasebook) -> bool:
    """Whether a sentence asks something, by its mark or by how it begins."""
    folded = sentence.translate(ONE_WIDTH).strip()
    marked = folded.rstrip("\"')\u201d !~").endswith("?")
    return marked or matches(folded.strip(EDGES.replace("\xbf", "")), book.understand.asking)


def matches(text: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    """Whether any of the expressions is found in the text."""
    return any(pattern.search(text) for pattern in patterns)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that hold words; of a very long one only the first stretch."""
    found = (sentence.strip() for sentence in SENTENCE.findall(text[:LONGEST_REQUEST]))
    return [sentence for sentence in found if any(c.isalnum() for c in sentence)]
