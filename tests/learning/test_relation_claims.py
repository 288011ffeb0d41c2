"""Ties are believed of those who are named where it was said, by whom it is theirs to say."""

import json

import pytest

from oldfriend.domain.memories import RelationType
from oldfriend.learning.extraction import Extraction, ExtractionInput, RelationClaim
from oldfriend.learning.llm_extractor import extract_with_model
from oldfriend.learning.validate import ValidatedExtraction, validate_extraction
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.llm.scripted import ScriptedModel
from tests.learning.segment_fixtures import claim, quote, somebody, talk

ANA, BEN = somebody("e-ana", "Ana"), somebody("e-ben", "Ben")
SAID = "Ben is Ana's husband."


def tied(
    tie: RelationType, first: str, second: str, text: str, *quotes: object, **more: object
) -> Extraction:
    """A tie, as somebody has read it."""
    said = claim("triple", text, *quotes, **{"key": tie, "subject": "other", **more})
    one = RelationClaim(kind=tie, first=first, second=second, claim=said)
    return Extraction(author="extract/2", relations=(one,))


RIGHT = [
    (talk(SAID), tied("partner_of", "Ben", "Ana", SAID, SAID)),
    (
        talk("My sister is Ana.", "She works at Siemens."),
        tied("works_at", "Ana", "Siemens", "Ana works at Siemens.", quote("works at Siemens", 2)),
    ),
    (
        talk("Ana: I work at Siemens."),
        tied("works_at", "Ana", "Siemens", "Ana works at Siemens.", "I work at Siemens"),
    ),
    (
        talk("Saw Ana today.", "She's my sister."),
        tied("sibling_of", "Ana", "", "Ana is a sister.", quote("She's my sister", 2)),
    ),
    (
        talk("Saw Ana today. She's my sister."),
        tied("sibling_of", "Ana", "", "Ana is a sister.", "She's my sister"),
    ),
    (
        talk("I love Lisbon, I visited it in May."),
        tied(
            "visited",
            "",
            "Lisbon",
            "Visited Lisbon.",
            "I love Lisbon, I visited it",
            subject="person",
        ),
    ),
]


@pytest.mark.parametrize(("material", "read"), RIGHT)
def test_relation_claim_between_nearby_named_entities_is_accepted(
    material: ExtractionInput, read: Extraction
) -> None:
    """In the words, or just before them."""
    checked = validate_extraction(read, material)

    assert not checked.rejected
    assert len(checked.extraction.relations) == 1


WRONG: list[tuple[RejectionReason, ExtractionInput, Extraction]] = [
    ("unfit name", talk(SAID), tied("partner_of", "Ben", "Dora", "Ben is with Dora.", SAID)),
    (
        "unfit name",
        talk("It was nice."),
        tied("friend_of", "Ana", "Ben", "Ana and Ben are friends.", "It was nice"),
    ),
    ("unfit name", talk(SAID), tied("partner_of", "Ben", "Ben", SAID, SAID)),
    ("unfit name", talk(SAID), tied("partner_of", "Ben", "Ana", "Both are married.", SAID)),
    (
        "unfit kind",
        talk("Ana was born in Ben."),
        tied("likes", "Ana", "", "Ana was born.", "Ana was born"),
    ),
    ("companion's words", talk(f"companion: {SAID}"), tied("partner_of", "Ben", "Ana", SAID, SAID)),
    (
        "words of another",
        talk("Ana: Ben works at Siemens."),
        tied("works_at", "Ben", "Siemens", "Ben works at Siemens.", "Ben works at Siemens"),
    ),
    ("outside words", talk(f"outside: {SAID}"), tied("partner_of", "Ben", "Ana", SAID, SAID)),
    (
        "question",
        talk("Is Ben Ana's husband?"),
        tied("partner_of", "Ben", "Ana", SAID, "Ben Ana's husband"),
    ),
    (  # of two who were named it may be either
        "unfit name",
        talk("Saw Ana and Ben today.", "She's my sister."),
        tied("sibling_of", "Ana", "", "Ana is a sister.", quote("She's my sister", 2)),
    ),
    (  # somebody else
        "unfit name",
        talk("Saw Ana today.", "My sister who lives in Kalgoorlie with her dog is coming too."),
        tied("sibling_of", "Ana", "", "Ana is a sister.", quote("My sister", 2)),
    ),
    ("invented quote", talk("Hello there."), tied("partner_of", "Ben", "Ana", SAID, SAID)),
    (
        "about another",
        talk("Ana visited Lisbon."),
        tied("visited", "", "Lisbon", "Visited Lisbon.", "Ana visited Lisbon", subject="person"),
    ),
]


