"""Misspelled words find what was meant; words that are spelled right are never read as others."""

import tomllib
from pathlib import Path

import pytest

from oldfriend.lang.language_pack import get_traits
from oldfriend.search import PersonIndex, search
from oldfriend.search.query_parser import parse_query
from oldfriend.search.spelling import LANGUAGES, UNLISTED_SURPRISAL, correct_spelling, find_lexicon
from oldfriend.search.tokenizer import stem_word
from tests.search.conversation import asking, rows

EVERYDAY = {
    "en": """
        what when where which whose whom why how many much often long hiking hiked biking biked
        liking liked loving loved living lived leaving left moving moved making made taking took
        baking baked waking woke walking walked working worked talking talked telling told going
        went getting got giving gave having buying bought bringing brought thinking thought
        teaching taught catching caught fighting fought seeking sought eating ate beating drinking
        drank driving drove writing wrote riding rode hiding hid finding found feeling felt falling
        fell filling filled failing failed selling sold sailing sailed saving saved serving served
        losing lost loosing closing closed choosing chose starting started staying stayed studying
        studied planning planned playing played planting planted paying paid praying prayed passing
        passed parking parked packing packed picking picked kicking kicked licking licked looking
        looked booking booked cooking cooked cleaning cleaned learning learned earning earned
        yearning running ran reading read leading led meeting met needing needed seeing saw
        sleeping slept slipping slipped singing sang sinking sank swimming swam swinging skating
        skated skiing skied sitting sat setting hitting cutting putting shutting shopping shopped
        stopping stopped dropping dropped dreaming dreamed drawing drew growing grew knowing knew
        showing showed throwing threw breaking broke speaking spoke stealing stole wearing wore
        hearing heard fearing feared caring cared sharing shared staring stared scaring scared
        celebrating celebrated cooperating finishing finished fishing fished wishing wished washing
        washed watching watched waiting waited wanting wanted visiting visited travelling travelled
        training trained draining raining rained calling called falling ruling rolling rolled
        marrying married worrying worried carrying carried hurrying hurried winning won dying died
        """,
    "es": """
        qué cuándo dónde cuál quién cómo cuánto cuántas comer comí comía comprar compré compraba
        cantar canté contar conté contaba cortar corté cansar cansé casar casé cazar cocinar cociné
        caminar caminé cambiar cambié llamar llamé llevar llevé llorar lloré llegar llegué llover
        dejar dejé decir dije dar di deber debí dormir dormí doler dolía vivir viví ver vi venir
        vine vender vendí viajar viajé volver volví votar voté pasar pasé pesar pesé pensar pensé
        pescar pesqué pagar pagué pegar pegué pedir pedí perder perdí poner puse poder pude probar
        probé querer quise quedar quedé quemar quemé saber supe sacar saqué salir salí saltar salté
        sentir sentí sentar senté servir serví ser fui hablar hablé hacer hice oír oí jugar jugué
        juntar junté jurar juré leer leí limpiar limpié tener tuve tomar tomé tocar toqué trabajar
        trabajé traer traje tratar traté tardar tardé mirar miré mover moví morir murió mandar mandé
        nacer nací nadar nadé ganar gané gastar gasté gustar gustaba gritar grité regalar regalé
        romper rompí aprender aprendí empezar empecé encontrar encontré entrar entré escribir
        escribí escuchar escuché esperar esperé estudiar estudié buscar busqué bailar bailé beber
        bebí bajar bajé subir subí cuidar cuidé cumplir cumplí creer creí crecer crecí correr corrí
        """,
    "de": """
        was wann wo welche wessen wem warum wie viele lange oft wohin woher laufe gelaufen kaufe
        gekauft kochen gekocht suchen gesucht besuchen besucht buchen gebucht fluchen backen
        gebacken packen gepackt machen gemacht lachen gelacht wachen denken gedacht danken gedankt
        schenken geschenkt trinken getrunken singen gesungen springen gesprungen bringen gebracht
        lernen gelernt leeren geleert lehren gelehrt leben gelebt lieben geliebt loben gelobt legen
        gelegt liegen gelegen lesen gelesen lassen gelassen fassen passen gepasst hassen gehasst
        essen gegessen messen gemessen vergessen vermessen wissen gewusst fahren gefahren führen
        geführt fühlen gefühlt füllen gefüllt fallen gefallen fangen gefangen hängen gehangen
        finden gefunden binden gebunden bieten geboten bitten gebeten beten gebetet reiten geritten
        leiten geleitet reisen gereist reißen gerissen heißen geheißen schreiben geschrieben
        bleiben geblieben treiben getrieben schlafen geschlafen schlagen geschlagen tragen getragen
        fragen gefragt sagen gesagt jagen gejagt wohnen gewohnt gewöhnen gewöhnt lohnen gelohnt
        arbeiten gearbeitet warten gewartet starten gestartet spielen gespielt sparen gespart
        spüren gespürt spülen gespült stehen gestanden gehen gegangen sehen gesehen geschehen
        nehmen genommen kommen gekommen bekommen heiraten geheiratet wandern gewandert ändern
        geändert treffen getroffen helfen geholfen werfen geworfen sterben gestorben werben
        geworben feiern gefeiert studieren studiert probieren probiert verlieren verloren
        verkaufen verkauft versuchen versucht verstehen verstanden erzählen erzählt bezahlen
        bezahlt zählen gezählt wählen gewählt ziehen gezogen umziehen umgezogen zeigen gezeigt
        """,
    "fr": """
        quoi quand où quel quelle quels quelles qui comment pourquoi combien manger mangé mangeais
        mange marcher marché chercher cherché acheter acheté jeter jeté arrêter arrêté aimer aimé
        aider aidé aller allé appeler appelé apprendre appris prendre pris comprendre compris
        vendre vendu rendre rendu tendre attendre attendu entendre entendu perdre perdu boire bu
        voir vu savoir su avoir eu être été devoir dû pouvoir pu vouloir voulu recevoir reçu lire lu
        dire dit rire ri écrire écrit vivre vécu suivre suivi servir servi sentir senti sortir sorti
        partir parti mentir menti dormir dormi courir couru mourir mort ouvrir ouvert offrir offert
        souffrir souffert tenir tenu venir venu devenir devenu revenir revenu faire fait plaire plu
        connaître connu naître né parler parlé porter porté poser posé passer passé penser pensé
        peser pesé payer payé jouer joué louer loué laver lavé lever levé livrer livré laisser
        laissé lancer lancé danser dansé chanter chanté changer changé charger chargé casser cassé
        cacher caché gagner gagné garder gardé regarder regardé rester resté rentrer rentré rêver
        rêvé trouver trouvé travailler travaillé tomber tombé tourner tourné tuer tué visiter visité
        voyager voyagé voler volé nager nagé neiger neigé pleurer pleuré pleuvoir étudier étudié
        cuisiner cuisiné commencer commencé finir fini choisir choisi grandir grandi vieillir
        """,
}

