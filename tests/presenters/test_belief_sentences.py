"""A belief is a sentence to the person, where its text is known to begin with a verb."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from oldfriend.domain.clock import to_micros
from oldfriend.domain.ids import EvidenceId, MemoryId, MessageId, ObjectId, PersonId
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.presenters.belief_sentences import BeliefSentence, tell_belief
from oldfriend.presenters.dated_sentences import tell_as_of


def build_sentence(
    belief: StoredBelief, evidence: Sequence[Evidence] = (), language: str = ""
) -> str:
    """The sentence of a belief."""
    return tell_belief(belief, evidence, language=language).text


def believed(text: str, language: str = "en", **fields: Any) -> StoredBelief:
    """A belief with this text."""
    return StoredBelief(
        **{
            "id": MemoryId(ObjectId("m")),
            "person": PersonId("p"),
            "kind": "fact",
            "text": text,
            "language": language,
            "learned_at": 0,
            **fields,
        }
    )


def said(quote: str) -> Evidence:
    """Words that it comes from."""
    return Evidence(
        id=EvidenceId("e"),
        object_id=ObjectId("m"),
        message=MessageId("n"),
        version=1,
        quote=quote,
        author="Nora",
        trust="person",
        signal="explicit",
        said_at=0,
        zone="UTC",
        confidence=0.9,
        extractor="rules",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Lives in Porto.", "You live in Porto."),
        ("Is vegetarian.", "You are vegetarian."),
        ("Has a dentist appointment: 26 Nov.", "You have a dentist appointment: 26 Nov."),
        ("Always bakes when worried.", "You always bake when worried."),
        ("No longer drinks coffee.", "You no longer drink coffee."),
        ("Doesn't eat meat.", "You don't eat meat."),
        ("Cannot stand coriander.", "You cannot stand coriander."),
        ("Misses the sea.", "You miss the sea."),
        ("Studies law, and is happy.", "You study law, and are happy."),
        ("Works as a nurse and lives in Leeds.", "You work as a nurse and live in Leeds."),
        ("Likes cats and dogs.", "You like cats and dogs."),
        ("Moved to Leeds.", "You moved to Leeds."),
        ("Found a fern.", "You found a fern."),
        ("Will answer the college.", "You will answer the college."),
    ],
)
def test_text_without_a_subject_addresses_the_person(text: str, sentence: str) -> None:
    """In the form of the verb that belongs to "you", also behind an adverb or an "and"."""
    assert build_sentence(believed(text)) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "The landlord is selling the flat.",
        "A quarrel with Mum.",
        "Ms Adair praised the sewing.",
        "James is coming.",
        "Iris was born at ten.",
        "What matters to Nora?",
    ],
)
def test_text_with_a_subject_stays_as_it_is(text: str) -> None:
    """Whatever is not known to be a verb may be whom it is about."""
    assert build_sentence(believed(text, kind="event")) == text


def test_name_that_reads_like_a_verb_is_told_by_the_words() -> None:
    """Whom the person writes with a capital letter within a sentence has a name."""
    text = "Will moved to Leeds."

    assert build_sentence(believed(text), [said("My friend Will moved to Leeds")]) == text


def test_pronoun_in_the_own_words_of_the_person_means_somebody_else() -> None:
    """A pronoun that the person has not said may be what others call them."""
    text = "Will mend Mum's cookery book before she comes."
    own = [said("I promised that I will mend her cookery book before she comes")]
    stranger = [said("I will mend Mum's cookery book before I leave")]
    german = believed("Freut sich, wenn Anna kommt.", "de")

    assert build_sentence(believed(text), own) == (
        "You will mend Mum's cookery book before she comes."
    )
    assert build_sentence(believed(text), stranger) == text
    assert build_sentence(believed("Says that Mum knows she sings."), own) == (
        "You say that Mum knows she sings."
    )
    assert build_sentence(german, [said("ich freue mich, sie meldet sich")]) == german.text


def test_own_name_of_the_person_becomes_you() -> None:
    """As they are called where they said it; what is about somebody besides stays as it is."""
    own = [replace(said("I want to see Ines soon"), speaker="Nora")]
    soon = believed("Nora will want to see Ines again.", kind="expectation", status="tentative")
    both = believed("Nora and Ines will meet.", kind="expectation")
    home = believed("Nora wants to see Nora's brother.", kind="expectation")
    chinese = believed("诺拉想再见到伊内斯。", "zh", kind="expectation")

    assert build_sentence(soon, own) == "You will want to see Ines again, I think."
    assert build_sentence(both, own) == both.text
    assert build_sentence(home, own) == home.text
    assert build_sentence(chinese, [replace(own[0], speaker="诺拉")]) == "你想再见到伊内斯。"


@pytest.mark.parametrize(
    ("language", "name", "text"),
    [
        ("en", "May", "May is a hard month."),
        ("en", "Will", "Will is what counts."),
        ("zh", "李", "李明喜欢猫。"),
    ],
)
def test_name_that_is_a_word_or_begins_another_name_stays(
    language: str, name: str, text: str
) -> None:
    """It may be somebody else's, or nobody's."""
    own = [replace(said("Well"), speaker=name)]

    assert build_sentence(believed(text, language, kind="expectation"), own) == text


def test_belief_about_the_companion_is_told_by_it() -> None:
    """The companion calls itself "I"; what is about others stays as it is."""
    opinion = believed("Thinks that rain is fine.", kind="opinion", subject="companion")
    other = believed("Jonah lives in Leeds.", subject="other")

    assert build_sentence(opinion) == "I think that rain is fine."
    assert build_sentence(other) == "Jonah lives in Leeds."


def test_question_of_the_companion_is_said_to_be_its_own() -> None:
    """Its text names the person as others do; nobody is asked it."""
    asked = believed("What does Nora want?", kind="thought", key="question")

    assert build_sentence(asked) == "I wonder: What does Nora want?"


@pytest.mark.parametrize(
    ("language", "asked", "told"),
    [
        ("en", "What does Nora want?", "I wonder: What do you want?"),
        ("en", "Is Nora happy in Leeds?", "I wonder: Are you happy in Leeds?"),
        ("en", "I wonder why Nora runs at night.", "I wonder why you run at night."),
        ("en", "Does Nora miss her sister?", "I wonder: Does Nora miss her sister?"),
        ("en", "Who likes Nora?", "I wonder: Who likes Nora?"),
        ("de", "Was will Nora lernen?", "Ich frage mich: Was willst du lernen?"),
        ("es", "¿Por qué Nora vive sola?", "Me pregunto: ¿Por qué vives sola?"),
        ("fr", "Que veut Nora ?", "Je me demande : Que veux-tu ?"),
        ("zh", "Nora想学什么？", "我在想：你想学什么？"),
        ("de", "Wann hat Nora Geburtstag?", "Ich frage mich: Wann hast du Geburtstag?"),
        ("fr", "Qui est Nora ?", "Je me demande : Qui es-tu ?"),
        ("fr", "Qu’est-ce que Nora veut ?", "Je me demande : Qu’est-ce que tu veux ?"),
        ("en", "Is Nora happy and well?", "I wonder: Are you happy and well?"),
    ],
)
def test_question_about_the_person_is_put_to_them(language: str, asked: str, told: str) -> None:
    """Where nothing else in it may be theirs, too; else it stays as it was thought."""
    belief = believed(asked, kind="thought", key="question", language=language)

    assert build_sentence(belief, [replace(said("Well"), speaker="Nora")]) == told


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("de", "Wer hat Nora geholfen?"),
        ("de", "Was hat Nora so traurig gemacht?"),
        ("de", "Was hält Nora wach?"),
        ("de", "Was ist Nora wichtig?"),
        ("de", "Wer will Nora helfen?"),
        ("de", "Wann hat Nora Weber geheiratet?"),
        ("fr", "Qu'est-ce qui a Nora ?"),
        ("fr", "Qu’est-ce que veut Nora ?"),
        ("en", "Why is Nora and Tom's flat cold?"),
        ("en", "What is Nora Weber's job?"),
    ],
)
def test_question_that_may_be_about_another_is_not_put_to_the_person(
    language: str, asked: str
) -> None:
    """Where its first word may be the subject, or the name goes on."""
    belief = believed(asked, kind="thought", key="question", language=language)

    assert build_sentence(belief, [replace(said("Well"), speaker="Nora")]).endswith(asked)


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("de", "Ich frage mich, wer Nora hilft."),
        ("de", "Ich frage mich, was Nora hält."),
        ("es", "Me pregunto qué falta."),
    ],
)
def test_question_that_begins_by_wondering_stays(language: str, asked: str) -> None:
    """It is not wondered about twice."""
    belief = believed(asked, kind="thought", key="question", language=language)

    assert build_sentence(belief, [replace(said("Well"), speaker="Nora")]) == asked


def test_relation_label_and_quote_become_sentences() -> None:
    """Rules write them with a colon; the structure says what they are."""
    sister = believed("Sister: Jean.", subject="other", key="Jean:relation", value="sister")
    band = believed("Favourite band: Blur.", key="favorite_band", value="Blur")
    quote = believed("Says: “I run a lot.”", key="in_own_words", value="I run a lot.")
    task = believed("To do (15 December): “I have to call”", kind="expectation")

    assert build_sentence(sister) == "Jean is your sister."
    assert build_sentence(band) == "Your favourite band: Blur."
    assert build_sentence(quote) == "You said: “I run a lot.”"
    assert build_sentence(task, [said("I have to call")]) == "You said: “I have to call”"


def test_unsure_belief_reads_as_unsure() -> None:
    """As long as it is believed; an ended one was believed."""
    assert build_sentence(believed("Lives in Porto.", status="tentative")) == (
        "You live in Porto, I think."
    )
    assert build_sentence(believed("Lives in Porto.", status="disputed")) == (
        "You live in Porto, though I have also heard otherwise."
    )
    assert build_sentence(believed("Lives in Porto.", status="tentative", ended_at=1)) == (
        "You live in Porto."
    )


def test_chinese_verbs_take_the_subject_alone() -> None:
    """They have no forms; only kinds that are about nobody else are given the subject."""
    assert build_sentence(believed("住在波尔图。", "zh")) == "你住在波尔图。"
    assert build_sentence(believed("住在波尔图。", "zh", status="tentative")) == (
        "我不太确定：你住在波尔图。"
    )
    assert build_sentence(believed("妈妈来电话了。", "zh", kind="event")) == "妈妈来电话了。"


@pytest.mark.parametrize(
    ("language", "text", "sentence"),
    [
        ("de", "Wohnt in Porto.", "Du wohnst in Porto."),
        ("de", "Heißt Nora.", "Du heißt Nora."),
        ("de", "Arbeitet als Arzt und wohnt in Ulm.", "Du arbeitest als Arzt und wohnst in Ulm."),
        ("de", "Sagt: „Das mag ich.“", "Du hast gesagt: „Das mag ich.“"),
        ("de", "Freut sich auf den Winter.", "Freut sich auf den Winter."),
        ("es", "Vive en Oporto.", "Vives en Oporto."),
        ("es", "Se llama Nora.", "Te llamas Nora."),
        ("es", "No come carne.", "No comes carne."),
        ("fr", "Vit à Porto.", "Tu vis à Porto."),
        ("fr", "S’appelle Nora.", "Tu t’appelles Nora."),
        ("fr", "N'aime pas la coriandre.", "Tu n’aimes pas la coriandre."),
    ],
)
def test_languages_with_many_forms_address_the_person(
    language: str, text: str, sentence: str
) -> None:
    """Only where the form is known; a word for "one's own" would mean somebody else's."""
    fields = {"key": "in_own_words", "value": "Das mag ich."} if "Sagt" in text else {}

    assert build_sentence(believed(text, language, **fields)) == sentence


