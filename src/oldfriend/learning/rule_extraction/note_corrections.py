"""Note corrections: finds notes that a later statement of another value corrects.

An earlier correction is found again when its words are read again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from oldfriend.domain.memories import MemoryState
from oldfriend.learning.extraction import Claim, ClaimEffect
from oldfriend.learning.rule_extraction.entity_mentions import quote_of
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.memory.notes import normalize_note
from oldfriend.memory.restatement_detection import find_restatement

_CONFIDENCE: Final = 0.9


def notes_put_right(sentences: Iterable[Sentence], known: Sequence[MemoryState]) -> Iterator[Claim]:
    """For each known note the last sentence after it that puts it right, as what is noted now."""
    notes = [each for each in known if each.memory.kind == "note"]
    mended: dict[str, Claim] = {}
    for sentence in sentences:
        for note in notes if is_statement(sentence) else ():
            is_after = sentence.message.at > note.stats.last_seen
            words = find_restatement(sentence.words, note.memory.text, note.memory.language)
            if is_made_of(note, sentence):
                mended[note.memory.id] = claim_about(note, note.memory.text, sentence, "reinforces")
            elif is_after and words:
                mended[note.memory.id] = claim_about(note, words, sentence, "supersedes")
    yield from mended.values()


def is_statement(sentence: Sentence) -> bool:
    """Whether the person tells something in it."""
    return sentence.message.role == "person" and not sentence.is_question


def is_made_of(note: MemoryState, sentence: Sentence) -> bool:
    """Whether a note that has put another right stands in the words of a sentence."""
    is_mended = any(link.kind == "supersedes" for link in note.memory.relations)
    return is_mended and normalize_note(sentence.words).endswith(normalize_note(note.memory.text))


def claim_about(note: MemoryState, text: str, sentence: Sentence, bearing: ClaimEffect) -> Claim:
    """What a sentence says of a note."""
    return Claim(
        kind="note",
        text=text,
        quotes=(quote_of(sentence),),
        effect=bearing,
        target=note.memory.id,
        confidence=_CONFIDENCE,
    )
