"""English, American and British."""

from __future__ import annotations

from . import Language, shared, words

LANGUAGE = Language(
    pronoun="I",
    code_notice="There is a code example here.",
    phonemes_per_char=1.25,
    first_clause_chars=24,
    starters=words(
        """
        the a an this that these those there here he she it we they i you who what when where why
        how which whose whom his her hers its our their my your mine if in on at for from to by
        with within without as after before while because since although though once unless until
        but and or so yet nor then now however therefore moreover furthermore meanwhile also
        additionally finally lastly first firstly second secondly third thirdly next later today
        tomorrow yesterday tonight please let let's lets do does did don't is are was were isn't
        aren't can can't could would will should shall may might must have has had not no yes ok
        okay well all any some many most much each every both few several another such same nobody
        everyone everybody somebody someone anyone nothing everything something anything thanks
        thank sorry sure great good indeed instead perhaps maybe still even just only under over
        between during through across about above below against among despite besides whether
        whenever wherever whatever it's he's she's that's there's here's what's who's i'm i've
        i'll i'd we're we've we'll we'd they're they've they'll they'd you're you've you'll you'd
        it'll that'll again already always often sometimes never rarely usually generally
        typically unfortunately fortunately alternatively otherwise consequently thus hence
        overall similarly likewise oh ah hey hi hello wow yeah yep nope hmm um uh alright
        """
    ),
    titles=shared.TITLES
    | words(
        """
        maj cmdr cdr cpt cpl pvt adm brig gov sen sens rep reps pres supt insp det amb atty profs
        drs gens br sis esqs asst assoc cllr mgr msgr hons ret lieut
        """
    ),
    numeric=shared.NUMERIC
    | words(
        """
        pt pts para paras par chap chaps sects eq eqs ex exs apt bldg rm fl flr circa avg est pop
        temp lat long div item lot op bk cl reg ann vv col cols ref refs app ann sched tbl tbsp
        tbsps tsp tsps ft yd yds mi sq cu in mph qt qts gal gals pkg pkgs yr yrs wk wks mo mos deg
        dia incl excl esp ht wt qty amt nt sec secs doz misc prev fwd tues thurs
        """
    ),
    names=shared.NAMES
    | words(
        """
        sr esq assn dept univ govt intl ave blvd rd ln ct pl hwy pkwy terr cir ctr sq natl mfg
        calif fla mass penn wash conn colo minn mich tenn wis ariz ark ill ind kans okla ore tex
        va vt wyo ont que mex u.s u.s.a u.k u.n e.u d.c n.y n.y.c l.a
        """
    ),
    closing=shared.CLOSING | words("ne nw se sw n.e n.w s.e s.w r.n d.v.m d.d ed.d psy.d b.s m.s"),
    never=shared.NEVER | words("eg ie a.k.a w.r.t v p.s p.p.s n.b"),
    everyday=words("in long lot item ill mass pop ore sat sun"),
    times=words("a.m p.m b.c b.c.e a.d c.e"),
    proper=words(
        "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat "
        "Sun"
    ),
    labels=words(
        "step chapter part section phase question item rule tip day week lesson figure option "
        "level stage exercise example task problem reason note point scene act round unit module"
    ),
    lettered=words(
        "vitamin plan option grade type group class section part point step room gate team level "
        "appendix exhibit schedule hepatitis figure table case answer letter column row choice "
        "side block building terminal tier series zone ward platform version variant product "
        "company person point unit category phase"
    ),
    time_openers=words(
        "at on in by around since until till before after from about near for during circa "
        "sometime between"
    ),
    after_time=words(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may "
        "june july august september october november december est edt et cst cdt ct mst mdt mt pst "
        "pdt pt gmt utc bst cet cest ist jst aest eastern central pacific mountain greenwich "
        "p.d.t e.s.t p.s.t mon tue wed thu fri sat sun"
    ),
    joiners=words("and or but that which who because while although when if so than as with"),
)
