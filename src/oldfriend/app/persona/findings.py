"""What was found in the material, by whomever? And which block of a draft does it belong to?

A finding without its words in the material is none, and who somebody is has to be fairly sure
(ACCEPTANCE O3). Pure.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.memory.core_blocks import BLOCKS, LONGEST_BLOCK, BlockName
from oldfriend.memory.suggestions import Proposal
from oldfriend.turn.suspicion import suspicion_of

FindingKind = Literal[
    "persona_traits", "user_identity_facts", "user_events", "user_reflections",
    "relationship_facts",
]  # fmt: skip
FINDING_KINDS: Final[tuple[FindingKind, ...]] = get_args(FindingKind)
About = Literal["character", "talk"]
ABOUTS: Final[tuple[About, ...]] = get_args(About)

LEAST_SURE: Final = 0.5
"""Of who somebody is."""
NO_BLOCK: Final[Mapping[FindingKind, str]] = MappingProxyType(
    {"user_events": "events", "user_reflections": "reflections"}
)
"""What belongs to the memory of what was said, not to a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that the material tells, with its words."""

    kind: FindingKind
    text: str
    quote: str
    confidence: float
    about: About = "character"  # of traits: or how the companion talks
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """What is proposed, and how much was left out and why."""

    proposals: tuple[Proposal, ...]
    left_out: Mapping[str, int]


def sorted_into_blocks(findings: Iterable[Finding], *, by: str, files: Sequence[str]) -> Sorted:
    """The findings as a proposal for each block; ``by`` names the author."""
    left_out: Counter[str] = Counter()
    lines: dict[BlockName, dict[str, Finding]] = {name: {} for name in BLOCKS}
    for each in findings:
        block = block_of(each)
        if suspicion_of(f"{each.text}\n{each.quote}").risk != "none":
            left_out["reads like an order to a machine"] += 1
        elif block is None:
            left_out[NO_BLOCK.get(each.kind, "not sure")] += 1
        else:
            lines[block].setdefault(" ".join(each.text.split()), each)
    proposals: list[Proposal] = []
    for block, found in lines.items():
        kept = lines_that_fit(found)
        left_out["too much for a block"] += len(found) - len(kept)
        if kept:
            proposals.append(proposal_of(block, kept, by=by, files=files))
    return Sorted(proposals=tuple(proposals), left_out={k: n for k, n in left_out.items() if n})


def block_of(finding: Finding) -> BlockName | None:
    """Where a finding belongs; None: nowhere."""
    if finding.kind in NO_BLOCK or finding.confidence < LEAST_SURE:
        return None
    if finding.kind == "persona_traits":
        return "style" if finding.about == "talk" else "persona"
    return "user"


def lines_that_fit(found: Mapping[str, Finding]) -> dict[str, Finding]:
    """As many lines as a block holds, the surest first; in the order in which they were found."""
    room, kept = LONGEST_BLOCK, set[str]()
    for line in sorted(found, key=lambda line: -found[line].confidence):
        if len(line) < room:
            kept.add(line)
            room -= len(line) + 1
    return {line: each for line, each in found.items() if line in kept}


def proposal_of(
    block: BlockName, kept: Mapping[str, Finding], *, by: str, files: Sequence[str]
) -> Proposal:  # fmt: skip
    """What is proposed for a block, with the words that each line rests on."""
    quotes = (f"“{' '.join(each.quote.split())}” ({each.source})" for each in kept.values())
    words = dict.fromkeys(quotes)  # one may tell of several lines
    return Proposal(
        block=block, text="\n".join(kept), author=by,
        reason="\n".join([f"Drafted from {', '.join(files)}, because of:", *words]),
    )  # fmt: skip
