"""Right claims on casual words pass; what was denied or laughed off does not."""

from datetime import timedelta

import pytest

from oldfriend.domain.clock import from_micros
from oldfriend.learning.extraction import Claim, ExtractionInput
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.validate import validate_extraction
from oldfriend.learning.validation.grounding import iter_computed_numbers
from tests.learning.rule_extraction.message_fixtures import material_of, message
from tests.learning.segment_fixtures import claim, quote, read, talk

LOTTERY = claim("event", "Won the lottery.", "I won the lottery last night", impact=8)


def count_passed(material: ExtractionInput, one: Claim) -> int:
    """Return how many of one claim pass."""
    return len(validate_extraction(read(one), material).extraction.claims)


def fact(text: str, words: str, message: int = 1, **fields: object) -> Claim:
    """A fact on the words of a message."""
    given = {"key": "note_to_self", "value": text.rstrip(".").split()[-1], **fields}
    return claim("fact", text, quote(words, message), **given)


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (
            ["my aunt ines lives in calgary", "wait no its regina"],
            fact(
                "Aunt Ines lives in Regina.",
                "wait no its regina",
                2,
                subject="other",
                key="Ines:location",
                names=("Ines",),
            ),
        ),
        (
            ["our Kayleigh's got asthma hasnt she. shes my eldest"],
            fact(
                "Kayleigh, the eldest, has asthma.",
                "our Kayleigh's got asthma hasnt she. shes my eldest",
                subject="other",
                key="Kayleigh:health",
                names=("Kayleigh",),
            ),
        ),
        (
            ["er, der mats, verträgt ja keine haselnüsse"],
            fact(
                "Mats hat eine Allergie gegen Haselnüsse.",
                "verträgt ja keine haselnüsse",
                subject="other",
                key="Mats:allergies",
                names=("Mats",),
            ),
        ),
        (
            ["my wife read it out in a silly voice, so now it's official: i'm a yoga teacher"],
            fact("Is a yoga teacher.", "i'm a yoga teacher", key="occupation"),
        ),
        (["430 quid for the room"], fact("The room costs 430.", "430 quid for the room")),
        (["i get £11.40 an hr now"], fact("Earns £11.40 an hour.", "£11.40 an hr", value="£11.40")),
    ],
)
def test_claim_on_casual_words_is_accepted(said: list[str], one: Claim) -> None:
    """Whatever little word of denial, or which heading, stands beside it."""
    assert count_passed(talk(*said), one) == 1


