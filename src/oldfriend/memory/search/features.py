"""What speaks for a candidate, and what against? One row of numbers each, in a fixed order.

The numbers do not depend on how long the history is, so that weights learned on short ones hold
for long ones.
"""

from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.asking import Asked, Wanted
from oldfriend.memory.search.dates import Span
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.scan import Scan
from oldfriend.memory.search.signs import Sign
from oldfriend.memory.search.values import Floats, Ints, Question

_DAY_US = 86_400_000_000
_EPOCH = date(1970, 1, 1)


@dataclass(slots=True, eq=False)
class Sheet:
    """Named columns of candidates, filled one after the other."""

    names: list[str]
    columns: list[Floats]
    size: int

    def put(self, name: str, values: NDArray[np.generic] | float) -> Floats:
        column = np.broadcast_to(np.asarray(values, dtype=np.float32), (self.size,))
        self.names.append(name)
        self.columns.append(column)
        return column


def features(index: PersonIndex, question: Question, asked: Asked, seen: Scan, rows: Ints) -> Sheet:
    """All features of the candidates."""
    sheet = Sheet([], [], len(rows))
    cols = index.columns
    prev, foll = index.previous[rows], index.following[rows]
    lex = seen.lexical / max(float(seen.lexical.max()), 1e-6)
    win = seen.lexical_around / max(float(seen.lexical_around.max()), 1e-6)
    M = seen.meaning
    L = lex[rows]; W = win[rows]; C = M[rows]
    topC = max(float(M.max()), 1e-6)
    put = sheet.put
    put('lex', L); put('lex_abs', seen.lexical[rows] / seen.possible); put('win', W); put('win_abs', seen.lexical_around[rows]/seen.possible)
    put('lex_prev', lex[prev]); put('lex_next', lex[foll])
    p2=np.append(index.previous,len(index))[prev]; f2=np.append(index.following,len(index))[foll]
    put('lex_prev2', lex[p2]); put('lex_next2', lex[f2]); put('win_prev2', win[p2]); put('win_next2', win[f2])
    put('cos', C); put('cos_rel', C/topC if seen.meaning_weight else 0); put('cos_prev', M[prev]); put('cos_next', M[foll]); put('cos_prev2', M[p2]); put('cos_next2', M[f2])
    put('cos_pos', np.maximum(C-1.5,0)); put('cos_sq', np.maximum(C,0)**2/4)
    mw=seen.meaning_weight
    # pooled windows
    if seen.vector is not None:
        V=np.concatenate([index.vectors, np.zeros((1,index.vectors.shape[1]),np.float32)])
        P=V[prev]+V[rows]+V[foll]; pc=(P@seen.vector)/np.maximum(np.linalg.norm(P,axis=1),1e-6)
        P=P+V[p2]+V[f2]; pc5=(P@seen.vector)/np.maximum(np.linalg.norm(P,axis=1),1e-6)
        put('pool3',(pc-pc.mean())/(pc.std()+1e-6)); put('pool5',(pc5-pc5.mean())/(pc5.std()+1e-6))
        sp=cols.speaker; known=index.understood
        cnt=np.bincount(sp,known)+1e-6; m=np.bincount(sp,seen.cosine[:-1])/cnt; sd=np.sqrt(np.bincount(sp,seen.cosine[:-1]**2)/cnt-m*m)+1e-6
        put('cos_spk',(seen.cosine[rows]-m[sp[rows]])/sd[sp[rows]])
        put('cos_raw',seen.cosine[rows])
    else:
        for n in ('pool3','pool5','cos_spk','cos_raw'): put(n,0)
    # terms
    T=len(asked.words)
    docs=np.unique(np.concatenate([rows,prev,foll])); docs=docs[docs<len(index)]
    tf,adj,firstpos=_terms(index,docs,asked)
    at=np.full(len(index)+1,len(docs)); at[docs]=np.arange(len(docs))
    tf=np.vstack([tf,np.zeros((1,T),np.float32)]); adj=np.append(adj,0)
    has=tf>0; here=has[at[rows]]; hp=has[at[prev]]; hf=has[at[foll]]
    idf=seen.idf; tot=max(float(idf.sum()),1e-6)
    # only words that exist somewhere
    put('cov', here@idf/tot); put('cov_win',(here|hp|hf)@idf/tot); put('cov_prev',(here|hp)@idf/tot)
    put('cov_sq',(here@idf/tot)**2)
    put('rare',(here*idf).max(axis=1,initial=0)/max(float(idf.max(initial=0)),1e-6))
    put('nmatch',here.sum(1)/max(T,1)); put('nm2',(here.sum(1)>=2)); put('nm3',(here.sum(1)>=3)); put('any',here.any(1))
    put('adj',adj[at[rows]]/max(T-1,1))
    put('all',here.all(1) if T else 0)
    # session
    s=cols.session[rows]; uniq,si=np.unique(s,return_inverse=True)
    st=seen.matching[rows]; smax=np.full(len(uniq),-9,np.float32); np.maximum.at(smax,si,st)
    top=st.max(initial=1e-6)
    put('ses_max',smax[si]/top); 
    z=np.zeros(len(uniq)); e=np.exp((st-top)); np.add.at(z,si,e); put('ses_soft',z[si]/z.sum()*1.0)
    put('match_rel', st/top)
    sl=np.zeros(len(uniq)); np.add.at(sl,si,L); put('ses_lexsum',sl[si]/max(sl.max(initial=0),1e-6))
    scov=np.zeros((len(uniq),T),bool); np.logical_or.at(scov,si,here); put('ses_cov',(scov@idf/tot)[si])
    smc=np.full(len(uniq),-9,np.float32); np.maximum.at(smc,si,C); put('ses_cos',smc[si]/topC if mw else 0)
    # names
    named,ment=_people(index,asked)
    spk=np.zeros(len(index.numbering.speakers.numbers)+1); 
    for n in named: spk[n]=1
    speaks=spk[cols.speaker[rows]]
    one=len(named)==1
    put('speaks',speaks*one); put('speaks_multi',speaks*(len(named)>1)); put('other_speaks',(1-speaks)*one)
    mention=np.zeros(len(rows))
    for n in ment: mention=np.maximum(mention,(n[0][at[rows]])) if False else mention
    mt=_mentions(index,docs,named); mt=np.append(mt,0)
    put('mention',mt[at[rows]]*bool(named)); put('mention_other',mt[at[rows]]*(1-speaks)*bool(named)); put('mention_prev',mt[at[prev]]*bool(named))
    owner=index.numbering.speakers.numbers.get(question.owner,-1) if question.owner else -1
    mine=(cols.speaker[rows]==owner); comp=cols.is_companion[rows]
    fp=asked.first_person and not named
    put('own',mine*fp); put('own_not',(~mine)*fp); put('comp',comp); put('comp_fp',comp*fp); put('comp_you',comp*asked.second_person); put('mine',mine)
    put('own_lex',mine*fp*L); put('own_cos',mine*fp*C)
    put('speaks_lex',speaks*one*L); put('speaks_cos',speaks*one*C)
    # dates
    d=_dates(index,asked,rows)
    put('date',d[0]); put('date_near',d[1]); put('date_miss',d[2])
    # priors
    chars=cols.characters[rows].astype(np.float32); ll=np.log1p(chars)
    mean=np.log1p(cols.characters).mean(); 
    put('len',ll-mean); put('len_sq',(ll-mean)**2); put('short',(chars<40)); 
    haschat=float(cols.is_companion.any()); put('len_comp',(ll-mean)*haschat)
    put('cos_comp',C*haschat); put('lex_comp',L*haschat)
    sg=cols.signs[rows]
    bits={}
    for sign in Sign:
        b=(sg&int(sign))!=0; bits[sign]=b; put('s_'+(sign.name or ''),b)
    w=asked.wanted
    for sign,want in ((Sign.TIME,Wanted.TIME),(Sign.PAST,Wanted.TIME),(Sign.FIRST_PERSON,Wanted.TIME),(Sign.PLACE,Wanted.PLACE),(Sign.NAME,Wanted.PLACE),(Sign.NAME,Wanted.PERSON),(Sign.RELATION,Wanted.PERSON),(Sign.NUMBER,Wanted.NUMBER),(Sign.REASON,Wanted.REASON),(Sign.QUESTION,Wanted.TIME),(Sign.ATTACHMENT,Wanted.LIST),(Sign.LIKING,Wanted.LIST),(Sign.QUESTION,Wanted.YES_NO)):
        put(f'{sign.name}*{want.name}',bits[sign]*bool(w&want))
    psg=np.append(cols.signs,0)[prev]; pq=(psg&1)!=0
    put('prev_q',pq); put('prev_q_lex',pq*lex[prev]); put('prev_q_cos',pq*M[prev]); put('q_lex',bits[Sign.QUESTION]*L)
    spkp=np.append(cols.speaker,-1)[prev]; put('prev_same',(spkp==cols.speaker[rows])); put('first',prev==len(index)); put('last',foll==len(index))
    nsg=np.append(cols.signs,0)[foll]; put('next_q_after_q',bits[Sign.QUESTION]*((nsg&1)==0))
    put('lex_prev_q', lex[foll]*bits[Sign.QUESTION])
    t=cols.said_at; lo,hi=t.min(),t.max(); when=(t[rows]-lo)/max(hi-lo,1)
    put('when',when); put('when_latest',when*bool(w&Wanted.LATEST)); put('when_first',when*bool(w&Wanted.EARLIEST))
    # interactions: few words / many words
    put('lex_short',L*(T<=2)); put('cos_short',C*(T<=2)); put('win_time',W*bool(w&Wanted.TIME)); put('lex_nov',L*(1-mw)); put('win_nov',W*(1-mw)); put('cov_nov',here@idf/tot*(1-mw)); put('cov_win_nov',(here|hp|hf)@idf/tot*(1-mw))
    put('speaks_first', speaks*one*bits[Sign.FIRST_PERSON])
    put('lex*cos', L*np.maximum(C,0)/3)
    return sheet


