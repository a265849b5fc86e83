"""The vehicle node: receives commands, and publishes time, ground truth, joints and frames of a driving vehicle.

All behaviour is in stepper.py and control/; the simulation runs and publishes in a thread of its own.
"""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt32

from proving_ground.interfaces import topics
from proving_ground.interfaces.digest import Digest
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.message_types import message_class
from proving_ground.interfaces.synchrony import Arrival, read_report
from proving_ground.interfaces.topic import Topic
from proving_ground.ros_support import qos
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, other_publishers, run_node
from proving_ground.ros_support.polled import PolledGroup
from proving_ground.ros_support.signals import SIGNALS
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings import SettingsError
from proving_ground.settings.units import NS_PER_S
from terrain.spawned import ReplaceableGround
from terrain.surroundings import Surroundings
from terrain.world import World
from vehicle_dynamics.control.commands import (
    CommandAudit,
    RateLimiter,
    SharedDrive,
    receive_ackermann,
    receive_named_pedals,
    receive_twist,
)
from vehicle_dynamics.control.drive_by_wire import Answer, DriveByWire, Verdict
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.participants import Participants
from vehicle_dynamics.ros.report_wake import ReportWake
from vehicle_dynamics.ros.simulation_services import Announcements, SimulationServices
from vehicle_dynamics.ros.twist_input import TYPES, TwistInput
from vehicle_dynamics.ros.vehicle_publisher import VehiclePublisher
from vehicle_dynamics.services.entities import Body
from vehicle_dynamics.services.site import Site
from vehicle_dynamics.simulation_loop import SimulationLoop
from vehicle_dynamics.standing import RunEnd
from vehicle_dynamics.stepper import Pacer, Stepper
from vehicle_dynamics.time_keeper import NAMED_AFTER_S, TimeKeeper
from vehicle_dynamics.vehicle_choice import make_vehicle

CLOCK, CMD_VEL, PEDALS = topics.CLOCK.name, topics.CMD_VEL.name, topics.PEDALS.name
ACKERMANN = topics.ACKERMANN_CMD.name
NEWEST = QoSProfile(depth=1)  # reports of nodes that are only named: the last one says all
GRAPH_PERIOD_S = 0.2  # between checks of the publishers of commands
FAR_STAMP_S = 1.0  # a command's stamp this far from simulation time is reported
KEEPS_UP = 0.95  # share of the requested pace
SHORTEST_JUDGED_S = 0.5  # the first report comes sooner, and does not judge the pace
SWITCH_INTERVAL_S = 0.0005  # with Python's own 5 ms a busy callback would make the simulation late


