"""Of what people really tell, how much is kept without a model? By rules, nothing that is not so.

Both sets were written before the rules were widened on the first of them. Blind, 141 of 325 were
kept of the first; afterwards 77 of 125 of the second (39 by the rules of before).
"""

from pathlib import Path
from typing import Final

import pytest

from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import PersonId, SegmentId
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import Person
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import ExtractionInput
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.tagged_facts import add_tagged_facts
from oldfriend.learning.validate import validate_extraction
from oldfriend.llm.adapters.local_networks import LocalFactTagger
from oldfriend.llm.reading import FactTagger
from tests.learning.rule_extraction.message_fixtures import material_of, message, read, said

TOLD: Final = Path(__file__).parent / "told"
KINDS: Final[dict[str, frozenset[MemoryKind]]] = {
    "a": frozenset({"fact", "preference", "pattern", "event", "triple"}),
    "e": frozenset({"event", "fact", "triple"}),
    "x": frozenset({"commitment", "expectation", "event", "triple"}),
}
KEPT: Final = {"1": 0.9, "2": 0.5}
"""So much of each set at least, in each language."""


@pytest.fixture(scope="module")
def tagger() -> FactTagger:
    """The tagger that is shipped."""
    return LocalFactTagger()


def rows(name: str) -> list[tuple[str, str]]:
    """Sentences, each with what is told; nothing where nothing is."""
    lines = (TOLD / f"{name}.txt").read_text("utf-8").splitlines()
    parted = (line.partition(" =>") for line in lines if line and not line.startswith("#"))
    return [(sentence, told.strip()) for sentence, _, told in parted]


def believed(
    sentence: str, language: str, tagger: FactTagger | None = None
) -> list[tuple[MemoryKind, str]]:
    """What the rules, and a tagger, read in a sentence, and the gates let through."""
    nora = Person(id=PersonId("nora"), name="Nora", is_owner=True, language=language, zone="UTC")
    material = ExtractionInput(
        segment=SegmentId("segment"),
        person=nora,
        companion="Oldfriend",
        messages=(message(sentence, language=language),),
    )
    read = extract_with_rules(material)
    read = read if tagger is None else add_tagged_facts(read, material, tagger)
    found = validate_extraction(read, material).extraction
    claims = (*found.claims, *(tied.claim for tied in found.relations))
    return [(each.kind, f"{each.text} {each.value}".casefold()) for each in claims]


@pytest.mark.parametrize("language", list_languages("rules"))
@pytest.mark.parametrize("number", sorted(KEPT))
def test_rules_and_tagger_reach_the_required_recall_on_told_sentences(
    tagger: FactTagger, language: str, number: str
) -> None:
    """Themselves and theirs, what they did on which day, what they have to do."""
    missed: list[str] = []
    wanted = [row for row in rows(f"{language}_{number}") if row[1]]
    for sentence, told in wanted:
        kind, _, word = told.partition(":")
        found = believed(sentence, language, tagger)
        if not any(each in KINDS[kind] and word.casefold() in text for each, text in found):
            missed.append(sentence)

    assert len(missed) <= (1 - KEPT[number]) * len(wanted), missed


@pytest.mark.parametrize("language", list_languages("rules"))
@pytest.mark.parametrize("number", sorted(KEPT))
def test_rules_believe_nothing_from_trap_sentences(language: str, number: str) -> None:
    """What others say, what nearly was, what is asked, wished and imagined."""
    traps = [sentence for sentence, told in rows(f"{language}_{number}") if not told]

    assert len(traps) >= 6
    assert {each: found for each in traps if (found := believed(each, language))} == {}


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "On Monday I started a new job."),
        ("de", "Am Montag habe ich angefangen zu rudern."),
        ("zh", "我周一开始上新班了。"),
        ("zh", "我十二岁起就吃素。"),
    ],
)
def test_past_weekday_yields_no_commitment_expectation_or_fact(
    language: str, sentence: str
) -> None:
    """A weekday in the past is the one that was last."""
    found = believed(sentence, language)

    assert not [kind for kind, _ in found if kind in {"commitment", "expectation", "fact"}]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("zh", "我老婆是助产士。"),
        ("zh", "我5月14号约了牙医。"),
        ("es", "En junio nos mudamos a Murcia."),
        ("en", "I've lived in Utrecht since 2018."),
        ("en", "Yesterday I walked to work."),
    ],
)
def test_present_state_or_plan_yields_no_event(language: str, sentence: str) -> None:
    """Nor is a midwife a wife by that name, nor each walk worth keeping."""
    found = believed(sentence, language)

    assert "event" not in {kind for kind, _ in found}
    assert not any("wife" in text for _, text in found)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("es", "El lunes pasado decí que sí a todo."),
        ("es", "Ayer tené la puerta bien cerrada."),
        ("es", "Ayer volvé con la llave a casa."),
    ],
)
def test_spanish_imperative_yields_no_event(language: str, sentence: str) -> None:
    """Though some of it ends as what one did oneself."""
    assert believed(sentence, language) == []


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "I love the beer here."),
        ("es", "Me encanta la cerveza de acá."),
        ("fr", "J'adore la bière d'ici."),
        ("de", "Ich liebe das Bier hier."),
        ("zh", "我喜欢这里的啤酒。"),
    ],
)
def test_liking_tied_to_here_yields_no_claim(language: str, sentence: str) -> None:
    """Read years later, nobody knows where "here" was."""
    assert believed(sentence, language) == []


