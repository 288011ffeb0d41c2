"""Rule classifier: finds statements in material by plain rules, each in its own words.

For the person it uses the rules of the memory; for the companion it takes sentences that address
one, in five languages. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oldfriend.domain.ids import BatchId, ChatId, MessageId, SegmentId, SessionId
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim, ExtractionInput
from oldfriend.learning.rule_extraction.rule_extractor import RULES_AUTHOR, extract_with_rules
from oldfriend.memory.suggestions import DRAFT_AUTHOR_PREFIX
from oldfriend.persona.findings import FindingKind, PersonaFinding
from oldfriend.persona.sources import SourceChunk
from oldfriend.turn.injection_detection import detect_injection

RULES_ORIGIN: Final = f"{DRAFT_AUTHOR_PREFIX}-by-{RULES_AUTHOR}"
RULE_CONFIDENCE: Final = 0.6
_SENTENCE: Final = re.compile(r"[^\n.!?…。！？]+[.!?…。！？]*")
_LIST_MARKER: Final = re.compile(r"^[\s\-*•#>\"“]+")
_COMPANION_INSTRUCTION: Final = re.compile(
    r"(?:you(?:'re|’re| are| should| shall| must| never| always| do not| don't| don’t)"
    r"|be|never|always|speak|talk|answer|reply|call me|avoid|don't|don’t|do not"
    r"|du (?:bist|sollst|musst|darfst|redest|sprichst|nennst)|sei|sprich|rede|antworte|nenn mich"
    r"|eres|tú eres|debes|sé|habla|responde|contesta|llámame|evita"
    r"|tu (?:es|dois|ne)|sois|parle|réponds|appelle-moi|évite)\b"
    r"|你(?:是|要|应该|不要|别)|请(?:用|说|叫|不要)|不要|说话要|回答要",
    re.IGNORECASE,
)
_SPEAKING_STYLE: Final = re.compile(
    r"talk|speak|answer|repl(?:y|ies)|\bshort|brief|emoji|joke|\btone|sentence|language"
    r"|sprich|redest?|antwort|kurz|witz|\bsätze|sprache|habla|respond|contest|breve|\bcort"
    r"|broma|frase|idioma|parle|répon|\bcourt|\bbref|blague|phrase|langue"
    r"|说话|回答|语气|简短|句子|笑话|表情",
    re.IGNORECASE,
)


def classify_by_rules(chunk: SourceChunk, person: Person) -> list[PersonaFinding]:
    """Return what a chunk plainly says; facts only from lines without injected instructions."""
    lines = (line for line in chunk.own_text.splitlines() if detect_injection(line).risk == "none")
    return [
        *extract_traits(chunk),
        *extract_facts(replace(chunk, own_text="\n".join(lines)), person),
    ]


def extract_traits(chunk: SourceChunk) -> Iterator[PersonaFinding]:
    """Yield the sentences that address a companion."""
    for found in _SENTENCE.finditer(chunk.own_text):
        sentence = _LIST_MARKER.sub("", found[0]).strip()
        if _COMPANION_INSTRUCTION.match(sentence) and not sentence.endswith(("?", "？")):
            yield PersonaFinding(
                kind="persona_traits",
                text=sentence,
                quote=sentence,
                confidence=RULE_CONFIDENCE,
                about="talk" if _SPEAKING_STYLE.search(sentence) else "character",
                source=f"{chunk.source}:{chunk.line}",
            )


def extract_facts(chunk: SourceChunk, person: Person) -> Iterator[PersonaFinding]:
    """Yield what the rules of the memory find about the person."""
    material = ExtractionInput(
        segment=SegmentId("draft"),
        person=person,
        companion="",
        messages=(to_message(chunk, person),),
    )
    for claim in extract_with_rules(material).claims:
        if (kind := map_claim_kind(claim)) is not None:
            yield PersonaFinding(
                kind=kind,
                text=claim.text,
                quote=claim.quotes[0].text,
                confidence=claim.confidence,
                source=f"{chunk.source}:{chunk.line}",
            )


def map_claim_kind(claim: Claim) -> FindingKind | None:
    """Return the kind of finding that a claim is, or None if a draft does not use it."""
    match claim.kind, claim.subject:
        case ("fact", "other"):
            return "relationship_facts"
        case ("fact" | "preference", "person"):
            return "user_identity_facts"
        case ("event", _):
            return "user_events"
        case ("pattern", _):
            return "user_reflections"
    return None


def to_message(chunk: SourceChunk, person: Person) -> Message:
    """Return the person's own words of a chunk as a message that is never written to the log."""
    language = detect_language(chunk.own_text, fallback=person.language or "en")
    return Message(
        id=MessageId("draft"),
        version=1,
        seq=1,
        person=person.id,
        chat=ChatId("draft"),
        session=SessionId("draft"),
        session_name="",
        channel="",
        role="person",
        author="person",
        speaker=person.name,
        trust="person",
        text=chunk.own_text,
        at=0,
        zone=person.zone,
        language=language,
        tokens=estimate_tokens(chunk.own_text),
        turn=None,
        external_id=None,
        batch=BatchId("draft"),
        details={},
    )
