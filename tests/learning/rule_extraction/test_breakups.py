"""Two others who have parted are no couple any more; who nearly did still is one."""

import pytest

from oldfriend.learning.extraction import Claim, RelationClaim
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.validate import validate_extraction
from tests.learning.rule_extraction.message_fixtures import WEDNESDAY, material_of, message
from tests.learning.segment_fixtures import somebody

OF = {
    "en": ("Ana", "Ben", "Ben is Ana's husband."),
    "de": ("Ana", "Ben", "Ben ist Anas Mann."),
    "es": ("Ana", "Ben", "Ben es el marido de Ana."),
    "fr": ("Ana", "Ben", "Ben est le mari d'Ana."),
    "zh": ("小红", "小林", "小林是小红的丈夫。"),
}
"""Of two who are known, how it is told in each language that they are a couple."""


def told(language: str, *texts: str) -> tuple[list[RelationClaim], list[Claim]]:
    """The ties and facts that are kept of what is said of two who are known."""
    one, other, _ = OF[language]
    material = material_of(
        *(message(text, number=n, language=language) for n, text in enumerate(texts)),
        entities=(somebody("e-one", one), somebody("e-other", other)),
    )
    found = validate_extraction(extract_with_rules(material), material).extraction
    return list(found.relations), list(found.claims)


PARTED = [
    ("en", "Ana and Ben got divorced."),
    ("en", "Ana and Ben are no longer together."),
    ("en", "Ana and Ben aren't together anymore."),
    ("en", "My sister Ana and Ben have split up."),
    ("en", "Sadly, Ana and Ben separated last year."),
    ("en", "Ana divorced Ben."),
    ("en", "Ana left her husband Ben."),
    ("en", "Ana and her husband Ben broke up."),
    ("en", "Ben is Ana's ex-husband."),
    ("en", "Ben is no longer Ana's husband."),
    ("de", "Ana und Ben haben sich scheiden lassen."),
    ("de", "Ana und Ben sind geschieden."),
    ("de", "Ana und Ben haben sich letztes Jahr getrennt."),
    ("de", "Ana und Ben sind nicht mehr zusammen."),
    ("de", "Ana hat sich von Ben getrennt."),
    ("de", "Ana hat ihren Mann Ben verlassen."),
    ("de", "Ben ist Anas Exmann."),
    ("es", "Ana y Ben se divorciaron."),
    ("es", "Ana y Ben se han separado."),
    ("es", "Ana y Ben ya no están juntos."),
    ("es", "Ana rompió con Ben."),
    ("es", "Ben es el exmarido de Ana."),
    ("fr", "Ana et Ben ont divorcé."),
    ("fr", "Ana et Ben se sont séparés l'an dernier."),
    ("fr", "Ana et Ben ne sont plus ensemble."),
    ("fr", "Ana a divorcé de Ben."),
    ("fr", "Ben est l'ex-mari d'Ana."),
    ("zh", "小红和小林离婚了。"),
    ("zh", "小红和小林去年分手了。"),
    ("zh", "小红和小林不在一起了。"),
    ("zh", "小红和小林已经不是夫妻了。"),
    ("zh", "小林是小红的前夫。"),
]


@pytest.mark.parametrize(("language", "text"), PARTED)
def test_breakup_of_two_others_ends_their_partner_relation(language: str, text: str) -> None:
    """However it is told, and by whichever of them."""
    ties, _ = told(language, text)

    (tied,) = ties
    assert tied.kind == "partner_of"
    assert {tied.first, tied.second} == {*OF[language][:2]}
    assert tied.claim.holds_until is not None
    assert tied.claim.holds_until <= WEDNESDAY