def _terms(index, docs, asked):
    T=len(asked.words)
    if not T or not len(docs): return np.zeros((len(docs),T),np.float32),np.zeros(len(docs)),None
    term=np.array([t for w in asked.words for t in w.terms],np.uint32); grp=np.array([i for i,w in enumerate(asked.words) for _ in w.terms])
    o=np.argsort(term); term=term[o]; grp=grp[o]
    n=index.columns.length[docs]; st=index.starts[docs]; ends=np.cumsum(n)
    pos=np.arange(ends[-1])-np.repeat(ends-n,n)
    toks=index.stream[np.repeat(st,n)+pos]
    j=np.minimum(np.searchsorted(term,toks),len(term)-1)
    hit=np.flatnonzero(term[j]==toks)
    d=np.repeat(np.arange(len(docs)),n)[hit]; g=grp[j[hit]]; p=pos[hit]
    tf=np.bincount(d*T+g,minlength=len(docs)*T).reshape(len(docs),T).astype(np.float32)
    adj=np.zeros(len(docs))
    if len(hit)>1:
        same=(d[1:]==d[:-1])&(g[1:]!=g[:-1])&(p[1:]-p[:-1]<=3)&(np.abs(g[1:]-g[:-1])==1)
        adj=np.bincount(d[1:][same],minlength=len(docs)).astype(float); adj=np.minimum(adj,T-1)
    return tf,adj,None

