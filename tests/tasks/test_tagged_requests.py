"""Requests in any wording, as the tagger reads them. Told on Tuesday 24 November 2026 at two."""

import pytest

from oldfriend.tasks.request_sentences import read_requests
from oldfriend.tasks.time_ambiguity import lacks_part
from oldfriend.tasks.time_words import TimeWord
from oldfriend.tasks.told_time import Told
from tests.tasks.test_time_phrases import read


@pytest.mark.parametrize(
    ("language", "text", "when", "what"),
    [
        (
            "en",
            "bins go out tonight, can u remind me at half past 9 tonight?",
            "Tue 11-24 21:30",
            "bins go out",
        ),
        (
            "en",
            "vet for biscuit is today 4.30pm, give me a shout 45 min before",
            "Tue 11-24 15:45",
            "vet for biscuit",
        ),
        (
            "es",
            "en tres horas y cuarto me avisas pa moverle el carro a mi suegra",
            "Tue 11-24 17:15",
            "moverle el carro",
        ),
        (
            "fr",
            "vendredi faut rendre les bouquins, tu m'y fais penser ?",
            "Fri 11-27 09:00 D",
            "rendre les bouquins",
        ),
        ("zh", "三天后下午四点要交论文初稿，提醒我", "Fri 11-27 16:00", "交论文初稿"),
        ("zh", "提醒我每天上午10点吃药", "Wed 11-25 10:00 FREQ=DAILY", "吃药"),
        ("zh", "提醒我每天10点吃药", "Wed 11-25 10:00 FREQ=DAILY", "吃药"),
    ],
)
def test_frame_that_no_list_holds_is_read(language: str, text: str, when: str, what: str) -> None:
    """What to remind of may have more words around it, but not other ones."""
    found = read(language, text)
    assert found[0] == when
    assert what in found[1]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "that song reminds me of the summer we left at 6 on saturdays"),
        ("de", "der chef hat uns an die sitzung am montag um 9 erinnert, nervig"),
        ("es", "esa canción me recuerda al verano, salíamos los sábados a las 6"),
        ("fr", "cette chanson me rappelle l'été, on partait le samedi à 6h"),
        ("zh", "老板又提醒大家周一九点开会，烦"),
        ("en", "they cancelled the 8:15 train again, third time this week"),
    ],
)
def test_talk_with_times_asks_for_nothing(language: str, text: str) -> None:
    """Also with words that often ask."""
    assert read_requests(text, (language, "en"))[1] == []


@pytest.mark.parametrize(
    ("language", "text", "what"),
    [
        ("en", "could you bung light bulbs on my list", "light bulbs"),
        ("en", "note to self: ring the roofer", "ring the roofer"),
        ("es", "apunta en la lista suavizante", "suavizante"),
        ("de", "auf die Merkliste: Schleifpapier", "Schleifpapier"),
        ("fr", "rajoute du thé sur ma liste", "thé"),
        ("zh", "待办加一个 修水龙头", "修水龙头"),
        ("zh", "购物清单加上牙膏", "牙膏"),
    ],
)
def test_todo_without_a_time_is_taken_in_any_wording(language: str, text: str, what: str) -> None:
    """Though no word in it asks for a reminder."""
    (asked,) = read_requests(text, (language, "en"))[1]
    assert asked.action == "todo"
    assert what in asked.what


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the list of things that broke this week is a joke"),
        ("es", "mi lista de pendientes ya no cabe en un folio"),
        ("de", "auf der Gästeliste stand ich auch nicht"),
        ("fr", "il a eu une bonne note, il est tout fier"),
        ("zh", "我的待办清单越来越长了"),
    ],
)
def test_talk_about_lists_asks_for_nothing(language: str, text: str) -> None:
    """A list is talked about more often than it is written to."""
    assert read_requests(text, (language, "en"))[1] == []


@pytest.mark.parametrize(
    ("language", "text", "words", "times"),
    [
        (
            "en",
            "remind me tomorrow at 9 to ring the vet and at 4pm to fetch the parcel",
            ["ring the vet", "fetch the parcel"],
            ["tomorrow at 9", "at 4pm"],
        ),
        (
            "de",
            "erinner mich um 17 uhr an die wäsche und um 20 uhr an den müll",
            ["wäsche", "müll"],
            ["um 17 uhr", "um 20 uhr"],
        ),
        ("zh", "五点提醒我接孩子，八点提醒我倒垃圾", ["接孩子", "倒垃圾"], ["五点", "八点"]),
    ],
)
def test_two_reminders_in_one_sentence_are_both_taken(
    language: str, text: str, words: list[str], times: list[str]
) -> None:
    """Each with its own time; a day that only the first tells holds for both."""
    found = read_requests(text, (language,))[1]
    assert [each.time_words for each in found] == times
    assert all(word in each.what for word, each in zip(words, found, strict=True))
    days = [each.told and each.told.day for each in found]
    assert days[0] == days[1]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "remind me on monday or tuesday to call the clerk"),
        ("es", "recuérdame el lunes o el martes llamar al juzgado"),
        ("de", "erinnere mich am montag oder dienstag an den anruf beim amt"),
        ("fr", "rappelle-moi lundi ou mardi de téléphoner au greffe"),
        ("zh", "提醒我周一或者周二去看望陈姐"),
    ],
)
def test_one_of_two_days_is_asked_about(language: str, text: str) -> None:
    """Neither is chosen, and no series is made of them."""
    assert read(language, text)[0].startswith("?")


