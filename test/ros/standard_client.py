"""A client that knows simulation_interfaces and nothing else of the suite."""

from __future__ import annotations

import re
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result, SimulationState

OK = Result.RESULT_OK


class StandardClient:
    """Calls services below /simulation by the names of their types."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._clients: dict[str, Any] = {}

    def ask(self, kind: str, **fields: Any) -> Any:
        """The response to a request with these fields."""
        if kind not in self._clients:
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
            self._clients[kind] = self._graph.node.create_client(getattr(srv, kind), f"/simulation/{name}")
        return self._graph.call(self._clients[kind], getattr(srv, kind).Request(**fields))

    def do(self, kind: str, **fields: Any) -> Any:
        """The same, which must succeed."""
        response = self.ask(kind, **fields)
        assert response.result.result == OK, response.result
        return response

    @property
    def state(self) -> int:
        return int(self.do("GetSimulationState").state.state)

    def set_state(self, state: int) -> int:
        """Result code."""
        return int(self.ask("SetSimulationState", state=SimulationState(state=state)).result.result)

    def where(self, entity: str = "vehicle") -> Any:
        """State of an entity."""
        return self.do("GetEntityState", entity=entity).state

    def simulate(self, steps: int) -> tuple[list[Any], Any]:
        """Feedback that comes, and the goal once it is accepted."""
        client = ActionClient(self._graph.node, SimulateSteps, "/simulation/simulate_steps")
        self._graph.wait_until(client.server_is_ready, "the action")
        feedback: list[Any] = []
        sent = client.send_goal_async(
            SimulateSteps.Goal(steps=steps), feedback_callback=lambda message: feedback.append(message.feedback)
        )
        self._graph.wait_until(sent.done, "the goal's acceptance")
        return feedback, sent.result()

    def result(self, goal: Any) -> Any:
        """Status and result of a goal."""
        future = goal.get_result_async()
        self._graph.wait_until(future.done, "the action's result")
        return future.result()


def pose(x: float, y: float, z: float = 0.0, frame: str = "") -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y, message.pose.position.z = x, y, z
    return message
