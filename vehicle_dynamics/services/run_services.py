"""Services for time: features, state, steps, resets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from vehicle_dynamics.services.rejection import FAILED, UNSUPPORTED, RejectionError
from vehicle_dynamics.services.site import Site

STATES = ("STOPPED", "PLAYING", "PAUSED", "QUITTING")  # that can be asked for
FORMAT = "proving_ground"  # of what can be spawned, and of worlds
ABOUT = "proving_ground: an off-road vehicle on soft soil; one step is 10 ms of the driver's control period"


class RunServices:
    """Each method serves the type of its name: it fills the response, and returns a remark or raises RejectionError."""

    def __init__(self, site: Site, features: Iterable[str]) -> None:
        """features: names of constants of simulation_interfaces/SimulatorFeatures."""
        self._site, self._features = site, tuple(features)

    def get_simulator_features(self, request: Any, response: Any) -> None:
        """Features by the codes that the installed version of the standard knows."""
        answer = response.features
        answer.features = sorted(getattr(answer, name) for name in self._features if hasattr(answer, name))
        answer.spawn_formats, answer.custom_info = [FORMAT], ABOUT

    def get_simulation_state(self, request: Any, response: Any) -> None:
        """State of the simulation."""
        response.state.state = getattr(response.state, f"STATE_{self._site.state}")

    def set_simulation_state(self, request: Any, response: Any) -> None:
        """Stop, play, pause or quit the simulation."""
        site, wanted = self._site, request.state
        by_code = {getattr(wanted, f"STATE_{name}"): name for name in STATES}
        if wanted.state not in by_code:
            raise RejectionError(
                "INCORRECT_TRANSITION", f"state: must be one of {', '.join(STATES)}, got {wanted.state}"
            )
        name = by_code[wanted.state]
        if site.is_loading:
            raise RejectionError("INCORRECT_TRANSITION", "a world is being loaded; wait for it")
        with site.exclusive():
            if site.state == name:
                raise RejectionError("ALREADY_IN_TARGET_STATE", f"the simulation is {name.lower()} already")
            if name in ("PLAYING", "PAUSED"):
                site.pause(name == "PAUSED")
            else:
                site.stop()
        if name == "QUITTING":
            site.announcer.quit()

    def reset_simulation(self, request: Any, response: Any) -> None:
        """Reset what the request's scope names: time, state, spawned obstacles, or all."""
        scopes = {name: getattr(request, f"SCOPE_{name.upper()}") for name in ("time", "state", "spawned")}
        scope = request.scope or request.SCOPE_ALL
        if scope != request.SCOPE_ALL and scope & ~sum(scopes.values()):
            raise RejectionError(UNSUPPORTED, f"scope: must be a sum of {scopes}, or {request.SCOPE_ALL}, got {scope}")
        with self._site.exclusive():
            self._site.reset(**{name: bool(scope & bit) for name, bit in scopes.items()})

    def step_simulation(self, request: Any, response: Any) -> None:
        """Run some steps of a paused simulation."""
        self.simulate_steps(request.steps, lambda done: not self._site.is_closing)

    def simulate_steps(self, steps: int, go_on: Callable[[int], bool]) -> None:
        """Run steps of a paused simulation; go_on is called after each with the number completed, False ends them."""
        site = self._site
        with site.exclusive():
            if site.state != "PAUSED":
                raise RejectionError(FAILED, f"only a paused simulation can be stepped; it is {site.state.lower()}")
            for done in range(1, steps + 1):
                site.step()
                if not go_on(done):
                    return