def test_words_that_would_mean_somebody_elses_stay() -> None:
    """ "You live with her sister" is not what was believed."""
    assert build_sentence(believed("Lives with her sister.")) == "Lives with her sister."


def test_language_without_forms_of_address_keeps_its_texts() -> None:
    """Its pack says nothing of how somebody is addressed."""
    assert build_sentence(believed("Abita a Porto.", "it")) == "Abita a Porto."


LANGUAGES = ("en", "de", "es", "fr", "zh")
PLACEHOLDER = re.compile(r"{\w+}")


def fill(template: str) -> str:
    """What a rule writes of the person by a template."""
    text = template.replace("{verb}á", "llamará").replace("{verb}a", "rangera")
    text = text.replace("{verb}", "gusta").replace("{age}", "40")
    text = PLACEHOLDER.sub("Blur", text.removeprefix("{who}").replace("{who}", "")).strip()
    return text[0].upper() + text[1:]


TEMPLATES = [
    (language, rule["kind"], rule.get("key", ""), rule["text"])
    for language in LANGUAGES
    for rule in load_language_pack(language).read("rules")["rule"]
    if rule["kind"] in {"fact", "preference", "commitment"}
    and not rule["text"].startswith(
        ("{kin}", "{what}", "{did}", "{value}", "{who}{value}", "A {who}")
    )
]
"""Of the rules that tell of the person; others begin with whom or what they are about."""
LABELS = {
    "Favourite {what}: {value}.": "Your favourite Blur: Blur.",
    "Pronouns: {value}.": "Your pronouns: Blur.",
    "Liebling ({what}): {value}.": "Liebling (Blur): Blur.",
    "Preferencia ({what}): {value}.": "Preferencia (Blur): Blur.",
    "Préférence ({what}) : {value}.": "Préférence (Blur) : Blur.",
    "Trennung {with}, die Beziehung ist zu Ende.": "Trennung Blur, die Beziehung ist zu Ende.",
}
"""What has no verb."""
OWN = re.compile(r"\b(?:son|sich)\b")
"""Words that would mean somebody else's behind another subject."""