VERB_FORMS = tomllib.loads(Path(__file__).with_name("verb_forms.toml").read_text("utf-8"))


def terms_of(word: str, *, language: str) -> tuple[int, ...]:
    """The terms for which a word is searched where it needs no correction."""
    asked = parse_query(asking(word, language=language), [language])
    return tuple(term for each in asked.words for term in each.terms)


def reading(word: str, said: list[str], *, language: str) -> tuple[int, ...]:
    """The terms for which a word is searched in a history of these words."""
    lines = [("s1", "Ana", each) for each in said]
    index = PersonIndex.build(rows(lines, language=language, role="person"))
    asked = parse_query(asking(word, language=language), index.tables.languages.strings)
    return tuple(term for each in correct_spelling(asked, index).words for term in each.terms)


@pytest.mark.parametrize("language", EVERYDAY)
def test_everyday_words_are_not_corrected_to_other_words(language: str) -> None:
    """Whoever asks about hiking is not told what they like."""
    everyday = EVERYDAY[language].split()
    stems = {word: stem_word(word, language) for word in everyday}

    misread = []
    for word in everyday:
        others = [other for other in everyday if stems[other] != stems[word]]
        if reading(word, others, language=language) != terms_of(word, language=language):
            misread.append(word)

    assert misread == []


