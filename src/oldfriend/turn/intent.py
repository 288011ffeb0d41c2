"""Intent: classifies by rules what a message asks for, in every supported language.

Does not read memory.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final, Literal, get_args

from oldfriend.domain.errors import InstallationDamaged
from oldfriend.domain.ids import MessageId
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.detection import detect_language, is_possible_language
from oldfriend.lang.glossing import gloss
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act
from oldfriend.lang.unlearned_languages import detect_spoken_language, guess_language
from oldfriend.memory.restatement_detection import gives_name
from oldfriend.prompts.locale_phrases import (
    OFFLINE_LANGUAGES,
    LocalePhrases,
    PhrasePatterns,
    choose_language,
    load_phrases,
)
from oldfriend.search.question_patterns import find_requested_attribute
from oldfriend.search.tokenizer import is_unspaced
from oldfriend.turn.injection_detection import (
    InjectionFindings,
    detect_injection,
    strip_hidden_characters,
)
from oldfriend.turn.statement_detection import is_rather_telling, is_riddle

RULES_VERSION = "rules/1"
"""The author that receipts and notes name for a decision by rules."""

SmallTalk = Literal["greeting", "thanks", "farewell", "evening", "assent", "how_are_you"]
Intent = Literal[
    SmallTalk,
    "remember",
    "forget",
    "correct",
    "about_me",
    "about_you",
    "promises",
    "why_so",
    "believed_then",
    "question",
    "statement",
]

Signal = Literal["dry", "stressed", "roasting", "normal"]
"""How the person seems to be."""

ASKED_BEHIND_GREETING: Final = frozenset[Intent]({"about_me", "about_you", "promises"})
GREETING_END: Final = re.compile(r"[!,.;:\n]\s{0,4}")

CACHE_SIZE = 256
"""Messages; each is classified when it is accepted and again when it is answered."""

MAX_DRY_WORDS = 2
"""A statement of at most this many words is dry."""

MIN_NOTE_WIDTH = 4
"""A note must be wider, in letters, CJK characters counting two: "that" alone is no note."""

MAX_OPENING_CHARS = 40
"""Characters before a question; with more, the message also tells something."""

MAX_GREETING_CHARS = 20
"""Characters of a greeting before a name."""

MAX_ADDRESS_CHARS = 300
"""Characters at each end of a message in which the companion's name is looked for."""

MAX_REQUEST_CHARS = 2000
"""Characters; a longer message is a statement, whatever it begins with."""

MAX_UNMARKED_QUESTION_CHARS = 300
"""Characters; a longer message without a sign of a question tells something."""
MIN_QUESTION_PROBABILITY = 0.3
"""Of a message without a sign of a question, to be answered as one."""
MIN_UNLEARNED_QUESTION_PROBABILITY = 0.4
"""The same, in a language of which few texts were learned from."""

PUNCTUATION_FOLDING = str.maketrans(
    "\uff1f\uff01\uff1a\uff0c\uff1b\u2019\u3000\xa0\n\t", "?!:,;'    "
)
"""One character for one, so that offsets in the folded text hold in the original."""