def test_mere_number_after_in_is_minutes() -> None:
    """And no hour of the day."""
    assert read("en", "remind me in 20 to check the oven") == ("Tue 11-24 14:20", "check the oven")


def test_series_lacks_the_hour_that_stands_beside_it() -> None:
    """It is asked about then, not set at nine."""
    every = TimeWord(start=0, end=9, kind="every", entry={"freq": "DAILY"})
    clock = TimeWord(start=20, end=25, kind="clock", entry={})
    assert lacks_part(Told(every=every), [clock])
    assert not lacks_part(Told(every=every, clock=clock), [clock])


@pytest.mark.parametrize(
    "fact",
    [
        "my favourite book: Dune",
        "new phone: works",
        "favourite colour: green",
        "blood type: O negative",
        "sister's name: Ana",
        "shoe size: 43",
        "half a pound: butter",
    ],
)
def test_fact_behind_a_colon_is_no_to_do(fact: str) -> None:
    """It would be on the list, and believed nowhere."""
    _, asked, _ = read_requests(fact, ("en",))

    assert asked == []


@pytest.mark.parametrize(
    ("language", "text", "what"),
    [
        ("es", "mañana tempranito avísame lo del gas tipo 7", "gas"),
        ("zh", "别忘了明天9点左右给妈妈打电话", "给妈妈打电话"),
    ],
)
def test_word_that_says_about_an_hour_is_a_part_of_the_time(
    language: str, text: str, what: str
) -> None:
    """It neither hides the hour nor stays in what to remind of."""
    ((asked,), _) = read_requests(text, (language, "en"))[1:]
    assert asked.told is not None
    assert asked.told.clock is not None
    assert asked.what == what


def test_kind_of_a_thing_is_no_hour() -> None:
    """A cable of type 7."""
    text = "recuérdame mañana comprar un tipo 7 de cable"
    ((asked,), _) = read_requests(text, ("es", "en"))[1:]
    assert asked.told is not None
    assert asked.told.clock is None


@pytest.mark.parametrize(
    ("language", "text", "when"),
    [
        ("fr", "match samedi a 11h, dis moi vendredi soir de laver mon maillot", "Fri 11-27 19:00"),
        (
            "es",
            "vamos a la playa el sábado a las 9, avísame el viernes por la noche de preparar la "
            "nevera",
            "Fri 11-27 21:00",
        ),
        (
            "en",
            "court thursday 9am. hit me up wed 1800 to get the uniform pressed",
            "Wed 11-25 18:00",
        ),
    ],
)
def test_hour_that_has_a_day_of_its_own_is_the_events(language: str, text: str, when: str) -> None:
    """The reminder is on another day, and lacks no hour."""
    assert read(language, text)[0] == when


def test_hour_of_the_same_day_is_asked_about() -> None:
    """It may be when to remind."""
    assert read("en", "remind me on Friday: the match, Friday at 11 am")[0].startswith(
        ("?", "Fri 11")
    )


@pytest.mark.parametrize(
    ("language", "text", "when"),
    [
        (
            "de",
            "jeden abend um 19 uhr die kleine baden, erinner mich dran. ab heute",
            "Tue 11-24 19:00 FREQ=DAILY",
        ),
        (
            "fr",
            "tu me rappelles un samedi sur deux à 9h de préparer le sac de piscine ? on commence "
            "ce samedi",
            "Sat 11-28 09:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=SA",
        ),
        (
            "zh",
            "每隔一週的禮拜六上午十點請提醒我去探訪長輩，從這個禮拜六開始",
            "Sat 11-28 10:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=SA",
        ),
        (
            "es",
            "desde el 1 de junio y cada 3 meses hay q sopletear los filtros, recuerdamelo",
            "Tue 06-01 09:00 D FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1",
        ),
    ],
)
def test_first_day_of_a_series_is_taken_where_it_is_told(
    language: str, text: str, when: str
) -> None:
    """Also in a clause of its own, and a month away."""
    assert read(language, text)[0] == when


