"""Services for entities: which there are, where they are, spawning and deleting."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from proving_ground.interfaces.fields import (
    FASTEST_MPS,
    FASTEST_RADPS,
    Maker,
    read_quaternion,
    read_vector,
    set_heading,
    set_quaternion,
    set_stamp,
    set_vector,
)
from proving_ground.interfaces.simulation_services import message_type
from proving_ground.settings import SettingsError
from proving_ground.settings.nested import build_nested, settings_from_text
from proving_ground.settings.yaml_file import read_value
from terrain.limits import LARGEST_COORDINATE
from terrain.obstacles import Box, Cylinder
from terrain.spawned import BoxSize, CylinderSize, Spawnable, upright_yaw
from vehicle_dynamics.services import entities
from vehicle_dynamics.services.entities import Entity
from vehicle_dynamics.services.rejection import FAILED, UNSUPPORTED, RejectionError
from vehicle_dynamics.services.run_services import FORMAT
from vehicle_dynamics.services.site import VEHICLE, Site
from vehicle_dynamics.start import Origin

SPAWNABLES = {"box": Spawnable(box=BoxSize()), "cylinder": Spawnable(cylinder=CylinderSize())}
OTHER_FORMATS = (".sdf", ".urdf", ".xacro", ".usd", ".usda", ".usdc", ".usdz", ".xml", ".mjcf")
VECTOR = "geometry_msgs/msg/Vector3"
STANDS = 1e-9  # [m/s], [rad/s]


class EntityServices:
    """Each method serves the type of its name: it fills the response, and returns a remark or raises RejectionError."""

    def __init__(self, site: Site, make: Maker, map_frame: str) -> None:
        self._site, self._make, self._frame = site, make, map_frame
        category = make(message_type("EntityCategory"))
        self._robot, self._object = getattr(category, entities.ROBOT), getattr(category, entities.STATIC_OBJECT)
        site.vehicle_info = replace(site.vehicle_info, category=self._robot, description="the simulated vehicle")

    # Which there are

    def get_entities(self, request: Any, response: Any) -> None:
        """Names of entities that pass the filters."""
        response.entities = [item.name for item in self._filtered(request.filters)]

    def get_entities_states(self, request: Any, response: Any) -> None:
        """Names and states of entities that pass the filters."""
        found = self._filtered(request.filters)
        response.entities = [item.name for item in found]
        response.states = [self._state(item, self._make(message_type("EntityState"))) for item in found]

    def _filtered(self, filters: Any) -> list[Entity]:
        pattern = entities.name_pattern(filters.filter)
        categories = {item.category for item in filters.categories}
        needs_all = filters.tags.filter_mode == filters.tags.FILTER_MODE_ALL
        return [
            item
            for item in self._site.entities().values()
            if pattern.search(item.name)
            and (not categories or item.category in categories)
            and entities.has_tags(item.tags, filters.tags.tags, needs_all)
            and _is_within(item, filters.bounds)
        ]

    def get_entity_info(self, request: Any, response: Any) -> None:
        """Category, description and tags of an entity."""
        item, info = self._site.entity(request.entity), response.info
        info.category.category, info.description, info.tags = item.category, item.description, list(item.tags)

    def set_entity_info(self, request: Any, response: Any) -> None:
        """Replace category, description and tags of an entity."""
        info = request.info
        with self._site.exclusive():
            item = self._site.entity(request.entity)
            words = {"description": info.description, "tags": tuple(info.tags), "category": info.category.category}
            self._site.set_info(replace(item, **words))

    def get_entity_bounds(self, request: Any, response: Any) -> None:
        """Bounding box of an entity, in its own axes."""
        item = self._site.entity(request.entity)
        body = self._site.body
        self.fill_bounds(response.bounds, *((body.low, body.high) if item.name == VEHICLE else _own_limits(item)))

    def fill_bounds(self, bounds: Any, low: tuple[float, ...], high: tuple[float, ...]) -> None:
        """Fill the message of a box from its lowest and highest corner: upper right first, then lower left."""
        bounds.type, bounds.points = bounds.TYPE_BOX, [self._make(VECTOR), self._make(VECTOR)]
        set_vector(bounds.points[0], high)
        set_vector(bounds.points[1], low)

    # Where they are

    def get_entity_state(self, request: Any, response: Any) -> None:
        """True pose and velocities of an entity."""
        self._state(self._site.entity(request.entity), response.state)

    def _state(self, item: Entity, state: Any) -> Any:
        state.header.frame_id = self._frame
        set_stamp(state.header.stamp, self._site.time_ns())
        if item.name != VEHICLE:
            set_vector(state.pose.position, (item.shape.x, item.shape.y, item.shape.base))
            set_heading(state.pose.orientation, item.shape.yaw if isinstance(item.shape, Box) else 0.0)
            return state
        motion = self._site.motion()
        set_vector(state.pose.position, motion.position)
        set_quaternion(state.pose.orientation, motion.attitude)
        for message, values in (
            (state.twist.linear, motion.velocity),
            (state.twist.angular, motion.angular_velocity),
            (state.acceleration.linear, motion.acceleration),
            (state.acceleration.angular, motion.angular_acceleration),
        ):
            set_vector(message, _rotated(motion.attitude, values))
        return state

    def set_entity_state(self, request: Any, response: Any) -> str:
        """Move an entity at once; the vehicle stands or rolls on the ground there, whatever z is."""
        site, state = self._site, request.state
        with site.exclusive():
            item = site.entity(request.entity)
            self._check_frame(state.header.frame_id)
            try:
                linear = read_vector(state.twist.linear, "linear velocity", FASTEST_MPS)
                angular = read_vector(state.twist.angular, "angular velocity", FASTEST_RADPS)
                position = read_vector(state.pose.position, "position", LARGEST_COORDINATE)
                if item.name != VEHICLE:
                    yaw = upright_yaw(state.pose.orientation)
                    self._move_obstacle(item, position, yaw, is_moving=math.hypot(*linear, *angular) > STANDS)
                    return ""
                heading = _heading(state.pose.orientation)
            except ValueError as error:
                raise RejectionError("INVALID_POSE", f"state: {error}") from None
            speed = linear[0] * math.cos(heading) + linear[1] * math.sin(heading)
            site.move_vehicle(Origin(position[0], position[1], heading, speed), "INVALID_POSE")
        return ""

    def _move_obstacle(self, item: Entity, position: tuple[float, float, float], yaw: float, is_moving: bool) -> None:
        if is_moving:
            raise RejectionError(FAILED, f"{item.name} is a static object and cannot move")
        x, y, base = position
        moved = replace(item.shape, x=x, y=y, base=base)
        shape = replace(moved, yaw=yaw) if isinstance(moved, Box) else moved
        self._site.put_up(replace(item, shape=shape), "INVALID_POSE")

    def _check_frame(self, frame: str) -> None:
        if frame not in ("", self._frame):
            raise RejectionError("INVALID_POSE", f"frame_id: must be {self._frame!r} or empty, got {frame!r}")

    # Spawning

    def get_spawnables(self, request: Any, response: Any) -> str:
        """A box and a cylinder, with their default sizes."""
        for uri, item in SPAWNABLES.items():
            found = self._make(message_type("Spawnable"))
            sizes = ", ".join(f"{name}={value:g}" for name, value in vars(item.size).items())
            found.uri, found.description = uri, f"static {uri}; other sizes as {uri}?{sizes.replace(', ', '&')}"
            shape = item.size.at((0.0, 0.0, 0.0), 0.0)
            self.fill_bounds(found.spawn_bounds, *entities.own_limits(shape))
            response.spawnables.append(found)
        unknown = ", ".join(request.sources)
        return f"sources: not known here: {unknown}" if unknown else ""

    def spawn_entity(self, request: Any, response: Any) -> None:
        """Put up one obstacle."""
        resource = getattr(request, "entity_resource", request)  # the fields moved into a Resource in 2.0
        response.entity_name = self._spawn(request, resource.uri, resource.resource_string)

    def spawn_entities(self, request: Any, response: Any) -> None:
        """Put up several obstacles; each has its own result."""
        failed = 0
        for item in request.spawn_requests:
            outcome = self._make(message_type("SpawnResult"))
            try:
                resource = item.entity_resource
                outcome.entity_name = self._spawn(item, resource.uri, resource.resource_string)
                outcome.result.result = outcome.result.RESULT_OK
            except RejectionError as error:
                failed += 1
                code = getattr(outcome, error.constant, None) or getattr(outcome.result, error.constant)
                outcome.result.result, outcome.result.error_message = code, str(error)
            response.results.append(outcome)
        if failed:
            raise RejectionError("ENTITIES_SPAWN_FAILED", f"{failed} of {len(request.spawn_requests)} were not spawned")

    def _spawn(self, request: Any, uri: str, text: str) -> str:
        spawnable, pose = _spawnable(uri, text), request.initial_pose
        kind = "box" if spawnable.box is not None else "cylinder"
        if request.entity_namespace and not entities.NAMESPACE.fullmatch(request.entity_namespace):
            raise RejectionError("NAMESPACE_INVALID", f"entity_namespace: not a ROS name: {request.entity_namespace!r}")
        try:
            self._check_frame(pose.header.frame_id)
            position = read_vector(pose.pose.position, "position", LARGEST_COORDINATE)
            shape: Box | Cylinder = spawnable.size.at(position, upright_yaw(pose.pose.orientation))
        except ValueError as error:
            raise RejectionError("INVALID_POSE", f"initial_pose: {error}") from None
        with self._site.exclusive():
            taken = self._site.entities()
            name = entities.free_name(request.name, kind, taken, request.allow_renaming)
            self._site.put_up(Entity(name=name, shape=shape, category=self._object, tags=(kind,)), "INVALID_POSE")
        return name

    def delete_entity(self, request: Any, response: Any) -> None:
        """Remove a spawned obstacle."""
        with self._site.exclusive():
            self._site.remove(request.entity)


def _spawnable(uri: str, text: str) -> Spawnable:
    """Object that a resource describes: `box?length_m=2&height_m=1`, or YAML text `box: {length_m: 2.0}`."""
    if not uri and not text:
        raise RejectionError("NO_RESOURCE", f"uri: is empty, and so is resource_string; give {' or '.join(SPAWNABLES)}")
    if (not uri and text.lstrip().startswith("<")) or urlsplit(uri).path.endswith(OTHER_FORMATS):
        raise RejectionError("UNSUPPORTED_FORMAT", f"resource: the only format is {FORMAT}: {' or '.join(SPAWNABLES)}")
    try:
        if not uri:
            return settings_from_text(text, Spawnable, "resource_string")
        kind, _, query = uri.removeprefix(f"{FORMAT}://").partition("?")
        if kind not in SPAWNABLES:
            raise RejectionError("NO_RESOURCE", f"uri: must begin with {' or '.join(SPAWNABLES)}, got {uri!r}")
        sizes = {name: read_value(value, "uri") for name, value in parse_qsl(query, keep_blank_values=True)}
        return build_nested(Spawnable, {kind: sizes}, "uri")
    except SettingsError as error:
        raise RejectionError("RESOURCE_PARSE_ERROR", str(error)) from None


def _heading(orientation: Any) -> float:
    x, y, z, w = read_quaternion(orientation)
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _rotated(attitude: tuple[float, ...], values: tuple[float, ...]) -> list[float]:
    """A vector of the body's axes in the world's; attitude: x, y, z, w."""
    axis, vector = np.array(attitude[:3]), np.array(values)
    rotated = vector + 2.0 * np.cross(axis, np.cross(axis, vector) + attitude[3] * vector)
    found: list[float] = rotated.tolist()
    return found


def _own_limits(item: Entity) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    return entities.own_limits(item.shape)


def _is_within(item: Entity, bounds: Any) -> bool:
    """Whether an entity's box along the world's axes overlaps bounds."""
    if bounds.type == bounds.TYPE_EMPTY:
        return True
    wanted = {bounds.TYPE_SPHERE: "sphere", bounds.TYPE_BOX: "box"}.get(bounds.type)
    if wanted is None:
        raise RejectionError(UNSUPPORTED, "bounds: must be empty, a sphere or a box")
    if len(bounds.points) != 2:
        raise RejectionError(FAILED, f"bounds: a {wanted} has two points, got {len(bounds.points)}")
    first, second = (np.array((point.x, point.y, point.z)) for point in bounds.points)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise RejectionError(FAILED, "bounds: must be finite")
    low, high = map(np.array, entities.limits(item.shape))
    if wanted == "box":
        return bool((np.maximum(low, np.minimum(first, second)) <= np.minimum(high, np.maximum(first, second))).all())
    return bool(np.linalg.norm(first - np.clip(first, low, high)) <= second[0])
