"""What becomes of what the companion says it thinks? It stands by it, until brought to change.

One opinion a topic. Another one of the same topic is no news, unless the person's words made it
change its mind and it said so.
"""

from typing import Final

from oldfriend.background.deciding.attributes import folded, strengthen
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.extraction import Claim
from oldfriend.background.marks import marks_of
from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.search.topics import terms_of_matter

SAME_MATTER: Final = 0.75
"""So much of the shorter of two stands in both, where they speak of one matter."""
FEWEST: Final = 2
"""Words of matter, lest one word make them one."""


def decide_opinion(thinking: Deliberation, claim: Claim) -> None:
    """An opinion: the first of its topic, the same again, another one after all, or refused."""
    old = next((each for each in thinking.live("opinion") if is_on_topic(each, claim)), None)
    if old is None:
        thinking.learn(claim)
    elif claim.bearing == "supersedes":
        change_mind(thinking, old, claim)
    elif claim.bearing == "reinforces" or thinking.same(claim, old.memory):
        strengthen(thinking, old, claim)
    else:
        thinking.refused["contradicts its opinion"] += 1


def change_mind(thinking: Deliberation, old: Known, claim: Claim) -> None:
    """Think otherwise from now on: both are written, with the words that brought it about."""
    if thinking.heard_at(claim) < old.standing.last_seen:
        thinking.refused["not known"] += 1  # it has said since what it thinks
        return
    thinking.learn(claim, supersedes=old.memory)
    until = max(thinking.heard_at(claim), old.standing.first_seen)
    thinking.end(old, "superseded", "superseded", claim, until=until)


def is_on_topic(known: Known, claim: Claim) -> bool:
    """Whether an opinion is of the same topic, whatever the form of its words."""
    memory = known.memory
    if folded(memory.key) == folded(claim.key):
        return True
    old, new = (terms_of_matter(key, memory.language) for key in (memory.key, claim.key))
    return bool(old) and (old == new or is_contrary(memory, claim))


def is_contrary(memory: Memory, claim: Claim) -> bool:
    """Whether one of two says not to be what the other says, however their topics are named."""
    one, other = (marks_of(text, memory.language) for text in (memory.text, claim.text))
    if one.is_negated == other.is_negated:
        return False
    old, new = (terms_of_matter(text, memory.language) for text in (memory.text, claim.text))
    return len(old & new) >= SAME_MATTER * max(min(len(old), len(new)), FEWEST)
