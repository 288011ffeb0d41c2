"""What do plain rules find in a piece of the material? Little, but each in its own words.

Of the person what the rules of the memory read; of the companion the sentences that speak to one,
in five languages. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oldfriend.app.persona.findings import Finding, FindingKind
from oldfriend.app.persona.material import Piece
from oldfriend.background.extraction import Claim, Material
from oldfriend.background.rules.reading import RULES, read_by_rules
from oldfriend.domain.ids import BatchId, ChatId, MessageId, SegmentId, SessionId
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.memory.suggestions import DRAFTED
from oldfriend.turn.suspicion import suspicion_of

BY_RULES: Final = f"{DRAFTED}-by-{RULES}"
SURE: Final = 0.6
_SENTENCE: Final = re.compile(r"[^\n.!?…。！？]+[.!?…。！？]*")
_LEAD: Final = re.compile(r"^[\s\-*•#>\"“]+")
_TO_A_COMPANION: Final = re.compile(
    r"(?:you(?:'re|’re| are| should| shall| must| never| always| do not| don't| don’t)"
    r"|be|never|always|speak|talk|answer|reply|call me|avoid|don't|don’t|do not"
    r"|du (?:bist|sollst|musst|darfst|redest|sprichst|nennst)|sei|sprich|rede|antworte|nenn mich"
    r"|eres|tú eres|debes|sé|habla|responde|contesta|llámame|evita"
    r"|tu (?:es|dois|ne)|sois|parle|réponds|appelle-moi|évite)\b"
    r"|你(?:是|要|应该|不要|别)|请(?:用|说|叫|不要)|不要|说话要|回答要",
    re.IGNORECASE,
)
_ABOUT_TALK: Final = re.compile(
    r"talk|speak|answer|repl(?:y|ies)|\bshort|brief|emoji|joke|\btone|sentence|language"
    r"|sprich|redest?|antwort|kurz|witz|\bsätze|sprache|habla|respond|contest|breve|\bcort"
    r"|broma|frase|idioma|parle|répon|\bcourt|\bbref|blague|phrase|langue"
    r"|说话|回答|语气|简短|句子|笑话|表情",
    re.IGNORECASE,
)  # fmt: skip


def read_plainly(piece: Piece, person: Person) -> list[Finding]:
    """What is plainly said in a piece; of the person not where a line gives orders to a machine."""
    lines = (line for line in piece.own.splitlines() if suspicion_of(line).risk == "none")
    return [*traits_in(piece), *facts_in(replace(piece, own="\n".join(lines)), person)]


def traits_in(piece: Piece) -> Iterator[Finding]:
    """The sentences that speak to a companion."""
    for found in _SENTENCE.finditer(piece.own):
        words = _LEAD.sub("", found[0]).strip()
        if _TO_A_COMPANION.match(words) and not words.endswith(("?", "？")):
            yield Finding(
                kind="persona_traits", text=words, quote=words, confidence=SURE,
                about="talk" if _ABOUT_TALK.search(words) else "character",
                source=f"{piece.source}:{piece.line}",
            )  # fmt: skip


def facts_in(piece: Piece, person: Person) -> Iterator[Finding]:
    """What the rules of the memory read of the person."""
    material = Material(
        segment=SegmentId("draft"), person=person, companion="", messages=(as_said(piece, person),)
    )
    for claim in read_by_rules(material).claims:
        if (kind := kind_of(claim)) is not None:
            yield Finding(
                kind=kind, text=claim.text, quote=claim.quotes[0].text,
                confidence=claim.confidence, source=f"{piece.source}:{piece.line}",
            )  # fmt: skip


def kind_of(claim: Claim) -> FindingKind | None:
    """What kind of finding a claim is; None: of none that a draft is made of."""
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


def as_said(piece: Piece, person: Person) -> Message:
    """The person's own words of a piece, as if they had said them; never written to the log."""
    language = detect_language(piece.own, fallback=person.language or "en")
    return Message(
        id=MessageId("draft"), version=1, seq=1, person=person.id, chat=ChatId("draft"),
        session=SessionId("draft"), session_name="", channel="", role="person", author="person",
        speaker=person.name, trust="person", text=piece.own, at=0, zone=person.zone,
        language=language, tokens=estimate_tokens(piece.own), turn=None, external_id=None,
        batch=BatchId("draft"), details={},
    )  # fmt: skip
