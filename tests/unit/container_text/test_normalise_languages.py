"""The other languages: numbers, money, percent, dates, times, units and telephone numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_container.text import LANGUAGES, MappedText, spoken_text
from kokoro_container.text.normalise import NORMALISED_LANGUAGES, normalise

CASES = {
    "es": {
        "21 años, 1 hora, 200 personas": "veintiún años, una hora, doscientas personas",
        "1.234,56 y 21.000": "mil doscientos treinta y cuatro coma cincuenta y seis y veintiún mil",
        "20,50 €, $5, €20.50": "veinte euros con cincuenta céntimos, cinco dólares, "
        "veinte euros con cincuenta céntimos",
        "$5M, 1 €": "cinco millones de dólares, un euro",
        "50 %, 3,5 km": "cincuenta por ciento, tres coma cinco kilómetros",
        "120 km/h, -5 °C": "ciento veinte kilómetros por hora, menos cinco grados Celsius",
        "25/12/2024, el 25/12": "veinticinco de diciembre de dos mil veinticuatro, "
        "el veinticinco de diciembre",
        "a las 9:05, 15:00 h": "a las nueve y cinco, quince horas",
        "612 345 678": "seis uno dos, tres cuatro cinco, seis siete ocho",
        "PIN 0042, 3-5 días": "PIN cero cero cuatro dos, tres a cinco días",
        "3/4, 1.º, 2ª, 3er": "tres cuartos, primero, segunda, tercer",
        "Felipe VI, siglo XXI": "Felipe sexto, siglo veintiuno",
        "Sr. López, EE.UU., etc.": "señor López, Estados Unidos, etcétera.",
        "ana@correo.es": "ana arroba correo punto es",
    },
    "fr": {
        "21 heures, 1 fille, 1 an": "vingt et une heures, une fille, un an",
        "1 234,56": "mille deux cent trente-quatre virgule cinquante-six",
        "20,50 €, 5 M€": "vingt euros et cinquante centimes, cinq millions d'euros",
        "50 %, 3,5 km": "cinquante pour cent, trois virgule cinq kilomètres",
        "le 25/12, 1/1/2024": "le vingt-cinq décembre, premier janvier deux mille vingt-quatre",
        "15h30, 9h, 1:00": "quinze heures trente, neuf heures, une heure",
        "06 12 34 56 78": "zéro six, douze, trente-quatre, cinquante-six, soixante-dix-huit",
        "-5 °C, 120 km/h": "moins cinq degrés Celsius, cent vingt kilomètres par heure",
        "1er, 1re, 2e, XXe siècle": "premier, première, deuxième, vingtième siècle",
        "Louis XIV, François Ier": "Louis quatorze, François premier",
        "M. Dupont et Mme Curie": "monsieur Dupont et madame Curie",
    },
    "it": {
        "1234, 1 anno": "mille duecento trentaquattro, un anno",
        "20,50 €, €5M": "venti euro e cinquanta centesimi, cinque milioni di euro",
        "50%, 3,5 km": "cinquanta per cento, tre virgola cinque chilometri",
        "25/12/2024": "venticinque dicembre duemila ventiquattro",
        "15:30": "quindici e trenta",
        "347 1234567": "tre quattro sette, uno due tre quattro cinque sei sette",
        "-5°C, 1º, 3/4": "meno cinque gradi Celsius, primo, tre quarti",
    },
    "pt-br": {
        "2 pessoas, 21 horas": "duas pessoas, vinte e uma horas",
        "1.234,56": "mil duzentos e trinta e quatro vírgula cinquenta e seis",
        "R$ 20,50, R$ 5 milhões": "vinte reais e cinquenta centavos, cinco milhões de reais",
        "50%, 3,5 km": "cinquenta por cento, três vírgula cinco quilômetros",
        "1/1/2024, dia 25/12": "primeiro de janeiro de dois mil e vinte e quatro, "
        "dia vinte e cinco de dezembro",
        "15h30, 9:00": "quinze e trinta, nove horas",
        "(11) 98765-4321": "um um, nove oito sete seis cinco, quatro três dois um",
        "Sr. Silva, nº 5": "senhor Silva, número cinco",
        "Dom Pedro II, século XXI": "Dom Pedro segundo, século vinte e um",
    },
    "hi": {
        "₹500, ₹20.50": "500 रुपये, 20 रुपये 50 पैसे",
        "50%, 3.5 km, 10 किमी": "50 प्रतिशत, 3.5 किलोमीटर, 10 किलोमीटर",
        "25/12/2024": "25 दिसंबर 2024",
        "15:30": "15 बजकर 30 मिनट",
        "98765 43210": "नौ आठ सात छह पाँच, चार तीन दो एक शून्य",
        "-5°C": "माइनस 5 डिग्री सेल्सियस",
    },
    "ja": {
        "¥500と$5": "500円と5ドル",
        "50%で3.5km": "50パーセントで3.5キロメートル",
        "2024/12/25": "2024年12月25日",
        "15:30に": "15時30分に",
        "-5℃": "マイナス5度",
        "3〜5日": "3から5日",
        "3/4": "4分の3",
        "090-1234-5678": "ゼロ キュウ ゼロ, イチ ニ サン ヨン, ゴ ロク ナナ ハチ",
    },
    "zh": {
        "¥500和$5": "500元和5美元",
        "3.5km是50%": "3.5公里是50%",  # the engine reads the percentage
        "2024-12-25": "2024年12月25日",
        "15:05": "15点零5分",
        "-5℃": "零下5摄氏度",
        "2个，2月，第2天": "两个, 2月, 第2天",
        "3-5天": "3到5天",
        "3/4": "4分之3",
        "138-1234-5678": "幺 三 八, 幺 二 三 四, 五 六 七 八",
    },
}


@pytest.mark.parametrize(
    ("language", "text", "spoken"),
    [(language, text, spoken) for language in CASES for text, spoken in CASES[language].items()],
)
def test_it_is_said_as_a_person_would(language: str, text: str, spoken: str) -> None:
    assert spoken_text(text, language) == spoken


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["GPT-4, A4", "1.2.3.4.5.6", "99/99/9999", "45:99"])
def test_what_is_not_sure_is_left_alone(language: str, text: str) -> None:
    assert spoken_text(text, language) == text


def test_every_language_has_a_table_and_another_is_refused() -> None:
    assert NORMALISED_LANGUAGES == LANGUAGES
    with pytest.raises(ValueError, match=r"'de'.*en-us.*zh"):
        spoken_text("5 km", "de")


_SEEDS = (
    *("5", "10", "0042", "1,234.5", "1.234,5", "-5", "12/25/2024", "3:30", "15h30", "PM", "$", "€"),
    *("₹", "%", "km", "°C", "kg", "/", "-", "–", "x", "=", "<", ">", "~", "+", "*", "#", "@", "."),
    *(",", ":", "'", '"', "St.", "Dr.", "Henry", "VIII", "I", "C#", "&amp;", "<b>", "[pause:1s]"),
    *("a.b@c.com", "http://x.io/y", "README.md", "v3.5", "2m", "5k", "1990s", "Dec", "25"),
    *("9am-5pm", "é", "न", "漢", "個", "½", "→", "😀", "10-year", "R$", "millones", "1er"),
)


@given(
    st.lists(st.sampled_from(_SEEDS), max_size=12),
    st.sampled_from(["", " "]),
    st.sampled_from(LANGUAGES),
)
def test_the_result_always_points_into_the_text(
    words: list[str], space: str, language: str
) -> None:
    text = space.join(words)
    result = normalise(MappedText.of(text), language)
    assert len(result.text) == len(result.starts) == len(result.ends)
    assert all(0 <= a <= b <= len(text) for a, b in zip(result.starts, result.ends, strict=True))
    assert result.text == result.text.strip()
    assert "  " not in result.text
