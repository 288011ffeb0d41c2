"""Segment view: the messages a claim was read from and the known beliefs, for the checks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oldfriend.domain.ids import MemoryId, MessageId
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim, EntityMention, ExtractionInput
from oldfriend.learning.validation.cue_words import CueWords, get_cue_words
from oldfriend.learning.validation.quote_alignment import QuoteSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentView:
    """Segment view: a segment with indexes for lookup."""

    inputs: ExtractionInput
    language: str
    names: frozenset[str]  # case-folded names of known and mentioned entities
    mentions: tuple[EntityMention, ...]  # entities named in the segment
    messages: Mapping[MessageId, Message]
    known: Mapping[MemoryId, StoredBelief]
    all_messages: tuple[Message, ...]  # with the context messages, oldest first

    def list_before(self, message: Message) -> tuple[Message, ...]:
        """Return the messages before a message, oldest first."""
        return self.all_messages[: self._index(message)]

    def list_after(self, message: Message) -> tuple[Message, ...]:
        """Return the messages after a message, oldest first."""
        return self.all_messages[self._index(message) + 1 :]

    def _index(self, message: Message) -> int:
        return next(at for at, each in enumerate(self.all_messages) if each.id == message.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationCase:
    """Validation case: a claim with the spans that support it so far."""

    claim: Claim
    spans: tuple[QuoteSpan, ...]
    view: SegmentView

    @property
    def cue_words(self) -> CueWords:
        """The cue words of the claim's language."""
        return get_cue_words(detect_language(self.claim.text, fallback=self.view.language))


def build_segment_view(
    inputs: ExtractionInput, mentions: Iterable[EntityMention] = ()
) -> SegmentView:
    """Build the view of an extraction input, with the entities mentioned in it."""
    mentions = tuple(mentions)
    entities: list[Entity | EntityMention] = [*inputs.entities, *mentions]
    names = {name for each in entities for name in (each.name, *each.aliases)}
    return SegmentView(
        names=frozenset(name.casefold() for name in names),
        mentions=mentions,
        inputs=inputs,
        language=detect_person_language(inputs),
        messages={message.id: message for message in inputs.messages},
        known={each.memory.id: each.memory for each in (*inputs.known, *inputs.shown)},
        all_messages=(*inputs.context_messages, *inputs.messages),
    )


def detect_person_language(inputs: ExtractionInput) -> str:
    """Return the language that the person uses, judging by all their messages together.

    A language of none of their messages counts only if it is supported: "is" and "Ben" are Dutch
    words.
    """
    own_messages = [each for each in inputs.messages if each.trust == "person"]
    detected = detect_language(
        " ".join(each.text for each in own_messages), fallback=inputs.language
    )
    is_likely = detected in list_languages("evidence_cues") or any(
        each.language == detected for each in own_messages
    )
    return detected if is_likely else inputs.language


def get_span_cue_words(span: QuoteSpan) -> CueWords:
    """Return the cue words of the language of a quoted sentence."""
    return get_cue_words(detect_language(span.sentence_text, fallback=span.message.language))
