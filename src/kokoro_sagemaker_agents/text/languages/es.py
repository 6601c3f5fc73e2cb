"""Spanish."""

from __future__ import annotations

from . import Language, shared, words

LANGUAGE = Language(
    code_notice="Aquí hay un ejemplo de código.",
    phonemes_per_char=1.74,
    first_clause_chars=22,
    starters=words(
        """
        el la los las lo un una unos unas este esta esto estos estas ese esa eso esos esas aquel
        aquella yo tú él ella usted nosotros nosotras ellos ellas ustedes vosotros mi tu su mis
        tus sus nuestro nuestra que qué quien quién cuando cuándo donde dónde cómo como cuál
        cuánto por para con sin en de desde hasta a al del ante bajo según sobre tras entre
        durante y e o u pero sino aunque porque si sí no también además entonces luego después
        antes ahora hoy ayer mañana aquí allí ahí hay es son fue era está están tiene tienen puede
        pueden se me te le les nos ya muy más menos todo toda todos todas cada algún alguna
        algunos algunas otro otra otros otras muchos muchas así gracias hola bueno bien primero
        segundo finalmente mientras asimismo
        """
    ),
    titles=shared.TITLES
    | words(
        """
        d ud uds vd vds dña dn dª dr.ª sr.ª arq ings lcda lcdo licda mtro mtra profª prof.ª rvdo
        fray sto sta excmo excma ilmo ilma pdte dir gral cnel cap tte cmdte mons hno hna pbro
        """
    ),
    numeric=shared.NUMERIC
    | words(
        """
        núms pár párr párrf párrs aprox hab habs seg segs pza pzas ej lib apdo apto dpto tfno telf
        teléf cra hs kms mts entlo izq dcha c/c cód ref fasc edo dist prov cel fax ene feb mar
        abr may jun jul ago sep sept oct nov dic lun mié mier jue vie sáb dom
        """
    ),
    names=shared.NAMES
    | words(
        "avda av avd c col ctra pl pº admón cía cia s.a s.l s.a.u ee rr.hh ff.aa dept depto "
        "univ bco urb"
    ),
    closing=shared.CLOSING | words("uu ee.uu"),
    times=words("a.c d.c a.m p.m a.e.c n.e"),
    time_openers=words("en a hacia desde hasta sobre alrededor antes después durante el"),
    never=shared.NEVER | words("p.ej p.e ej"),
    labels=words(
        "paso capítulo parte sección fase pregunta regla consejo día lección opción nivel"
    ),
    lettered=words("vitamina plan opción grupo clase tipo punto parte letra caso sección y"),
    joiners=words("y o pero que porque cuando si aunque como donde mientras con"),
)