SENTENCE_PATTERN = re.compile(
    "[^.!?\u3002\uff0e\uff01\uff1f\\n\u2026]+[.!?\u3002\uff0e\uff01\uff1f\u2026\"')\u201d]*"
)
CLAUSE_END = re.compile("[,:;]")
PHRASE_END = re.compile("[,;.!\u3002\uff0c\u3001\n]")
MAX_PLEASANTRIES = 4
"""Phrases of a message that does no more than greet, thank and take leave."""
EDGE_PUNCTUATION = " .,!?:;~\u3002\uff0c\uff01\uff1f\u2026\xbf\xa1\"'()\u201c\u201d-\u2013\u2014"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressee:
    """The companion's name and the languages to expect, likeliest first."""

    name: str
    languages: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perception:
    """What was understood of one message."""

    intent: Intent
    text: str
    language: str  # the offline companion's, in which it was read
    detected_language: str | None  # the person's, if the words tell
    note: str | None = None  # the exact words to note
    question: str | None = None  # the asking part, if there is also a note or a name
    named_in: tuple[MessageId, ...] = ()  # earlier messages that tell whom the question means
    is_only_question: bool = False  # holds nothing worth finding later
    may_be_statement: bool = False  # taken for a question without any sign of one
    fixed_language: str | None = None  # in which the person has chosen to be answered

    @property
    def offline_reply_language(self) -> str:
        """Return the language of what is worded by rules."""
        return choose_language(self.fixed_language, self.language)

    @property
    def reply_language(self) -> str:
        """Return the language of the reply, which a model may speak better than rules do."""
        return self.fixed_language or self.detected_language or self.language

    @property
    def told_text(self) -> str:
        """Return the text without its questions, whose words do not tell how the person feels."""
        if self.is_small_talk:
            return self.text
        book = load_phrases(self.language)
        sentences = split_sentences(self.text)
        told = [each for each in sentences if not is_question(each, book)]
        is_asking = self.is_only_question or (self.intent == "question" and told == sentences)
        return "" if is_asking else "\n".join(told)

    @property
    def is_plain_question(self) -> bool:
        """Tell whether it asks and tells nothing beside."""
        return self.intent not in {"remember", "correct"} and not self.told_text

    @property
    def signal(self) -> Signal:
        """Return how the person seems to be."""
        return detect_signal(self, load_phrases(self.language))

    @property
    def injection(self) -> InjectionFindings:
        """Return the signs of prompt injection in the text."""
        return detect_injection(self.text)

    @property
    def needs_recall(self) -> bool:
        """Tell whether memory is to be searched for the reply."""
        return self.intent in {"question", "statement"}

    @property
    def is_asking_for_beliefs(self) -> bool:
        """Tell whether it asks for beliefs, not messages: for all of them or a key's value."""
        if self.intent == "question":
            return find_requested_attribute(self.question or self.text) is not None
        return self.intent in {"about_me", "promises"}

    @property
    def is_small_talk(self) -> bool:
        """Tell whether nothing in it could be about anything remembered."""
        return self.intent in get_args(SmallTalk)


@text_lru_cache(CACHE_SIZE)
def perceive(text: str, addressee: Addressee) -> Perception:
    """Classify one message; never fails, whatever the text."""
    detected = detect_spoken_language(text)
    usual = [each for each in addressee.languages if is_likely_language(text, each)]
    guessed = detected or (
        guess_language(text[:MAX_REQUEST_CHARS], usual[0] or "")
        if usual and not text.startswith("/")  # names alone tell no language: "/zone Asia/Tokyo"
        else ""
    )
    expected = (guessed or None, *usual)
    words = strip_address(text, addressee.name)
    folded = words.translate(PUNCTUATION_FOLDING)
    # Longer messages are not matched as a whole.
    plain = normalize_phrase(folded[: MAX_REQUEST_CHARS + 1], addressee.name)
    for language in list_languages_to_try(text, expected):
        book = load_phrases(language)
        intent, note = match_intent(words, folded, plain, book)
        if intent is not None:
            return Perception(
                intent=intent,
                text=text,
                language=language,
                detected_language=detected or language,
                note=note,
                is_only_question=intent not in {"remember", "correct"},
            )
        asked = match_behind_greeting(folded, addressee.name, book)
        if asked is not None:
            return Perception(
                intent=asked,
                text=text,
                language=language,
                detected_language=detected or language,
                is_only_question=True,
            )
    return classify_sentences(
        text,
        words,
        load_phrases(choose_language(*expected)),
        detected or None,
        next(filter(None, expected), None),
    )


def is_likely_language(text: str, language: str | None) -> bool:
    """Tell whether a text may be in an expected language."""
    return language is not None and is_possible_language(text, language)


