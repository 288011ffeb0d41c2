"""What is to be kept of this turn beyond the words themselves? Notes, in the person's own words.

A rule finds what they ask for in so many words; a model may note more, where the words are theirs.
"""

from collections.abc import Iterator, Sequence

from oldfriend.domain.messages import Message
from oldfriend.prompts.prompt import reply_prompt
from oldfriend.turn.noting import find_words, is_same_note
from oldfriend.turn.outcome import NoteDecision, Utterance
from oldfriend.turn.perceive import RULES, Perception
from oldfriend.turn.tools.hands import Use
from oldfriend.turn.tools.note import NOTE


def remember(
    said: Utterance, perception: Perception, uses: Sequence[Use]
) -> tuple[NoteDecision, ...]:
    """The decisions that this turn makes; somebody else writes them. Nothing is noted twice."""
    chosen: list[NoteDecision] = []
    for note in [*notes_by_rule(said, perception), *notes_by_model(said, uses)]:
        if not any(is_same_note(note.text, other.text) for other in chosen):
            chosen.append(note)
    return tuple(chosen)


def notes_by_rule(said: Utterance, perception: Perception) -> Iterator[NoteDecision]:
    """What the person asked for in words that a rule knows."""
    for part in parts_of(said, perception.note or ""):
        source = find_source(said, part)
        if source is not None:
            yield NoteDecision(text=part, source=source, author=RULES)


def notes_by_model(said: Utterance, uses: Sequence[Use]) -> Iterator[NoteDecision]:
    """What the model noted; found again in the person's words, whatever an earlier run was told."""
    for use in uses:
        if use.asked.name == NOTE and use.ending in {"done", "reused"}:
            found = find_words(said, str(use.asked.arguments["words"]))
            if found is not None:
                yield NoteDecision(text=found.words, source=found.source, author=reply_prompt().id)


def parts_of(said: Utterance, note: str) -> list[str]:
    """A note as it stands in the messages: whole, or line by line where it runs over several."""
    if not note or find_source(said, note) is not None:
        return [note] if note else []
    return [line.strip() for line in note.splitlines() if line.strip()]


def find_source(said: Utterance, words: str) -> Message | None:
    """The newest of the messages in which the person says these words."""
    own = [message for message in said.messages[::-1] if message.trust == "person"]
    return next((message for message in own if words in message.text), None)
