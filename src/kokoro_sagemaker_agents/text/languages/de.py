"""German: not one of Kokoro's languages, but agents speak of German names and addresses."""

from __future__ import annotations

from . import Language, shared, words

LANGUAGE = Language(
    code_notice="Hier steht ein Codebeispiel.",
    phonemes_per_char=1.25,
    first_clause_chars=24,
    starters=words(
        """
        der die das den dem des ein eine einen einem einer ich du er sie es wir ihr man dies diese
        dieser dieses jene wer was wann wo wie warum welche welcher welches mein dein sein unser
        euer in im an am auf aus bei beim mit nach von vom zu zum zur für über unter vor zwischen
        durch gegen ohne um bis seit und oder aber denn doch sondern wenn weil dass ob obwohl
        während nachdem als ja nein nicht auch dann danach jetzt heute gestern morgen hier dort da
        so also daher deshalb trotzdem jedoch außerdem zuerst schließlich alle viele einige manche
        jeder jede jedes kein keine ist sind war hat haben kann können danke bitte hallo gut wir
        """
    ),
    titles=shared.TITLES
    | words("hrn fr frl dipl ing med phil jur rer nat habil h.c mag univ str dir präs gen st pfr"),
    numeric=shared.NUMERIC
    | words(
        """
        s bd bde nr abs art kap abb tab aufl ausg hrsg jg jh jhd std sek min anm z ziff rn lfd tsd
        mio mrd evtl ggf inkl exkl zzgl bzgl bzw usw ca kath evang ev geb gest verh vgl u a tel
        jan feb mär apr jun jul aug sep sept okt nov dez mo di mi do fr sa so
        """
    ),
    names=shared.NAMES | words("str pl a.g e.v gmbh ag kg u.s.a"),
    closing=shared.CLOSING | words("usw usf n.chr v.chr z.b.v"),
    never=shared.NEVER
    | words("z.b d.h u.a i.d.r z.t z.z o.ä u.ä i.a m.e s.o s.u v.a bzw vgl sog bspw z d i o"),
    labels=words("schritt kapitel teil abschnitt phase frage regel tipp tag lektion option"),
    lettered=words("vitamin plan option gruppe klasse typ punkt teil buchstabe fall und"),
    joiners=words("und oder aber dass weil wenn als der die das während mit"),
    endings=("str", "pl"),
    ordinal_dot=True,
)
