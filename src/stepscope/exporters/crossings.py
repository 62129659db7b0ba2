"""Slices of one row that begin within another and end after it; those that nest have it as parent.

Slices come in nesting order, so at each depth those of one parent follow one another. A running maximum of
(parent, end) is therefore the end of the earlier siblings, which the engine computes as rows pass, without
storing them. A window over partitions would store them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

_AT_ONCE = 8
"""Depths of one pass over the slices."""
_DEPTHS = 64
"""Below this depth slices are few: a window over partitions counts them."""

_DEEPER = f"""
SELECT count(*) FROM (
  SELECT ts_ps, max(ts_ps + dur_ps) OVER (
    PARTITION BY track_id, parent_id ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS before_ps FROM slice WHERE depth >= {_DEPTHS}
) AS sibling WHERE before_ps > ts_ps"""

_GROUP = "(2::HUGEINT ** 65)::HUGEINT"
"""More than any two times differ by."""


def count(trace: OpenTrace) -> int:
    """The number of such slices."""
    deepest = trace.query("SELECT max(depth) FROM slice").rows()[0][0]
    if deepest is None:
        return 0
    found = 0
    for first in range(0, min(deepest + 1, _DEPTHS), _AT_ONCE):
        found += trace.query(_pass(range(first, min(first + _AT_ONCE, deepest + 1)))).rows()[0][0] or 0
    if deepest >= _DEPTHS:
        found += trace.query(_DEEPER).rows()[0][0]
    return int(found)


def _pass(depths: range) -> str:
    """One scan that counts those of some depths."""
    most = ", ".join(
        f"max(CASE WHEN depth = {depth} THEN group_ps + end_ps END)"
        f" OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS most_{depth}"
        for depth in depths
    )
    before = ", ".join(f"lag(most_{depth}) OVER () AS before_{depth}" for depth in depths)
    # The maximum may still belong to siblings with another parent.
    crosses = " + ".join(
        f"(depth = {depth} AND before_{depth} > group_ps + ts_ps"
        f" AND before_{depth} < group_ps + {_GROUP} // 2)::BIGINT"
        for depth in depths
    )
    return f"""
SELECT sum({crosses}) FROM (
  SELECT depth, group_ps, ts_ps, {before} FROM (
    SELECT depth, group_ps, ts_ps, {most} FROM (
      SELECT depth, ts_ps, (ts_ps::HUGEINT + dur_ps) AS end_ps,
        coalesce(parent_id, track_id)::HUGEINT * {_GROUP} AS group_ps
      FROM slice
    ) AS grouped
  ) AS running
) AS sibling"""