REPLIES = (
    "three replies: a kid, a bloke who thought it was fishing, and a retired postie called jools "
    "whos 63 and swims in the sea every morning"
)
FORWARDED = (
    'fwd from the bro: "Hi team!! Big news, Lorraine and I have gone fully vegan and sold the ute. '
    'My 50th is at the Swan Valley, 14 Nov, dress code is gold." gold!! i own one gold thing'
)
SAME_NAME = "not to be confused w craig at totara downs the greenkeeper, top bloke"
CRAIG = {"subject": "other", "names": ("Craig",)}


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (
            [REPLIES],
            fact(
                "Jools swims in the sea every morning.",
                "a retired postie called jools whos 63 and swims in the sea every morning",
                subject="other",
                key="Jools:exercise",
                names=("Jools",),
            ),
        ),
        (
            ["my bro craig lives in perth", FORWARDED],
            fact(
                "Craig and Lorraine are vegan.",
                "Lorraine and I have gone fully vegan",
                2,
                subject="other",
                key="Craig:diet",
                names=("Craig", "Lorraine"),
            ),
        ),
        (
            [SAME_NAME],
            fact(
                "Another Craig is the greenkeeper at Totara Downs.",
                "craig at totara downs the greenkeeper",
                key="Craig:occupation",
                **CRAIG,
            ),
        ),
        (
            ["i dive for golf balls. been at it 11 yrs, before that i was a spray painter"],
            fact("Has dived for golf balls for 11 years.", "been at it 11 yrs", value="11 years"),
        ),
        (
            ["the hiace died on the kilmog. 412,000 on the clock tho so fair play"],
            fact(
                "The Hiace had 412,000 km on the clock.", "412,000 on the clock", value="412,000 km"
            ),
        ),
        (
            ["before u suggest any recipes: i dont eat poultry. fish yes, pork yes."],
            fact("Does not eat poultry.", "i dont eat poultry", key="diet", value="no poultry"),
        ),
        (
            ["i'm doing the cake, lemon drizzle cos she hates chocolate"],
            fact("Bakes a lemon drizzle cake.", "i'm doing the cake, lemon drizzle"),
        ),
        (
            ["no thats janine on reception with the twins"],
            fact(
                "Janine on reception has twins.",
                "janine on reception with the twins",
                subject="other",
                key="Janine:children",
                names=("Janine",),
            ),
        ),
        (
            ["told her penicillin nearly killed me in 1988 so dont even think about it"],
            fact(
                "Is allergic to penicillin.",
                "penicillin nearly killed me in 1988",
                key="allergies",
            ),
        ),
    ],
)
def test_what_a_reading_model_saw_refused_passes(said: list[str], one: Claim) -> None:
    """An enumeration, news passed on, somebody told from another, amounts, words to a hearer."""
    rejected = validate_extraction(read(one), talk(*said)).rejected

    assert set(rejected) <= {"doubtful words"}  # then it waits


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (
            [FORWARDED],
            fact("Is vegan.", "I have gone fully vegan", key="diet", value="vegan"),
        ),
        (
            ['pasted: "Craig is a thief and owes the bank 5000"'],
            fact("Craig is a thief.", "Craig is a thief", key="Craig:character", **CRAIG),
        ),
        (
            ["three people said: i am a nurse, i am a cook, and i am a thief"],
            fact("Is a nurse.", "i am a nurse", key="occupation", value="nurse"),
        ),
    ],
)
def test_what_others_say_of_themselves_is_not_the_persons(said: list[str], one: Claim) -> None:
    """Nor is what is pasted about somebody of whom nobody here has spoken."""
    assert count_passed(talk(*said), one) == 0


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (["it has no garden"], fact("Has a garden.", "it has no garden")),
        (["no it isn't leeds"], fact("Lives in Leeds.", "no it isn't leeds", key="location")),
        (["my sister goes: i'm a yoga teacher"], fact("Is a yoga teacher.", "i'm a yoga teacher")),
        (["the room is cheap"], fact("The room costs 430.", "the room is cheap")),
        (["we keep seven"], fact("Keeps seven.", "we keep seven")),
    ],
)
def test_claim_on_denied_or_unstated_words_is_rejected(said: list[str], one: Claim) -> None:
    """A real denial, somebody else's words, a figure from nowhere or of nothing."""
    assert count_passed(talk(*said), one) == 0


