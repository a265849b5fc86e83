"""The running simulation as services see it: its loop, the vehicle in its world, and spawned obstacles.

Only the loop's thread touches the simulation: everything here asks it. Methods raise RejectionError.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol, TypeVar

from proving_ground.settings import SettingsError
from terrain.ground import height_at
from terrain.obstacles import Box
from terrain.spawned import ReplaceableGround, obstacles_of
from terrain.world import World, WorldPose
from terrain.world_ground import WorldGround
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.services.entities import Body, Entity, overlap
from vehicle_dynamics.services.rejection import FAILED, NOT_FOUND, WRONG_STATE, RejectionError
from vehicle_dynamics.simulation_loop import ANSWER_WAIT_S, SimulationLoop
from vehicle_dynamics.start import FASTEST_MPS, SLOWEST_MPS, Origin
from vehicle_dynamics.vehicle import Vehicle

VEHICLE = "vehicle"
STEP_WAIT_S = 60.0  # a synchronous step waits for all nodes
TURN_WAIT_S = 1.0  # wall time: how long a request waits for one that is under way

Result = TypeVar("Result")


class Announcer(Protocol):
    """Announces changes to other nodes."""

    def reset(self) -> None: ...

    def spawned(self, entities: list[Entity]) -> None: ...

    def world(self, name: str, world: World) -> None: ...

    def wait(self) -> None: ...

    def quit(self) -> None: ...


class Site:
    """State, entities and world of one simulation; any thread may use it."""

    def __init__(
        self,
        loop: SimulationLoop,
        ground: ReplaceableGround,
        world: World | None,
        start: Origin,
        vehicle: Vehicle,
        body: Body,
        announcer: Announcer,
    ) -> None:
        self.loop, self.ground, self.body = loop, ground, body
        self.world, self.start = world, start
        self.world_name = world.name if world is not None else ""
        self.announcer = announcer
        self.spawned: dict[str, Entity] = {}
        self.vehicle_info = Entity(name=VEHICLE, shape=body.at(0.0, 0.0, 0.0, 0.0), category=0)
        self.is_loading = False
        self.is_closing = False
        x, y, z = vehicle.base_in_chassis.tolist()
        self._base = (x, y, z)
        self._stopped_at: int | None = None  # tick
        self._turn = threading.Lock()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Let one request at a time change things; raises RejectionError when another one takes long."""
        if not self._turn.acquire(timeout=TURN_WAIT_S):
            raise RejectionError(WRONG_STATE, "another request is under way: steps, or the loading of a world")
        try:
            yield
        finally:
            self._turn.release()

    def ask(self, request: Callable[[], Result], within_s: float = ANSWER_WAIT_S) -> Result:
        """Run a request in the simulation's thread."""
        try:
            return self.loop.ask(request, within_s)
        except concurrent.futures.TimeoutError:
            raise RejectionError(FAILED, "the simulation did not answer in time; is it waiting for a node?") from None

    # Time

    @property
    def state(self) -> str:
        """Name of the state, as in simulation_interfaces/SimulationState."""
        simulation = self.loop.simulation
        if self.is_loading:
            return "LOADING_WORLD"
        if not simulation.is_paused:
            return "PLAYING"
        return "STOPPED" if self._stopped_at == simulation.tick else "PAUSED"

    def pause(self, wanted: bool) -> None:
        """Pause the simulation if wanted, else let it run."""
        self._stopped_at = None
        self.ask(lambda: self.loop.pause(wanted))

    def stop(self) -> None:
        """Pause and reset everything."""
        self.pause(True)
        self.reset(time=True, state=True, spawned=True)
        self._stopped_at = self.loop.simulation.tick

    def step(self) -> None:
        """One step of a paused simulation."""
        if not self.ask(self.loop.step, STEP_WAIT_S):
            raise RejectionError(FAILED, "only a paused simulation can be stepped")

    def reset(self, *, time: bool, state: bool, spawned: bool) -> None:
        """Reset the time, the vehicle's state, or remove the spawned obstacles, all at one instant."""

        def apply() -> None:
            if spawned:
                self._set_spawned({})
            if state:
                self.loop.reset()
            if time:
                self._restart_time()
            if time or state:
                self.loop.begin_again()

        self.ask(apply)
        if time or state:
            self.announcer.reset()
        self.announcer.wait()

    def _restart_time(self) -> None:
        simulation = self.loop.simulation
        simulation.restart_time()
        self.loop.pause(simulation.is_paused)  # the pace is kept from here

    # Entities

    def motion(self) -> BaseMotion:
        """True motion of base_link."""
        return self.ask(lambda: base_motion(self.loop.simulation.seen, self._base))

    def time_ns(self) -> int:
        """Simulated time since 1970 [ns]."""
        return self.loop.simulation.time_ns

    def ground_height(self, x: float, y: float) -> float:
        """z of the ground [m] at x, y [m]."""
        return float(height_at(self.ground.kernel(), x, y))

    def covers(self, x: float, y: float) -> bool:
        """Whether a position is in the world; a plane has no end."""
        return self.world is None or bool(self.world.ground.covers(x, y))

    def move_vehicle(self, origin: Origin, constant: str) -> None:
        """Put the vehicle at a pose, in equilibrium on the ground; constant: result code of a rejection."""
        obstacles = self.ground.spawned if self.world is None else self.world.obstacles + self.ground.spawned
        box = self.body.at(origin.x, origin.y, 0.0, origin.heading)
        if not self.covers(origin.x, origin.y):
            raise RejectionError(constant, f"pose: x {origin.x:g}, y {origin.y:g} m is outside the world")
        if not SLOWEST_MPS <= origin.speed <= FASTEST_MPS:
            limits = f"from {SLOWEST_MPS:g} to {FASTEST_MPS:g} m/s"
            raise RejectionError(FAILED, f"speed: must be {limits}, got {origin.speed:g}")
        if overlap(box, obstacles):
            raise RejectionError(
                constant, f"pose: at x {origin.x:g}, y {origin.y:g} m the vehicle would be in an obstacle"
            )
        try:
            self.ask(lambda: self.loop.simulation.place(origin._asdict()))
        except ValueError as error:
            raise RejectionError(constant, f"pose: {error}") from None

    def put_up(self, entity: Entity, constant: str) -> None:
        """Add or replace an obstacle; constant: result code of a rejection."""
        if not self.covers(entity.shape.x, entity.shape.y):
            raise RejectionError(constant, f"pose: x {entity.shape.x:g}, y {entity.shape.y:g} m is outside the world")
        if overlap(self._vehicle_box(), obstacles_of([entity.shape])):
            raise RejectionError(constant, "pose: the vehicle is there")
        self.ask(lambda: self._set_spawned({**self.spawned, entity.name: entity}))
        self.announcer.wait()

    def remove(self, name: str) -> None:
        """Remove a spawned obstacle."""
        if name == VEHICLE:
            raise RejectionError(FAILED, "the vehicle cannot be deleted")
        if name not in self.spawned:
            raise RejectionError(NOT_FOUND, f"entity: there is no {name!r}")
        self.ask(lambda: self._set_spawned({key: item for key, item in self.spawned.items() if key != name}))
        self.announcer.wait()

    def entities(self) -> dict[str, Entity]:
        """The vehicle and the spawned obstacles by name."""
        return {VEHICLE: replace(self.vehicle_info, shape=self._vehicle_box()), **self.spawned}

    def entity(self, name: str) -> Entity:
        """The entity of a name; raises RejectionError if there is none."""
        found = self.entities().get(name)
        if found is None:
            raise RejectionError(NOT_FOUND, f"entity: there is no {name!r}")
        return found

    def set_info(self, entity: Entity) -> None:
        """Replace category, description and tags of the entity of that name."""
        if entity.name == VEHICLE:
            self.vehicle_info = entity
        else:
            self.spawned = {**self.spawned, entity.name: entity}

    def _vehicle_box(self) -> Box:
        motion = self.motion()
        return self.body.at(*motion.position, heading_of(motion))

    def _set_spawned(self, spawned: dict[str, Entity]) -> None:
        """Set the spawned objects in the simulation's thread, so that no step is in between."""
        if spawned == self.spawned:
            return
        self.spawned = spawned
        self.ground.set_spawned(obstacles_of(item.shape for item in spawned.values()))
        self.announcer.spawned(list(spawned.values()))

    # World

    def load(self, name: str) -> World:
        """Replace the world and stop at its start; raises SettingsError for a world that cannot be built."""
        was_paused = self.loop.simulation.is_paused
        self.pause(True)
        self.is_loading = True
        try:
            world = load_world(name)
            self.ask(lambda: self._stand_on(world))
        except (SettingsError, RejectionError):
            self.pause(was_paused)
            raise
        finally:
            self.is_loading = False
        self.world, self.world_name, self.start = world, name, _origin(world.start)
        self.announcer.world(name, world)
        self.announcer.reset()
        self.announcer.wait()
        self._stopped_at = self.loop.simulation.tick
        return world

    def _stand_on(self, world: World) -> None:
        before, spawned = self.ground.ground, self.spawned
        self.ground.replace(WorldGround.of(world))
        self._set_spawned({})
        try:
            self.loop.simulation.start_from(_origin(world.start)._asdict())
        except ValueError as error:
            self.ground.replace(before)
            self._set_spawned(spawned)
            raise RejectionError(FAILED, f"world {world.name}: the vehicle cannot start: {error}") from None
        self._restart_time()
        self.loop.begin_again()


def heading_of(motion: BaseMotion) -> float:
    """Heading of base_link [rad]."""
    x, y, z, w = motion.attitude
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _origin(pose: WorldPose) -> Origin:
    return Origin(pose.x, pose.y, pose.heading)