STILL = [
    ("en", "Ana and Ben almost got divorced."),
    ("en", "Ana and Ben never got divorced."),
    ("en", "If they divorce, Ana and Ben will sell the house."),
    ("en", "Ana and Ben are getting divorced."),
    ("en", "Ana and Ben want to get divorced."),
    ("en", "Did Ana and Ben get divorced?"),
    ("en", "Ana and Ben got divorced, right?"),
    ("en", "Tom told me Ana and Ben got divorced."),
    ("en", "Maybe Ana and Ben got divorced."),
    ("en", "It's not true that Ana and Ben got divorced."),
    ("en", "Ana and Ben are not divorced."),
    ("en", "Ana and Ben would have got divorced."),
    ("en", "Ana and Ben split up the bill."),
    ("en", "Ana and Ben separated in the crowd."),
    ("en", "Ana left her husband Ben at the station."),
    ("de", "Ana und Ben haben sich fast scheiden lassen."),
    ("de", "Ana und Ben haben sich am Bahnhof getrennt."),
    ("de", "Wenn Ana und Ben sich scheiden lassen, ziehe ich um."),
    ("de", "Ana und Ben wollen sich scheiden lassen."),
    ("de", "Haben Ana und Ben sich getrennt?"),
    ("es", "Ana y Ben casi se divorciaron."),
    ("es", "Ana y Ben no se divorciaron."),
    ("es", "Si Ana y Ben se divorcian, venden la casa."),
    ("es", "¿Ana y Ben se divorciaron?"),
    ("fr", "Ana et Ben ont failli divorcer."),
    ("fr", "Ana et Ben n'ont pas divorcé."),
    ("fr", "Si Ana et Ben divorcent, ils vendront la maison."),
    ("zh", "小红和小林差点离婚了。"),
    ("zh", "小红和小林没离婚。"),
    ("zh", "小红和小林离婚了吗？"),
    ("zh", "如果小红和小林离婚了，他们会卖房子。"),
]


@pytest.mark.parametrize(("language", "text"), STILL)
def test_hypothetical_or_denied_breakup_keeps_the_partner_relation(
    language: str, text: str
) -> None:
    """Asked, supposed, denied, wanted, told by others; or only of a bill and a station."""
    ties, _ = told(language, OF[language][2], text)

    assert [(each.kind, each.claim.holds_until) for each in ties] == [("partner_of", None)]


@pytest.mark.parametrize(
    ("language", "married", "parted", "over"),
    [
        ("en", "Ana is married to Ben.", "Ana and Ben got divorced.", "Ana is no longer married."),
        ("es", "Ana está casada con Ben.", "Ana se divorció de Ben.", "Ana ya no está casada."),
        ("fr", "Ana est mariée à Ben.", "Ana et Ben ont divorcé.", "Ana n’est plus mariée."),
    ],
)
def test_divorce_of_two_others_ends_the_marriage_fact(
    language: str, married: str, parted: str, over: str
) -> None:
    """As it was said of her."""
    _, claims = told(language, married, parted)

    assert over in [each.text for each in claims if each.ended_claim is not None]


def test_new_partner_after_divorce_gets_the_current_relation() -> None:
    """What holds by now is told in the same words."""
    ties, claims = told("en", "Ana and Ben got divorced, Ana is married to Carl now.")

    assert [(each.second, each.claim.holds_until is None) for each in ties] == [
        ("Carl", True),
        ("Ben", False),
    ]
    assert not [each for each in claims if each.ended_claim is not None]


OWN = [
    ("en", "My girlfriend Anna and I broke up."),
    ("en", "My wife Anna and I separated in May."),
    ("en", "I broke up with my girlfriend Anna."),
    ("en", "My girlfriend Anna left me yesterday."),
    ("en", "My wife Anna and I got divorced last week."),
    ("de", "Meine Frau Anna und ich haben uns im Mai getrennt."),
    ("de", "Ich habe mich von meiner Frau Anna getrennt."),
    ("de", "Ich habe mit meiner Freundin Anna Schluss gemacht."),
    ("de", "Meine Frau Anna hat mich verlassen."),
    ("es", "Mi mujer Anna y yo nos separamos en mayo."),
    ("es", "Mi novia Anna me dejó ayer."),
    ("fr", "Ma femme Anna et moi nous sommes séparés en mai."),
    ("fr", "Ma copine Anna m'a quitté hier."),
]


