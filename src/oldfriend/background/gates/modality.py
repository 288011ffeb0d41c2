"""Do the words say that it is so? Not when it is imagined, wished, doubted, conditional or denied.

A condition, a doubt or a "not" counts where it stands: in the clause that tells what is claimed, or
before it in the same sentence; never in another sentence, and never after it.
"""

from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.clauses import Clause, closest_clauses, terms_in
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.telltales import Telltales, folded
from oldfriend.background.marks import is_turned_round
from oldfriend.domain.memories import MemoryKind
from oldfriend.memory.search.words import is_unspaced

NEAR: Final = 4
"""So many words after "not" it may still be what is denied ("is not really leaving")."""
NEAR_WIDE: Final = 4
"""The same in characters, of a script whose characters are words."""
CONDITIONAL: Final[frozenset[MemoryKind]] = frozenset({
    "event", "fact", "preference", "expectation",
})  # fmt: skip
"""Not so as long as their condition is not; one may promise, and be in the habit, with one."""
DOUBTED: Final[frozenset[MemoryKind]] = frozenset({"event", "fact"})
DENIED: Final[frozenset[MemoryKind]] = DOUBTED | {
    "pattern",
    "commitment",
    "expectation",
}


def modal_fault(claim: Claim, place: Place, told: Telltales) -> Reason | None:
    """Why the words around a quote do not say that what is claimed is so."""
    clauses, language = closest_clauses(claim, place), place.message.language
    if not clauses:
        return "imagined" if is_imagined_around(claim, place, told) else None
    if all(is_imagined(claim, each, told) for each in clauses):
        return "imagined"
    if claim.bearing != "new":
        return None
    if all(is_open(claim, each, told, language) for each in clauses):
        return "imagined"
    is_said_not_to_be = claim.kind in DENIED and is_denied(claim, clauses[-1], told, language)
    if not is_said_not_to_be:
        return None
    return "promise refused" if claim.kind == "commitment" else "denied"


def is_imagined_around(claim: Claim, place: Place, told: Telltales) -> bool:
    """Whether something is imagined where a quote stands that shares no word with a claim."""
    if claim.bearing in {"reinforces", "fulfils"}:
        return False
    said = folded(" ".join(place.sentences()) or place.text)
    return told.imagined.search(said) is not None


def is_imagined(claim: Claim, clause: Clause, told: Telltales) -> bool:
    """Whether a clause, or what leads up to it, tells of what is not so, or is only wished for."""
    if told.imagined.search(clause.until):
        return True
    return is_sure(claim) and told.wished.search(clause.until) is not None


def is_sure(claim: Claim) -> bool:
    """Whether a wish is too little for it: for all but goals, beliefs and feelings it is."""
    return claim.kind != "pattern" or claim.pattern in {
        "behavior",
        "temporal",
        "causal",
    }


def is_open(claim: Claim, clause: Clause, told: Telltales, language: str) -> bool:
    """Whether a clause leaves open whether something is so: by a condition, or a doubt."""
    if claim.kind in CONDITIONAL and is_conditional(claim, clause, told, language):
        return True
    return claim.kind in DOUBTED and is_hedged(claim, clause, told, language)


def is_conditional(claim: Claim, clause: Clause, told: Telltales, language: str) -> bool:
    """Whether what is claimed stands behind an "if", or follows from one; not before it."""
    found = told.condition.search(clause.text)
    if found is None:
        hangs = told.condition.search(clause.before) is not None
        return hangs and told.consequence.search(clause.text) is not None
    words = terms_in(f"{claim.text} {claim.value}", language)
    ahead, behind = clause.text[: found.start()], clause.text[found.end() :]
    own = words & terms_in(ahead, language)
    return len(words & terms_in(behind, language)) >= len(own)


def is_hedged(claim: Claim, clause: Clause, told: Telltales, language: str) -> bool:
    """Whether the speaker is not sure of most of what is claimed, and the claim does not say so."""
    if not told.hedged.search(clause.text) or told.hedged.search(folded(claim.text)):
        return False
    words = terms_in(claim.value or claim.text, language)
    return 2 * len(words & terms_in(clause.text, language)) >= len(words)


def is_denied(claim: Claim, clause: Clause, told: Telltales, language: str) -> bool:
    """Whether a clause says "not" directly before what is claimed, and the claim does not.

    Not where it is known what it denies: "not in Porto but in Faro".
    """
    if claim.denied or denies(claim.text, language, told):
        return False
    words = terms_in(f"{claim.text} {claim.value}", language)
    behind = (clause.text[found.end() :] for found in told.denying.finditer(clause.text))
    return any(words & terms_in(beginning_of(each), language) for each in behind)


def denies(text: str, language: str, told: Telltales) -> bool:
    """Whether a text says "not" of anything."""
    return is_turned_round(text, language) or told.denying.search(folded(text)) is not None


def beginning_of(text: str) -> str:
    """The first few words of a text."""
    plain = text.strip()
    if plain and is_unspaced(plain[0]):
        return plain[:NEAR_WIDE]
    return " ".join(plain.split()[:NEAR])