def classify_sentences(
    text: str, words: str, book: LocalePhrases, detected: str | None, likely: str | None
) -> Perception:
    """Classify a message sentence by sentence; ``words`` is the text without the name."""
    sentences = split_sentences(words)
    asking = [is_question(sentence, book) for sentence in sentences]
    note, question = None, words if words != text and any(asking) else None
    if any(asking) and not asking[0]:
        start = words.index(sentences[asking.index(True)])
        note = find_note_text(words[:start], words[:start].translate(PUNCTUATION_FOLDING), book)
        question = words[start:] if note else question
    language = detected or likely or book.language
    parts = sentences if get_traits(language).spaces else words[:MAX_REQUEST_CHARS].split()
    asking_parts = [is_question(each, book) for each in parts]
    is_asking = any(asking) or (
        is_question_by_classifier(words, language) and not tells_of_loss(words, book.patterns)
    )
    intent: Intent = "question" if is_asking else "statement"
    return Perception(
        intent=intent,
        text=text,
        language=book.language,
        detected_language=detected,
        note=note,
        question=question,
        is_only_question=bool(asking) and all(asking),
        may_be_statement=is_asking
        and (
            not any(asking)
            or is_riddle(sentences, asking, language)
            or is_rather_telling(words, asking_parts)
        ),
    )


def is_question_by_classifier(text: str, language: str) -> bool:
    """Tell whether a short text without a sign of a question asks nevertheless.

    Word by word in English, too, where words have blanks between them: a Dutch question that looks
    like a statement often looks like a question then.
    """
    if len(text) > MAX_UNMARKED_QUESTION_CHARS or gives_name(text, language):
        return False
    forms = {text}
    if not get_traits(language).is_cjk:
        with suppress(InstallationDamaged):
            forms.add(gloss(text, language))
    is_learned = not language or get_traits(language).is_tagged
    least = MIN_QUESTION_PROBABILITY if is_learned else MIN_UNLEARNED_QUESTION_PROBABILITY
    return any(classify_act(form)["question"] >= least for form in forms)


def tells_of_loss(text: str, patterns: PhrasePatterns) -> bool:
    """Tell whether a text tells that somebody close is lost or in danger, and not in a dream."""
    return patterns.loss.search(text) is not None and patterns.imagined.search(text) is None


def detect_signal(perception: Perception, book: LocalePhrases) -> Signal:
    """Return how the person seems to be, judged by their words; stress by what they tell alone."""
    intent = perception.intent
    shown = strip_hidden_characters(perception.text[:MAX_REQUEST_CHARS])
    told = strip_hidden_characters(perception.told_text)
    if book.patterns.roasting.search(shown):
        return "roasting"
    if tells_of_loss(told, book.patterns) or book.patterns.stressed.search(told):
        return "stressed"
    if intent == "assent" or (intent == "statement" and len(shown.split()) <= MAX_DRY_WORDS):
        return "dry" if shown.isascii() or intent == "assent" else "normal"
    return "normal"


def list_languages_to_try(text: str, expected: tuple[str | None, ...]) -> list[str]:
    """Return the detected and expected languages first, then, for a short text, all others."""
    likely = [language for language in expected if language in OFFLINE_LANGUAGES] or [
        OFFLINE_LANGUAGES[0]
    ]
    if len(text) > MAX_REQUEST_CHARS:
        return []
    if len(text) <= MAX_REQUEST_CHARS // 10:
        hinted = detect_language(text, fallback="", min_hits=1)  # "ciao" is German, too
        likely = [*likely, *(each for each in [hinted] if each in OFFLINE_LANGUAGES)]
        likely += OFFLINE_LANGUAGES
    return list(dict.fromkeys(likely))


def match_intent(
    text: str, folded: str, normalized: str, book: LocalePhrases
) -> tuple[Intent | None, str | None]:
    """Return the intent that matches the whole message, and the note in it."""
    patterns = book.patterns
    pleasantry = find_pleasantry(normalized, patterns)
    if pleasantry is not None:
        return pleasantry, None
    if found := find_note_text(text, folded, book):
        return "remember", found
    asked: list[tuple[Intent, re.Pattern[str]]] = [
        ("how_are_you", patterns.how_are_you),
        ("forget", patterns.forget),
        ("correct", patterns.wrong),
        ("correct", patterns.correct),
        ("promises", patterns.promises),
        ("why_so", patterns.why_so),
        ("believed_then", patterns.believed_then),
        ("about_me", patterns.about_me),
        ("about_you", patterns.about_you),
    ]
    matched = next((intent for intent, pattern in asked if pattern.search(normalized)), None)
    if matched is None and is_asking_if_human(normalized, folded, book):
        return "about_you", None
    if matched is None:
        return find_pleasantries(normalized, patterns), None
    return (None if matched == "correct" and is_question(folded, book) else matched), None