@pytest.mark.parametrize(
    ("language", "sentence", "day"),
    [
        ("de", "Am Montag habe ich eine neue Stelle angefangen.", "2025-05-05"),
        ("fr", "Samedi on a signé le bail.", "2025-05-03"),
        ("zh", "我周六把车撞了。", "2025-05-03"),
        ("en", "I moved last Saturday.", "2025-05-03"),
        ("en", "I moved to Porto last Saturday and today I am tired.", "2025-05-03"),
        ("en", "Last Saturday my grandmother died.", "2025-05-03"),
        ("es", "me mudé el sábado pasado", "2025-05-03"),
        ("es", "Me mudé a Sevilla el sábado pasado, hoy estoy cansada.", "2025-05-03"),
        ("es", "El sábado pasado murió Miso, mi gato.", "2025-05-03"),
        ("es", "Ayer murió mi gato Miso.", "2025-05-06"),
        ("es", "Murió mi abuela ayer.", "2025-05-06"),
        ("es", "Ayer conseguí trabajo.", "2025-05-06"),
    ],
)
def test_event_on_a_weekday_is_dated_to_the_last_such_day(
    language: str, sentence: str, day: str
) -> None:
    """Said on Wednesday, 7 May 2025."""
    (event,) = [each for each in said(sentence, language=language).claims if each.kind == "event"]

    assert event.happened_at is not None
    assert from_micros(event.happened_at, "UTC").date().isoformat() == day


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "My mum lives in Cardiff, my dad died in 2015."),
        ("es", "Mi madre vive en Madrid, mi padre murió en 2015."),
        ("fr", "Ma mère vit à Lyon, mon père est mort en 2015."),
        ("zh", "我爸爸三年前去世了。"),
        ("zh", "我的上司姓周。"),
    ],
)
def test_place_time_or_surname_beside_a_role_word_is_not_a_person(
    language: str, sentence: str
) -> None:
    """Though it stands beside a word for somebody."""
    read_ = said(sentence, language=language)

    assert [each.name for each in read_.mentions if each.kind != "place"] == []
    assert not [each for each in read_.claims if each.key.endswith(":relation")]


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "My mum is called Carol and lives in Cardiff.", "Carol lives in Cardiff."),
        ("es", "Mi madre se llama Carmen y vive en Albacete.", "Carmen vive en Albacete."),
        ("fr", "Ma mère s'appelle Odile et habite à Lyon.", "Odile vit à Lyon."),
        ("de", "Meine Mutter heißt Greta und wohnt in Bonn.", "Greta wohnt in Bonn."),
        ("zh", "我叫王芳，住在杭州。", "住在杭州。"),
    ],
)
def test_second_clause_is_attributed_to_the_person_named_first(
    language: str, sentence: str, told: str
) -> None:
    """The other half of a sentence is of the same one."""
    assert told in [each.text for each in said(sentence, language=language).claims]


def test_chinese_clause_without_subject_is_not_attributed_to_the_person() -> None:
    """Chinese leaves out who lives there."""
    claims = said("我妈妈叫陈桂英，住在苏州。", language="zh").claims

    assert not [each for each in claims if each.key == "location"]


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("zh", "我答应下周六陪爸爸去钓鱼", "答应陪爸爸去钓鱼（2025年5月17日）。"),
        ("zh", "我答应爸爸下周六陪他去钓鱼。", "答应爸爸陪他去钓鱼（2025年5月17日）。"),
    ],
)
def test_chinese_weekday_of_next_week_is_stripped_from_the_text_whole(
    language: str, sentence: str, told: str
) -> None:
    """ "下周" begins "下周六"."""
    (claim,) = said(sentence, language=language).claims

    assert (claim.kind, claim.text) == ("commitment", told)


