"""Abbreviations that turn up in a reply in any language: foreign titles, Latin, units."""

from __future__ import annotations

from . import words

#: Titles of names that keep their form in other languages.
TITLES = words(
    "dr mr mrs ms mx prof mme mlle messrs sr sra srta sras sres dra dras dott dott.ssa sig "
    "sig.ra sig.na ing avv lic sgt capt gen col lt rev hon st ste mt ft d.ª hr fr"
)
NUMERIC = words(
    "no nos nr núm nº n° n.º n.° p pp pg pgs pág págs vol vols cap caps fig figs sec sect art "
    "arts ed eds tel ext ca approx max min tab km cm mm kg mg ml cl dl lb lbs oz hz khz mhz ghz "
    "kb mb gb tb hrs hr mins secs ch ver"
)
NEVER = words("e.g i.e vs cf viz c.f q.v i.a resp")
CLOSING = words("etc al ph.d m.d b.a m.a b.sc m.sc m.b.a ll.m ll.b ll.d j.d d.d.s d.phil")
NAMES = words("inc ltd co corp llc plc bros jr gmbh ltda cía")
#: German months: an ordinal day before one ("3. Oktober") is an ordinal in any reply.
ORDINAL_MONTHS = words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember"
)