@pytest.mark.parametrize(("language", "kind", "key", "template"), TEMPLATES)
def test_each_template_of_the_rules_is_told_to_the_person(
    language: str, kind: str, key: str, template: str
) -> None:
    """A verb that begins it is told as such, also where a value stands behind a colon."""
    text = fill(template)
    told = build_sentence(believed(text, language, kind=kind, key=key, value="Blur"))

    if template in LABELS:
        assert told == LABELS[template]
    elif OWN.search(text):
        assert told == text
    elif "“" not in text and "«" not in text and "„" not in text:
        begin = {"en": "You ", "de": "Du ", "fr": "Tu ", "zh": "你", "es": ""}[language]
        assert told != text
        assert told.startswith(begin)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Parents live in Leeds."),
        ("en", "Kids go to school in Leeds."),
        ("en", "Sales manager."),
        ("en", "Allergies to nuts."),
        ("en", "Retired nurse."),
        ("en", "Has lived in Leeds since he was six."),
        ("en", "Has a cat called Miso who sleeps all day and is ten."),
        ("en", "Lives in Leeds. Works as a nurse."),
        ("en", "Likes walks and runs in the park."),
        ("de", "Angst vor Hunden."),
        ("de", "Arbeit macht Spaß."),
        ("de", "Eltern leben in Ulm."),
        ("de", "Wohnt in Ulm, arbeitet als Arzt."),
        ("es", "Casa en Porto."),
        ("es", "Padres en Leeds."),
        ("es", "Hace tres años que no come azúcar."),
        ("es", "Duerme con luz porque teme la noche."),
        ("es", "Le compró un regalo."),
        ("fr", "Chat noir."),
        ("fr", "Parents à Leeds."),
        ("fr", "Adore se lever tôt."),
        ("fr", "Adore s’occuper des chats."),
        ("zh", "销售经理。"),
        ("zh", "我一紧张就咬指甲。"),
    ],
)
def test_text_that_may_have_another_subject_stays(language: str, text: str) -> None:
    """A noun may look like a verb, and a verb behind another word may tell of somebody else."""
    assert build_sentence(believed(text, language)) == text