@pytest.mark.parametrize(
    ("language", "text", "when"),
    [
        (
            "de",
            "morgen um halb acht früh muss ich den Kuchen für die Kita mitnehmen, sag mir da bitte "
            "bescheid",
            "Wed 11-25 07:30",
        ),
        (
            "de",
            "Mo bis Fr immer um 6:50 Erinnerung Brotdosen machen",
            "Wed 11-25 06:50 FREQ=WEEKLY",
        ),
        (
            "en",
            "dont let me forget gym kit, every mon and wed 7.30 in the morning",
            "Wed 11-25 07:30 FREQ=WEEKLY;BYDAY=MO,WE",
        ),
        (
            "fr",
            "tous les jours à 12h30 sauf le week-end : vocalises. Rappelle-le-moi",
            "Wed 11-25 12:30 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        ),
        ("en", "just home off nights, alarm for 3.30 this afternoon pls", "Tue 11-24 15:30"),
        ("en", "every weekday 4 30 pm walk the dog, ring me", "Tue 11-24 16:30 FREQ=WEEKLY"),
        ("en", "the party is june 11, remind me of the card the day b4", "Thu 06-10 09:00 D"),
        (
            "en",
            "Recycling goes out every other Thursday starting this week. Let me know at 6 in the "
            "morning on those days",
            "Thu 11-26 06:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
        ),
        ("de", "alter morgen früh hausarbeit abgeben, schrei mich 7:45 an", "Wed 11-25 07:45"),
        (
            "de",
            "erinner mich am Sonntag in acht Tagen vormittags um halb elf an das Konzert",
            "Sun 12-06 10:30",
        ),
        ("fr", "chq dimanche 17h appeler maman. rappel stp", "Sun 11-29 17:00 FREQ=WEEKLY"),
        ("fr", "ttes les nuits a 1h lancer la sauvegarde, alarme stp", "Wed 11-25 01:00 FREQ"),
        ("fr", "rappelle moi ds 1/4 d'heure de vérifier la porte", "Tue 11-24 14:15"),
        ("fr", "rappelle moi les antibios a minuit et demi svp", "Wed 11-25 00:30"),
        ("fr", "navette a 4h50 du mat, préviens moi 1/2h avant pour appeler", "Wed 11-25 04:20"),
    ],
)
def test_all_words_of_one_time_are_read(language: str, text: str, when: str) -> None:
    """Whatever stands between them, and though some of them look like another time."""
    assert read(language, text)[0].startswith(when)


@pytest.mark.parametrize(
    ("language", "text", "when"),
    [
        (
            "de",
            "407 will um 5 uhr 20 geweckt werden, ich brauch 10 min vorher nen piep dass ich die "
            "407 anruf",
            "Tue 11-24 17:10",
        ),
        ("zh", "1203的客人要凌晨4点45叫醒 提前五分钟提醒我打电话上去", "Wed 11-25 04:40"),
    ],
)
def test_number_of_a_room_is_no_hour(language: str, text: str, when: str) -> None:
    """It is surely none that tells when to remind, and nothing is asked."""
    assert read(language, text)[0] == when


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "en",
            "Every Tuesday at 6 pm, up to and including the 23rd of March, I should like a word "
            "from you to bring the Fauré scores, please.",
        ),
        ("es", "Mañana o pasado tengo que llamar al plomero, hágame acordar."),
    ],
)
def test_date_that_may_be_another_is_asked_about(language: str, text: str) -> None:
    """The end of a series is not taken for its beginning, nor the first of two days for both."""
    assert read(language, text)[0].startswith("?")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "acuerdame mañana de llamar a la charo, a las 9 o a las 11, ya no se q me dijo"),
        ("en", "tonight 9pm got call with the HK side, remind me at 845 can?"),
        ("en", "need to strip the beds. remind me in the morning, say 8ish, tmrw"),
    ],
)
def test_hour_that_is_not_understood_is_asked_about(language: str, text: str) -> None:
    """No other time is taken instead."""
    assert read(language, text)[0].startswith(("?", "Tue 11-24 20:45", "Wed 11-25 08:00"))


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("es", "el jueves abro yo la pelu, despertador a las siete y cuarto d la mañana", "pelu"),
        ("en", "them wheel nuts want re torquing in 3 hrs, ill forget else", "wheel nuts"),
    ],
)
def test_clause_of_which_no_word_is_sure_is_said_whole(language: str, text: str, word: str) -> None:
    """A reminder that lost its thing helps nobody."""
    assert word in read(language, text)[1]


