"""What the person wants is understood in each language the companion speaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.turn.intent import Addressee, Perception, perceive


def understood(text: str, *, language: str | None = None, locale: str | None = None) -> Perception:
    """What is understood of somebody who last spoke a language, on a machine with a locale."""
    return perceive(text, Addressee(name="Oldfriend", languages=(language, locale)))


@pytest.mark.parametrize(
    ("text", "language", "intent"),
    [
        ("Hi", "en", "greeting"),
        ("good morning, Oldfriend!", "en", "greeting"),
        ("hey oldfriend", "en", "greeting"),
        ("Hola", "es", "greeting"),
        ("¡Buenos días!", "es", "greeting"),
        ("Guten Morgen", "de", "greeting"),
        ("Grüß dich!", "de", "greeting"),
        ("Bonjour", "fr", "greeting"),
        ("你好！", "zh", "greeting"),
        ("早上好", "zh", "greeting"),
        ("oi", "pt", "greeting"),
        ("Olá!", "pt", "greeting"),
        ("Ciao!", "it", "greeting"),
        ("buongiorno", "it", "greeting"),
        ("こんにちは", "ja", "greeting"),
        ("おはようございます！", "ja", "greeting"),
        ("muito obrigada", "pt", "thanks"),
        ("valeu", "pt", "thanks"),
        ("grazie mille", "it", "thanks"),
        ("ありがとう", "ja", "thanks"),
        ("até amanhã", "pt", "farewell"),
        ("buonanotte", "it", "farewell"),
        ("おやすみ", "ja", "farewell"),
        ("O que você sabe sobre mim?", "pt", "about_me"),
        ("o que sabes de mim", "pt", "about_me"),
        ("que sabes sobre mim?", "pt", "about_me"),
        ("Che cosa sai di me?", "it", "about_me"),
        ("cosa ricordi di me", "it", "about_me"),
        ("私のこと何を知ってる？", "ja", "about_me"),
        ("私について何を覚えていますか", "ja", "about_me"),
        ("Tudo bem?", "pt", "how_are_you"),
        ("Come stai?", "it", "how_are_you"),
        ("元気ですか？", "ja", "how_are_you"),
        ("Quem és tu?", "pt", "about_you"),
        ("Come ti chiami?", "it", "about_you"),
        ("あなたは誰ですか？", "ja", "about_you"),
        ("Não, moro em Braga", "pt", "correct"),
        ("No, abito a Pisa", "it", "correct"),
        ("いや、京都に住んでる", "ja", "correct"),
        ("O que tenho pendente?", "pt", "promises"),
        ("Che cosa devo fare?", "it", "promises"),
        ("何を約束したっけ？", "ja", "promises"),
        ("Onde é que eu moro", "pt", "question"),
        ("quando é o dentista", "pt", "question"),
        ("Dove abita mia sorella", "it", "question"),
        ("come si chiama mio fratello", "it", "question"),
        ("弟の名前は何だっけ", "ja", "question"),
        ("fiz as compras e esqueci o pão", "pt", "statement"),
        ("ho fatto la spesa e ho dimenticato il pane", "it", "statement"),
        ("買い物に行ったけどパンを忘れた", "ja", "statement"),
        ("lembra que o código da porta é 4417", "pt", "remember"),
        ("ricordati che il codice del portone è 4417", "it", "remember"),
        ("玄関の暗証番号は4417って覚えておいて", "ja", "remember"),
        ("did the shopping, bought way too much rice", "en", "statement"),
        ("was a long day, fell asleep on the bus", "en", "statement"),
        ("would buy a boat if i could", "en", "statement"),
        ("did it on my phone on the bus", "en", "statement"),
        ("did you keep the code", "en", "question"),
        ("was the meeting moved to friday", "en", "question"),
        ("would the soup be safe for me", "en", "question"),
        ("thanks!", "en", "thanks"),
        ("muchas gracias", "es", "thanks"),
        ("Danke schön", "de", "thanks"),
        ("merci beaucoup", "fr", "thanks"),
        ("谢谢你", "zh", "thanks"),
        ("good night", "en", "farewell"),
        ("thanks, night", "en", "farewell"),
        ("hi! thanks.", "en", "thanks"),
        ("danke, gute nacht", "de", "farewell"),
        ("buenas noches", "es", "evening"),
        ("gracias, buenas noches", "es", "evening"),
        ("boa noite", "pt", "evening"),
        ("bonsoir", "fr", "evening"),
        ("hasta mañana", "es", "farewell"),
        ("Tschüss", "de", "farewell"),
        ("à bientôt", "fr", "farewell"),
        ("晚安", "zh", "farewell"),
        ("What do you know about me?", "en", "about_me"),
        ("so what do you remember about me", "en", "about_me"),
        ("¿Qué sabes de mí?", "es", "about_me"),
        ("Was weißt du über mich?", "de", "about_me"),
        ("Que sais-tu de moi ?", "fr", "about_me"),
        ("Qu'est-ce que tu sais sur moi ?", "fr", "about_me"),
        ("你知道我什么？", "zh", "about_me"),
        ("你都记得我的哪些事", "zh", "about_me"),
        ("How are you?", "en", "how_are_you"),
        ("Hi there, how are you?", "en", "how_are_you"),
        ("Hola, ¿qué tal?", "es", "how_are_you"),
        ("Wie geht's dir?", "de", "how_are_you"),
        ("Comment ça va ?", "fr", "how_are_you"),
        ("你好吗？", "zh", "how_are_you"),
        ("forget my locker code", "en", "forget"),
        ("No, that's wrong", "en", "correct"),
        ("No, I live in Faro", "en", "correct"),
        ("No, vivo en Faro", "es", "correct"),
        ("Nein, ich wohne in Faro", "de", "correct"),
        ("Non, j'habite à Faro", "fr", "correct"),
        ("不对，我住在法鲁", "zh", "correct"),
        ("What did I promise you?", "en", "promises"),
        ("¿Qué te he prometido?", "es", "promises"),
        ("Was habe ich dir versprochen?", "de", "promises"),
        ("Qu'est-ce que j'ai promis ?", "fr", "promises"),
        ("我答应过什么？", "zh", "promises"),
        ("Why do you think that?", "en", "why_so"),
        ("¿Por qué crees eso?", "es", "why_so"),
        ("Woher weißt du das?", "de", "why_so"),
        ("Pourquoi penses-tu ça ?", "fr", "why_so"),
        ("你怎么知道的？", "zh", "why_so"),
        ("What did you think about me in March?", "en", "believed_then"),
        ("¿Qué pensabas de mí en marzo?", "es", "believed_then"),
        ("Was dachtest du im März?", "de", "believed_then"),
        ("Que pensais-tu en mars ?", "fr", "believed_then"),
        ("三月的时候你觉得我怎么样？", "zh", "believed_then"),
        ("Why do you think he left?", "en", "question"),
        ("What did I promise Priya?", "en", "question"),
        ("No, where is it?", "en", "question"),
        ("No way", "en", "statement"),
        ("Olvida mi código", "es", "forget"),
        ("Olvídalo todo, por favor", "es", "forget"),
        ("Bórralo, por favor", "es", "forget"),
        ("Lösche das bitte", "de", "forget"),
        ("Oublie ça", "fr", "forget"),
        ("忘掉这件事", "zh", "forget"),
        ("what are my notes?", "en", "about_me"),
        ("Who are you?", "en", "about_you"),
        ("are you human?", "en", "about_you"),
        ("¿Eres humano?", "es", "about_you"),
        ("Bist du ein Mensch?", "de", "about_you"),
        ("Tu es un robot ?", "fr", "about_you"),
        ("你是谁？", "zh", "about_you"),
        ("What is my cat called?", "en", "question"),
        ("where did ana move to", "en", "question"),
        ("do you remember my cat", "en", "question"),
        ("remember when we went to Porto?", "en", "question"),
        ("¿Cómo se llama mi gato?", "es", "question"),
        ("cuándo es el cumpleaños de Ana", "es", "question"),
        ("Wie heißt meine Katze?", "de", "question"),
        ("wann war ich in Porto", "de", "question"),
        ("Comment s'appelle mon chat ?", "fr", "question"),
        ("où est-ce que j'ai mis les clés", "fr", "question"),
        ("你还记得我的猫吗", "zh", "question"),
        ("我的猫叫什么", "zh", "question"),
        ("mon chat s'appelle Filou", "fr", "statement"),
        ("mon chien s'appelle Rex", "fr", "statement"),
        ("My cat is called Miso.", "en", "statement"),
        ("When I was young, we had a dog.", "en", "statement"),
        ("What a day it was today.", "en", "statement"),
        ("Mi gato se llama Miso y tiene miedo de los truenos.", "es", "statement"),
        ("Meine Katze heißt Miso und sie hat Angst vor dem Gewitter.", "de", "statement"),
        ("Mon chat s'appelle Miso et il a peur de l'orage.", "fr", "statement"),
        ("我养了只白猫，叫小黑。", "zh", "statement"),
    ],
)
def test_intent_and_language_are_detected_in_every_language(
    text: str, language: str, intent: str
) -> None:
    """The same wishes are understood, and answered in the language they came in."""
    perception = understood(text)

    assert (perception.intent, perception.language) == (intent, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("be honest: am I talking to a human?", "en"),
        ("You're not a real person, are you?", "en"),
        ("is there a human behind this?", "en"),
        ("Hey. Are you actually a human being?", "en"),
        ("¿Estoy hablando con una persona de verdad?", "es"),
        ("¿sos humano?", "es"),
        ("no eres de verdad, ¿no?", "es"),
        ("Je parle à un humain ?", "fr"),
        ("tu n'es pas humaine, si ?", "fr"),
        ("Bist du ein echter Mensch?", "de"),
        ("rede ich hier mit einem Menschen", "de"),
        ("du bist doch kein Mensch, oder?", "de"),
        ("你是人工智能吗？", "zh"),
        ("你是人还是AI？", "zh"),
        ("我是在跟机器人聊天吗", "zh"),
        ("be honest, are you a bot", "en"),
        ("you're a bot right", "en"),
        ("dime la verdad, eres una máquina", "es"),
        ("dis-moi la vérité, tu es un robot", "fr"),
        ("sag mir ehrlich bist du ein Bot", "de"),
        ("你是人还是AI", "zh"),
        ("你是機器人嗎？", "zh"),
    ],
)
def test_question_whether_it_is_human_is_detected_as_about_you(text: str, language: str) -> None:
    """It is honest about that always (ACCEPTANCE I13), so it must know when it is asked."""
    perception = understood(text)

    assert (perception.intent, perception.language) == ("about_you", language)


@pytest.mark.parametrize(
    "text",
    [
        "I talked to a person from the bank about it.",
        "She asked me: are you a bot?",
        "I am talking to a robot at work all day.",
        "Yesterday the man on the phone asked my mother for her account number. Are you a bot?",
        "I'm talking to a robot",
        "you are at the computer",
        "right, I'm talking to a robot",
        "I'm talking to a real person now.",
        "Is it late? I'm talking to a robot.",
        "Estoy hablando con una máquina",
        "Je parle à un robot.",
        "Ich rede gerade mit einem Roboter.",
        "我在跟机器人聊天",
        "Estoy hablando con una persona del banco.",
        "Je parle à un robot au travail.",
        "Ich rede gern mit einem Menschen, der zuhört.",
        "我昨天跟AI聊天了",
        "你是程序员吗？",
    ],
)
def test_statement_about_humans_or_robots_is_not_detected_as_about_you(text: str) -> None:
    """Else it would be found later by nobody, for it would count as a mere question."""
    assert understood(text).intent in {"statement", "question"}


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("remember that my locker code is 4411", "my locker code is 4411"),
        ("Please remember: the key is under the pot.", "the key is under the pot."),
        ("nota: el fontanero bueno es Pepe", "el fontanero bueno es Pepe"),
        ("Don't forget that Ana is allergic to nuts", "Ana is allergic to nuts"),
        ("Can you remember that my bike is a Kona?", "my bike is a Kona"),
        ("Recuerda que mi vuelo sale a las 7", "mi vuelo sale a las 7"),
        ("por favor, anota que debo 20 euros a Luis", "debo 20 euros a Luis"),
        ("Merk dir, dass mein Spind die Nummer 12 hat", "mein Spind die Nummer 12 hat"),
        ("Souviens-toi que ma sœur habite à Lyon", "ma sœur habite à Lyon"),
        ("n'oublie pas que j'ai rendez-vous mardi", "j'ai rendez-vous mardi"),
        ("记住我的车位是12号", "我的车位是12号"),
        ("请记住：妈妈的生日是五月三号", "妈妈的生日是五月三号"),
    ],
)
def test_remember_request_yields_the_exact_words_as_note(text: str, note: str) -> None:
    """What is noted stands letter for letter in what was said."""
    perception = understood(text)

    assert (perception.intent, perception.note) == ("remember", note)
    assert note in text


@pytest.mark.parametrize(
    "text", ["Do you remember that?", "你记得吗", "¿Recuerdas a Ana?", "remember me?"]
)
def test_question_whether_it_remembers_yields_no_note(text: str) -> None:
    """Only a request makes a note."""
    assert understood(text).note is None


def test_message_with_a_statement_beside_a_question_is_not_only_a_question() -> None:
    """What is told beside a question can be found later; a bare question cannot."""
    assert understood("Where are my keys?").is_only_question
    assert understood("Hi").is_only_question
    assert not understood("I adopted a cat called Miso. Do you like cats?").is_only_question
    assert not understood("remember that I like tea").is_only_question


@pytest.mark.parametrize(
    ("name", "said", "meant"),
    [
        ("Mira", "Mira, hi!", "greeting"),
        ("Mira", "thanks Mira", "thanks"),
        ("小雨", "小雨你好", "greeting"),
        ("Al", "thanks, Al!", "thanks"),
        ("Al", "hial", "statement"),
        ("Mo", "mohello", "statement"),
    ],
)
def test_companion_name_is_ignored_in_intent_detection(name: str, said: str, meant: str) -> None:
    """But part of a longer word."""
    assert perceive(said, Addressee(name=name, languages=("en",))).intent == meant


def test_latin_script_message_after_chinese_is_detected_as_latin_language() -> None:
    """The one that its words tell, or else the person's next one of Latin letters."""
    assert understood("Coriander ruins everything", language="zh").language == "en"
    assert understood("Bonbons Klara Oslo Bruno", language="zh", locale="fr").language == "fr"
    assert understood("haha OK", language="zh").language == "zh"