@pytest.mark.parametrize(
    ("reaction", "answer", "is_meant"),
    [
        ("Wait, seriously?!", "no lol. wanted to see what you'd say", False),
        ("Wait, seriously?!", "😂 noooo, april fools", False),
        ("Wait, seriously?!", "yes haha, four numbers", True),
        ("Congratulations! What will you buy first, a car or a house?", "no lol, too poor", True),
        ("Wow, how did it feel?", "cant say lol. too good", True),
        (
            "Congratulations! What a stroke of luck that was.",
            "Just kidding, I had a shandy.",
            False,
        ),
        ("Congratulations! What will you buy first?", "lmao no i never did", False),
        ("Congratulations! What will you buy first?", "haha, thank you so much", True),
        ("Congratulations! Are you going to buy a boat?", "as if! I can't swim.", True),
    ],
)
def test_claim_retracted_as_a_joke_is_rejected(
    reaction: str, answer: str, *, is_meant: bool
) -> None:
    """A laughing no to a mere exclamation; one that answers something else takes nothing back."""
    material = talk("I won the lottery last night", f"companion: {reaction}", answer)

    assert count_passed(material, LOTTERY) == is_meant


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (
            ["grandad worked in a gold mine near boulder till he was 60"],
            fact(
                "The grandfather worked in a gold mine near Boulder.",
                "grandad worked in a gold mine near boulder",
                subject="other",
                key="grandfather:occupation",
                value="gold mine",
            ),
        ),
        (
            ["the house is from the 70s, all brown tiles"],
            fact("The house is from the 1970s.", "the house is from the 70s", value="1970s"),
        ),
        (
            ["been a nurse for 12 years now"],
            fact("Has been a nurse since 2011.", "been a nurse for 12 years", value="since 2011"),
        ),
        (
            ["grandad was born in 1941, in a caravan"],
            fact(
                "The grandfather is 82.",
                "grandad was born in 1941",
                subject="other",
                key="grandfather:age",
                value="82 years",
            ),
        ),
        (
            ["our shop is on pinjarra rd next to the servo"],
            fact(
                "The shop is on Pinjarra Road.",
                "our shop is on pinjarra rd",
                value="Pinjarra Road",
            ),
        ),
        (
            ["i won't go above 3 metres on a ladder"],
            claim(
                "pattern",
                "Does not go above 3 metres on a ladder.",
                "i won't go above 3 metres on a ladder",
                pattern="behavior",
            ),
        ),
    ],
)
def test_what_follows_from_the_words_is_founded(said: list[str], one: Claim) -> None:
    """A thing of the pronoun's name, a decade, a computed year, a word cut short, a refusal."""
    assert not validate_extraction(read(one), talk(*said)).rejected


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (
            ["ana's dog is older than mine"],
            fact("Ana's dog is older than mine.", "older than mine"),
        ),
        (
            ["the house is from the 70s"],
            fact("The house is from the 1950s.", "the house is from the 70s", value="1950s"),
        ),
        (
            ["been a nurse for 12 years now"],
            fact("Has been a nurse since 2003.", "been a nurse for 12 years", value="since 2003"),
        ),
        (
            ["our shop is on pinjarra rd"],
            fact("The shop is on Pinjarra Lane.", "our shop is on pinjarra rd", value="Lane"),
        ),
    ],
)
def test_what_does_not_follow_from_the_words_is_refused(said: list[str], one: Claim) -> None:
    """Another decade, year or street; a pronoun that only the talk explains."""
    assert count_passed(talk(*said), one) == 0


@pytest.mark.parametrize(
    ("language", "said", "weekday"),
    [
        ("en", "Exam on Friday", 5),
        ("de", "Die Prüfung ist am Dienstag", 2),
        ("fr", "l'examen est lundi", 1),
        ("es", "El examen es el jueves", 4),
        ("zh", "星期三考试", 3),
    ],
)
def test_a_weekday_founds_only_days_that_are_that_weekday(
    language: str, said: str, weekday: int
) -> None:
    """Who has an exam on Friday has not said that it is on the 16th, a Thursday."""
    (message,) = talk(said, language=language).messages
    today = from_micros(message.at, message.zone).date()
    coming = [today + timedelta(days=each) for each in range(1, 8)]
    told = {*iter_computed_numbers(fact(said, said), [message], language)}

    assert [each.isoweekday() for each in coming if str(each.day) in told] == [weekday]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm pregnant."),
        ("de", "Ich bin schwanger."),
        ("es", "Estoy embarazada."),
        ("fr", "Je suis enceinte."),
        ("fr", "On attend un bébé."),
        ("zh", "我怀孕了。"),
    ],
)
def test_pregnancy_that_rules_read_is_kept(language: str, text: str) -> None:
    """What the rule says of it shares a word with how it is told."""
    material = material_of(message(text, language=language))
    found = validate_extraction(extract_with_rules(material), material)

    assert not found.rejected
    assert [each.key for each in found.extraction.claims] == ["pregnancy"]
