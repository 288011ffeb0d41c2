import os

import pytest

from oldfriend.evals.lives.judging import JUDGED, Judge, _is_over
from oldfriend.evals.lives.pairing import appraise_pair


async def test_x(house):
    for who in await appraise_pair(
        house, "es", reader=os.environ.get("READER", "rules"), asks=False
    ):
        if who.name != "es.julieta":
            continue
        a = who.appraisal
        prev = None
        from oldfriend.evals.lives.loading import load_life

        life = load_life("es.julieta")
        judge = Judge(life, a.lived.places)
        last = frozenset()
        for day, held in a.lived.by_day.items():
            v = [judge.verdict_on(h, day) for h in held if h.memory.kind in JUDGED]
            cur = {b.id for b in life.truth.current_on(day)}
            bad = {
                (
                    x.held.memory.kind,
                    x.held.memory.key,
                    x.held.memory.value,
                    x.held.memory.text,
                    x.belief.id if x.belief else None,
                    x.flaw,
                )
                for x in v
                if not _is_over(x.belief, day)
                and (not x.is_right or x.belief is None or x.belief.id not in cur)
            }
            r = {x.belief.id for x in v if x.belief and x.is_right} & cur
            miss = {
                b.id for b in life.truth.current_on(day) if b.is_required and not _is_over(b, day)
            } - r
            print(
                day,
                round(a.as_of.get(day, 9), 3),
                "new bad",
                bad - last,
                "missing",
                sorted(miss) if os.environ.get("MISS") else len(miss),
                a.numbers if day == max(a.lived.by_day) else "",
            )
            last = bad
