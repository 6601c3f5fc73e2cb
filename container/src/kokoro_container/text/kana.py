"""Katakana to the phonemes Kokoro v1.0 learnt Japanese with."""

from __future__ import annotations

# One row a line: a kana, its sound. The notation is that of misaki's first Japanese front end
# (`misaki/cutlet.py`), which the model was trained on; misaki's newer one writes symbols
# ("ᶄ", "g", "K") that are not in the model's vocabulary and would fall silent.
_SOUNDS = """
ア a   イ i    ウ ɯ   エ e   オ o   ァ a  ィ i  ゥ ɯ  ェ e  ォ o
カ ka  キ kʲi  ク kɯ  ケ ke  コ ko  ヵ ka ヶ ke
ガ ɡa  ギ ɡʲi  グ ɡɯ  ゲ ɡe  ゴ ɡo
サ sa  シ ɕi   ス sɨ  セ se  ソ so
ザ ʣa  ジ ʥi   ズ zɨ  ゼ ʣe  ゾ ʣo
タ ta  チ ʨi   ツ ʦɨ  テ te  ト to
ダ da  ヂ ʥi   ヅ zɨ  デ de  ド do
ナ na  ニ ɲi   ヌ nɯ  ネ ne  ノ no
ハ ha  ヒ çi   フ ɸɯ  ヘ he  ホ ho
バ ba  ビ bʲi  ブ bɯ  ベ be  ボ bo
パ pa  ピ pʲi  プ pɯ  ペ pe  ポ po
マ ma  ミ mʲi  ム mɯ  メ me  モ mo
ヤ ja          ユ jɯ         ヨ jo  ャ ja ュ jɯ ョ jo
ラ ɾa  リ ɾʲi  ル ɾɯ  レ ɾe  ロ ɾo
ワ βa  ヰ i           ヱ e   ヲ o   ヮ βa
ヴ vɯ  ヷ va   ヸ vʲi ヹ ve  ヺ vo
イェ je   ウィ βi   ウェ βe   ウォ βo
クァ kᵝa  クィ kᵝi  クェ kᵝe  クォ kᵝo  クヮ kᵝa
グァ ɡᵝa  グィ ɡᵝi  グェ ɡᵝe  グォ ɡᵝo  グヮ ɡᵝa
シェ ɕe   ジェ ʥe   チェ ʨe   ニェ ɲe   ヒェ çe   キェ kʲe
スィ sʲi  ズィ zʲi  ツァ ʦa   ツィ ʦʲi  ツェ ʦe   ツォ ʦo
ティ tʲi  テュ tʲɨ  トゥ tɯ   ディ dʲi  デュ dʲɨ  ドゥ dɯ
ファ ɸa   フィ ɸʲi  フェ ɸe   フォ ɸo   フュ ɸʲɨ  フョ ɸʲo
ヴァ va   ヴィ vʲi  ヴェ ve   ヴォ vo   ヴャ bʲa  ヴュ bʲɨ  ヴョ bʲo
"""

# A row's consonant before a small ャ, ュ, ョ.
_PALATALS = ("kʲ", "ɡʲ", "ɕ", "ʥ", "ʨ", "ʥ", "ɲ", "ç", "bʲ", "pʲ", "mʲ", "ɾʲ")
_PALATAL_ROWS = dict(zip("キギシジチヂニヒビピミリ", _PALATALS, strict=True))

_FIELDS = _SOUNDS.split()
_SOUND_OF = dict(zip(_FIELDS[::2], _FIELDS[1::2], strict=True)) | {
    kana + small: consonant + vowel
    for kana, consonant in _PALATAL_ROWS.items()
    for small, vowel in zip("ャュョ", "aɨo", strict=True)
}

# The nasal ン takes the place of articulation of the consonant behind it.
_NASAL_BEFORE = {
    **dict.fromkeys("mpb", "m"),
    **dict.fromkeys("kɡ", "ŋ"),
    **dict.fromkeys("ɲʨʥ", "ɲ"),
    **dict.fromkeys("ntdɾz", "n"),
}


def kana_phonemes(kana: str) -> str:
    """The phonemes of a word in katakana; other characters are skipped."""
    sounds: list[str] = []
    at = 0
    while at < len(kana):
        size = 2 if kana[at : at + 2] in _SOUND_OF else 1
        sounds.append(_sound(kana, at, size))
        at += size
    return "".join(sounds)


def _sound(kana: str, at: int, size: int) -> str:
    char = kana[at : at + size]
    if char == "ー":
        return "ː"
    if char == "ッ":
        return "ʔ"
    if char == "ン":
        behind = _SOUND_OF.get(kana[at + 1 : at + 3]) or _SOUND_OF.get(kana[at + 1 : at + 2]) or " "
        return _NASAL_BEFORE.get(behind[0], "ɴ")
    return _SOUND_OF.get(char, "")