@pytest.mark.parametrize(
    ("language", "sentence", "names"),
    [
        ("en", "hey there, I'm Marcus", ["Marcus"]),
        ("es", "Hola, soy Lucía.", ["Lucía"]),
        ("en", "Hi! I'm Helen.", ["Helen"]),
        ("es", "¡Hola! Soy Marta.", ["Marta"]),
        ("en", "Hello! I'm back.", []),
        ("fr", "Bonjour, je suis Léa.", ["Léa"]),
        ("en", "Hi, I'm French.", []),
        ("en", "Hello, I'm back!", []),
        ("en", "I'm Marcus's brother.", []),
    ],
)
def test_name_after_a_greeting_is_extracted_as_the_persons_name(
    language: str, sentence: str, names: list[str]
) -> None:
    """As most begin."""
    claims = said(sentence, language=language).claims

    assert [each.value for each in claims if each.key == "name"] == names


def test_pet_death_with_a_leading_time_in_chinese_is_a_negative_event() -> None:
    """The night before stands before the name in Chinese."""
    claims = said("我家养了一只猫叫咪咪。", "昨晚咪咪死了。", language="zh").claims
    (event,) = [each for each in claims if each.kind == "event"]

    assert event.impact < 0


def test_other_named_speaker_is_mentioned_as_a_person() -> None:
    """By the name beside their words; a number is none, and the person is not another."""
    talk = [
        ("Ana Silva", "I moved to Porto."),
        ("+351 912 345 678", "ok see you"),
        ("Ana Silva", "Bye!"),
    ]
    heard = (
        message(text, number=n, role="other", speaker=speaker)
        for n, (speaker, text) in enumerate(talk)
    )
    names = read(message("Hello all!", number=9), *heard).mentions

    assert [(each.name, each.kind) for each in names if each.kind == "person"] == [
        ("Ana Silva", "person")
    ]


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "My best friend is Priya.", {"Priya": "best friend"}),
        ("en", "We've got a dog, a beagle named Rufus.", {"Rufus": "dog"}),
        (
            "en",
            "My husband is called Mark and we have two kids, Olivia and Ben.",
            {"Mark": "husband", "Olivia": "child", "Ben": "child"},
        ),
        (
            "en",
            "I have three daughters, Ann, Sue and Liz.",
            {"Ann": "daughter", "Sue": "daughter", "Liz": "daughter"},
        ),
        (
            "es",
            "Estoy casada con Javier y tenemos tres hijos: Marta, Pablo y Nico.",
            {"Marta": "child", "Pablo": "child", "Nico": "child"},
        ),
        ("es", "Tengo un perro, un beagle que se llama Rufus.", {"Rufus": "dog"}),
        ("es", "Nuestra gata se llama Luna.", {"Luna": "cat"}),
        ("fr", "Ma meilleure amie est Claire.", {"Claire": "best friend"}),
        ("fr", "Notre chat s'appelle Mimi.", {"Mimi": "cat"}),
        ("fr", "Nous avons deux enfants, Léa et Hugo.", {"Léa": "child", "Hugo": "child"}),
        ("de", "Mein bester Freund ist Uwe.", {"Uwe": "best friend"}),
        ("de", "Wir haben zwei Kinder: Emma und Paul.", {"Emma": "child", "Paul": "child"}),
        (
            "de",
            "Mein Mann Tim und ich haben zwei Töchter, Mia und Ida.",
            {"Tim": "husband", "Mia": "daughter", "Ida": "daughter"},
        ),
        ("de", "Unser Kater heißt Felix.", {"Felix": "cat"}),
        ("zh", "我们有两个孩子，叫明明和乐乐。", {"明明": "child", "乐乐": "child"}),
        ("zh", "我的女儿叫小红和小兰。", {"小红": "daughter", "小兰": "daughter"}),
    ],
)
def test_named_relatives_friends_and_pets_get_their_relation(
    language: str, sentence: str, told: dict[str, str]
) -> None:
    """One by one, where several are named at once."""
    claims = said(sentence, language=language).claims

    relations = {c.key.removesuffix(":relation"): c.value for c in claims if "relation" in c.key}
    assert {name: each for name, each in relations.items() if name in told} == told
    assert set(relations) == set(told)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "My best friend is French."),
        ("en", "My sister is Irish."),
        ("en", "My kids love Peppa and George."),
        ("en", "My brother is Head of Sales."),
        ("en", "My wife is Filipino."),
        ("en", "My uncle is Sikh."),
        ("en", "My grandmother is Afghan."),
        ("en", "My cousin is Arab."),
        ("fr", "Mon père est Juif."),
        ("fr", "Ma sœur est Musulmane."),
        ("fr", "Mon ami est Corse."),
        ("es", "Mis hijos odian Roma y Milán."),
        ("fr", "Mon mari est Français."),
        ("de", "Vor drei Jahren ist mein Opa gestorben."),
        ("de", "Leider ist mein Vater krank."),
        ("de", "Im Krankenhaus ist meine Schwester gut aufgehoben."),
        ("de", "Zum Glück ist mein Hund wieder gesund."),
        ("de", "Meine beste Freundin ist Lehrerin."),
        ("de", "Mein bester Freund ist Koch."),
        ("fr", "Ma fille est Verseau."),
        ("en", "My wife is Polish and my boss is Dutch."),
        ("zh", "我的孩子喜欢北京和上海。"),
    ],
)
def test_capitalized_word_that_is_no_name_yields_no_relation(language: str, sentence: str) -> None:
    """In German each noun does."""
    assert not [c for c in said(sentence, language=language).claims if "relation" in c.key]


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "My husband is called Mark and we live in Leeds.", "Lives in Leeds."),
        ("de", "Meine Frau heißt Katrin, und wir wohnen in Bonn.", "Wohnt in Bonn."),
        ("es", "Mi marido se llama Luis y vivimos en Madrid.", "Vive en Madrid."),
        ("fr", "Mon mari s'appelle Luc et nous habitons à Lyon.", "Vit à Lyon."),
    ],
)
def test_we_clause_is_attributed_to_the_person(language: str, sentence: str, told: str) -> None:
    """Though the sentence began with somebody else."""
    assert any(told.casefold() in text for _, text in believed(sentence, language))


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("es", "Mi hijo se llama Diego."),
        ("fr", "Mon fils s'appelle Louis."),
        ("en", "My son is called Tom."),
        ("de", "Mein Sohn heißt Tim."),
        ("zh", "我儿子叫小明。"),
    ],
)
def test_son_relation_is_kept_in_every_language(language: str, sentence: str) -> None:
    """The word for it among us is a small one in Spanish and in French."""
    assert any(text.endswith(" son") for _, text in believed(sentence, language))


