"""A thought is in the tone in which friends think of each other, in five languages."""

import pytest

from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.reflection_output import Idea
from oldfriend.learning.validation.reflection_checks import check_idea_tone
from oldfriend.learning.validation.tone import check_tone, load_tone_patterns
from oldfriend.memory.core_blocks import BlockName

WARM = {
    "en": [
        "Rex was the one who waited at the door; the flat may be very quiet now.",
        "It must have hurt Nora that nobody from the old job wrote.",
        "Ana brings up the river whenever something good happens to her.",
        "Nora tells the sad things last, and quickly, as if they were a token of trust.",
        "The river is where Nora does not have to explain anything.",
    ],
    "es": [
        "Rex era quien esperaba en la puerta; quizá el piso está muy callado ahora.",
        "Cuando Ana está contenta, habla siempre del río y de su casa.",
        "Debe de haberle dolido que nadie escribiera.",
    ],
    "fr": [
        "Rex attendait toujours à la porte; l'appartement est peut-être bien silencieux.",
        "Quand Ana est heureuse, elle parle toujours de la rivière et de sa maison.",
        "Le silence de l'appartement doit lui peser le soir.",
    ],
    "de": [
        "Rex hat immer an der Tür gewartet; die Wohnung ist jetzt vielleicht sehr still.",
        "Wenn Ana sich freut, erzählt sie immer vom Fluss und von ihrem Haus.",
        "Er musste lange auf diese Nachricht warten.",
        "Der Streit muss Ana sehr wehgetan haben.",
        "Am Fluss, wo sie nichts entscheiden muss, lacht Ana.",
    ],
    "zh": ["雷克斯总是在门口等着,现在家里大概很安静。", "安娜一高兴就会说起那条河。"],
}
COLD = {
    "en": [
        ("Nora may be depressed since the dog died.", "clinical"),
        ("That sounds like an anxiety disorder.", "clinical"),
        ("There is unresolved trauma in how Nora speaks of home.", "clinical"),
        ("Her brother shows narcissistic traits.", "clinical"),
        ("Nora should call her sister more often.", "advice"),
        ("It would be good to take a walk in the evening.", "advice"),
        ("Try to give the quiet some room.", "advice"),
        ("Nora could benefit from a new hobby.", "advice"),
        ("Nora does not have to decide alone; she has to call her sister.", "advice"),
        ("Next time ask about the river first.", "advice"),
        ("In the last three conversations Nora spoke of the river.", "metadata"),
        ("The user lost a dog.", "metadata"),
        ("As an AI, there is little to say about grief.", "metadata"),
        ("In e3 the dog dies, in k2 the flat is quiet.", "metadata"),
        ("The event had an impact of -9.", "metadata"),
        ("Seen in 018bcfe5-6800-7000-b890-6a183115f660 before.", "metadata"),
    ],
    "es": [
        ("Quizá Nora tenga depresión desde que murió el perro.", "clinical"),
        ("Parece un trastorno de ansiedad.", "clinical"),
        ("Nora debería llamar más a su hermana.", "advice"),
        ("Le vendría bien salir a caminar por la tarde.", "advice"),
        ("Nora debe ser paciente con su hermana.", "advice"),
        ("En las últimas tres conversaciones Nora habló del río.", "metadata"),
        ("El usuario perdió a su perro.", "metadata"),
    ],
    "fr": [
        ("Nora fait peut-être une dépression depuis la mort du chien.", "clinical"),
        ("On dirait des troubles anxieux.", "clinical"),
        ("Elle devrait appeler sa sœur plus souvent.", "advice"),
        ("Il faut lui laisser du temps.", "advice"),
        ("Nora doit être patiente avec sa sœur.", "advice"),
        ("La prochaine fois, parler de la rivière.", "advice"),
        ("D'après l'historique, Nora écrit la nuit.", "metadata"),
        ("L’utilisateur a perdu son chien.", "metadata"),
    ],
    "de": [
        ("Vielleicht hat Nora eine Depression, seit der Hund tot ist.", "clinical"),
        ("Das klingt nach einer Angststörung.", "clinical"),
        ("Sie sollte ihre Schwester öfter anrufen.", "advice"),
        ("Es wäre gut, am Abend spazieren zu gehen.", "advice"),
        ("Nora muss bereit sein, wenn die Schwester kommt.", "advice"),
        ("Beim nächsten Mal den Fluss ansprechen.", "advice"),
        ("Der Nutzer hat seinen Hund verloren.", "metadata"),
    ],
    "zh": [
        ("她可能有抑郁症。", "clinical"),
        ("这像是一种人格障碍。", "clinical"),
        ("她应该多给姐姐打电话。", "advice"),
        ("建议晚上去散步。", "advice"),
        ("下次先问问那条河。", "advice"),
        ("用户失去了他的狗。", "metadata"),
    ],
}


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language in WARM for text in WARM[language]]
)
def test_tone_check_accepts_friendly_thoughts(language: str, text: str) -> None:
    """Maybes, feelings, what somebody keeps coming back to."""
    assert check_tone(text, language=language) is None


@pytest.mark.parametrize(
    ("language", "text", "why"),
    [(language, text, why) for language in COLD for text, why in COLD[language]],
)
def test_tone_check_rejects_unfit_thoughts_with_the_reason(
    language: str, text: str, why: str
) -> None:
    """Labels, advice, machinery."""
    assert check_tone(text, language=language) == why


@pytest.mark.parametrize("language", list_languages("rules"))
def test_tone_check_rejects_clinical_label_and_wrong_language(language: str) -> None:
    """And a thought in another language than what it is about."""
    assert check_tone("Das ist eine Persönlichkeitsstörung.", language=language) == "clinical"
    other = WARM["de" if language != "de" else "en"][0]
    assert check_tone(other, language=language) == "wrong language"


@pytest.mark.parametrize("language", list_languages("rules"))
def test_tone_patterns_exist_for_every_language(language: str) -> None:
    """So that nothing slips through in one of them."""
    tone = load_tone_patterns(language)
    assert tone.clinical.pattern
    assert tone.advice.pattern
    assert tone.no_duty.pattern
    assert tone.metadata.pattern


def test_advice_is_allowed_in_style_suggestions_but_not_in_user_suggestions() -> None:
    """Advice for the companion is a style; advice for the person describes nobody."""

    def fault_of(text: str, block: BlockName) -> str | None:
        return check_idea_tone(Idea(kind="suggestion", text=text, cites=("e1",), block=block), "en")

    assert fault_of("Encourage Nora to see Ana more often.", "style") is None
    assert fault_of("Encourage Nora to see Ana more often.", "user") == "advice"
    assert fault_of("Nora may be depressed since the dog died.", "style") == "clinical"
