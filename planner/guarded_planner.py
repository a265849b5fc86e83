"""Wrapper for a planner that may be the user's own: whatever it does, the result is a plan or a one-line error."""

from __future__ import annotations

import numpy as np

from planner.planning import Arcs, Outcome, Plan, Planner, Request
from proving_ground.saving.stateful import Stateful

LONGEST_WORDS = 200


class PlannerError(Exception):
    """A planner raised an exception or returned something other than a plan; the message is one line."""


class GuardedPlanner(Stateful):
    """Forwards requests to a user's planner and checks its answers."""

    STATE = ("_planner",)

    def __init__(self, planner: Planner, name: str) -> None:
        self._planner, self._name = planner, name

    def reset(self) -> None:
        """Reset the user's planner; raises PlannerError if that fails."""
        try:
            self._planner.reset()
        except Exception as error:
            raise self._error("reset", error) from error

    def warm_up(self) -> None:
        """Call the warm_up of the user's planner, if it has one."""
        getattr(self._planner, "warm_up", lambda: None)()

    def plan(self, request: Request) -> Plan:
        """A plan whose fields have the right types; raises PlannerError."""
        try:
            plan = self._planner.plan(request)
            return _checked(plan)
        except Exception as error:
            raise self._error("plan", error) from error

    def _error(self, method: str, error: Exception) -> PlannerError:
        words = " ".join(str(error).split()) or "no message"
        return PlannerError(f"{self._name}: {method}: {type(error).__name__}: {words}"[:LONGEST_WORDS])


def _checked(plan: object) -> Plan:
    """The plan, with its path as an array and numbers as floats; raises TypeError or ValueError."""
    if not isinstance(plan, Plan):
        raise TypeError(f"must answer with a Plan, got {type(plan).__name__}")
    if not isinstance(plan.outcome, Outcome):
        raise TypeError(f"outcome must be an Outcome, got {type(plan.outcome).__name__}")
    if not isinstance(plan.arcs, Arcs):
        raise TypeError(f"arcs must be Arcs, got {type(plan.arcs).__name__}")
    path = np.asarray(plan.path, np.float64)
    if path.ndim != 2 or path.shape[1] != 2:
        raise ValueError(f"path must be n x 2, got shape {path.shape}")
    if not np.isfinite(path).all():
        raise ValueError("path must be finite")
    numbers = (plan.speed, plan.curvature, plan.to_go, plan.effort)
    speed, curvature, to_go, effort = (float(number) for number in numbers)
    return Plan(plan.outcome, speed, curvature, to_go, effort, path, plan.arcs, float(plan.reference))
