"""Italian."""

from __future__ import annotations

from . import Language, shared, words

LANGUAGE = Language(
    code_notice="Qui c'è un esempio di codice.",
    phonemes_per_char=1.45,
    first_clause_chars=23,
    starters=words(
        """
        il lo la i gli le l un uno una questo questa questi queste quello quella quelli quelle ciò
        io tu lui lei noi voi loro egli essa esso essi mio mia tuo tua suo sua nostro vostro che
        chi cosa quando dove come perché quale quali quanto di a da in con su per tra fra al allo
        alla ai agli alle dal dalla del dello della dei degli delle nel nello nella nei nelle sul
        sulla e ed o ma però se sì no non anche inoltre poi quindi allora dunque infatti invece
        mentre dopo prima ora adesso oggi ieri domani qui qua lì là c'è è sono era ha hanno può si
        mi ti ci vi ne tutto tutta tutti tutte ogni alcuni alcune altro altra altri altre molti
        molte così grazie ciao bene ecco secondo infine siamo
        """
    ),
    titles=shared.TITLES
    | words(
        """
        dott.re dott.sse dottssa sigg sigra signa egr gent gent.mo gent.ma spett ing arch geom rag
        avv on sen min cav comm uff prof.ssa prof.sse proff mons don s ss.mo amm dir pres gen col
        cap ten magg psicol v.cte f.lli ill.mo chiar.mo rev.mo
        """
    ),
    numeric=shared.NUMERIC
    | words(
        """
        n nn pag pagg cod civ artt att lett tav sez es ecc vol ss seg segg sgg prot c.a all cit
        gen feb mar apr mag giu lug ago set sett ott nov dic lun mer gio ven sab dom st d
        """
    ),
    names=shared.NAMES | words("s.p.a s.r.l s.n.c s.a.s spa srl snc c.so v.le p.za p.zza f.p"),
    closing=shared.CLOSING | words("ecc"),
    times=words("a.c d.c a.m p.m"),
    time_openers=words("nel nell alle verso dal dall fino prima dopo intorno il"),
    never=shared.NEVER | words("p.es ad.es es p.e"),
    labels=words(
        "passo passaggio capitolo parte sezione fase domanda regola giorno lezione opzione"
    ),
    lettered=words("vitamina piano opzione gruppo classe tipo punto parte lettera caso sezione e"),
    joiners=words("e o ma che perché quando se come dove mentre con cui"),
)
