"""French."""

from __future__ import annotations

from . import Language, shared, words

LANGUAGE = Language(
    code_notice="Il y a un exemple de code ici.",
    phonemes_per_char=1.24,
    first_clause_chars=26,
    starters=words(
        """
        le la les l un une des du de d ce cet cette ces il elle on nous vous ils elles je tu j mon
        ma mes ton ta tes son sa ses notre votre leur leurs qui que quoi quand où comment pourquoi
        quel quelle quels quelles à au aux en dans par pour avec sans sur sous chez entre vers
        depuis pendant après avant et ou mais donc or ni car si oui non aussi alors puis ensuite
        enfin cependant toutefois ainsi ici là c'est ça cela ceci celui celle ceux y voici voilà
        tout toute tous toutes chaque plusieurs certains certaines quelques beaucoup merci bonjour
        bien très plus moins aujourd'hui demain hier selon lors malgré parce lorsque comme est-ce
        premièrement deuxièmement finalement
        """
    ),
    titles=shared.TITLES
    | words(
        "m mm mgr me mes mmes mlles pr drs cdt cap cne gal col adj sgt ch sœur ste sts stes vve"
    ),
    numeric=shared.NUMERIC
    | words(
        """
        n env éd chap al par ann app bat esc ét réf éq ex st hab tél fax port parag §
        janv févr fév avr juil sept oct nov déc lun mer jeu ven sam dim min sec
        """
    ),
    names=shared.NAMES
    | words("s.a s.a.r.l sarl cie ets av bd bât boul pl rte imp sté assoc dép dépt univ"),
    closing=shared.CLOSING | words("h.t t.t.c"),
    times=words("j.-c"),
    time_openers=words("en vers à avant après depuis dès jusqu"),
    never=shared.NEVER | words("p.ex c.-à-d c.à.d ex"),
    labels=words("étape chapitre partie section phase question règle conseil jour leçon option"),
    lettered=words("vitamine plan option groupe classe type point partie lettre cas section et"),
    joiners=words("et ou mais que qui parce lorsque quand si comme dont avec pour"),
)
