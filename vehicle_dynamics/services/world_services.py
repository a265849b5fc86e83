"""Services for worlds and their named poses."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proving_ground.interfaces.fields import Maker, set_heading, set_vector
from proving_ground.interfaces.simulation_services import message_type
from proving_ground.settings import SettingsError
from proving_ground.settings.named_files import ENDINGS, is_path
from proving_ground.settings.one_of import one_of
from terrain.world import WorldPose
from terrain.worlds import load_world_file, world_file, world_files
from vehicle_dynamics.services.entities import has_tags
from vehicle_dynamics.services.entity_services import EntityServices
from vehicle_dynamics.services.rejection import FAILED, NOT_FOUND, UNSUPPORTED, RejectionError
from vehicle_dynamics.services.site import Site


class WorldServices:
    """Each method serves the type of its name: it fills the response, and returns a remark or raises RejectionError."""

    def __init__(self, site: Site, make: Maker, of_entities: EntityServices) -> None:
        self._site, self._make, self._of_entities = site, make, of_entities

    # Named poses

    def get_named_poses(self, request: Any, response: Any) -> None:
        """Start and goal of the world."""
        needs_all = request.tags.filter_mode == request.tags.FILTER_MODE_ALL
        for name, pose in self._poses().items():
            if has_tags((name,), request.tags.tags, needs_all):
                found = self._make(message_type("NamedPose"))
                found.name, found.description, found.tags = name, f"{name} of world {self._site.world_name}", [name]
                height = self._site.ground_height(pose.x, pose.y)
                set_vector(found.pose.position, (float(pose.x), float(pose.y), height))
                set_heading(found.pose.orientation, pose.heading)
                response.poses.append(found)

    def get_named_pose_bounds(self, request: Any, response: Any) -> None:
        """Bounds of the vehicle at a named pose."""
        if request.name not in self._poses():
            raise RejectionError(NOT_FOUND, f"name: must be one of {', '.join(self._poses())}, got {request.name!r}")
        body = self._site.body
        self._of_entities.fill_bounds(response.bounds, body.low, body.high)

    def _poses(self) -> dict[str, WorldPose]:
        start, world = self._site.start, self._site.world
        poses = {"start": WorldPose(x=start.x, y=start.y, heading=start.heading)}
        return poses | ({"goal": world.goal} if world is not None and world.goal is not None else {})

    # Worlds

    def get_available_worlds(self, request: Any, response: Any) -> str:
        """Worlds of the suite by name, and those of given folders by path."""
        own = dict(world_files())
        sources, problems, constant = dict(own), [], FAILED
        for source in request.additional_sources:
            folder = Path(source.removeprefix("file://"))
            sources |= {str(path): path for path in sorted(folder.glob("*.yaml"))}
            if not folder.is_dir():
                problems.append(f"{source} is not a folder")
        needs_all = request.filter.filter_mode == request.filter.FILTER_MODE_ALL
        for uri, path in sources.items():
            try:
                found = self._resource(uri, path)
            except SettingsError as error:
                problems.append(str(error))
                constant = "DEFAULT_SOURCES_FAILED" if uri in own else constant
                continue
            if has_tags(found.tags, request.filter.tags, needs_all):
                response.worlds.append(found)
        if problems and not request.continue_on_error:
            response.worlds = []
            raise RejectionError(constant, "; ".join(problems))
        return "; ".join(problems)

    def get_current_world(self, request: Any, response: Any) -> None:
        """The world of the vehicle."""
        if self._site.world is None:
            raise RejectionError("NO_WORLD_LOADED", "the vehicle is on a plane, in no world")
        response.world = self._resource(self._site.world_name, world_file(self._site.world_name))

    def load_world(self, request: Any, response: Any) -> None:
        """Replace the world; the vehicle is at its start, stopped, without spawned obstacles."""
        resource = getattr(request, "world_resource", request)  # the fields moved into a Resource in 2.0
        name = _world_name(resource.uri, resource.resource_string)
        try:
            path = world_file(name)
        except SettingsError as error:
            raise RejectionError("NO_RESOURCE", f"uri: {error}") from None
        if not path.is_file():
            raise RejectionError("NO_RESOURCE", f"uri: there is no file {path}")
        with self._site.exclusive():
            try:
                self._site.load(name)
            except SettingsError as error:
                raise RejectionError("RESOURCE_PARSE_ERROR", str(error)) from None
        response.world = self._resource(name, path)

    def _resource(self, uri: str, path: Path) -> Any:
        """Raises SettingsError for a file that is not a world."""
        file = load_world_file(path)
        found = self._make(message_type("WorldResource"))
        found.name, found.world_resource.uri = path.stem, uri
        found.description, found.tags = file.description, [one_of(file.build)[0]]
        return found


def _world_name(uri: str, text: str) -> str:
    """Name or path of a world; raises RejectionError."""
    if not uri:
        if text:
            raise RejectionError(UNSUPPORTED, "resource_string: worlds are loaded by uri only")
        raise RejectionError("NO_RESOURCE", "uri: is empty; give the name of a world or the path of a YAML file")
    if urlsplit(uri).scheme not in ("", "file"):
        raise RejectionError("UNSUPPORTED_FORMAT", f"uri: must be a name, a path or file://, got {uri!r}")
    name = uri.removeprefix("file://")
    if (is_path(name) or Path(name).suffix) and not name.endswith(ENDINGS):
        raise RejectionError("UNSUPPORTED_FORMAT", f"uri: a world is a YAML file, got {name!r}")
    return name