def test_short_death_event_passes_validation() -> None:
    """ "Rex died." is shorter than what is worth keeping otherwise."""
    material = material_of(message("My dog Rex is six."), message("Rex died on Sunday.", number=1))
    kept = validate_extraction(extract_with_rules(material), material).extraction.claims

    assert "Rex died." in [each.text for each in kept]


def test_french_rendez_vous_is_not_taken_for_second_person() -> None:
    """Though there is a "you" in it."""
    assert believed("J'ai un rendez-vous chez le dentiste lundi.", "fr")


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "Three years ago I lost my father.", "Lost father."),
        ("en", "I lost my dad three years ago.", "Lost dad."),
        ("en", "I lost my mum to cancer.", "Lost mum."),
        ("en", "We had to put my dog Rex to sleep last week.", "Had to put dog Rex to sleep."),
        ("es", "Perdí a mi madre hace dos años.", "Murió la madre."),
        ("de", "Ich habe vor zwei Jahren meinen Vater verloren.", "Hat den Vater verloren."),
        ("en", "My dog died.", "Dog died."),
        ("es", "Mi padre se ha roto la pierna.", "El padre se ha roto la pierna."),
        ("fr", "Il y a trois ans mon grand-père est mort.", "Mort : le grand-père."),
        ("fr", "Mon père s'est cassé la jambe.", "Le père s’est cassé la jambe."),
        ("de", "Vor drei Jahren ist mein Opa gestorben.", "Der Opa ist gestorben."),
        ("de", "Mein Vater hat sich das Bein gebrochen.", "Der Vater hat sich das Bein gebrochen."),
        ("zh", "三年前我爷爷去世了。", "爷爷去世了。"),
        ("zh", "我的狗死了。", "狗死了。"),
        ("zh", "我爸爸摔断了腿，我很担心。", "爸爸摔断了腿。"),
    ],
)
def test_death_of_a_relative_or_pet_is_an_event_with_negative_impact(
    language: str, sentence: str, told: str
) -> None:
    """Whenever it was; not only quoted because it has a date."""
    (event,) = [each for each in said(sentence, language=language).claims if each.kind == "event"]

    assert event.text.replace("'", "’") == told
    assert event.impact < 0


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "I had to put my daughter to sleep last night."),
        ("en", "I had to put my mother on hold."),
        ("en", "We had to put my dad in a care home."),
        ("en", "I had to put my cat in a carrier."),
        ("en", "I lost my son on the beach."),
        ("en", "I lost my husband to football."),
        ("es", "Perdí a mi hija en el supermercado."),
        ("de", "Ich habe gegen meinen Bruder verloren."),
        ("zh", "我女儿走了。"),
        ("zh", "我朋友昨天走了。"),
    ],
)
def test_ambiguous_death_phrase_yields_no_strongly_negative_event(
    language: str, sentence: str
) -> None:
    """The words for it have other meanings, too."""
    assert all(each.impact > -7 for each in said(sentence, language=language).claims)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The meeting was not moved to Monday."),
        ("en", "My dog almost died."),
        ("es", "La reunión no se pasa al lunes."),
        ("es", "Mi perro casi murió."),
        ("fr", "Mon chien est presque mort."),
        ("fr", "La réunion n'est pas reportée à lundi."),
        ("de", "Mir wurde nicht gekündigt."),
        ("de", "Mein Hund ist fast gestorben."),
        ("de", "Wir haben uns nicht scheiden lassen."),
        ("de", "Wir haben uns fast getrennt."),
        ("de", "Mein Vater hat sich nicht das Bein gebrochen."),
        ("zh", "会议没改到周五。"),
        ("zh", "我爸差点走了。"),
    ],
)
def test_negated_or_nearly_happened_event_yields_no_belief(language: str, sentence: str) -> None:
    """Wherever in the sentence that is said."""
    assert believed(sentence, language) == []


