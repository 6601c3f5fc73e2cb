"""Brazilian Portuguese."""

from __future__ import annotations

from . import Language, shared, words

LANGUAGE = Language(
    code_notice="Há um exemplo de código aqui.",
    phonemes_per_char=1.72,
    first_clause_chars=20,
    starters=words(
        """
        o a os as um uma uns umas este esta isto estes estas esse essa isso esses essas aquele
        aquela aquilo eu tu você vocês ele ela nós eles elas meu minha seu sua nosso nossa que
        quem quando onde como qual quanto por para com sem em de desde até ao à aos às do da dos
        das no na nos nas num numa pelo pela entre sobre sob após antes depois durante e ou mas
        porém se sim não também além então logo agora hoje ontem amanhã aqui ali lá há é são foi
        era está estão tem têm pode podem já muito mais menos todo toda todos todas cada algum
        alguma alguns algumas outro outra outros outras muitos muitas assim obrigado obrigada olá
        bom boa bem primeiro segundo finalmente enquanto embora porque
        """
    ),
    titles=shared.TITLES
    | words(
        """
        d v exa exas sa sas dª dna sr.ª sra.ª srs srª drª dr.ª profa profª prof.ª profs eng engª
        eng.ª arq exmo exma ilmo ilma des dep sen ver pres gov cel cap ten maj sto sta pe fr ir
        mons des.ª min
        """
    ),
    numeric=shared.NUMERIC
    | words(
        """
        n núms pág págs pag obs aprox hab seg tel cód apto ap bl sl jd cj lj km cx inc al par
        parág jan fev mar abr mai jun jul ago set out nov dez seg ter qua qui sex sáb dom
        """
    ),
    names=shared.NAMES | words("av r pç pça rod est trav al depto dept s.a s/a cia univ lgo ed"),
    closing=shared.CLOSING,
    times=words("a.c d.c a.m p.m"),
    time_openers=words("em no por até desde às antes depois durante"),
    never=shared.NEVER | words("p.ex ex"),
    labels=words("passo etapa capítulo parte seção fase pergunta regra dica dia lição opção nível"),
    lettered=words("vitamina plano opção grupo classe tipo ponto parte letra caso seção e"),
    joiners=words("e ou mas que porque quando se como onde enquanto com"),
)
