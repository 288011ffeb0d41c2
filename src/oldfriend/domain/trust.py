"""Trust classes: who is the source of a text, and what it may be used for; decided by code alone.

person     the one whose memory this is; evidence
companion  the companion's own words; context, never sole evidence
other      a known human, as in an imported chat; evidence about themselves
tool       our own records; evidence
outside    fetched, forwarded or pasted; "read in …", never a fact about the person
"""

from typing import Literal, get_args

Role = Literal["person", "companion", "other", "tool", "system", "marker"]
TrustClass = Literal["person", "companion", "other", "tool", "outside"]

ROLES: frozenset[str] = frozenset(get_args(Role))

TRUST_BY_ROLE: dict[Role, TrustClass] = {
    "person": "person",
    "companion": "companion",
    "other": "other",
    "tool": "tool",
    "system": "tool",
    "marker": "tool",
}


def can_be_evidence(trust: TrustClass) -> bool:
    """Return whether texts of this class alone can support a belief about the person."""
    return trust in {"person", "tool"}