def test_event_text_keeps_nested_quotation_marks() -> None:
    """However it was read."""
    claims = said("Ayer terminé de leer «Dune» por fin.", language="es").claims

    assert [each.text for each in claims] == ["Dice: «Ayer terminé de leer «Dune» por fin»"]


@pytest.mark.parametrize("sentence", ["Den mag ich gern.", "Die mag ich sehr.", "Dich mag ich."])
def test_german_pronoun_object_yields_no_preference(sentence: str) -> None:
    """What is liked has a name."""
    assert not said(sentence, language="de").claims


def test_pronoun_in_a_preference_is_resolved_to_the_activity() -> None:
    """It is named before."""
    claims = said("I've started running and now I love it.").claims

    assert [each.value for each in claims if each.kind == "preference"] == ["running"]


def test_dated_sentence_with_two_events_yields_both() -> None:
    """A dated sentence may tell of two."""
    claims = said("Samedi j'ai signé le bail et mon chien est mort.", language="fr").claims

    assert {each.impact < 0 for each in claims if each.kind == "event"} == {True, False}


@pytest.mark.parametrize(
    ("language", "sentence", "kind"),
    [
        ("en", "My flight was moved to Wednesday.", "expectation"),
        ("en", "We're getting married on 12 September.", "expectation"),
        ("es", "Nos casamos el 12 de septiembre.", "expectation"),
        ("de", "Der Flug nach Rom ist auf den 5. Juni verschoben.", "expectation"),
    ],
)
def test_future_plan_yields_a_dated_expectation_or_commitment(
    language: str, sentence: str, kind: str
) -> None:
    """Whatever else the words look like."""
    (claim,) = said(sentence, language=language).claims

    assert (claim.kind, claim.due_at is not None) == (kind, True)


def test_postponed_event_in_chinese_is_named_without_the_pronoun() -> None:
    """No piece of "we" belongs to it."""
    (claim,) = said("我们把婚礼推迟到明年六月。", language="zh").claims

    assert claim.text == "婚礼：2026年6月。"


@pytest.mark.parametrize(
    ("language", "coming", "done"),
    [
        ("en", "We are getting divorced.", "We got divorced."),
        ("en", "I'm getting a divorce.", "I got divorced."),
        ("es", "Nos vamos a divorciar.", "Nos hemos divorciado."),
        ("fr", "Nous allons divorcer.", "Nous avons divorcé."),
        ("de", "Wir lassen uns scheiden.", "Wir haben uns scheiden lassen."),
        ("zh", "我们要离婚了。", "我们离婚了。"),
    ],
)
def test_ongoing_divorce_is_an_event_and_not_a_completed_divorce(
    language: str, coming: str, done: str
) -> None:
    """It is told as what is going on, and no state follows from it."""
    going_on, is_done = (said(text, language=language).claims for text in (coming, done))

    assert [each.kind for each in going_on] == ["event"]
    assert not {each.text for each in going_on} & {each.text for each in is_done}
