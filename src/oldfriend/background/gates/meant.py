"""Was it meant so? Not in jest, not refusing it, not of one time only, and as something liked.

By the words that tell so in each language; what is merely read between them is let through only
where a language is not spoken here.
"""

from typing import Final

from oldfriend.background.gates.clauses import closest_clauses
from oldfriend.background.gates.founding import is_in, language_of
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import answered, closest_sentences
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import Telltales, folded
from oldfriend.background.gates.wording import SEEN_ONCE
from oldfriend.domain.memories import MemoryKind, PatternKind
from oldfriend.prompts.phrasebook import SPOKEN
from oldfriend.turn.perceive import sentences_of

FEW_SENTENCES: Final = 3
"""In so few, "I'm joking" is about all of them."""

HAPPENS: Final[frozenset[MemoryKind]] = frozenset({"event", "commitment", "expectation"})
"""What is so also when somebody jests about it."""
COMING: Final[frozenset[MemoryKind]] = frozenset({"commitment", "expectation"})
DONE: Final[frozenset[PatternKind]] = frozenset({"behavior", "temporal", "causal"})

LIKED: Final = frozenset({"interests", "dislikes", "dietary", "travel_style", "accommodation"})
"""Categories of what somebody likes or avoids; the others are more like facts."""


def irony_fault(case: Case) -> Reason | None:
    """Said in jest by the speaker's own account, or praise of a day on which things went wrong.

    What has happened has happened, also when somebody jests about it.
    """
    claim, said = (
        case.claim,
        [(spoken_in(place), folded(place.said)) for place in case.places],
    )
    whole = [(spoken_in(place), folded(in_short(place))) for place in case.places]
    if claim.kind != "event" and all(told.ironic.search(text) for told, text in whole):
        return "in jest"
    if claim.kind not in HAPPENS and all(is_for_fun(case, place) for place in case.places):
        return "in jest"
    praises = case.told.praise.search(folded(claim.text)) is not None
    is_bitter = all(told.praise.search(text) and told.mishap.search(text) for told, text in said)
    return "in jest" if praises and is_bitter else None


def is_for_fun(case: Case, place: Place) -> bool:
    """Whether what is claimed was said in a way in which nobody means it, or with a wink."""
    near = " ".join(closest_sentences(case.claim, place))
    return spoken_in(place).hyperbole.search(folded(near)) is not None


def in_short(place: Place) -> str:
    """A whole message, where it is short enough for its last words to be about its first."""
    text = place.message.text
    return text if len(sentences_of(text)) <= FEW_SENTENCES else place.said


def refusal_fault(case: Case) -> Reason | None:
    """A promise of the person in words that refuse it."""
    claim = case.claim
    if claim.kind not in COMING or claim.subject == "companion" or claim.bearing != "new":
        return None
    said = [(spoken_in(place), closest_sentences(claim, place)) for place in case.places]
    is_refused = all(told.refused.search(folded(each[0])) for told, each in said)
    is_declined = any(
        spoken_in(place).declined.search(folded(in_short(place))) for place in case.places
    )
    return "promise refused" if is_declined or (is_refused and claim.kind == "commitment") else None


def openness_fault(case: Case) -> Reason | None:
    """What is to come has a time, by the words or by the claim; a promise may have its word."""
    claim = case.claim
    if claim.kind not in COMING or claim.subject == "companion" or claim.bearing != "new":
        return None
    if claim.due_at is not None:
        return None
    said = [(spoken_in(place), folded(place.said)) for place in case.places]
    if any(told.named_time.search(text) for told, text in said):
        return None
    is_promise = claim.kind == "commitment"
    if is_promise and any(has_word(told, text) for told, text in said):
        return None
    return "promise without word" if is_promise else "promise without time"


def has_word(told: Telltales, text: str) -> bool:
    """Whether somebody gives their word, or wants to be reminded of it."""
    return bool(told.promise.search(text) or told.reminding.search(text))


def habit_fault(case: Case) -> Reason | None:
    """A habit is claimed, and the words do not tell that it is one."""
    claim = case.claim
    if claim.kind != "pattern" or claim.pattern not in SEEN_ONCE or claim.bearing == "reinforces":
        return None
    if claim.pattern in DONE and claim.bearing == "new" and is_told_of_once(case):
        return "happened once"
    if not is_in(case, language_of(case)) or not case.told.usual.search(folded(claim.text)):
        return None
    asked = (answered(place, case.talk) for place in case.places)
    said = [
        *(place.message.text for place in case.places),
        *(each.text for each in asked if each),
    ]
    is_told = any(case.told.usual.search(folded(text)) for text in said)
    return None if is_told else "happened once"


def is_told_of_once(case: Case) -> bool:
    """Whether the words tell of what was done, or is being done, and not of what one does."""
    if any(place.message.language not in SPOKEN for place in case.places):
        return False
    for place in case.places:
        told, clauses = spoken_in(place), closest_clauses(case.claim, place)
        sentences = folded(" ".join(closest_sentences(case.claim, place)))
        if not clauses or told.usual.search(sentences) or told.changed.search(sentences):
            return False
        if not all(told.bygone.search(each.until) for each in clauses):
            return False
    return True


def liking_fault(case: Case) -> Reason | None:
    """A preference of which the words do not say that somebody likes, needs or avoids something."""
    claim = case.claim
    if claim.kind != "preference" or claim.key not in LIKED or claim.bearing != "new":
        return None
    for place in case.places:
        told = spoken_in(place)
        before = answered(place, case.talk)
        near = closest_sentences(claim, place)
        said = [*map(folded, near), *([] if before is None else [folded(before.text)])]
        if place.message.language not in SPOKEN or any(
            told.preferring.search(each)
            or (told.usual.search(each) and not told.bygone.search(each))
            for each in said
        ):
            return None
    return "no liking"
