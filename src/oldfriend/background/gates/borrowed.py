"""Which words in somebody's own message are not theirs? What is quoted, pasted or passed on.

Told by marks alone: quotation marks, fences, lines that are quoted, headers of forwarded mail, and
words that introduce a text. Whether it is true is not known here.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.clauses import terms_in
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.telltales import Telltales, telltales_of
from oldfriend.background.likeness import without_near
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import WIDE
from oldfriend.domain.remembered import remembered
from oldfriend.turn.perceive import ONE_WIDTH

QUOTED: Final = re.compile('"[^"\\n]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|「[^」]+」|『[^』]+』')
PASTED: Final = re.compile(
    r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*"
    r"|^[ \t]*(?:[-_*=]{3,}[^\n]*$|(?:from|de|von|发件人|寄件人)[ \t]*[:：][^\n]*@)[\s\S]*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
PARAGRAPH: Final = re.compile(r"\n\s*\n|\Z")
MARKS: Final = '"“”„«»「」『』 '
LONGEST_NAME: Final = 3
"""Words."""
LONG: Final = 25
"""Words; so much at once nobody says of somebody by heart."""
LONG_WIDE: Final = 50
"""The same in characters of scripts without spaces."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a message that is somebody else's."""

    start: int
    end: int
    is_pasted: bool  # from somewhere; else said by somebody


def borrowed_fault(claim: Claim, place: Place) -> Reason | None:
    """Why words of a message of the person's may not be taken for theirs.

    What somebody has said to them may be told as something that happened.
    """
    stretches = stretches_of(place.message.text, language_in(place))
    if not stretches:
        return None
    for stretch in stretches:
        may_tell = claim.kind in {"event", "expectation"} and not stretch.is_pasted
        if not may_tell and rests_on(claim, place, stretch, stretches):
            return "outside words" if stretch.is_pasted else "words of another"
    return None


def language_in(place: Place) -> str:
    """The language in which a message is written."""
    return detect_language(place.message.text, fallback=place.message.language)


def rests_on(claim: Claim, place: Place, stretch: Stretch, stretches: Iterable[Stretch]) -> bool:
    """Whether what is claimed stands in a borrowed stretch, rather than in one's own words."""
    language, text = place.message.language, place.message.text
    words = terms_in(f"{claim.text} {claim.value}", language)
    own = words & terms_in(without(text, stretches), language)
    left = words - own
    theirs = left - set(without_near(left, terms_in(text[stretch.start : stretch.end], language)))
    is_within = stretch.start <= place.start and place.end <= stretch.end
    few = len(own) if claim.kind == "pattern" else len(own) + 1
    return bool(theirs) and (is_within or len(theirs) >= few)


def without(text: str, stretches: Iterable[Stretch]) -> str:
    """A text with what is borrowed blanked out."""
    for stretch in stretches:
        text = f"{text[: stretch.start]}{' ' * (stretch.end - stretch.start)}{text[stretch.end :]}"
    return text


@remembered(512)
def stretches_of(text: str, language: str) -> tuple[Stretch, ...]:
    """What is borrowed in a message; what is nothing but a quote is one's own answer."""
    found = list(borrowed_in(text, telltales_of(language)))
    rest = without(text, found)
    return tuple(found) if any(character.isalnum() for character in rest) else ()


def borrowed_in(text: str, told: Telltales) -> Iterator[Stretch]:
    """The stretches that are marked or introduced as somebody else's."""
    for found in PASTED.finditer(text):
        yield Stretch(found.start(), found.end(), is_pasted=True)
    for found in told.passed_on.finditer(text.translate(ONE_WIDTH)):
        end = PARAGRAPH.search(text, found.end())
        yield Stretch(found.end(), end.start() if end else len(text), is_pasted=True)
    for found in QUOTED.finditer(text):
        if is_name(found.group()):
            continue
        yield Stretch(found.start(), found.end(), is_pasted=is_long(found.group()))


def is_name(quoted: str) -> bool:
    """Whether a few words in quotation marks are a name: each begins with a capital letter."""
    words = quoted.strip(MARKS).split()
    return len(words) <= LONGEST_NAME and all(word[0].isupper() for word in words)


def is_long(text: str) -> bool:
    """Whether a quotation is longer than what people repeat of what was said to them."""
    return len(text.split()) >= LONG or len(WIDE.findall(text)) >= LONG_WIDE
