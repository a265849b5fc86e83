"""The 3D scene of the page. It only queues what has changed; the library's own thread sends it."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from proving_ground.cockpit.ground_view import GRID_HALF_M, ground_view
from proving_ground.cockpit.obstacle_view import MESHES, obstacle_parts
from proving_ground.cockpit.reading import Grid, Motion, wxyz
from proving_ground.cockpit.shapes import Painted, cylinder, joined
from proving_ground.cockpit.vehicle_view import Links, body_parts
from proving_ground.cockpit.view_model import ViewModel
from terrain.world import World
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]

LAYERS = {
    "Ground": True, "Obstacles": True, "Body": True, "Suspension": True, "LIDAR": True, "Arcs": True, "Plan": True,
    "Local map": False, "Estimate": True, "Trails": True, "Shadows": True,
}  # fmt: skip
ARCS = {"blocked": ((208, 48, 44), 0.05), "clear": ((44, 178, 76), 0.07), "chosen": ((30, 100, 255), 0.2)}
PLAN, GOAL, TRUTH, GHOST, MAP = (255, 196, 0), (216, 27, 140), (255, 255, 255), (60, 160, 255), (226, 60, 50)
EARLIER = (255, 140, 40)  # trails of other branches
TRAIL_PERIOD_S = 0.5
GHOST_FROM_M = 0.3  # a nearer ghost would only tint the vehicle
GRID_LIFT_M = 0.12
MOST_GRID_CELLS = 15_000
SKY_TOP, SKY_LOW = np.array([122.0, 166.0, 214.0]), np.array([226.0, 232.0, 234.0])
CLOUD_STEP = 2000  # points
LEAST_HALF_AXIS_M = 0.02
LEAST_MOVE = 4e-4  # of a link [m], or of its quaternion: less is invisible and not sent
SUN_M = (-18.0, -12.0, 30.0)  # from the vehicle


class Stage:
    """All nodes of the 3D scene. The world is below one node, which moves so that the camera's focus is at 0."""

    def __init__(
        self,
        server: viser.ViserServer,
        world: World | None,
        parameters: VehicleParameters,
        base_in_chassis: Array,
        triangles: int,
        has_shadows: bool = True,
    ) -> None:
        self._scene = server.scene
        self._links = Links(parameters)
        self.layers = {**LAYERS, "Shadows": has_shadows}  # and whether each is shown
        self._shown: dict[str, int] = {}  # time [ns] of what was drawn last
        self._trails_at = -np.inf
        self.focus = np.zeros(3)
        self._sun = self._add_light(has_shadows)
        self._root = self._frame("/world")
        self._layers: dict[str, list[Any]] = {
            "Ground": [self._add_ground(world, triangles)],
            "Obstacles": [self._add("/world/obstacles", part) for part in (obstacle_parts(world) if world else [])],
        }
        self._add_vehicle(parameters, base_in_chassis)
        self._add_estimate(parameters, base_in_chassis)
        self._add_lines()
        self._goal_marker: Array | None = None
        self._cloud: Any = None
        self._grid: Any = None
        if world is not None:
            self._wait_at(world)

    def _wait_at(self, world: World) -> None:
        """Draw the vehicle at the world's suggested start until the truth arrives."""
        x, y, half = world.start.x, world.start.y, 0.5 * world.start.heading
        position, rotation = (
            np.array([x, y, float(world.ground.height_at(x, y))]),
            (np.cos(half), 0.0, 0.0, np.sin(half)),
        )
        self.move_focus(position)
        self._vehicle.position, self._vehicle.wxyz = position, rotation

    def set_layer(self, name: str, is_visible: bool) -> None:
        """Show or hide a layer of LAYERS."""
        self.layers[name] = is_visible
        self._shown.clear()  # what comes and goes with its data is drawn again
        for handle in self._layers.get(name, []):
            handle.visible = is_visible
        self._sun.cast_shadow = self.layers["Shadows"]

    def is_visible(self, name: str) -> bool:
        """Whether a layer is shown."""
        return self.layers[name]

    def move_focus(self, position: Array) -> None:
        """Move the world so that this position [m] is at 0."""
        self.focus = position.copy()
        self._root.position = -position

    def draw(self, model: ViewModel, now: float, *, follows: bool) -> None:
        """Draw what has changed; now: seconds of a steady clock; follows: keep the vehicle at 0."""
        truth = model.truth
        if truth is not None:
            if follows:
                self.move_focus(truth.position)
            self._position(self._vehicle, truth)
        self._draw_joints(model)
        self._draw_estimate(model)
        self._draw_plans(model)
        self._draw_cloud(model)
        self._draw_grid(model)
        if now - self._trails_at > TRAIL_PERIOD_S:
            self._trails_at = now
            self._draw_line("Trails", self._truth_trail, model.truth_trail.segments())
            self._draw_line("Trails", self._estimate_trail, model.estimate_trail.segments())
            self._draw_line("Trails", self._earlier, model.earlier)

    # What does not change

    def _add_light(self, has_shadows: bool) -> Any:
        share = np.linspace(0.0, 1.0, 256)[:, None] ** 0.7
        sky = np.clip((1.0 - share) * SKY_TOP + share * SKY_LOW, 0.0, 255.0).astype(np.uint8)
        self._scene.set_background_image(np.repeat(sky[:, None], 8, axis=1), format="png")
        self._scene.world_axes.visible = False
        self._scene.configure_default_lights(enabled=False)
        self._scene.configure_environment_map(None)
        self._scene.add_light_hemisphere("/sky", sky_color=(214, 228, 246), ground_color=(176, 168, 150), intensity=2.6)
        return self._scene.add_light_directional(
            "/sun", color=(255, 244, 226), intensity=2.6, cast_shadow=has_shadows, position=SUN_M
        )

    def _frame(self, name: str) -> Any:
        return self._scene.add_frame(name, show_axes=False)

    def _add(
        self, parent: str, part: Painted, *, opacity: float | None = None, shadow: bool = True, receives: bool = True
    ) -> Any:
        return self._scene.add_mesh_simple(
            f"{parent}/{part.name}", part.solid.vertices, part.solid.faces, color=part.colour,
            opacity=part.opacity if opacity is None else opacity, side="double" if part.name == MESHES else "front",
            cast_shadow=shadow, receive_shadow=receives,
        )  # fmt: skip

    def _add_ground(self, world: World | None, triangles: int) -> Any:
        if world is not None:
            glb = ground_view(world, triangles).to_glb()
            return self._scene.add_glb("/world/ground", glb, cast_shadow=False)
        return self._scene.add_grid(
            "/world/ground", 2.0 * GRID_HALF_M, 2.0 * GRID_HALF_M, cell_size=1.0, section_size=10.0,
            cell_color=(150, 156, 150), section_color=(96, 104, 100), plane_color=(176, 180, 168), plane_opacity=1.0,
            fade_distance=150.0,
        )  # fmt: skip

    def _add_vehicle(self, parameters: VehicleParameters, base_in_chassis: Array) -> None:
        self._vehicle = self._frame("/world/vehicle")
        chassis = "/world/vehicle/chassis"
        self._frame(chassis).position = -base_in_chassis
        self._layers["Body"] = [self._add(f"{chassis}/body", part, receives=False) for part in body_parts(parameters)]
        hanging = [self._add(f"{chassis}/frame", part) for part in self._links.frame()]
        self._link_nodes: dict[str, Any] = {}
        self._link_poses = np.full((len(self._links.names), 7), np.nan)  # as sent: position [m], x y z w
        for name, parts in self._links.parts().items():
            self._link_nodes[name] = self._frame(f"{chassis}/links/{name}")
            nodes = [self._add(f"{chassis}/links/{name}", part, receives=False) for part in parts]
            if name not in self._links.wheels:
                hanging += nodes
        self._layers["Suspension"] = hanging
        self._move_links({})

    def _add_estimate(self, parameters: VehicleParameters, base_in_chassis: Array) -> None:
        self._ghost = self._scene.add_frame("/world/estimate", show_axes=False, visible=False)
        solid = joined(part.solid for part in body_parts(parameters)).moved(-base_in_chassis)
        self._add("/world/estimate", Painted("ghost", solid, GHOST), opacity=0.35, shadow=False)
        disc = cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 0.02), 1.0)
        self._ellipse = self._scene.add_mesh_simple(
            "/world/ellipse", disc.vertices, disc.faces, color=GHOST, opacity=0.4, cast_shadow=False, visible=False
        )

    def _add_lines(self) -> None:
        def lines(name: str, colour: tuple[int, int, int], thickness: float) -> Any:
            return self._scene.add_line_segments(
                f"/world/{name}", np.zeros((1, 2, 3)), colour, thickness=thickness, visible=False
            )

        self._arcs = {name: lines(f"arcs/{name}", colour, width) for name, (colour, width) in ARCS.items()}
        self._plan = lines("plan", PLAN, 0.22)
        self._truth_trail = lines("trails/truth", TRUTH, 0.12)
        self._estimate_trail = lines("trails/estimate", GHOST, 0.12)
        self._earlier = lines("trails/earlier", EARLIER, 0.12)
        self._goal = self._scene.add_frame("/world/goal", show_axes=False, visible=False)
        pole = joined((cylinder((0, 0, 0), (0, 0, 3.0), 0.06), cylinder((0, 0, 0), (0, 0, 0.04), 1.2)))
        self._add("/world/goal", Painted("pole", pole, GOAL))
        self._add("/world/goal", Painted("flag", cylinder((0, 0, 2.7), (0.9, 0, 2.7), 0.35, 0.01), GOAL))

    # What changes

    def _position(self, node: Any, motion: Motion) -> None:
        node.position = motion.position
        node.wxyz = wxyz(motion.attitude)

    def _draw_joints(self, model: ViewModel) -> None:
        if model.joints:
            self._move_links(model.joints)

    def _move_links(self, joints: dict[str, float]) -> None:
        """Move visible links that have moved: few of them on a smooth road."""
        poses = self._links.poses(joints)
        has_moved = ~(np.abs(poses - self._link_poses).max(axis=1) < LEAST_MOVE)
        for number in np.flatnonzero(has_moved).tolist():
            name = self._links.names[number]
            node = self._link_nodes.get(name)
            if node is None or not (self.layers["Suspension"] or name in self._links.wheels):
                continue
            self._link_poses[number] = poses[number]
            node.position = poses[number, :3]
            node.wxyz = wxyz(poses[number, 3:])

    def _draw_estimate(self, model: ViewModel) -> None:
        estimate = model.estimate
        is_shown = self.layers["Estimate"] and estimate is not None and model.is_fresh(estimate.motion.time_ns)
        has_ellipse = is_shown and estimate is not None and estimate.half_axes is not None
        error = model.error if is_shown else None
        is_apart = is_shown and (error is None or error > GHOST_FROM_M)
        self._ghost.visible, self._ellipse.visible = is_apart, has_ellipse
        if estimate is None or not is_shown:
            return
        if is_apart:
            self._position(self._ghost, estimate.motion)
        if estimate.half_axes is not None:
            large, small = (max(value, LEAST_HALF_AXIS_M) for value in estimate.half_axes)
            self._ellipse.position = estimate.motion.position + np.array([0.0, 0.0, 0.05])
            self._ellipse.wxyz = (np.cos(0.5 * estimate.angle), 0.0, 0.0, np.sin(0.5 * estimate.angle))
            self._ellipse.scale = (large, small, 1.0)

    def _draw_plans(self, model: ViewModel) -> None:
        time_ns, lines = model.arcs or (0, {})
        is_fresh = model.arcs is not None and model.is_fresh(time_ns)
        if self._is_new("arcs", time_ns if is_fresh else -1):
            for name, handle in self._arcs.items():
                self._draw_line(
                    "Arcs", handle, lines.get(name, np.zeros((0, 2, 3))) if is_fresh else np.zeros((0, 2, 3))
                )
        time_ns, path = model.plan or (0, np.zeros((0, 3)))
        is_fresh = model.plan is not None and model.is_fresh(time_ns)
        if self._is_new("plan", time_ns if is_fresh else -1):
            raised = path + np.array([0.0, 0.0, 0.2])
            steps = np.stack((raised[:-1], raised[1:]), axis=1) if is_fresh and len(path) > 1 else np.zeros((0, 2, 3))
            self._draw_line("Plan", self._plan, steps)
        self._goal.visible = self.layers["Plan"] and model.goal is not None
        if model.goal is not None and model.goal is not self._goal_marker:
            self._goal_marker = model.goal
            self._goal.position = model.goal

    def _draw_line(self, layer: str, handle: Any, segments: Array) -> None:
        handle.visible = self.layers[layer] and len(segments) > 0
        if handle.visible:
            handle.points = segments.astype(np.float32)

    def _draw_cloud(self, model: ViewModel) -> None:
        time_ns, cloud = model.cloud or (0, None)
        is_shown = self.layers["LIDAR"] and cloud is not None and model.is_fresh(time_ns) and len(cloud.points) > 0
        if not self._is_new("cloud", time_ns if is_shown else -1):
            return
        if cloud is None or not is_shown:
            if self._cloud is not None:
                self._cloud.visible = False
            return
        points, colours = filled_up(cloud.points, CLOUD_STEP), filled_up(cloud.colours, CLOUD_STEP)
        if self._cloud is None or len(points) != len(self._cloud.points):
            self._cloud = self._scene.add_point_cloud(  # in one message: points and colours are never of two lengths
                "/world/cloud", points, colours, position=cloud.anchor,
                point_size=0.09, point_shape="circle", point_shading="flat",
            )  # fmt: skip
        else:
            self._cloud.visible = True
            self._cloud.position, self._cloud.points, self._cloud.colors = cloud.anchor, points, colours

    def _draw_grid(self, model: ViewModel) -> None:
        time_ns, grid = model.grid or (0, None)
        is_shown = self.layers["Local map"] and grid is not None and model.is_fresh(time_ns)
        if not self._is_new("grid", time_ns if is_shown else -1):
            return
        if self._grid is not None:
            self._grid.visible = False
        if grid is not None and is_shown and model.truth is not None:
            vertices, faces = grid_squares(grid, float(model.truth.position[2]) + GRID_LIFT_M)
            if len(faces):
                self._grid = self._scene.add_mesh_simple(
                    "/world/local_map", vertices, faces, color=MAP, opacity=0.45, side="double", cast_shadow=False
                )

    def _is_new(self, name: str, time_ns: int) -> bool:
        is_new = self._shown.get(name) != time_ns
        self._shown[name] = time_ns
        return is_new


def filled_up(rows: NDArray[Any], step: int) -> NDArray[Any]:
    """Repeat the last row up to a multiple of step: a cloud of equal length is updated, not created again."""
    return rows[np.minimum(np.arange(-(-len(rows) // step) * step), len(rows) - 1)]


def grid_squares(grid: Grid, height: float) -> tuple[Array, NDArray[np.int32]]:
    """Corners [m] and triangles of the occupied cells, at one height; thinned if there are too many."""
    rows, columns = np.nonzero(grid.cells >= 50)
    step = max(-(-len(rows) // MOST_GRID_CELLS), 1)
    rows, columns = rows[::step], columns[::step]
    x, y = grid.corner[0] + columns * grid.resolution, grid.corner[1] + rows * grid.resolution
    size, level = grid.resolution, np.full(len(x), height)
    corners = [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
    vertices = np.stack([np.column_stack((*corner, level)) for corner in corners], axis=1).reshape(-1, 3)
    first = 4 * np.arange(len(x), dtype=np.int32)[:, None]
    faces = np.concatenate((first + np.array([0, 1, 2]), first + np.array([0, 2, 3]))).astype(np.int32)
    return vertices, faces