def test_undetected_language_falls_back_to_the_person_then_the_locale() -> None:
    """A word that tells nothing is answered in the last language, the locale's, or English."""
    assert understood("Bruno 4711", language="de", locale="fr").language == "de"
    assert understood("Bruno 4711", locale="fr").language == "fr"
    assert understood("Bruno 4711").language == "en"
    assert understood("Bruno 4711", language="ru", locale="es").language == "es"


def test_note_and_question_in_one_message_are_both_detected() -> None:
    """Neither is lost over the other."""
    perception = understood("Remember that my bike is a Kona. Also, what is my name?")

    assert (perception.intent, perception.note) == ("question", "my bike is a Kona.")
    assert perception.question == "Also, what is my name?"
    assert not perception.is_only_question


@pytest.mark.parametrize("text", ["Remember that", "remember it.", "记住它"])
def test_remember_request_with_only_a_pronoun_yields_no_note(text: str) -> None:
    """There is nothing in it to remember."""
    assert understood(text).note is None


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("My father died last night.", "stressed"),
        ("Estoy agotada, no puedo más", "stressed"),
        ("Ich bin so gestresst", "stressed"),
        ("Je suis épuisée", "stressed"),
        ("压力好大，我受不了了", "stressed"),
        ("You are so useless", "roasting"),
        ("ok", "dry"),
        ("fine whatever", "dry"),
        ("My cat is called Miso and I love her.", "normal"),
        ("我养了只白猫，叫小黑。", "normal"),
    ],
)
def test_signal_is_detected_as_stressed_roasting_dry_or_normal(text: str, signal: str) -> None:
    """dry, stressed, roasting or normal (ACCEPTANCE B4)."""
    assert understood(text).signal == signal


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Mira, where do I live?", "where do I live?"),
        ("Where do I live, Mira?", "Where do I live?"),
        ("Hey Mira! Where do I live?", "Where do I live?"),
        ("thanks Mira, where does my sister live?", "where does my sister live?"),
        ("mira where do i live", "where do i live"),
        ("Mira, ¿dónde vivo?", "¿dónde vivo?"),
        ("Mira, wo wohne ich?", "wo wohne ich?"),
        ("Où est-ce que j'habite, Mira ?", "Où est-ce que j'habite?"),
        ("Mira，我住在哪里？", "我住在哪里？"),
        ("Where does Mira live?", None),
        ("Who is Mira?", None),
        ("Is Mira my sister?", None),
        ("My sister Mira, where does she live?", None),
        ("Miranda, where do I live?", None),
        ("Mira?", None),
        ("Mira, I live in Porto.", None),
    ],
)
def test_companion_name_as_address_is_removed_from_the_question(
    text: str, question: str | None
) -> None:
    """The name of the companion is no word of the question; somebody's who has it, too, is one."""
    assert perceive(text, Addressee(name="Mira", languages=("en",))).question == question


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Mira, remember that my code is 4711.", "my code is 4711."),
        ("Remember that my code is 4711, Mira!", "my code is 4711"),
        ("小米，记住我的密码是4711。", "我的密码是4711。"),
    ],
)
def test_companion_name_as_address_is_removed_from_the_note(text: str, note: str) -> None:
    """In the words that stand there, without the name."""
    name = "小米" if "小米" in text else "Mira"
    perception = perceive(text, Addressee(name=name, languages=("en",)))

    assert perception.intent == "remember"
    assert perception.note == note


