"""The page as a whole: scene, panel, camera and clicks. Its owner passes in a view model and receives its commands."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from proving_ground.cockpit.camera import CHASE, FREE, LOOK_AT, Chase, Zoom, placed
from proving_ground.cockpit.panel import Commands, Panel
from proving_ground.cockpit.picking import ray_on_ground
from proving_ground.cockpit.reading import euler
from proving_ground.cockpit.server import PageServer, start_server
from proving_ground.cockpit.settings import CockpitSettings
from proving_ground.cockpit.stage import Stage
from proving_ground.cockpit.view_model import ViewModel
from terrain.world import World
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]


class PageCommands(Commands, Protocol):
    """Commands of users on the page, which its owner implements."""

    def set_goal(self, position: Array) -> None:
        """Drive to a position in the world [m], on which a user has clicked."""

    def attend(self) -> None:
        """Act on a browser that connected or left."""


class Page:
    """The cockpit's page: its owner calls draw; commands of browsers are posted to the owner's thread."""

    def __init__(
        self,
        settings: CockpitSettings,
        world: World | None,
        parameters: VehicleParameters,
        base_in_chassis: Array,
        commands: PageCommands,
    ) -> None:
        """Raises SettingsError when the address cannot be listened on."""
        self._world, self._commands = world, commands
        self._server = start_server(settings.host, settings.port, "proving ground")
        self.stage = Stage(
            self._server, world, parameters, base_in_chassis, settings.ground_triangles, settings.shadows
        )
        self.panel = Panel(
            self._server, commands, settings.camera, self._set_mode, self.stage.layers, self.stage.set_layer, self._aim
        )
        self._mode = settings.camera
        self._chase, self._zooms = Chase(), dict[int, Zoom]()
        self._heading = 0.0 if world is None else world.start.heading
        self._is_aiming = False
        position, aim = placed(self._mode, self._heading)
        self._server.initial_camera.position, self._server.initial_camera.look_at = position, aim
        self._server.initial_camera.up = np.array([0.0, 0.0, 1.0])
        self._server.scene.on_click(modifier="shift")(lambda event: commands.post(partial(self._on_click, event)))
        self._server.on_client_connect(self._welcome)
        self._server.on_client_disconnect(lambda _: commands.post(commands.attend))

    @property
    def server(self) -> PageServer:
        """The server, for further widgets."""
        return self._server

    @property
    def port(self) -> int:
        """Port of the server."""
        return int(self._server.get_port())

    @property
    def browsers(self) -> int:
        """Number of connected browsers."""
        return len(self._server.get_clients())

    def close(self) -> None:
        """End the server and its threads."""
        self._server.stop()

    def draw(self, model: ViewModel, now: float) -> None:
        """Draw everything that has changed, as one frame; now: seconds of a steady clock."""
        if model.truth is not None:
            self._heading = euler(model.truth.attitude)[2]
        with self._server.atomic():
            self.stage.draw(model, now, follows=self._mode != FREE)
            self.panel.draw(model, now)
        if self._mode == CHASE and model.truth is not None:
            self._chase_with_cameras(self._chase.heading(now, self._heading))

    def _welcome(self, client: Any) -> None:
        zoom = self._zooms[client.client_id] = Zoom()

        async def record(camera: Any) -> None:  # in the library's own loop: no thread is woken for it
            if self._mode == CHASE:
                zoom.record(np.asarray(camera.position))

        client.camera.on_update(record)
        self._commands.post(self._commands.attend)

    def _chase_with_cameras(self, heading: float) -> None:
        zooms = list(self._zooms.items())  # before the clients: one that comes meanwhile is in neither
        clients = self._server.get_clients()
        for number, zoom in zooms:
            if number not in clients:
                del self._zooms[number]
                continue
            try:
                with clients[number].atomic():
                    clients[number].camera.position = zoom.chased(heading)
                    clients[number].camera.look_at = np.array(LOOK_AT)
            except (AssertionError, ValueError, RuntimeError):  # it connected or left just now
                continue

    def _set_mode(self, mode: str) -> None:
        self._mode = mode
        self._chase.forget()
        for zoom in list(self._zooms.values()):
            zoom.restart()
        position, aim = placed(mode, self._heading)
        for client in self._server.get_clients().values():
            with client.atomic():
                client.camera.position, client.camera.look_at = position, aim

    def _aim(self) -> None:
        """Make the next click a goal, without Shift."""
        if not self._is_aiming:
            self._is_aiming = True
            self._server.scene.on_click()(self._on_aimed_click)
        self.panel.say("Click on the ground to set the goal")

    def _on_aimed_click(self, event: Any) -> None:
        self._commands.post(partial(self._aimed, event))

    def _aimed(self, event: Any) -> None:
        if self._is_aiming:
            self._is_aiming = False
            self._server.scene.remove_click_callback(self._on_aimed_click)
            self._on_click(event)

    def _on_click(self, event: Any) -> None:
        origin = np.asarray(event.ray_origin, float) + self.stage.focus
        position = ray_on_ground(origin, event.ray_direction, self._height_at)
        if position is None:
            self.panel.say("No ground there", is_bad=True)
        else:
            self._commands.set_goal(position)

    def _height_at(self, x: Array, y: Array) -> Array:
        return np.zeros_like(x) if self._world is None else np.asarray(self._world.ground.height_at(x, y))
