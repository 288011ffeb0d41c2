"""Whatever bears a sign that it is another's, or not meant, is not believed without a model."""

import pytest

from oldfriend.domain.ids import MessageId
from oldfriend.learning.doubt import (
    drop_doubtful,
    find_quoted_part,
    get_doubtful_passage,
    has_doubtful_words,
    is_doubtful,
    is_doubtful_quote,
)
from oldfriend.learning.extraction import Claim, Extraction, Quote
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.validate import validate_extraction
from oldfriend.learning.validation.quote_alignment import find_span
from oldfriend.learning.validation.segment_view import ValidationCase, build_segment_view
from tests.learning.rule_extraction.message_fixtures import material_of, message


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I live in Leeds. Which tram goes to the docks?"),
        ("en", "Please put this into Thai. I am allergic to sesame."),
        ("en", "name | town\nAna | Leeds"),
        ("en", "milk\neggs\nI need a new bike"),
        ("en", "*I live in Leeds* now"),
        ("en", "It's Viktor, on Nora's phone. I live in Leeds and I have two dogs."),
        ("de", "Hier ist Viktor, an Noras Handy. Ich wohne in Köln."),
        ("es", "Aquí Viktor, desde el móvil de Nora. Vivo en Cádiz."),
        ("en", "I am the king\nand the moon is cheese\nI have a crown"),
        ("en", "Da stood up and said right, from today I'm off the drink"),
        ("en", "this lady at the door, i've quit my job, and sits down"),
        ("en", "Ana - I live in Leeds"),
        ("en", "This is for the little card of whoever it is: I am allergic to sesame."),
        ("en", "I had a dream about trains, I lived in one"),
        ("en", "I'm the queen of Spain, just kidding"),
        ("de", "Beim Bäcker vor mir so eine: ich bin geschieden"),
        ("de", "bin heut nacht nach Grönland gezogen, dann Wecker"),
        ("fr", "le baron Gontran, je demeure en la tour"),
        ("de", "ich hab im Lotto gewonnen, alles in Briefmarken, und dann klingelte der Wecker"),
        ("en", "Oh I just love a long list of rules. My headphones arrive tomorrow."),
        ("en", "Suppose I am rich. I own a cheese shop and a pony."),
        ("es", "la tía en la puerta, yo me voy a vivir a Cuba"),
    ],
)
def test_signs_of_doubt_are_seen(language: str, text: str) -> None:
    """Questions, orders, layout, others who speak, dreams and jokes."""
    assert is_doubtful(message(text, language=language))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "i live in leeds with my sister, she drives the 66"),
        ("en", "so my sister is moving in, and i've sold the sofa <3"),
        ("en", "big news: i got the job at the docks"),
        ("en", "i moved to leeds =) so happy >.<"),
        ("en", "Nora here, back from Leeds. I have two dogs."),
        ("en", "I'm Nora, Viktor's sister. I live in Leeds."),
        ("en", "my sister is called regina\n*it's regina with one n"),
        ("en", "hey\ni moved to leeds last week\nmy new job starts on monday"),
        ("de", "ich bin nach köln gezogen\nmein bruder hilft mir\nich freu mich :D"),
        ("de", "Kurzes Update: ich wohne jetzt in Köln"),
        ("fr", "ça y est, j'ai emménagé à Rennes hier"),
        ("es", "ya está, me mudé a Cádiz con mi hermana"),
        ("it", "lavoro da walter, sei anni ormai, mani sempre nere"),
        ("pt", "o caetano é goleiro no clube, treino terça e quinta"),
        ("en", "woke up early and happy, today i start at the docks"),
        ("en", "oh, i moved to leeds last week"),
    ],
)
def test_what_people_tell_of_themselves_bears_none(language: str, text: str) -> None:
    """Also where others are told of, and where news is announced."""
    assert not is_doubtful(message(text, language=language))


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("i drive the 66", None),
        ("it's ana's bike, isn't it", None),
        ("she says “no way” and he says “why not” all day", "“no way” and he says “why not”"),
        ("New neighbor knocks, just ‹I can't stand dogs› and off", "‹I can't stand dogs›"),
    ],
)
def test_a_quotation_is_found_by_its_marks(text: str, quoted: str | None) -> None:
    """Of whatever kind, and with what stands between two."""
    found = find_quoted_part(message(text))

    assert (found and text[found[0] : found[1]]) == quoted


def test_rules_leave_out_what_somebody_else_may_say() -> None:
    """The other messages of the talk are read."""
    inputs = material_of(message("Ana - I live in Leeds"), message("I love jazz.", number=1))
    read = extract_with_rules(inputs)
    kept = drop_doubtful(read, inputs)

    assert len(read.claims) > len(kept.claims)
    assert [each.value for each in kept.claims] == ["jazz"]