@pytest.mark.parametrize(("reason", "material", "read"), WRONG)
def test_invalid_relation_claim_is_rejected_with_its_reason(
    reason: RejectionReason, material: ExtractionInput, read: Extraction
) -> None:
    """Invented ends, other people's word for others, and what nobody of theirs has said."""
    material = ExtractionInput(
        segment=material.segment,
        person=material.person,
        companion=material.companion,
        messages=material.messages,
        entities=(ANA, BEN),
    )
    checked = validate_extraction(read, material)

    assert checked.extraction.relations == ()
    assert checked.rejected == {reason: 1}


async def test_relation_ends_are_parsed_from_ids_or_names_and_unknown_kinds_dropped() -> None:
    """What is no tie of the closed set is dropped and counted."""
    said = {"text": SAID, "quotes": [{"message": "m1", "text": SAID}]}
    answer = {
        "ties": [
            {"first": "Ben", "tie": "partner_of", "second": "e1", **said},
            {"first": "person", "tie": "knows", "second": "Ben", **said},
            {"first": "Ben", "tie": "adores", "second": "e1", **said},
        ],
        "self_check": {"missed_peak": "none", "attribution": "all theirs"},
    }
    found = await extract_with_model(
        ScriptedModel([json.dumps(answer)]), talk(SAID, entities=[ANA])
    )

    assert [(each.kind, each.first, each.second) for each in found.relations] == [
        ("partner_of", "Ben", "e-ana"),
        ("knows", "", "Ben"),
    ]
    assert found.malformed == 1


ENDS = (ANA, BEN, somebody("e-tom", "Tom"), somebody("e-lyon", "Lyon", kind="place"))
TWINS, MARRIED = "Ana had twins, they are Ben and Tom.", "Ben, not Tom, is Ana's husband."
MISREAD = [
    ("en", TWINS, "Ana is a child of Ben.", "child_of", "Ana", "Ben"),
    (
        "de",
        "Ana hat Zwillinge bekommen, sie heißen Ben und Tom.",
        "Ana ist ein Kind von Ben.",
        "child_of",
        "Ana",
        "Ben",
    ),
    (
        "fr",
        "Ana a eu des jumeaux, Ben et Tom.",
        "Ana est un enfant de Ben.",
        "child_of",
        "Ana",
        "Ben",
    ),
    (
        "en",
        "Her husband is Ben, not to be confused with Tom.",
        "Ben is the partner of Tom.",
        "partner_of",
        "Ben",
        "Tom",
    ),
    ("es", "Su marido es Ben, que no es Tom.", "Ben es pareja de Tom.", "partner_of", "Ben", "Tom"),
    (
        "en",
        "My aunt Ana lives in Lyon and works hard.",
        "Ana works at Lyon.",
        "works_at",
        "Ana",
        "Lyon",
    ),
    ("en", "My aunt Ana, in Lyon, works hard.", "Ana works at Lyon.", "works_at", "Ana", "Lyon"),
]


def checked_among(language: str, said: str, read: Extraction) -> ValidatedExtraction:
    """What is kept of a reading, where both ends are known."""
    return validate_extraction(read, talk(said, language=language, entities=ENDS))


@pytest.mark.parametrize(("language", "said", "text", "tie", "one", "other"), MISREAD)
def test_relation_kind_unsupported_by_the_words_is_rejected(
    language: str, said: str, text: str, tie: RelationType, one: str, other: str
) -> None:
    """Who had a child is not theirs; who is told apart is nobody's; to be in a town is no work."""
    checked = checked_among(language, said, tied(tie, one, other, text, said.rstrip(".")))

    assert checked.extraction.relations == ()
    assert checked.rejected == {"unfounded": 1}


WELL_READ = [
    ("en", TWINS, "Ana is a parent of Ben.", "parent_of", "Ana", "Ben"),
    ("en", MARRIED, "Ben is the partner of Ana.", "partner_of", "Ben", "Ana"),
    ("fr", "Ana travaille à Lyon.", "Ana travaille à Lyon.", "works_at", "Ana", "Lyon"),
]


@pytest.mark.parametrize(("language", "said", "text", "tie", "one", "other"), WELL_READ)
def test_relation_kind_supported_by_the_words_is_accepted(
    language: str, said: str, text: str, tie: RelationType, one: str, other: str
) -> None:
    """In the same words."""
    checked = checked_among(language, said, tied(tie, one, other, text, said.rstrip(".")))

    assert not checked.rejected
    assert len(checked.extraction.relations) == 1