@pytest.mark.parametrize(
    ("language", "text", "sentence"),
    [
        ("en", "Dislikes coriander and hates olives.", "You dislike coriander and hate olives."),
        ("en", "Lives in Leeds and has a cat.", "You live in Leeds and have a cat."),
        ("en", "Planned a trip and stopped smoking.", "You planned a trip and stopped smoking."),
        ("de", "Vertritt den Chef.", "Du vertrittst den Chef."),
        ("de", "Verspricht, das Rad zu putzen.", "Du versprichst, das Rad zu putzen."),
        ("es", "Le gusta el café.", "Te gusta el café."),
        ("es", "No le gustan los gatos.", "No te gustan los gatos."),
        ("es", "Perdió el trabajo.", "Perdiste el trabajo."),
        ("es", "Se mudó a Oporto.", "Te mudaste a Oporto."),
        ("fr", "Connaît Lyon et déteste la pluie.", "Tu connais Lyon et détestes la pluie."),
    ],
)
def test_listed_verbs_take_the_form_for_the_person(language: str, text: str, sentence: str) -> None:
    """The first one, and those that are joined to it."""
    assert build_sentence(believed(text, language)) == sentence


@pytest.mark.parametrize(
    ("text", "value", "sentence"),
    [
        ("Has an allergy: nuts.", "nuts", "You have an allergy: nuts."),
        ("Favourite band : Blur.", "Blur", "Your favourite band: Blur."),
        ("GP: Dr Adair.", "Dr Adair", "Your GP: Dr Adair."),
    ],
)
def test_label_has_no_verb(text: str, value: str, sentence: str) -> None:
    """Where one begins the text, it is told; capitals that belong to the label stay."""
    assert build_sentence(believed(text, value=value)) == sentence