def match_behind_greeting(folded: str, name: str, book: LocalePhrases) -> Intent | None:
    """Return what a message asks behind a greeting about the companion or the person, if so."""
    if len(folded) > MAX_REQUEST_CHARS:
        return None
    greeting, _, rest = GREETING_END.sub("\n", folded, count=1).partition("\n")
    if not rest or find_pleasantry(normalize_phrase(greeting, name), book.patterns) != "greeting":
        return None
    intent, _ = match_intent(rest, rest, normalize_phrase(rest, name), book)
    return intent if intent in ASKED_BEHIND_GREETING else None


def find_pleasantry(phrase: str, patterns: PhrasePatterns) -> Intent | None:
    """Return what a phrase does that only greets, thanks, assents or takes leave.

    A phrase for arriving and for leaving is an evening's.
    """
    whole: list[tuple[Intent, frozenset[str]]] = [
        ("evening", patterns.greeting & patterns.farewell),
        ("greeting", patterns.greeting),
        ("thanks", patterns.thanks),
        ("farewell", patterns.farewell),
        ("assent", patterns.assent),
    ]
    return next((intent for intent, phrases in whole if phrase in phrases), None)


def find_words_behind_pleasantry(text: str, languages: Iterable[str]) -> str | None:
    """Return what follows a phrase that only greets, thanks, assents or takes leave; None without.

    It is as it was written.
    """
    first, *rest = PHRASE_END.split(text[:MAX_ADDRESS_CHARS], maxsplit=1)
    phrase = normalize_phrase(first, "")
    books = (load_phrases(choose_language(each)) for each in languages)
    is_found = any(find_pleasantry(phrase, book.patterns) for book in books)
    return "".join(rest) if is_found else None


def find_pleasantries(normalized: str, patterns: PhrasePatterns) -> Intent | None:
    """Return what a message of several such phrases does: take leave, or what the last one does."""
    parts = [each.strip(EDGE_PUNCTUATION) for each in PHRASE_END.split(normalized)]
    phrases = [each for each in parts if each]
    found = [find_pleasantry(each, patterns) for each in phrases[:MAX_PLEASANTRIES]]
    if not found or None in found or len(phrases) > MAX_PLEASANTRIES:
        return None
    ending: tuple[Intent, ...] = ("farewell", "evening")
    return next((intent for intent in ending if intent in found), found[-1])


def is_asking_if_human(normalized: str, folded: str, book: LocalePhrases) -> bool:
    """Tell whether a message only asks whether a human or a machine answers here.

    It is matched by words, since there are ever new ways to ask: it must mention a human or a
    machine and whoever talks here, and otherwise hold only filler words. It must be a question,
    because statements about people and machines use the same words.
    """
    *before, last = split_sentences(normalized) or [""]
    patterns = book.patterns
    if sum(map(len, before)) > MAX_OPENING_CHARS:
        return False
    if not (patterns.program.search(last) and patterns.program_beside.search(last)):
        return False
    rest = last
    for each in (patterns.program, patterns.program_beside, patterns.program_around):
        rest = each.sub(" ", rest)
    if any(character.isalnum() for character in rest):
        return False
    marked = split_sentences(folded)[-1:]
    return any(is_question(each, book) for each in marked) or is_unmarked_question(last, book)


def is_unmarked_question(sentence: str, book: LocalePhrases) -> bool:
    """Tell whether a clause asks, or offers a choice between two: a human or a machine."""
    clauses = [each.strip() for each in CLAUSE_END.split(sentence)]
    if any(is_question(each, book) for each in clauses):
        return True
    if book.patterns.asking_unmarked.search(sentence):
        return True
    offered = list(book.patterns.program.finditer(sentence))
    between = (sentence[one.end() : other.start()] for one, other in pairwise(offered))
    return any(
        any(character.isalnum() for character in words)
        and not book.patterns.program_beside.search(words)
        for words in between
    )


