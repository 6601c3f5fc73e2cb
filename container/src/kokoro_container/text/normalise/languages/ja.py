"""Japanese. Numbers stay figures, which Open JTalk reads; what is around them is written out."""

from __future__ import annotations

from kokoro_container.text.normalise.numbers import Numbers, point_numbers
from kokoro_container.text.normalise.tables import Clock, Scale, Table

from .words import SILENT, currencies, same

_DIGITS = ("ゼロ", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュウ")

_CURRENCIES = """
¥,JPY 円/円
$,USD,US$ ドル/ドル セント/セント
€,EUR ユーロ/ユーロ セント/セント
£,GBP ポンド/ポンド
₩,KRW ウォン/ウォン
"""
_UNITS = """
km キロメートル m メートル cm センチメートル mm ミリメートル kg キログラム g グラム mg ミリグラム
L リットル l リットル ml ミリリットル mL ミリリットル °C 度 ℃ 度 °F 華氏度 ° 度 % パーセント
KB キロバイト MB メガバイト GB ギガバイト TB テラバイト kW キロワット W ワット V ボルト
kWh キロワット時 Hz ヘルツ kHz キロヘルツ MHz メガヘルツ GHz ギガヘルツ m² 平方メートル
m2 平方メートル km² 平方キロメートル km/h キロメートル毎時 m/s メートル毎秒
"""


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{month}月{day}日"
    return words if year is None else f"{year}年{words}"


def _clock(hour: int, minute: int) -> str:
    return f"{hour}時{minute}分" if minute else f"{hour}時"


def _fraction(a: int, b: int, after: str) -> str | None:
    return f"{b}分の{a}" if 0 < a < b <= 100 else None


_SYMBOLS = {
    "=": "イコール", "+": "プラス", "-": "マイナス", "−": "マイナス", "×": "かける",
    "÷": "割る", "<": "小なり", ">": "大なり", "≈": "ニアリーイコール", "→": "から",
}  # fmt: skip
_PREFIXES = {"~": "約", "≈": "約"}
_WEB = {
    ".": "ドット", "/": "スラッシュ", "@": "アットマーク", "-": "ハイフン",
    "_": "アンダーバー", ":": "コロン", "?": "クエスチョンマーク", "=": "イコール",
    "&": "アンド", "+": "プラス", "%": "パーセント", "~": "チルダ", "#": "シャープ",
} | SILENT  # fmt: skip


def table(language: str) -> Table:
    """Japanese, written without spaces."""
    return Table(
        numbers=Numbers(pattern=point_numbers(), point="点", digits=_DIGITS),
        currencies=currencies(_CURRENCIES),
        money="{}{}".format,
        scales={word: Scale(word, word, str) for word in ("万", "億", "兆", "千")},
        units=same(_UNITS),
        date=_date,
        clock=Clock(_clock),
        until="から",
        minus="マイナス",
        below_zero="マイナス",
        fraction=_fraction,
        mixed="{}と{}".format,
        phones=(r"0\d{1,4}-\d{1,4}-\d{3,4}",),
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        unspaced=True,
    )