from oldfriend.memory.search.words import words_in,term_of
def _people(index, asked):
    named=[]
    for name,no in index.numbering.speakers.numbers.items():
        parts=words_in(name)
        if parts and any(p in asked.surfaces or (len(p)>4 and any(s!=p and len(s)>=3 and p.startswith(s) and s[0]==p[0] for s in asked.surfaces)) for p in parts if len(p)>1): named.append(no)
    return named,()

def _mentions(index,docs,named):
    if not named or not len(docs): return np.zeros(len(docs))
    known=index.numbering.speakers.known
    terms=np.unique(np.array([term_of(w,l) for no in named for w in words_in(known[no]) for l in index.numbering.languages.known],np.uint32))
    n=index.columns.length[docs]; st=index.starts[docs]; ends=np.cumsum(n)
    pos=np.arange(ends[-1])-np.repeat(ends-n,n)
    toks=index.stream[np.repeat(st,n)+pos]
    hit=np.isin(toks,terms)
    return np.minimum(np.bincount(np.repeat(np.arange(len(docs)),n),hit,len(docs)),1)

def _dates(index,asked,rows):
    inside=np.zeros(len(rows)); near=np.zeros(len(rows))
    if not asked.spans: return inside,near,inside
    day=index.columns.said_at[rows]/_DAY_US
    for sp in asked.spans:
        for y in (range(-6,2) if sp.any_year else (0,)):
            try: a=(sp.first.replace(year=sp.first.year+y)-_EPOCH).days
            except ValueError: continue
            b=a+(sp.end-sp.first).days
            inside=np.maximum(inside,(day>=a)&(day<b))
            gap=np.where(day<a,(a-day)*3,np.maximum(day-b,0))
            sc={'day':4,'week':7,'month':15,'season':30,'year':60}[sp.grain]
            near=np.maximum(near,np.exp(-gap/sc))
    return inside,near,1-near