def find_note_text(text: str, folded: str, book: LocalePhrases) -> str | None:
    """Return the words that the person asks to have noted, exactly as in the text."""
    asks = is_question(folded, book)
    patterns = book.patterns.remember_asked if asks else book.patterns.remember
    start = len(folded) - len(folded.lstrip())
    for pattern in patterns:
        if found := pattern.match(folded[start:].rstrip()):
            first, last = found.span("note")
            note = text[start + first : start + last].strip()
            width = sum(2 if character >= "\u2e80" else 1 for character in note)
            return note if width > MIN_NOTE_WIDTH else None
    return None


def normalize_phrase(folded: str, name: str) -> str:
    """Return a message in lower case without outer punctuation and the companion's name."""
    words = " ".join(strip_hidden_characters(folded).lower().split()).strip(EDGE_PUNCTUATION)
    return compile_name_pattern(name.lower()).sub("", words).strip(EDGE_PUNCTUATION) or words


def strip_address(text: str, name: str) -> str:
    """Return the text without the companion's name before or after it.

    Somebody else may have the same name: it is removed only if punctuation separates it from the
    rest, or if the rest is a request by itself.
    """
    before, behind = compile_address_patterns(name.strip())
    ending = max(0, len(text) - MAX_ADDRESS_CHARS)
    if found := behind.search(text[ending:].translate(PUNCTUATION_FOLDING)):
        text = text[: ending + found.start()].rstrip() + ("?" if "?" in found["marks"] else "")
    found = before.match(text[:MAX_ADDRESS_CHARS].translate(PUNCTUATION_FOLDING))
    if found is None or not is_pleasantry(found["hello"] or ""):
        return text
    rest = text[found.end() :].lstrip()
    is_apart = found["mark"].strip() != "" or find_requested_attribute(rest) is not None
    return rest if is_apart and any(c.isalnum() for c in rest) else text


def is_pleasantry(words: str) -> bool:
    """Tell whether words only greet, thank or assent; true for no words."""
    plain = words.lower().strip(EDGE_PUNCTUATION)
    phrase_sets = (load_phrases(language).patterns for language in OFFLINE_LANGUAGES)
    return not plain or any(
        plain in phrases
        for each in phrase_sets
        for phrases in (each.greeting, each.thanks, each.assent)
    )


@cache
def compile_address_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile patterns for a name before a text, perhaps after a greeting, and for one after it."""
    plain = re.escape(name) if name else "(?!)"
    gap, end = ("", "") if is_unspaced(name) else (r"[\s,!]", r"(?!\w)")
    hello = rf"(?:(?P<hello>\w[^.?;:]{{0,{MAX_GREETING_CHARS - 1}}}?){gap}\s*+)?"
    lead = r"\W*+" if name[:1].isalnum() else r"\W*?"
    return (
        re.compile(rf"\A{lead}{hello}{plain}{end}\s*+(?P<mark>[,:;!.-]*+)", re.IGNORECASE),
        re.compile(rf",\s*+{plain}\s*+(?P<marks>[?!.]*+)\s*$", re.IGNORECASE),
    )


@cache
def compile_name_pattern(name: str) -> re.Pattern[str]:
    """Compile a pattern for a name at either end, not as part of a longer word."""
    plain = re.escape(name)
    if not name or is_unspaced(name[0]):
        return re.compile(rf"^{plain}|{plain}$")
    return re.compile(rf"^{plain}(?!\w)|(?<!\w){plain}$")


def is_question(sentence: str, book: LocalePhrases) -> bool:
    """Tell whether a sentence asks something, by its mark or its beginning."""
    folded = sentence.translate(PUNCTUATION_FOLDING).strip()
    marked = folded.rstrip("\"')\u201d !~").endswith("?")
    begun = folded.strip(EDGE_PUNCTUATION.replace("\xbf", ""))
    return marked or book.patterns.asking.search(begun) is not None


def split_sentences(text: str) -> list[str]:
    """Return the sentences that hold words, within the first MAX_REQUEST_CHARS characters."""
    found = (sentence.strip() for sentence in SENTENCE_PATTERN.findall(text[:MAX_REQUEST_CHARS]))
    return [sentence for sentence in found if any(c.isalnum() for c in sentence)]
