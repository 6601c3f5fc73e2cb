"""Mandarin Chinese. Numbers stay figures, which the engine reads with cn2an."""

from __future__ import annotations

import re

from kokoro_container.text.normalise.numbers import Numbers, point_numbers
from kokoro_container.text.normalise.rules import Rule
from kokoro_container.text.normalise.tables import Clock, Scale, Table

from .words import SILENT, currencies, same

# In figures read one by one, "one" is said "yāo": "yī" is taken for "seven".
_DIGITS = ("零", "幺", "二", "三", "四", "五", "六", "七", "八", "九")

_CURRENCIES = """
¥,CN¥,CNY,RMB 元/元
$,USD,US$ 美元/美元 美分/美分
€,EUR 欧元/欧元 欧分/欧分
£,GBP 英镑/英镑
JPY 日元/日元
HK$ 港元/港元
"""
_UNITS = """
km 公里 m 米 cm 厘米 mm 毫米 kg 公斤 g 克 mg 毫克 L 升 l 升 ml 毫升 mL 毫升 t 吨
°C 摄氏度 ℃ 摄氏度 °F 华氏度 ℉ 华氏度 ° 度 KB KB MB 兆 GB GB kW 千瓦 W 瓦 V 伏 kWh 千瓦时
Hz 赫兹 MHz 兆赫 GHz 吉赫 m² 平方米 m2 平方米 km² 平方公里 m³ 立方米
km/h 公里每小时 m/s 米每秒 min 分钟 h 小时
"""
# "两个", not "二个"; not before what also names a place in an order ("2月", "2号", "2年级").
_COUNTED = (
    "个|只|位|本|天|小时|次|种|件|张|人份|块|公里|公斤|米|分钟|秒|倍|家|周|杯|瓶|岁|条|台|辆|"
    "元|万|千|亿"
)


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{month}月{day}日"
    return words if year is None else f"{year}年{words}"


def _clock(hour: int, minute: int) -> str:
    hours = "两" if hour == 2 else str(hour)
    if not minute:
        return f"{hours}点"
    return f"{hours}点{'零' if minute < 10 else ''}{minute}分"


def _fraction(a: int, b: int, after: str) -> str | None:
    return f"{b}分之{a}" if 0 < a < b <= 100 else None


_SYMBOLS = {
    "=": "等于", "+": "加", "-": "减", "−": "减", "×": "乘", "÷": "除以",
    "<": "小于", ">": "大于", "≤": "小于等于", "≥": "大于等于", "≠": "不等于",
    "≈": "约等于", "→": "到",
}  # fmt: skip
_PREFIXES = {"~": "大约", "≈": "大约"}
_WEB = {
    ".": "点", "/": "斜杠", "@": "艾特", "-": "横杠", "_": "下划线", ":": "冒号",
    "?": "问号", "=": "等于", "&": "和", "+": "加", "%": "百分号", "~": "波浪号",
    "#": "井号",
} | SILENT  # fmt: skip


def table(language: str) -> Table:
    """Mandarin, written without spaces."""
    return Table(
        numbers=Numbers(pattern=point_numbers(), point="点", digits=_DIGITS),
        currencies=currencies(_CURRENCIES),
        money="{}{}".format,
        scales={word: Scale(word, word, str) for word in ("万", "亿", "千", "百万", "十亿")},
        units={s: u for s, u in same(_UNITS).items() if s != u.one},
        date=_date,
        clock=Clock(_clock),
        until="到",
        minus="负",
        below_zero="零下",
        fraction=_fraction,
        mixed="{}又{}".format,
        phones=(r"1\d{2}[ -]?\d{4}[ -]?\d{4}", r"0\d{2,3}-\d{7,8}", r"400-\d{3}-\d{4}"),
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        unspaced=True,
        last=(Rule(re.compile(rf"(?<![\d.,第])2(?=(?:{_COUNTED}))"), lambda _: "两"),),
    )
