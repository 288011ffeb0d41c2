"""Has the companion promised something? In its own words, with a time, and not refused.

The one case in which its words are evidence: of its own promise (ACCEPTANCE F7).
"""

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.talk import Talk, spoken_in
from oldfriend.background.gates.telltales import folded, telltales_of


def promise_fault(claim: Claim, places: tuple[Place, ...], talk: Talk) -> Reason | None:
    """Why a promise of the companion does not hold; none where it does."""
    own = [place for place in places if place.message.trust == "companion"]
    if any(place.message.trust == "outside" for place in places):
        return "promise without word"
    if claim.bearing == "fulfils":
        return None  # who has kept it needs no further word for it
    if not own:
        return "promise without word"
    promised = [place for place in own if spoken_in(place).promise.search(folded(place.said))]
    if not promised:
        return "promise without word"
    if claim.due_at is None or not any(names_a_time(place, talk) for place in promised):
        return "promise without time"
    return "promise refused" if any(is_refused(place, talk) for place in promised) else None


def names_a_time(place: Place, talk: Talk) -> bool:
    """Whether the message that promises says when, or the one that it answers."""
    turn = [*talk.before(place.message)[-1:], place.message]
    told = spoken_in(place)
    return any(told.named_time.search(folded(message.text)) for message in turn)


def is_refused(place: Place, talk: Talk) -> bool:
    """Whether the person's next words were that it need not be."""
    after = talk.after(place.message)
    answer = next((each for each in after if each.trust == "person"), None)
    if answer is None:
        return False
    return telltales_of(answer.language).refused.search(folded(answer.text)) is not None
