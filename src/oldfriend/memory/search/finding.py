"""Which messages answer a question? (first version: sum of standardised scores)"""

import numpy as np

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.values import Found, Hit, Question, Reason
from oldfriend.memory.search.words import is_stop_word, term_of, words_in


def search(index: PersonIndex, question: Question, k: int) -> Found:
    """The k messages that best answer a question, best first."""
    if not len(index):
        return Found(hits=(), answerable=0.0)
    words = list(dict.fromkeys(words_in(question.text)))
    words = [w for w in words if not is_stop_word(w, question.language)] or words
    n = len(index)
    length = index.columns.length / max(index.columns.length.mean(), 1)
    score = np.zeros(n, dtype=np.float32)
    possible = 1e-9
    for word in words:
        messages, counts = index.holding([term_of(word, question.language)])
        idf = np.log(1 + (n - len(messages) + 0.5) / (len(messages) + 0.5))
        score[messages] += idf * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * length[messages]))
        possible += 2.2 * idf
    share = score / possible
    total = (score - score.mean()) / (score.std() + 1e-9)
    if question.vector is not None and question.language not in CJK_LANGUAGES and index.has_vector.any():
        cosine = index.vectors @ question.vector
        total += (cosine - cosine.mean()) / (cosine.std() + 1e-9)
    total[index.positions_mask(question.exclude)] = -np.inf
    total[index.columns.length == 0] = -np.inf
    best = np.argsort(-total, kind="stable")[:k]
    best = best[np.isfinite(total[best])]
    return Found(
        hits=tuple(
            Hit(seq=int(index.columns.seq[b]), score=float(1 / (1 + np.exp(-total[b] / 2))), why=(Reason(cause="words", words=tuple(words)),))
            for b in best
        ),
        answerable=float(min(1.0, share[best[0]] * 1.5)) if len(best) else 0.0,
    )