def test_hiking_is_not_corrected_to_liking() -> None:
    """The question that showed it."""
    lines = [("s1", "Ana", "My favorite bands are the ones I like to dance to.")]
    index = PersonIndex.build(rows(lines, role="person"))

    found = search(index, asking("Where did I go hiking?"), 3)

    assert not [why for hit in found.hits for why in hit.reasons if why.cause == "words"]


@pytest.mark.parametrize(
    ("asked", "said", "language"),
    [
        ("barcelna", "barcelona", "en"),
        ("restuarant", "restaurant", "en"),
        ("allergc", "allergic", "en"),
        ("Lisbeht", "Lisbeth", "en"),
        ("aniversrio", "aniversario", "es"),
        ("Geburtstg", "Geburtstag", "de"),
        ("anniversire", "anniversaire", "fr"),
    ],
)
def test_misspelled_word_is_corrected_to_a_word_of_the_history(
    asked: str, said: str, language: str
) -> None:
    """One letter left out, or two exchanged."""
    meant = terms_of(said, language=language)

    assert reading(asked, [said], language=language) == meant


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_lexicon(language: str) -> None:
    """Sorted, and without nonsense."""
    lexicon = find_lexicon(language)

    assert lexicon is not None
    assert (lexicon.terms[1:] > lexicon.terms[:-1]).all()
    assert "zzqxv" not in lexicon
    assert lexicon.compute_surprisal("zzqxv") == UNLISTED_SURPRISAL


def test_rare_words_have_a_higher_surprisal() -> None:
    """In bits."""
    lexicon = find_lexicon("en")

    assert lexicon is not None
    assert (
        lexicon.compute_surprisal("think")
        < lexicon.compute_surprisal("train")
        < lexicon.compute_surprisal("hazelnuts")
    )
    assert find_lexicon("zh") is None


@pytest.mark.parametrize("language", EVERYDAY)
def test_everyday_verb_forms_are_in_the_lexicon(language: str) -> None:
    """Also such as are spelt otherwise than their infinitive, asked in any of the languages."""
    forms = VERB_FORMS[language].split()
    lexicon = find_lexicon(language)

    assert lexicon is not None
    assert [form for form in forms if form not in lexicon] == []


def test_verb_form_test_data_has_at_least_300_forms() -> None:
    """Each once."""
    assert sum(len({*forms.split()}) for forms in VERB_FORMS.values()) >= 300


@pytest.mark.parametrize("language", EVERYDAY)
def test_verb_forms_are_not_corrected_to_everyday_words(language: str) -> None:
    """In a history of small words and common verbs."""
    said = [*EVERYDAY[language].split(), *sorted(get_traits(language).stop_words)]
    stems = {stem_word(word, language) for word in said}
    forms = [
        each for each in VERB_FORMS[language].split() if stem_word(each, language) not in stems
    ]

    misread = [
        form
        for form in forms
        if reading(form, said, language=language) != terms_of(form, language=language)
    ]

    assert misread == []


def test_unknown_word_is_not_corrected_to_its_own_prefix() -> None:
    """Its ending goes on behind the stem, so that more than one letter would be too many."""
    assert stem_word("zubrelno", "es") == "zubreln"
    assert reading("zubrelno", ["zubrel"], language="es") == terms_of("zubrelno", language="es")
    assert reading("zubreln", ["zubrel"], language="es") == terms_of("zubrel", language="es")