@given(st.text(max_size=300))
def test_intent_detection_accepts_any_text(text: str) -> None:
    """No text makes it stumble, and a note is never anything but the person's own words."""
    perception = understood(text)

    assert perception.note is None or perception.note in text


def test_very_long_text_is_detected_as_a_statement() -> None:
    """A pasted page is no command, and is looked at in no time."""
    assert understood("remember that " + "word " * 200_000).intent == "statement"


@pytest.mark.parametrize(
    ("text", "is_riddle"),
    [
        ("What did the ocean say to the beach? Nothing, it just waved.", True),
        ("pourquoi les plongeurs plongent en arrière ? sinon, chute dans le bateau.", True),
        ("Where is my key? I lost it.", False),
        ("When does Ana land? The train is late.", False),
        ("When is the concert?", False),
    ],
)
def test_riddle_that_answers_itself_may_be_a_statement(text: str, *, is_riddle: bool) -> None:
    """So that it is not answered with "I don't remember"; what is asked of somebody is."""
    assert perceive(text, Addressee(name="Wren", languages=("en",))).may_be_statement == is_riddle


@pytest.mark.parametrize(
    ("text", "usual", "language"),
    [
        ("Donde vivo?", "en", "es"),
        ("Donde vivo?", "de", "es"),
        ("my sister?", "de", "en"),
        ("remember Klara?", "es", "en"),
        ("Name meiner Schwester?", "en", "de"),
        ("wo wohnt Klara", "de", "de"),
        ("Klara?", "de", "de"),
        ("pizza mit Klara", "de", "de"),
        ("Klara?", "fr", "fr"),
    ],
)
def test_few_words_are_answered_in_the_only_language_that_knows_them(
    text: str, usual: str, language: str
) -> None:
    """And in the usual one where several may."""
    assert understood(text, language=usual).language == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "snooker. what 13 yr old plays snooker. hes like a tiny pensioner"),
        (
            "de",
            "der bus kam nicht. wo war der bloß. bin dann gelaufen und jetzt sind die füße nass",
        ),
        ("zh", "妈走丢了一回 谁都不知道她去哪里 后来邻居送回来了 我腿都软了"),
    ],
)
def test_talk_of_which_one_part_begins_like_a_question_may_be_a_statement(
    language: str, text: str
) -> None:
    """Without a question mark it is kept, unless it is surely answered."""
    assert perceive(text, Addressee(name="Wren", languages=(language,))).may_be_statement


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "what does my sister do"),
        ("de", "was macht meine schwester beruflich"),
        ("zh", "我妈以前是干嘛的呢"),
        ("en", "I moved to Leeds. Where do I live?"),
    ],
)
def test_plain_question_is_no_statement(language: str, text: str) -> None:
    """With its mark, or where it asks as a whole."""
    found = perceive(text, Addressee(name="Wren", languages=(language,)))

    assert found.intent == "question"
    assert not found.may_be_statement
