"""The searches that explain solutions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formulations.dtypes import LabelIds
from ilpinfer.core.context import Context
from ilpinfer.core.infeasibility import Infeasibility

if TYPE_CHECKING:
    from ilpinfer.core.explanation import Change


@dataclass(frozen=True)
class Searches:
    """Searches of explanations within the time limit of a call."""

    time_limit: float | None

    def conflict(self, context: Context, known: Infeasibility | None) -> Infeasibility:
        """The conflict if no labelling is feasible; searched again if the call had less time for it than its limit."""
        from ilpinfer.exact.infeasibility import explain_infeasibility

        if known is not None and (not known.unfinished or self.time_limit is None):
            return known
        return explain_infeasibility(context, self.time_limit)

    def changes(self, context: Context, path: LabelIds, token: int | None) -> "tuple[Change, ...]":
        """The runs of labels that differ from Viterbi, or the answer for one token."""
        from ilpinfer.exact.changes import changes
        from ilpinfer.exact.limits import TIME_LIMIT

        return tuple(changes(context, path, token, self.time_limit or TIME_LIMIT))