@pytest.mark.parametrize(
    ("language", "text", "quote"),
    [
        (
            "en",
            "Carla is allergic to hazelnuts, don't let me forget",
            "Carla is allergic to hazelnuts",
        ),
        (
            "en",
            "Carla is allergic to hazelnuts. Please don't forget!",
            "Carla is allergic to hazelnuts",
        ),
        ("en", "Please remember that my neighbour Uwe is 71.", "Uwe is 71"),
        (
            "de",
            "Carla ist allergisch gegen Nüsse, bitte merken!",
            "Carla ist allergisch gegen Nüsse",
        ),
        ("en", "My neighbour Uwe is 71. Last night I dreamed I had a twin brother.", "Uwe is 71"),
        ("en", "My birthday is on 3 May. I'm the queen of Spain, just kidding.", "My birthday"),
    ],
)
def test_plain_sentence_beside_a_joke_or_an_order_to_remember_is_not_doubted(
    language: str, text: str, quote: str
) -> None:
    """What stands before a dream is no part of it."""
    assert not is_quote_doubted(language, text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("My neighbour Uwe is 71. Last night I dreamed I had a twin brother.", "a twin brother"),
        ("Last night I dreamed I was home. I had a twin brother.", "a twin brother"),
        ("I moved to Porto. Just kidding!", "moved to Porto"),
        ("I moved to Porto. I have two dogs. That was all a joke.", "moved to Porto"),
        ("I have two dogs. I'm the queen of Spain, just kidding.", "queen of Spain"),
        ("Please translate this: my neighbour Uwe is 71.", "Uwe is 71"),
    ],
)
def test_what_a_joke_or_a_dream_may_tell_is_doubted(text: str, quote: str) -> None:
    """What follows a dream goes on with it, and a joke is called one afterwards."""
    assert is_quote_doubted("en", text, quote)


@pytest.mark.parametrize(
    ("language", "text", "quote", "waits"),
    [
        ("en", "Woke up sweating. I had twins in the garden centre.", "I had twins", True),
        ("fr", "j'avais deux loutres chez moi. puis le réveil a sonné", "deux loutres", True),
        ("en", "I keep two otters. They eat a lot of fish.", "two otters", False),
        ("en", "Oh no, darling, I'm a neurosurgeon, look at me.", "a neurosurgeon", True),
        ("it", "Mettiamo che sia così: vivo a Matera.", "vivo a Matera", True),
        ("en", "Suppose I'm rich, right. I drive a vintage Saab.", "a vintage Saab", True),
        ("en", "If it rains, I stay in. I drive a vintage Saab.", "a vintage Saab", False),
        ("fr", "Maman a claqué la fenêtre. Ah, ces cloches, quelle plaie !", "ces cloches", True),
        ("nl", "Met Pien gewandeld. Nooit meer kerst bij de oom!", "Nooit meer kerst", True),
        ("en", "Went out with Pia. I collect old bells.", "old bells", False),
        ("en", "Rain again. Bought the red bells after all.", "the red bells", False),
    ],
)
def test_what_nobody_may_mean_of_themselves_waits(
    language: str, text: str, quote: str, *, waits: bool
) -> None:
    """Told beside waking, with a sigh, as supposed, or where somebody else may be thinking."""
    one = Claim(
        kind="fact",
        text=f"{quote[:1].upper()}{quote[1:]}.",
        quotes=(Quote(message=MessageId("m0"), text=quote),),
        confidence=0.95,
        subject="person",
        key="detail",
        value=quote,
    )
    checked = validate_extraction(
        Extraction(author="model/1", claims=(one,)), material_of(message(text, language=language))
    )

    assert (len(checked.unconfirmed), len(checked.extraction.claims)) == (waits, not waits)


@pytest.mark.parametrize(
    ("value", "is_doubted"), [("a twin brother", True), ("rain in Porto", False)]
)
def test_what_a_harmless_quote_is_cited_for_is_judged_where_it_stands(
    value: str, *, is_doubted: bool
) -> None:
    """The dream behind the quote says what is claimed, or the quote itself does."""
    told = message("Rain in Porto all day. Last night I dreamed I was home. I had a twin brother.")
    span = find_span(told, "Rain in Porto all day")
    assert span is not None
    one = Claim(
        kind="fact", text=f"Had {value}.", value=value, quotes=(span.quote,), confidence=0.95
    )
    case = ValidationCase(claim=one, spans=(span,), view=build_segment_view(material_of(told)))

    assert has_doubtful_words(case) == is_doubted


def is_quote_doubted(language: str, text: str, quote: str) -> bool:
    """Tell whether a quote of the only message of a talk bears a sign of doubt."""
    told = message(text, language=language)
    span = find_span(told, quote)
    assert span is not None
    return is_doubtful_quote(span, build_segment_view(material_of(told)))


@pytest.mark.parametrize(
    ("text", "quote", "passage"),
    [
        (
            "Hi. I don't live in Leipzig any more.",
            "live in Leipzig",
            "I don't live in Leipzig any more.",
        ),
        (
            "Rain today. Last night I dreamed. I had a twin brother. We ate.",
            "a twin brother",
            "Last night I dreamed. I had a twin brother.",
        ),
        ("I moved to Porto. Just kidding!", "moved to Porto", "I moved to Porto. Just kidding!"),
    ],
)
def test_passage_shows_what_makes_a_quote_doubtful(text: str, quote: str, passage: str) -> None:
    """Whole sentences, and the joke or the dream around them."""
    span = find_span(message(text), quote)
    assert span is not None
    assert get_doubtful_passage(span) == passage
