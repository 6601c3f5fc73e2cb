"""Hindi; the English data serves for the English inside it."""

from __future__ import annotations

from dataclasses import replace

from . import words
from .en import LANGUAGE as ENGLISH

LANGUAGE = replace(
    ENGLISH,
    code_notice="यहाँ कोड का एक उदाहरण है।",
    phonemes_per_char=1.61,
    first_clause_chars=18,
    # Titles, and the names of the English letters: initials are spelled out.
    titles=ENGLISH.titles
    | words(
        """
        डॉ डा डॉ० श्री श्रीमती सुश्री कु प्रो पं मो मि मिस्टर मिसेज इंजी एड न्या ले कर्नल कै स्व ए
        बी सी डी ई एफ एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड
        जेड
        """
    ),
    numeric=ENGLISH.numeric | words("पृ रु रू क्र ई.पू किमी किग्रा सेमी नं कि.मी कि.ग्रा सं"),
    closing=ENGLISH.closing | words("आदि"),
    labels=ENGLISH.labels | words("चरण अध्याय भाग"),
    joiners=words("और या लेकिन कि क्योंकि जब अगर जो"),
)
