"""Which notes does somebody put right in passing? By saying the same of another value.

What was put right so before is found again when its words are read anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from oldfriend.background.extraction import Bearing, Claim
from oldfriend.background.rules.naming import quote_of
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import Known
from oldfriend.memory.notes import same_words
from oldfriend.memory.restating import restated

_CONFIDENCE: Final = 0.9


def notes_put_right(sentences: Iterable[Sentence], known: Sequence[Known]) -> Iterator[Claim]:
    """For each known note the last sentence after it that puts it right, as what is noted now."""
    notes = [each for each in known if each.memory.kind == "note"]
    mended: dict[str, Claim] = {}
    for sentence in sentences:
        for note in notes if is_statement(sentence) else ():
            is_after = sentence.message.at > note.standing.last_seen
            words = restated(sentence.words, note.memory.text, note.memory.language)
            if is_made_of(note, sentence):
                mended[note.memory.id] = claim_about(note, note.memory.text, sentence, "reinforces")
            elif is_after and words:
                mended[note.memory.id] = claim_about(note, words, sentence, "supersedes")
    yield from mended.values()


def is_statement(sentence: Sentence) -> bool:
    """Whether the person tells something in it."""
    return sentence.message.role == "person" and not sentence.is_question


def is_made_of(note: Known, sentence: Sentence) -> bool:
    """Whether a note that has put another right stands in the words of a sentence."""
    is_mended = any(link.kind == "supersedes" for link in note.memory.relations)
    return is_mended and same_words(sentence.words).endswith(same_words(note.memory.text))


def claim_about(note: Known, text: str, sentence: Sentence, bearing: Bearing) -> Claim:
    """What a sentence says of a note."""
    return Claim(
        kind="note", text=text, quotes=(quote_of(sentence),), bearing=bearing,
        target=note.memory.id, confidence=_CONFIDENCE,
    )  # fmt: skip
