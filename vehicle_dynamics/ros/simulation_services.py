"""simulation_interfaces over ROS: services and the action of the vehicle's process. What they do is in `services/`.

They have a node and threads of their own: a request for many steps, or for a world, takes long, and meanwhile the
vehicle's node must listen to commands.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node

from proving_ground.interfaces import topics
from proving_ground.interfaces.map_codec import fill_shapes
from proving_ground.interfaces.message_types import message_class
from proving_ground.interfaces.simulation_services import NODE, SIMULATE_STEPS, SIMULATION_SERVICES, handler_name
from proving_ground.interfaces.topic import Service
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode
from proving_ground.ros_support.time import ns_to_stamp
from terrain.map_messages import obstacle_shapes
from terrain.spawned import obstacles_of
from terrain.world import World
from vehicle_dynamics.services.entities import Entity
from vehicle_dynamics.services.entity_services import EntityServices
from vehicle_dynamics.services.rejection import FAILED, RejectionError
from vehicle_dynamics.services.run_services import RunServices
from vehicle_dynamics.services.site import Site
from vehicle_dynamics.services.world_services import WorldServices

THREADS = 4  # one may step and one load while others answer
DELIVERY_S = 1.0  # wall time: the longest wait for a node that listens
ANSWER_S = 0.2  # wall time: until a process that quits ends, so that its answer arrives
Handler = Callable[[Any, Any], "str | None"]


class Announcements:
    """Publishes changes on latched topics of the vehicle's node; implements services.site.Announcer."""

    def __init__(
        self, node: SuiteNode[Any], map_frame: str, on_reset: Callable[[], None], on_world: Callable[[World], None]
    ) -> None:
        self._node, self._frame, self._on_world = node, map_frame, on_world
        self._spawned, self._world = node.advertise(topics.SPAWNED), node.advertise(topics.LOADED_WORLD)
        self.reset = on_reset

    def spawned(self, entities: list[Entity]) -> None:
        """Publish all spawned obstacles, stamped 0: valid at all times."""
        message = new_message(topics.SPAWNED.type)
        header = new_message(topics.GOAL_POSE.type, self._frame).header
        header.stamp = ns_to_stamp(0)
        shapes = [
            replace(shape, group=item.name)
            for item in entities
            for shape in obstacle_shapes(obstacles_of([item.shape]))
        ]
        fill_shapes(message, header, shapes, new_message)
        self._spawned.publish(message)

    def world(self, name: str, world: World) -> None:
        """Publish that another world was loaded; spawned obstacles of the old one are gone."""
        self._on_world(world)
        message = new_message(topics.LOADED_WORLD.type)
        message.data = name
        self._world.publish(message)
        self._node.get_logger().info(f"world {name} is loaded; the simulation is stopped")

    def wait(self) -> None:
        """Wait until all subscribers have received the changes, so that they know them at the next instant."""
        for publisher in (self._spawned, self._world):
            publisher.wait_for_all_acked(Duration(seconds=DELIVERY_S))

    def quit(self) -> None:
        """End the process once the answer to the request is sent."""
        timer = threading.Timer(ANSWER_S, self._node.stop)
        timer.daemon = True
        timer.start()


class SimulationServices:
    """Serves simulation_interfaces until `close`; nothing, where that package is not installed."""

    def __init__(self, vehicle: SuiteNode[Any], site: Site, map_frame: str) -> None:
        self._site, self._vehicle = site, vehicle
        self._executor: MultiThreadedExecutor | None = None
        rows = [row for row in (*SIMULATION_SERVICES, SIMULATE_STEPS) if message_class(row.type) is not None]
        if not rows:
            vehicle.get_logger().info("simulation_interfaces is not installed: its services are not offered")
            return
        self._run = RunServices(site, (name for row in rows for name in row.features))
        entities = EntityServices(site, new_message, map_frame)
        self._handlers = {name: handler for part in (self._run, entities) for name, handler in _methods(part)}
        self._handlers |= dict(_methods(WorldServices(site, new_message, entities)))
        # Without the arguments of the process: a name given there is the vehicle's.
        self._node = Node(
            NODE, namespace=vehicle.get_namespace(), context=vehicle.context, use_global_arguments=False,
            start_parameter_services=False, enable_rosout=False,
        )  # fmt: skip
        group = ReentrantCallbackGroup()
        for row in rows:
            kind = message_class(row.type)
            if row is not SIMULATE_STEPS:
                serve = partial(self._serve, row)
                self._node.create_service(kind, row.name, serve, callback_group=group)
                continue
            self._action = ActionServer(
                self._node, kind, row.name, self._simulate, callback_group=group,
                cancel_callback=lambda goal: CancelResponse.ACCEPT,
            )  # fmt: skip
        self._executor = MultiThreadedExecutor(THREADS, context=vehicle.context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="simulation services")
        self._thread.start()

    def close(self) -> None:
        """End the threads; call it while the simulation still answers."""
        if self._executor is None:
            return
        self._site.is_closing = True
        self._executor.shutdown()
        self._thread.join()
        self._action.destroy()
        self._node.destroy_node()
        self._executor = None

    def _spin(self) -> None:
        assert self._executor is not None
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def _serve(self, row: Service, request: Any, response: Any) -> Any:
        handler: Handler = self._handlers[handler_name(row.type)]
        self._settle(response, lambda: handler(request, response))
        return response

    def _simulate(self, goal: Any) -> Any:
        """Execute a goal of SimulateSteps."""
        steps = goal.request.steps
        kind: Any = message_class(SIMULATE_STEPS.type)
        feedback, result = kind.Feedback(), kind.Result()

        def go_on(done: int) -> bool:
            feedback.completed_steps, feedback.remaining_steps = done, steps - done
            goal.publish_feedback(feedback)
            return not (goal.is_cancel_requested or self._site.is_closing)

        is_done = self._settle(result, lambda: self._run.simulate_steps(steps, go_on))
        if goal.is_cancel_requested:
            goal.canceled()
        elif is_done:
            goal.succeed()
        else:
            goal.abort()
        return result

    def _settle(self, response: Any, act: Callable[[], str | None]) -> bool:
        """Act, and put the outcome into the response: a client gets a result code, never an exception."""
        result = getattr(response, "result", None)
        try:
            remark = act()
            if result is not None:
                result.result, result.error_message = result.RESULT_OK, remark or ""
            return True
        except RejectionError as error:
            constant, words = error.constant, str(error)
        except Exception as error:  # a bug: the client gets a code, the log the rest
            self._vehicle.get_logger().error(f"simulation service: {type(error).__name__}: {error}")
            constant, words = FAILED, f"{type(error).__name__}: {error}"
        if result is not None:
            code = getattr(response, constant, getattr(result, constant, result.RESULT_OPERATION_FAILED))
            result.result, result.error_message = code, words
        return False


def _methods(part: object) -> Iterator[tuple[str, Handler]]:
    for row in SIMULATION_SERVICES:
        handler = getattr(part, handler_name(row.type), None)
        if handler is not None:
            yield handler_name(row.type), handler
