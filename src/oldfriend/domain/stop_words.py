"""Stop words: words that carry no topic of their own, one lowercase list per language.

Search drops them from a query, and language detection recognizes a language by them.
"""

from typing import Final

_ENGLISH = """
a about above after again against ago all also am an and any anybody anyone anything are
aren around as at back be became because become been before being below between both but by
came can cannot come could couldn d did didn do does doesn doing don done down during each
either else even ever every everybody everyone everything few for from further gave get gets
getting give given go goes going gone got had hadn has hasn have haven having he her here
hers herself hey hi him himself his how however i if im in into is isn it its itself just
let like ll m made make many may maybe me might mine more most mostly much must my myself
neither never no nobody none nor not nothing now of off oh ok okay on once one only onto or
other others our ours ourselves out over own please quite rather re really s said same say
says shall she should shouldn since so some somebody someone something somewhere still such
t tell than that the their theirs them themselves then there these they thing things this
those though through to together too toward under until up upon us ve very was wasn we well
went were weren what whatever when where whether which while who whom whose why will with
within without won would wouldn yeah yes yet you your yours yourself yourselves
"""
_SPANISH = """
a acá ahí al algo alguien algún alguna algunas alguno algunos allí ante antes aquel aquella
aquello aquí así aun aún aunque bien cada casi como cómo con contra cosa cosas cual cuál
cuáles cualquier cuando cuándo cuanta cuánta cuántas cuanto cuánto cuántos de del desde
después dice dijo donde dónde dos durante e el él ella ellas ello ellos en entonces entre
era eran eras eres es esa esas ese eso esos esta está estaba estaban estado estamos están
estar estas este esto estos estoy estuvo fue fueron fui gran ha había habían haber hace
hacer hacia han has hasta hay he hemos hizo hola iba ir jamás la las le les lo los luego más
me mi mí mía mientras mío mis misma mismo mucha mucho muchos muy nada nadie ni ningún
ninguna ninguno no nos nosotros nuestra nuestro nunca o os otra otras otro otros para pero
poco por porque pues puede pueden puedo que qué quien quién quiénes se sé sea según ser será
si sí sido siempre sin sino sobre sois solo sólo somos son soy su sus suya suyo tal también
tampoco tan tanto te tenemos tener tengo tenía ti tiene tienen tienes toda todas todavía
todo todos tu tú tus tuvo tuya tuyo un una unas uno unos usted ustedes va vale vamos van vas
voy vosotros y ya yo
"""
_PORTUGUESE = """
a à ainda algo alguém algum alguma alguns antes ao aos apenas aquela aquele aquilo aqui as
às assim até bem cada coisa com como contra cuja cujo da das de dela dele deles depois desde
dessa desse desta deste disse do dos e é ela elas ele eles em embora então entre era eram
essa essas esse esses esta está estamos estão estar estas estava este estes estou eu faz
fazer fez foi foram fui há isso isto já lá lhe lhes mais mas me mesma mesmo meu meus mim
minha minhas muita muito muitos na nada não nas nem nenhum nenhuma ninguém no nos nós nossa
nosso num numa nunca o oi olá onde os ou outra outras outro outros para pela pelas pelo
pelos pode pois por porque porquê pouco qual quais qualquer quando quanta quanto quantos que
quê quem se seja sem sempre ser será seu seus sido sim sob sobre somos sou sua suas só
também tanto te tem têm tenho ter teu teve ti tinha toda todas todo todos tu tua tudo um uma
umas uns vai vamos vão você vocês vos vou
"""
_FRENCH = """
à ai aie ainsi alors après as assez au aucun aucune aussi autre autres aux avaient avais
avait avant avec avez avoir avons ayant beaucoup bien bon c ça car ce ceci cela celle celles
celui ces cet cette ceux chaque chez chose choses comme comment contre d dans de déjà depuis
des dès deux devant dit donc dont du durant elle elles en encore entre es est et étaient
étais était étant été êtes être eu eux fait faire fais fois font fut hier ici il ils j je
jamais l la là laquelle le lequel les lesquels leur leurs lors lui m ma mais me même mêmes
mes mien mienne moi moins mon n ne ni nos notre nous on ont ou où ouais oui par parce pas
pendant personne peu peut peux plus plusieurs pour pourquoi près presque puis qu quand que
quel quelle quelles quels quelqu quelque quelques qui quoi rien s sa sans se sera ses si
sien soit sommes son sont sous suis sur t ta te tes toi ton toujours tous tout toute toutes
très trop tu un une va vais vas vers veut voici voilà vont vos votre vous vraiment y
"""
_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer
anderes auch auf aus bei beim bereits bevor bin bis bist da dabei dafür damit danach dann
daran darauf daraus darin das dass davon dazu dein deine deinem deinen deiner dem den denn
der deren des deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch dort
du durch ein eine einem einen einer eines einfach einige einmal er es etwas euch euer eure
für gab ganz gar gegen gehabt geht genau gerade gern gewesen gibt ging habe haben habt hallo
hast hat hatte hatten hattest hätte hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren
ihrer im immer in ins irgendwas ist ja jede jedem jeden jeder jedes jemand jetzt kann kannst
kein keine keinem keinen keiner könnte können konnte mal man manche mehr mein meine meinem
meinen meiner meines mich mir mit muss müssen nach nachdem nämlich ne nein nicht nichts nie
niemand noch nun nur ob oder ohne okay schon sehr sein seine seinem seinen seiner seit
selbst sich sie sind so soll sollte sondern sonst über um und uns unser unsere unter vom von
vor während wann war waren warst warum was weg weil weiter welche welchem welchen welcher
welches wem wen wenn wer werde werden wessen weshalb wie wieder wieso will wir wird wirst wo
woher wohin wollte worden wurde wurden würde zu zum zur zwar zwischen
"""
_ITALIAN = """
a abbiamo ad agli ai al alcuni alla alle allo allora altra altre altri altro anche ancora
avere aveva avevano avevo avete bene c che chi ci ciao ciò coi col come con contro cosa così
cui da dagli dai dal dalla dalle davvero degli dei del della delle dello dentro di dopo dove
due e è ed era erano ero essere fa fare fatto fino fra fu già gli ha hai hanno ho i il in io
l la le lei li lo loro lui ma mai me meno mentre mi mia mie miei mio molta molto molti ne
negli nei nel nella nelle nessuno niente no noi non nostra nostro nulla o ogni oggi oppure
per perché però più poco poi prima proprio può qua qual quale quali qualche qualcosa
qualcuno quando quanta quanto quanti quasi quella quelle quelli quello questa queste questi
questo qui sarà se sei sempre senza si sì sia siamo siete solo sono sopra sotto sta stato
stata sto stesso su sua sue sugli sul sulla suo suoi tanto te ti tra tu tua tue tuo tuoi
tutta tutte tutti tutto un una uno va vai vi voi vostra vostro
"""
_DUTCH = """
aan af al alle alleen alles als altijd andere ben bij daar dan dat de der deze die dit doch
doen door dus een eens en er erg even ga gaan gaat ge geen geweest gewoon goed had hadden
heb hebben hebt heeft heel hem hen het hier hij hoe hoeveel hoi hun ik in is iemand iets ja
je jij jou jouw jullie kan kon kunnen laat maar me meer men met mij mijn moet na naar nee
niemand niet niets nog nooit nu of om omdat onder ons onze ook op over pas reeds te tegen
toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel welk
welke werd wezen wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou
"""
_RUSSIAN = """
а без более больше будет будто бы был была были было быть в вам вас ваш весь во вообще вот
все всегда всего всё всех вы где да даже два для до другой его ее её ей ему если есть еще
ещё ж же за зачем здесь и из или им иногда их к как какая какие какой каком кем ко когда
кого кому которая которые который кто куда ли лучше меня мне много можно мой моя моё мои мы
на над надо наконец нас наш не него нее неё ней нет ни нибудь никогда ним них ничего но ну о
об один он она они оно опять от откуда перед по под после потом потому почему почти при про
просто раз разве с сам свой свою себе себя сейчас сколько со совсем так такой там тебе тебя
тем теперь то тогда того тоже той только том тот ты тут у уже хоть чего чей чем через что
чтоб чтобы чуть эта эти это этой этом этот эту я
"""
_CHINESE = """
的 了 是 在 我 你 您 他 她 它 们 这 那 哪 谁 吗 呢 吧 啊 呀 嘛 么 什 和 与 跟 就 都 也 很 还
又 把 被 让 给 对 从 到 会 能 要 想 说 有 没 不 个 些 着 过 得 地 之 为 以 上 下 里 什么
怎么 怎样 为什 哪里 哪儿 哪个 哪些 我们 你们 他们 她们 咱们 这个 那个 这些 那些 这里 那里
多少 几个 时候 是不 不是 有没 没有 一个 的时 候是 是什 我的 你的 他的 她的 是谁 了吗 了什
过什 的是 叫什 么时 是在 在哪 是哪
"""
_JAPANESE = """
の に は を た が で て と し れ さ あ い う る も な こ そ か よ ね だ ま す ん り く き け
っ や お え ら です ます した して した いる ある する から まで など それ これ あれ どれ
ここ そこ どこ この その あの どの だれ なに なん いつ どう った ました でし たか すか のは
には では とは って った てい いた いま 何を 何が 誰が 私の 私は 僕の 僕は ので のに んで
んだ だっ たの なの ない
"""
_KOREAN = """
은 는 이 가 을 를 의 에 와 과 도 로 나 너 저 그 것 수 들 좀 잘 더 또 안 못 다 요 고 지 네 해
하 한 에서 으로 하고 나는 내가 네가 저는 제가 우리 너는 그는 그녀 무엇 뭐야 언제 어디 누구
어떤 어떻 왜 했어 하는 있어 있는 없어 이야 습니 니다 했다 인가 어요 했니 었어
"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "en": frozenset(_ENGLISH.split()),
    "es": frozenset(_SPANISH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "fr": frozenset(_FRENCH.split()),
    "de": frozenset(_GERMAN.split()),
    "it": frozenset(_ITALIAN.split()),
    "nl": frozenset(_DUTCH.split()),
    "ru": frozenset(_RUSSIAN.split()),
    "zh": frozenset(_CHINESE.split()),
    "ja": frozenset(_JAPANESE.split()),
    "ko": frozenset(_KOREAN.split()),
}