class VehicleNode(SuiteNode[VehicleNodeSettings]):
    """Runs the vehicle and time: converts commands, publishes truth and /clock, reports health."""

    default_name = "vehicle"
    settings_type = VehicleNodeSettings

    def __init__(self) -> None:
        self._loop: SimulationLoop | None = None
        self._wake: ReportWake | None = None
        self._standard: SimulationServices | None = None
        super().__init__()
        s = self.settings
        self._ignore_sim_time()
        choice = s.vehicle
        self.get_logger().debug(f"building {choice.model} ({choice.fidelity})")
        parameters = self._vehicle_parameters = choice.parameters()
        there = Surroundings(s)
        self._world, ground = there.world, ReplaceableGround(there.ground)
        self._ground = ground
        origin = s.start.origin(self._world)
        if self._world:
            degrees = math.degrees(origin.heading)
            self.get_logger().info(
                f"world {self._world.name}: starts at x {origin.x:g} m, y {origin.y:g} m, {degrees:g} degrees"
            )
        try:
            with _ended_by_signals():
                vehicle = make_vehicle(choice, parameters)
                self._drive = SharedDrive(DriveByWire(vehicle, s))
                self._simulation = Stepper(
                    vehicle,
                    ground,
                    self._drive,
                    s.schedule(),
                    start={**origin._asdict(), "gear": s.start.gear},
                    start_ns=s.start.time_ns(),
                    actuators=s.actuators(parameters.actuators),
                    conditions=s.made_conditions(parameters, ground),
                )
                self._simulation.warm_up()
        except ValueError as error:  # values that are valid alone, but together make no vehicle or start
            raise SettingsError(f"vehicle {choice.model} cannot start: {error}") from None
        self._simulation.is_paused = s.start_paused
        self._audit, self._gate = CommandAudit(), RateLimiter()

        publisher = VehiclePublisher(
            self,
            vehicle,
            parameters,
            s.frames,
            has_base=s.publishes_base,
            has_body=s.publish_body_tf,
            ruts=there.ground.kernel().ruts,
        )
        publisher.publish_once(self._simulation.time_ns)
        self._act_on: dict[str, Callable[[Any], None]] = {
            topics.CMD_VEL.name: self._on_twist,
            topics.PEDALS.name: self._on_pedals,
            topics.ACKERMANN_CMD.name: self._on_ackermann,
        }
        self._participants: Participants | None = None
        self._wake = ReportWake(self) if s.sync.nodes else None
        self._listen_to_commands()
        self._resets = self.advertise(topics.RESETS)
        self._reset_count = UInt32()
        self._resets.publish(self._reset_count)
        self.serve(topics.RESET, self._on_reset)
        self.serve(topics.PAUSE, self._on_pause)
        self._waiting_group = ReentrantCallbackGroup()  # others run while a step waits for reports
        self.serve(topics.STEP, self._on_step, self._waiting_group)
        self.create_timer(GRAPH_PERIOD_S, self._cmd_vel.look, clock=self.wall_clock)

        sys.setswitchinterval(SWITCH_INTERVAL_S)
        is_over = self.create_guard_condition(self.publish_health)  # at once: the run is timed until then
        self._loop = SimulationLoop(
            self._simulation,
            Pacer(s.real_time_factor),
            publisher.publish,
            self.stop,
            keeper=self._keeper(publisher),
            on_over=is_over.trigger,
            wake=self._wake,
        )
        self._loop.start()
        announcements = Announcements(self, s.frames.map_frame, self._announce_reset, self._on_world)
        body = Body.of(parameters, vehicle.base_in_chassis)
        site = Site(self._loop, ground, self._world, origin, vehicle, body, announcements)
        self._standard = SimulationServices(self, site, s.frames.map_frame)
        self._judge_pace_from_now()
        self.report("simulation", Level.OK, self._simulation.word)

    def _listen_to_commands(self) -> None:
        """Those of our drivers are read with their reports; those of others, which may be best effort, at once."""
        own, kind = self.settings.sync.own_commands(), self.settings.cmd_vel_type
        if kind not in TYPES:  # its subscription may change
            own -= {CMD_VEL}

        def options(topic: Topic) -> dict[str, Any]:
            return {"group": PolledGroup()} if topic.name in own else {"profile": qos.SENSOR}

        commands = [topics.PEDALS]
        if message_class(topics.ACKERMANN_CMD.type) is not None:  # not part of every ROS installation
            commands.append(topics.ACKERMANN_CMD)
        found = {topic: self.listen(topic, partial(self._command, topic.name), **options(topic)) for topic in commands}
        self._cmd_vel = TwistInput(
            self, topics.CMD_VEL, kind, partial(self._command, CMD_VEL), **options(topics.CMD_VEL)
        )
        found[topics.CMD_VEL] = self._cmd_vel.subscription
        for topic, subscription in found.items():
            if topic.name in own and self._wake is not None:
                self._wake.add(subscription)

    def _keeper(self, publisher: VehiclePublisher) -> TimeKeeper | None:
        """Time keeper of a synchronous run."""
        s = self.settings
        if not s.sync.is_on:
            return None
        self._participants = Participants(s.sync)
        self._participants.on_published(publisher.counts)
        self._simulation.digest = Digest()
        for name in s.sync.nodes:
            topic, is_outer = topics.FINISHED.below(name), name in s.sync.outer
            profile = None if is_outer else NEWEST
            report = self.listen(topic, partial(self._on_finished, name), profile, group=PolledGroup())
            assert self._wake is not None
            self._wake.add(report, wakes=is_outer, is_rare=not is_outer)
        return TimeKeeper(self._simulation, self._participants, RunEnd(s.end), publisher.publish, self._obey)

    def check_settings(self, new: VehicleNodeSettings) -> None:
        """Reject conditions that this vehicle, or the world, cannot have."""
        if self._loop is not None and new.conditions != self.settings.conditions:
            new.check_conditions(self._vehicle_parameters, self._ground)

    def on_settings(self, old: VehicleNodeSettings, new: VehicleNodeSettings) -> None:
        """Apply pace, limits and conditions while running."""
        self._drive.set_limits(new)
        if new.conditions != old.conditions:
            self.loop.ask(lambda: self._simulation.conditions.set_start(new.start_condition()))
        if new.real_time_factor != old.real_time_factor:
            self.loop.ask(lambda: self.loop.set_factor(new.real_time_factor))
            self._judge_pace_from_now()

    def destroy_node(self) -> None:
        """Stop the thread before its publishers are destroyed."""
        if self._standard is not None:
            self._standard.close()
        if self._loop is not None:
            self._loop.stop()
        if self._wake is not None:
            self._wake.close()
        super().destroy_node()
        if self._loop is not None and self._loop.failure is not None:
            raise self._loop.failure

    @property
    def loop(self) -> SimulationLoop:
        """The running simulation."""
        assert self._loop is not None
        return self._loop

    def _ignore_sim_time(self) -> None:
        if self.get_parameter("use_sim_time").value:
            self.get_logger().warning("use_sim_time is ignored: this node publishes the time")
            self.set_parameters([Parameter("use_sim_time", value=False)])

    # Synchronous time

    def _on_finished(self, name: str, message: Any) -> None:
        assert self._participants is not None
        try:
            report = read_report(message)
        except ValueError as error:
            self.report("synchrony", Level.ERROR, f"report of {name} rejected: {error}")
            return
        self._participants.on_report(name, report)

    def _command(self, topic: str, message: Any) -> None:
        """Obey a command now, or in the instant that it belongs to."""
        if self._participants is None or topic not in self._participants.commanded:
            self._act_on[topic](message)
            return
        stamp_ns = read_stamp(message.header.stamp) if hasattr(message, "header") else 0
        complaint = self._participants.complaint(topic, stamp_ns, self._simulation.time_ns)
        if complaint:
            self.health.count(f"{topic} rejected")
            self.report("synchrony", Level.ERROR, f"{topic} {complaint}")
            return
        self._participants.on_command(topic, stamp_ns, message)
        if self._loop is not None:
            self._loop.on_progress()

    def _obey(self, arrivals: Sequence[Arrival]) -> None:
        for item in arrivals:
            self._act_on[item.topic](item.message)

    # Commands

    def _on_twist(self, message: Twist | TwistStamped) -> None:
        if isinstance(message, TwistStamped):
            self._check_stamp(CMD_VEL, message.header.stamp)
        twist = message.twist if isinstance(message, TwistStamped) else message
        linear, angular = ((axes.x, axes.y, axes.z) for axes in (twist.linear, twist.angular))
        self._judge(CMD_VEL, lambda drive, now: receive_twist(drive, now, linear, angular))

    def _on_ackermann(self, message: Any) -> None:
        self._check_stamp(ACKERMANN, message.header.stamp)
        fields = {name: float(getattr(message.drive, name)) for name in message.drive.get_fields_and_field_types()}
        self._judge(ACKERMANN, lambda drive, now: receive_ackermann(drive, now, fields))

    def _on_pedals(self, message: JointState) -> None:
        self._check_stamp(PEDALS, message.header.stamp)
        names, positions = list(message.name), message.position.tolist()
        self._judge(PEDALS, lambda drive, now: receive_named_pedals(drive, now, names, positions))

    def _judge(self, topic: str, judge: Callable[[DriveByWire, float], Answer]) -> None:
        answer = self._drive.receive(lambda drive: judge(drive, self._simulation.seconds))
        self._audit.record(topic, answer)
        if answer.verdict != Verdict.ACCEPTED:  # logged at once; publish_health reports the number
            verdict = "rejected" if answer.verdict == Verdict.REJECTED else "limited"
            self.report("commands", Level.WARN, f"{topic} {verdict}: {answer.reason}")
        if self._participants is None:
            time.sleep(self._gate.rest_s(self.wall_time()))

    def _check_stamp(self, topic: str, stamp: Any) -> None:
        """Report a foreign stamp: only the time of arrival of a command counts. All zeros mean no stamp."""
        try:
            away = read_stamp(stamp) - self._simulation.time_ns
        except ValueError as error:
            self.report("stamps", Level.WARN, f"{topic}: {error}; the time of arrival counts")
            return
        if abs(away) > FAR_STAMP_S * NS_PER_S and (stamp.sec or stamp.nanosec):
            words = f"stamps on {topic} are not in simulation time; the time of arrival counts"
            self.report("stamps", Level.WARN, words)
        else:
            self.health.report("stamps", Level.OK, "stamps of commands are in simulation time")

    # Services

    def _on_reset(self, request: Any, response: Any) -> Any:
        self.loop.ask(self._reset)
        self._announce_reset()
        self.get_logger().info("reset: the vehicle is back at its start, time runs on")
        response.success, response.message = True, "the vehicle is back at its start; time runs on"
        return response

    def _reset(self) -> None:
        self.loop.reset()
        self.loop.begin_again()

    def _announce_reset(self) -> None:
        self._reset_count.data += 1  # sensors and observers watch it
        self._resets.publish(self._reset_count)

    def _on_world(self, world: World) -> None:
        self._world = world

    def _on_pause(self, request: Any, response: Any) -> Any:
        self.loop.ask(lambda: self.loop.pause(request.data))
        self._judge_pace_from_now()
        response.success, response.message = True, "paused" if request.data else "running"
        return response

    async def _on_step(self, request: Any, response: Any) -> Any:
        response.success = await self._answer(self.loop.step)
        self._judge_pace_from_now()
        response.message = (
            "one period done" if response.success else "rejected: only a paused simulation can be stepped"
        )
        return response

    async def _answer(self, request: Callable[[], Any]) -> Any:
        """Result of a request that waits for other nodes, whose reports this thread receives meanwhile."""
        answer = Future(executor=self.executor)
        self.loop.post(request).add_done_callback(answer.set_result)
        return (await answer).result()

    # Health

    def _judge_pace_from_now(self) -> None:
        self._reported_at = (self.wall_time(), self._simulation.time_ns)

    def publish_health(self) -> None:
        """Pace, state and verdicts on commands; stamped with simulation time."""
        self._report_simulation()
        self._report_commands()
        self._report_position()
        self.report_faults(self._simulation.actuators.faults_at(self._simulation.seconds))
        self.health.report("conditions", Level.OK, self._simulation.conditions.present.words)
        others = other_publishers(self, CLOCK)
        if others:
            self.report("clock", Level.ERROR, f"{CLOCK} is also published by {', '.join(others)}")
        else:
            self.health.report("clock", Level.OK, f"{CLOCK} is published by this node alone")
        self.publish_figures(ns_to_stamp(self._simulation.time_ns), self._figures)

    def _report_simulation(self) -> None:
        simulation, loop = self._simulation, self.loop
        state = simulation.word  # first: the text below must not be older, and the vehicle moves meanwhile
        now, time_ns = self.wall_time(), simulation.time_ns
        before, time_before = self._reported_at
        self._reported_at = (now, time_ns)
        pace = (time_ns - time_before) / NS_PER_S / max(now - before, 1e-9)
        wanted = self.settings.real_time_factor
        if simulation.diverged:
            self.report("simulation", Level.ERROR, simulation.diverged)
        elif simulation.is_paused or simulation.is_over:
            self.report("simulation", Level.OK, state)
        elif loop.waiting.seconds > NAMED_AFTER_S:
            words = f"time stands still: waiting for {', '.join(loop.waiting.names)}"
            self.report("simulation", Level.WARN, words)
        elif self._participants is None and pace < KEEPS_UP * wanted and now - before > SHORTEST_JUDGED_S:
            self.report("simulation", Level.WARN, f"running, but cannot keep up with {wanted:g} times real time")
        else:
            self.report("simulation", Level.OK, "running")
        if simulation.collisions:
            self.report("collision", Level.WARN, simulation.last_collision)
        else:
            self.health.report("collision", Level.OK, "no obstacle was hit")
        if self._participants is None:  # people and stacks in real time are not silent because time runs fast
            self._drive.set_pace(max(pace, 1.0))
        effort = loop.take_effort()
        self._figures = {
            "state": state,
            "tick": str(simulation.tick),
            "real_time_factor": f"{pace:.3f}",
            "overruns": str(loop.overruns),
            "awaited": ", ".join(loop.waiting.names),
            "awaited_s": f"{loop.waiting.seconds:.1f}",
            "waited_s": f"{loop.waited_s:.3f}",
            "longest_wait_s": f"{loop.longest_wait.seconds:.1f}",
            "longest_wait_for": ", ".join(loop.longest_wait.names),
            "speed_mps": f"{forward_speed(simulation.seen):.3f}",
            "given_up_s": f"{loop.pacer.given_up_ns / NS_PER_S:.3f}",
            "worst_step_ms": f"{effort.worst_move_ns * 1e-6:.3f}",
            "worst_step_and_publish_ms": f"{effort.worst_turn_ns * 1e-6:.3f}",
            "worst_late_ms": f"{effort.worst_late_ns * 1e-6:.3f}",
            "collisions": str(simulation.collisions),
            "commands_rejected": str(self._audit.rejected),
            "commands_limited": str(self._audit.limited),
            **(simulation.digest.texts() if simulation.digest is not None else {}),
        }

    def _report_position(self) -> None:
        if self._world is None:
            return
        x, y, _ = self._simulation.seen["position"].tolist()
        if self._world.ground.covers(x, y):
            self.report("position", Level.OK, f"in world {self._world.name}")
        else:
            self.report(
                "position", Level.WARN, f"outside world {self._world.name}, whose ground continues at its edge height"
            )

    def _report_commands(self) -> None:
        status = self._drive.status
        self.report("drive", Level.OK, status)
        words, topics = self._audit.take_news()
        if words:
            self.health.report("commands", Level.WARN, "; ".join(words))
        else:
            self.health.report("commands", Level.OK, f"commands from {', '.join(topics) or 'nobody'}")
        if not topics:
            self.health.report("stamps", Level.OK, "no stamped commands")
        if len(topics) > 1:
            words_on_both = f"commands come on {' and '.join(topics)} at once; the newest counts"
            self.report("sources", Level.WARN, words_on_both)
        else:
            self.health.report("sources", Level.OK, "at most one source of commands")


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the process at once on a signal: compiling takes long, and there is nothing to clean up yet."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(0)

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(VehicleNode)


if __name__ == "__main__":
    raise SystemExit(main())
