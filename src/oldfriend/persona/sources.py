"""Sources: the material of a draft, and the statements found in it.

A finding must quote the material, and one about who somebody is must be fairly certain. Pure.

Material is cut into pieces in the same way as an import. Nothing of it is kept.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.domain.errors import ImportRefused, InvalidInput
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.core_blocks import BLOCK_NAMES, MAX_BLOCK_LENGTH, BlockName, Proposal
from oldfriend.transfer.formats.documents import split_chunks
from oldfriend.transfer.formats.parsed_message import ParsedMessage
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.sandbox_process import MessageStream, inspect_in_sandbox
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


MAX_CHUNKS: Final = 100
BATCH_SIZE: Final = 1000
MAX_JSON_BYTES: Final = 10 << 20
"""Of a JSON file that is no export, which is read in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChunk:
    """A chunk of material: its whole text, and the person's own words in it."""

    source: str  # the name of the file
    line: int
    text: str
    own_text: str


def load_source_chunks(paths: Sequence[Path], *, me: str | None) -> list[SourceChunk]:
    """Load the chunks of some files; ``me`` names the person among the speakers of a chat.

    Raises ImportRefused for a file that is not text, InvalidInput for too many chunks, and if
    ``me`` is missing.
    """
    return validate_chunk_count([chunk for path in paths for chunk in load_file_chunks(path, me)])


def split_text(source: str, text: str) -> list[SourceChunk]:
    """Split a text that the person has written or chosen. Raises InvalidInput."""
    lines = enumerate(text.splitlines(keepends=True), start=1)
    chunks = [
        SourceChunk(
            source=source,
            line=each.line,
            text=sanitize_text(each.text),
            own_text=sanitize_text(each.text),
        )
        for each in split_chunks(lines)
        if each.text.strip()
    ]
    return validate_chunk_count(chunks)


def validate_chunk_count(chunks: list[SourceChunk]) -> list[SourceChunk]:
    """Return the chunks if there are some, and not too many. Raises InvalidInput."""
    if len(chunks) > MAX_CHUNKS:
        raise InvalidInput(
            localizable(
                "draft_too_long",
                f"That is {len(chunks):,} pieces; a draft is made of at most {MAX_CHUNKS}. Choose "
                "fewer files, or the most telling parts.",
                count=len(chunks),
                most=MAX_CHUNKS,
            )
        )
    if not chunks:
        raise InvalidInput(localizable("draft_empty", "It contains no words."))
    return chunks


def load_file_chunks(path: Path, me: str | None) -> Iterator[SourceChunk]:
    """Load the chunks of one file."""
    try:
        preview = inspect_in_sandbox(path, me=None, person="", zone="UTC")
    except ImportRefused as refused:
        if not is_plain_json(path, refused):
            raise
        return load_json_chunks(path)
    if preview.format.name in {"notes", "table"}:
        return (
            SourceChunk(source=path.name, line=each.line, text=each.text, own_text=each.text)
            for each in read_export_messages(preview)
        )
    return split_chat(path.name, [*read_export_messages(preview)], me)


def is_plain_json(path: Path, error: ImportRefused) -> bool:
    """Return whether a refused file may be JSON that is no export."""
    is_unknown_kind = (
        isinstance(error.user_text, LocalizedText) and error.user_text.code == "import_unknown_kind"
    )
    return is_unknown_kind and path.suffix.lower() == ".json"


def read_export_messages(preview: ImportPreview) -> Iterator[ParsedMessage]:
    """Yield the messages of an export that contain words."""
    with MessageStream(preview) as stream:
        while batch := stream.read_batch(BATCH_SIZE):
            yield from (each for each in batch if not each.is_placeholder and each.text.strip())


def split_chat(
    source: str, messages: Sequence[ParsedMessage], me: str | None
) -> Iterator[SourceChunk]:
    """Split a chat line by line, each with its speaker. Raises InvalidInput."""
    names = sorted({each.speaker for each in messages if each.role is None and each.speaker})
    if names and me not in names:
        raise InvalidInput(
            f"Say which speaker of {source} you are: --me NAME. {format_speakers(names)}"
        )
    for _, chat in groupby(messages, key=lambda each: each.chat):
        lines = [(each, format_chat_line(each)) for each in chat]
        for chunk in split_chunks((each.line, f"{line}\n") for each, line in lines):
            own_texts = [
                each.text for each, line in lines if is_own_message(each, me) and line in chunk.text
            ]
            text = sanitize_text(chunk.text)
            yield SourceChunk(
                source=source,
                line=chunk.line,
                text=text,
                own_text=sanitize_text("\n".join(own_texts)),
            )


def format_speakers(names: Sequence[str]) -> str:
    """Format the speakers of a chat."""
    return f"There are: {', '.join(names[:20])}."


def format_chat_line(parsed: ParsedMessage) -> str:
    """Format a message on one line with its speaker."""
    speaker = parsed.speaker or parsed.role or "somebody"
    return f"{speaker}: {' '.join(parsed.text.split())}"


def is_own_message(parsed: ParsedMessage, me: str | None) -> bool:
    """Return whether the person has said a message themselves."""
    is_by_me = parsed.role == "person" or (parsed.role is None and parsed.speaker == me)
    return is_by_me and not parsed.outside


def load_json_chunks(path: Path) -> Iterator[SourceChunk]:
    """Load any other JSON, one line per value with its path. Raises ImportRefused."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise ImportRefused(f"{path.name} is too large ({MAX_JSON_BYTES >> 20} MB fit).")
        value: JsonValue = json.loads(path.read_text("utf-8-sig"))
        values = list(flatten_json(value))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportRefused(f"{path.name} cannot be read as JSON: {error}.") from error
    lines = enumerate(values, start=1)
    for chunk in split_chunks(lines):
        text = sanitize_text(chunk.text)
        yield SourceChunk(source=path.name, line=chunk.line, text=text, own_text=text)


def flatten_json(value: JsonValue, name: str = "") -> Iterable[str]:
    """Yield the values as "path: value", with an empty line after each item of a list."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from flatten_json(inner, f"{name} {key}".strip())
        case list():
            for inner in value:
                yield from flatten_json(inner, name)
                yield ""
        case None:
            return
        case _:
            yield f"{name}: {value}" if name else str(value)