@pytest.mark.parametrize(
    ("language", "text", "when"),
    [
        ("zh", "每周二到周四晚上七点提醒我练琴", "Tue 11-24 19:00 FREQ=WEEKLY;BYDAY=TU,WE,TH"),
        (
            "en",
            "remind me every Monday to Thursday at 8am to run",
            "Wed 11-25 08:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH",
        ),
        (
            "de",
            "erinner mich jeden montag bis donnerstag um 8 uhr ans laufen",
            "Wed 11-25 08:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH",
        ),
        (
            "es",
            "recuérdame cada lunes a jueves a las 8 de la mañana correr",
            "Wed 11-25 08:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH",
        ),
        (
            "fr",
            "rappelle-moi chaque lundi à jeudi à 8h de courir",
            "Wed 11-25 08:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH",
        ),
        (
            "en",
            "remind me every Monday until 5 June at 8am to run",
            "Mon 11-30 08:00 FREQ=WEEKLY;BYDAY=MO;UNTIL=20270605T235959",
        ),
        ("en", "remind me tonight at 2 to call", "?past"),
        ("zh", "今晚两点提醒我看球", "Wed 11-25 02:00"),
        ("zh", "下周五交房租，早两天提醒我", "Wed 12-02 09:00 D"),
        (
            "fr",
            "mardi jeudi samedi à 19h yoga, toutes les semaines, bouscule moi stp",
            "Tue 11-24 19:00 FREQ=WEEKLY;BYDAY=TU,TH,SA",
        ),
        ("fr", "rappelle-moi à midi moins le quart d'éteindre le four", "Wed 11-25 11:45"),
        ("en", "heat 1 is sat at 11am, buzz me 2 hrs before to pack my goggles", "Sat 11-28 09:00"),
        (
            "en",
            "I have a meeting 9:00–11:30 tomorrow. Ten minutes after it ends, "
            "remind me to send the notes.",
            "Wed 11-25 11:40",
        ),
        (
            "en",
            "I have a meeting 9:00–11:30 tomorrow. Ten minutes after it starts, "
            "remind me to ask for the notes.",
            "Wed 11-25 09:10",
        ),
        (
            "fr",
            "Réunion demain de 9 h à 11 h 30 ; dix minutes après la fin, "
            "rappelle-moi d'envoyer le compte rendu.",
            "Wed 11-25 11:40",
        ),
        (
            "en",
            "I see the dentist on the 2nd of April at 11 am. Kindly remind me two days ahead "
            "to find my card.",
            "Wed 03-31 09:00 D",
        ),
        ("de", "wecker 1:40 heut nacht, brot backen", "Wed 11-25 01:40"),
        (
            "de",
            "blumen gießen jeden zweiten tag um 19 uhr bis 14.12., erinner mi",
            "Tue 11-24 19:00 FREQ=DAILY;INTERVAL=2;UNTIL=20261214T235959",
        ),
        ("zh", "每三天晚上七点提醒我浇花，今晚开始", "Tue 11-24 19:00 FREQ=DAILY;INTERVAL=3"),
    ],
)
def test_hours_and_days_that_belong_together_are_read_as_one_time(
    language: str, text: str, when: str
) -> None:
    """A range of days or hours, a series told in two places, an event's own hour."""
    assert read(language, text)[0] == when


@pytest.mark.parametrize(
    ("language", "text", "what"),
    [
        ("es", "la matrícula cierra el 31!! recuérdame el 30 a las 8 de la noche pagar", "pagar"),
        ("zh", "周六8点半第一场！周五晚上9点提醒我早点睡", "早点睡"),
    ],
)
def test_event_told_before_is_not_what_to_remind_of(language: str, text: str, what: str) -> None:
    """Where it has another day, its sentence neither asks for a reminder nor says what of."""
    (asked,) = read_requests(text, (language, "en"))[1]
    assert asked.what.endswith(what)


def test_weekend_of_which_either_day_may_be_meant_is_asked_about() -> None:
    """An abbreviation of a weekday is one beside another."""
    found = read("de", "turnier ist um 10 am wochenende, ob sa oder so, erinner mich 1h vorher")
    assert found[0].startswith("?")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "remind me to buy bread for 3.50 tomorrow"),
        ("en", "wake me up on those days at 7"),
        ("de", "weck mich an den Tagen um 7"),
        ("es", "despiértame esos días a las 7"),
        ("fr", "réveille-moi ces jours-là à 7h"),
        ("zh", "那几天早上7点叫醒我"),
    ],
)
def test_price_or_days_that_nobody_told_are_asked_about(language: str, text: str) -> None:
    """Nothing is set for a time that was not told."""
    assert read(language, text)[0].startswith("?")