@pytest.mark.parametrize(("language", "text"), OWN)
def test_breakup_naming_the_partner_makes_the_relation_ex(language: str, text: str) -> None:
    """Nobody's wife any more, though they are still called so there."""
    _, claims = told(language, text)

    (anna,) = [each for each in claims if each.key == "Anna:relation"]
    assert anna.value == "ex"


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "I broke up with Tom and my new boyfriend Anna is great.", "boyfriend"),
        ("en", "My wife Anna and I got married in May.", "wife"),
        ("en", "My wife Anna left me at the station.", "wife"),
        ("de", "Meine Freundin Anna und ich haben uns gestern getroffen.", "friend"),
        ("es", "Hablé con mi novia Anna y ya no tengo dudas.", "girlfriend"),
        ("fr", "J'ai parlé avec ma copine Anna, on n'a plus de problèmes.", "girlfriend"),
        ("en", "I broke up with Tom at dinner with my wife Anna.", "wife"),
        ("en", "Tom and I broke up, my wife Anna and I are fine.", "wife"),
        ("de", "Ich habe mit Tom Schluss gemacht, und von meiner Frau Anna gelernt.", "wife"),
        ("es", "He roto con Juan y hablé con mi novia Anna.", "girlfriend"),
        ("fr", "J'ai rompu avec Luc et parlé avec ma copine Anna.", "girlfriend"),
        ("en", "My wife Anna left me because she had to work, she is back at six.", "wife"),
        ("en", "My wife Anna left me the car.", "wife"),
        ("en", "My wife Anna left me this morning to go shopping.", "wife"),
        ("de", "Meine Frau Anna hat mich am Bahnhof verlassen.", "wife"),
        ("es", "Mi marido Anna me dejó el coche ayer.", "husband"),
        ("es", "Mi marido Anna me dejó ayer el coche.", "husband"),
        ("es", "Mi mujer Anna me ha dejado la llave.", "wife"),
        ("es", "Mi novia Anna y yo nos hemos separado la cuenta.", "girlfriend"),
        ("es", "Mi novia Anna y yo rompimos la ventana.", "girlfriend"),
        ("fr", "Ma femme Anna m'a quitté à la gare.", "wife"),
    ],
)
def test_sentence_without_breakup_keeps_the_named_relation(
    language: str, text: str, value: str
) -> None:
    """Another is, or nobody is."""
    _, claims = told(language, text)

    (anna,) = [each for each in claims if each.key == "Anna:relation"]
    assert anna.value == value


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "We split up the bill."),
        ("de", "Wir haben uns am Bahnhof getrennt."),
        ("es", "Nos separamos en la estación."),
        ("fr", "On s'est séparés à la gare."),
        ("zh", "我和小丽在车站分开了。"),
        ("en", "Mum left me this morning."),
        ("en", "Mum left me this morning to go shopping."),
        ("en", "Lisa left me and my brother some cake."),
        ("en", "We separated after lunch."),
        ("en", "We split up after lunch to look for gifts."),
        ("en", "Tom and I separated in May."),
        ("en", "My wife left me because she had to work."),
        ("en", "My wife left me, she is at work."),
        ("de", "Papa hat mich verlassen, als ich fünf war."),
        ("de", "Papa hat mich verlassen."),
        ("es", "Mi marido Juan me dejó el coche ayer."),
        ("es", "Mamá me dejó ayer."),
        ("es", "Mi mujer Ana me ha dejado la llave."),
        ("es", "Al final lo dejamos."),
        ("es", "Mi novio Juan y yo nos hemos separado la cuenta."),
        ("es", "Rompimos la ventana."),
        ("fr", "Maman m'a quitté en 2010."),
        ("fr", "On s'est séparés après le déjeuner."),
        ("fr", "On a rompu le pain."),
    ],
)
def test_parting_in_another_sense_sets_no_relationship_status(language: str, text: str) -> None:
    """Nor who shares a bill, nor whom a parent left, or who was left a key."""
    _, claims = told(language, text)

    assert [each.key for each in claims if each.key == "relationship_status"] == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "My wife and I are separated."),
        ("en", "My husband left me last month."),
        ("de", "Meine Frau hat mich verlassen."),
        ("de", "Wir haben uns nach drei Jahren getrennt."),
        ("es", "Mi marido me ha dejado."),
        ("es", "Nos separamos en mayo."),
        ("es", "Rompimos ayer y lloré."),
        ("fr", "Mon mari m'a quittée en mai."),
        ("fr", "Mon copain m'a larguée hier."),
        ("en", "We broke up last week."),
        ("zh", "我和妻子小安五月分开了。"),
    ],
)
def test_breakup_sets_relationship_status_with_a_start_time(language: str, text: str) -> None:
    """In these words, too."""
    _, claims = told(language, text)

    (status,) = [each for each in claims if each.key == "relationship_status"]
    assert status.holds_from is not None