def test_doubt_follows_without_the_mark_before_it() -> None:
    """Another mark than a full stop goes, too."""
    assert build_sentence(believed("Likes jazz!", status="tentative")) == "You like jazz, I think."


def test_relation_is_told_in_the_words_of_its_language_and_as_over_where_it_is() -> None:
    """The stored role is in English, and of what has ended it says so."""
    cat = believed(
        "No longer: Cat: Pixel.", subject="other", key="Pixel:relation", value="no longer cat"
    )
    friend = believed(
        "Mejor amiga: Carmen.", subject="other", key="Carmen:relation", value="best friend"
    )
    chinese = believed("不再：猫：小黑。", subject="other", key="小黑:relation", value="不再cat")
    free = believed("Carmen la ayuda.", subject="other", key="Carmen:relation", value="friend")

    assert build_sentence(cat) == "Pixel is no longer your cat."
    assert build_sentence(replace(friend, language="es")) == "Carmen: tu mejor amiga."
    assert build_sentence(replace(chinese, language="zh")) == "小黑不再是你的猫。"
    assert build_sentence(replace(free, language="es")) == "Carmen la ayuda."


@pytest.mark.parametrize(
    ("language", "sentence", "told_in"),
    [
        ("en", "You do not like “Rosenkohl”, I think.", "en"),
        ("de", "Du magst Rosenkohl nicht, glaube ich.", "de"),
        ("zh", "我不太确定：你不喜欢“Rosenkohl”。", "zh"),
        ("it", "Du magst Rosenkohl nicht, glaube ich.", "de"),
        ("", "Du magst Rosenkohl nicht, glaube ich.", "de"),
    ],
)
def test_belief_is_told_in_the_language_of_the_reader(
    language: str, sentence: str, told_in: str
) -> None:
    """As unsure as it is; in its own where the reader's has no words for it."""
    memory = believed(
        "Mag Rosenkohl nicht.",
        "de",
        kind="preference",
        key="dislikes",
        value="Rosenkohl",
        status="tentative",
    )
    told = tell_belief(memory, language=language)
    assert (told.text, told.language) == (sentence, told_in)


def test_event_that_cannot_be_told_in_another_language_stands_without_marks() -> None:
    """Its words are not the person's; it says in which language it is."""
    event = believed("Hat die Prüfung bestanden.", "de", kind="event")
    told = tell_belief(event, language="en")
    assert (told.text, told.language) == ("Hat die Prüfung bestanden.", "de")


def test_own_words_are_introduced_in_the_language_of_the_reader() -> None:
    """The words themselves stay as they were said."""
    quoted = believed(
        "Sagt: „die schule zieht um“", "de", key="in_own_words", value="die schule zieht um"
    )
    told = tell_belief(quoted, [said("die schule zieht um")], language="fr")
    assert (told.text, told.language) == ("Tu as dit : « die schule zieht um »", "fr")


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "In March 2024 you lived in Ulm."),
        ("de", "Im März 2024 hast du in Ulm gewohnt."),
        ("es", "En marzo de 2024 vivías en Ulm."),
        ("fr", "En mars 2024, tu habitais à Ulm."),
        ("zh", "2024年3月的时候，你住在Ulm。"),
    ],
)
def test_what_was_so_long_ago_is_told_with_its_time(language: str, sentence: str) -> None:
    """In the language of the reader."""
    memory = believed("Wohnt in Ulm.", "de", key="location", value="Ulm")
    march = to_micros(datetime(2024, 3, 5, tzinfo=UTC))
    told = tell_as_of(memory, (), as_of=march, zone="UTC", language=language)
    assert told == BeliefSentence(text=sentence, language=language)


def test_relation_is_a_sentence_in_its_own_language() -> None:
    """And no label, in languages whose words for it know the gender."""
    memory = believed("Schwester: Ana.", "de", subject="other", key="Ana:relation", value="sister")
    assert build_sentence(memory) == "Ana ist deine Schwester."
