"""Findings: statements found in material, and the core block that each belongs to.

A finding must quote the material, and one about who somebody is must be fairly certain. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.memory.core_blocks import BLOCK_NAMES, MAX_BLOCK_LENGTH, BlockName
from oldfriend.memory.suggestions import Proposal
from oldfriend.turn.injection_detection import detect_injection

FindingKind = Literal[
    "persona_traits",
    "user_identity_facts",
    "user_events",
    "user_reflections",
    "relationship_facts",
]
FINDING_KINDS: Final[tuple[FindingKind, ...]] = get_args(FindingKind)
TraitTopic = Literal["character", "talk"]
TRAIT_TOPICS: Final[tuple[TraitTopic, ...]] = get_args(TraitTopic)

MIN_CONFIDENCE: Final = 0.5
"""For findings about who somebody is."""
NON_BLOCK_KINDS: Final[Mapping[FindingKind, str]] = MappingProxyType(
    {"user_events": "events", "user_reflections": "reflections"}
)
"""Kinds that belong to the memory of messages, not to a core block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaFinding:
    """A statement found in material, with the words it quotes."""

    kind: FindingKind
    text: str
    quote: str
    confidence: float
    about: TraitTopic = "character"  # for traits: or how the companion talks
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftProposals:
    """The proposals, and how many findings were left out and why."""

    proposals: tuple[Proposal, ...]
    skipped: Mapping[str, int]


def build_proposals(
    findings: Iterable[PersonaFinding], *, author: str, files: Sequence[str]
) -> DraftProposals:
    """Combine findings into one proposal for each block."""
    skipped: Counter[str] = Counter()
    lines: dict[BlockName, dict[str, PersonaFinding]] = {name: {} for name in BLOCK_NAMES}
    for each in findings:
        block = choose_block(each)
        if detect_injection(f"{each.text}\n{each.quote}").risk != "none":
            skipped["reads like an order to a machine"] += 1
        elif block is None:
            skipped[NON_BLOCK_KINDS.get(each.kind, "not sure")] += 1
        else:
            lines[block].setdefault(" ".join(each.text.split()), each)
    proposals: list[Proposal] = []
    for block, found in lines.items():
        kept = select_fitting_lines(found)
        skipped["too much for a block"] += len(found) - len(kept)
        if kept:
            proposals.append(build_proposal(block, kept, author=author, files=files))
    return DraftProposals(
        proposals=tuple(proposals), skipped={k: n for k, n in skipped.items() if n}
    )


def choose_block(finding: PersonaFinding) -> BlockName | None:
    """Return the block that a finding belongs to, or None."""
    if finding.kind in NON_BLOCK_KINDS or finding.confidence < MIN_CONFIDENCE:
        return None
    if finding.kind == "persona_traits":
        return "style" if finding.about == "talk" else "persona"
    return "user"


def select_fitting_lines(found: Mapping[str, PersonaFinding]) -> dict[str, PersonaFinding]:
    """Select as many lines as fit in a block, the most certain first, in their original order."""
    remaining, kept = MAX_BLOCK_LENGTH, set[str]()
    for line in sorted(found, key=lambda line: -found[line].confidence):
        if len(line) < remaining:
            kept.add(line)
            remaining -= len(line) + 1
    return {line: each for line, each in found.items() if line in kept}


def build_proposal(
    block: BlockName, kept: Mapping[str, PersonaFinding], *, author: str, files: Sequence[str]
) -> Proposal:
    """Build the proposal for a block, with the quotes that its lines rest on."""
    quotes = (f"“{' '.join(each.quote.split())}” ({each.source})" for each in kept.values())
    distinct_quotes = dict.fromkeys(quotes)  # several lines may rest on the same quote
    return Proposal(
        block=block,
        text="\n".join(kept),
        author=author,
        reason="\n".join([f"Drafted from {', '.join(files)}, because of:", *distinct_quotes]),
    )
