"""The topic table: every topic, service and action of the suite with type, QoS, publishers, rate and frame, each once.

Nodes, bags, the cockpit and tests take names and profiles from here; `python -m proving_ground.interfaces.page` makes
the tables of docs/topics.md and of the READMEs from it.
"""

from __future__ import annotations

from typing import Final

from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.profiles import CLOCK as CLOCK_QOS
from proving_ground.interfaces.profiles import CLOUDS, LATCHED, REPORTS, SAMPLES, TF, TRUTH
from proving_ground.interfaces.simulation_services import SIMULATE_STEPS, SIMULATION_SERVICES
from proving_ground.interfaces.topic import Service, Topic

EVERY_NODE: Final = "every node"
EVERY_SENSOR: Final = "every sensor"  # of the suite and of other packages

# Commands that nodes of the suite obey

CMD_VEL: Final = Topic(
    name="cmd_vel", type=types.TWIST_STAMPED, other_type=types.TWIST,
    publishers=("planner", "teleop", "keyboard", "cockpit"), listeners=("vehicle",),
    rate="20 Hz; planner: with each odometry", frame="base_link",
    text="`linear.x` speed [m/s], `angular.z` yaw rate [rad/s]. `cmd_vel_type: auto` follows the published type; "
    "a second type or publisher is reported. Nav2 on Jazzy sends Twist",
)  # fmt: skip
ACKERMANN_CMD: Final = Topic(
    name="ackermann_cmd", type=types.ACKERMANN, listeners=("vehicle",),
    text="speed and steering angle; where that package is installed",
)  # fmt: skip
PEDALS: Final = Topic(
    name="vehicle/pedals", type=types.JOINTS, publishers=("teleop", "keyboard", "script"), listeners=("vehicle",),
    text="`position` of steering (-1 right to 1 left), throttle, brake (0 to 1) and optional gear (-1, 0, 1), by name; "
    "absent: 1, drive. Optional transfer_range (number of the range), locks (1 front, 2 rear, 3 both), parking_brake "
    "(0 to 1); absent: as they are",
)  # fmt: skip
GOAL_POSE: Final = Topic(
    name="goal_pose", type=types.POSE, publishers=("referee", "cockpit"), listeners=("planner",), frame="map",
    text="in `map`, as RViz sends it; other frames are rejected and stop the vehicle. The heading does not matter",
)  # fmt: skip
WAYPOINTS: Final = Topic(
    name="waypoints", type=types.PATH, listeners=("planner",), frame="map",
    text="goals one after the other; an empty path stops",
)  # fmt: skip
INITIAL_POSE: Final = Topic(
    name="initialpose", type=types.POSE_WITH_COVARIANCE, publishers=("referee",), listeners=("observer",), frame="map",
    text="in `map`: start there",
)  # fmt: skip
JOY: Final = Topic(
    name="joy", type=types.JOY, publishers=("joystick",), listeners=("teleop",), frame="joy",
    text="from our `joystick` node or any other",
)  # fmt: skip
SEEK: Final = Topic(
    name="~/seek", type=types.NUMBER, publishers=("cockpit",), listeners=("replayer",),
    text="go to this time of the bag [s]",
)  # fmt: skip

COMMANDS: Final = (CMD_VEL, ACKERMANN_CMD, PEDALS, GOAL_POSE, WAYPOINTS, INITIAL_POSE, JOY, SEEK)

# Topics that nodes of the suite publish

CLOCK: Final = Topic(
    name="/clock", type=types.CLOCK, qos=CLOCK_QOS, publishers=("vehicle",), rate="100 Hz",
    text="first at each instant; goes on while paused, 10 Hz of real time. A replay publishes it too, nobody else",
)  # fmt: skip
TRUTH_ODOM: Final = Topic(
    name="ground_truth/odom", type=types.ODOMETRY, qos=TRUTH, publishers=("vehicle",), rate="100 Hz", frame="map",
    listeners=(EVERY_SENSOR, "planner", "script", "referee"),
    text="`base_link` in `map`; twist in `base_link`; variance 1e-9: exact, but filters can invert it",
)  # fmt: skip
TRUTH_ACCEL: Final = Topic(
    name="ground_truth/accel", type=types.ACCEL, qos=TRUTH, publishers=("vehicle",), listeners=("imu", "encoders"),
    rate="100 Hz", frame="base_link", text="acceleration of `base_link`'s origin in its axes, without gravity",
)  # fmt: skip
TRUTH_ACTUATION: Final = Topic(
    name="ground_truth/actuation", type=types.JOINTS, qos=TRUTH, publishers=("vehicle",), listeners=("encoders",),
    rate="100 Hz", text="true values of wheels, steering, throttle, brake, engine",
)  # fmt: skip
RUTS: Final = Topic(
    name="ground_truth/ruts", type=types.CLOUD, qos=TRUTH, publishers=("vehicle",), listeners=("lidar",),
    rate="100 Hz, on soft soil", frame="map",
    text="cells of 0.1 m (`column`, `row`) that wheels have pressed since the last message, and their `depth` [m]",
)  # fmt: skip
DATUM: Final = Topic(
    name="ground_truth/datum", type=types.FIX, qos=LATCHED, publishers=("gps",), rate="once", frame="map",
    text="position of the origin of `map` on Earth",
)  # fmt: skip
COLLISION: Final = Topic(
    name="ground_truth/collision", type=types.WRENCH, publishers=("vehicle",), rate="while pushed", frame="base_link",
    text="`force.x`: contact force of obstacles [N]",
)  # fmt: skip
TRUTH_WHEELS: Final = Topic(
    name="ground_truth/wheels", type=types.JOINTS, publishers=("vehicle",), rate="100 Hz, while subscribed",
    text="`position` by name: load, slips, sinkage and forces of each wheel, gear (`load.front_left`)",
)  # fmt: skip
JOINT_STATES: Final = Topic(
    name="joint_states", type=types.JOINTS, publishers=("vehicle",), rate="100 Hz",
    text="47 joints: steering, suspension, wheels; `effort` is the torque of drive and brake on the wheels",
)  # fmt: skip
ROBOT_DESCRIPTION: Final = Topic(
    name="robot_description", type=types.TEXT, qos=LATCHED, publishers=("vehicle",), rate="once",
    text="URDF; `config/rviz/vehicle.rviz` shows it",
)  # fmt: skip
RESETS: Final = Topic(
    name="simulation/resets", type=types.COUNT, qos=LATCHED, publishers=("vehicle",), rate="at a reset",
    listeners=(EVERY_SENSOR, "observer", "planner", "script"),
    text="number of resets; subscribers restart when it changes",
)  # fmt: skip
SPAWNED: Final = Topic(
    name="simulation/spawned", type=types.MARKERS, qos=LATCHED, publishers=("vehicle",), rate="at a change",
    listeners=("gps", "lidar", "planner"), frame="map",
    text="obstacles put up by `simulation/spawn_entity`: first DELETEALL, then cubes and cylinders named by `text`",
)  # fmt: skip
LOADED_WORLD: Final = Topic(
    name="simulation/world", type=types.TEXT, qos=LATCHED, publishers=("vehicle",), rate="at a change",
    listeners=("gps", "lidar", "observer", "planner", "terrain"),
    text="name or path of a world that replaces that of the settings, after `simulation/load_world`",
)  # fmt: skip
TRANSFORMS: Final = Topic(
    name="tf", type=types.TRANSFORMS, qos=TF, publishers=("vehicle", "observer"), rate="50 Hz",
    text="see Frames in docs/topics.md; body frames with `publish_body_tf` (off beside a robot_state_publisher)",
)  # fmt: skip
FIXED_TRANSFORMS: Final = Topic(
    name="tf_static", type=types.TRANSFORMS, qos=LATCHED, publishers=("vehicle", EVERY_SENSOR), rate="once",
    text="fixed frames; each sensor's node publishes its own mount",
)  # fmt: skip
IMU_RAW: Final = Topic(
    name="imu/data_raw", type=types.IMU, qos=SAMPLES, publishers=("imu",), listeners=("observer",), rate="100 Hz",
    frame="imu_link", sensor="imu", pattern="{sensor}/data_raw",
    text="specific force, +g at rest; orientation marked absent (REP-145)",
)  # fmt: skip
IMU_DATA: Final = Topic(
    name="imu/data", type=types.IMU, qos=SAMPLES, publishers=("imu",), rate="100 Hz",
    frame="imu_link", sensor="imu", pattern="{sensor}/data",
    text="with orientation; only with `has_attitude`",
)  # fmt: skip
FIX: Final = Topic(
    name="gps/fix", type=types.FIX, qos=SAMPLES, publishers=("gps",), listeners=("observer",), rate="5 to 50 Hz",
    frame="gps_link", sensor="gps", pattern="{sensor}/fix",
    text="WGS-84 ellipsoid; goes on without a fix, status -1",
)  # fmt: skip
GPS_VELOCITY: Final = Topic(
    name="gps/vel", type=types.VELOCITY, qos=SAMPLES, publishers=("gps",), listeners=("observer",), rate="5 to 50 Hz",
    frame="map", sensor="gps", pattern="{sensor}/vel",
    text="east, north, up; only with a fix",
)  # fmt: skip
NMEA: Final = Topic(
    name="gps/nmea", type=types.TEXT, qos=SAMPLES, publishers=("gps",), rate="5 to 50 Hz",
    sensor="gps", pattern="{sensor}/nmea",
    text="GGA and RMC in turn",
)  # fmt: skip
WHEELS: Final = Topic(
    name="wheels/joint_states", type=types.JOINTS, qos=SAMPLES, publishers=("encoders",), listeners=("observer",),
    rate="100 Hz", sensor="encoders", pattern="{sensor}/joint_states",
    text="measured wheel angles, rates, torques",
)  # fmt: skip
ACTUATION: Final = Topic(
    name="vehicle/actuation", type=types.JOINTS, qos=SAMPLES, publishers=("encoders",), listeners=("observer",),
    rate="100 Hz", sensor="encoders", pattern="{sensor}/actuation",
    text="measured steering [rad], throttle, brake (effort: Pa), engine speed [rad/s], tilt_x, tilt_y [rad]",
)  # fmt: skip
POINTS: Final = Topic(
    name="lidar/points", type=types.CLOUD, qos=CLOUDS, publishers=("lidar",), listeners=("planner",), rate="10 Hz",
    frame="lidar_link", sensor="lidar", pattern="{sensor}/points",
    text="x y z intensity ring time",
)  # fmt: skip
SCAN: Final = Topic(
    name="lidar/scan", type=types.SCAN, qos=SAMPLES, publishers=("lidar",), rate="10 Hz",
    frame="lidar_link", sensor="lidar", pattern="{sensor}/scan",
    text="the ring nearest to level; -Inf too close, +Inf no return (REP-117)",
)  # fmt: skip
ESTIMATE: Final = Topic(
    name="odometry/filtered", type=types.ODOMETRY, qos=TRUTH, publishers=("observer",),
    listeners=("planner", "referee"), rate="100 Hz", frame="map",
    text="estimate: `base_link` in `map`, twist in `base_link`, with covariances",
)  # fmt: skip
SIDESLIP: Final = Topic(
    name="observer/sideslip", type=types.NUMBER, publishers=("observer",), rate="100 Hz",
    text="sideslip of the vehicle's middle [rad], left positive",
)  # fmt: skip
TYRE_FORCES: Final = Topic(
    name="observer/tyre_forces", type=types.TABLE, publishers=("observer",), rate="10 Hz",
    text="a row for each wheel; the layout names the columns",
)  # fmt: skip
PLAN: Final = Topic(
    name="plan", type=types.PATH, publishers=("planner",), rate="10 Hz", frame="map", text="path to the goal",
)  # fmt: skip
ARCS: Final = Topic(
    name="planner/arcs", type=types.MARKERS, publishers=("planner",), rate="10 Hz", frame="map",
    text="chosen blue, clear green, blocked red",
)  # fmt: skip
LOCAL_MAP: Final = Topic(
    name="local_map", type=types.GRID, publishers=("planner",), rate="10 Hz", frame="map",
    text="moves with the vehicle, in `map`",
)  # fmt: skip
MAP: Final = Topic(
    name="map", type=types.GRID, qos=LATCHED, publishers=("terrain",), rate="once per world", frame="map",
    text="100: obstacles, steps above `max_step_m`, ground steeper than `max_slope_deg`; -1: not surveyed; z is 0",
)  # fmt: skip
MARKERS: Final = Topic(
    name="terrain/markers", type=types.MARKERS, qos=LATCHED, publishers=("terrain",), rate="once per world",
    frame="map",
    text="first DELETEALL; then `ground` (triangles by soil, low ground darker), `boxes`, `cylinders`, `markings`",
)  # fmt: skip
DIAGNOSTICS: Final = Topic(
    name="/diagnostics", type=types.DIAGNOSTICS, publishers=(EVERY_NODE,), listeners=("referee",), rate="1 Hz",
    text="health, figures, rejected inputs by reason",
)  # fmt: skip

FINISHED: Final = Topic(
    name="~/finished", type=types.TEXT, qos=REPORTS,
    publishers=(EVERY_SENSOR, "observer", "planner", "script"), listeners=("vehicle", "observer", "planner"),
    rate="100 Hz, in synchronous runs",
    text="JSON: instants that a node has finished, and what it has published by then",
)  # fmt: skip

PUBLISHED: Final = (
    CLOCK, TRUTH_ODOM, TRUTH_ACCEL, TRUTH_ACTUATION, RUTS, DATUM, COLLISION, TRUTH_WHEELS, JOINT_STATES,
    ROBOT_DESCRIPTION, RESETS, SPAWNED, LOADED_WORLD, TRANSFORMS, FIXED_TRANSFORMS, IMU_RAW, IMU_DATA, FIX,
    GPS_VELOCITY, NMEA, WHEELS, ACTUATION, POINTS, SCAN,
    ESTIMATE, SIDESLIP, TYRE_FORCES, PLAN, ARCS, LOCAL_MAP, MAP, MARKERS, DIAGNOSTICS, FINISHED,
)  # fmt: skip
TOPICS: Final = (*COMMANDS, *PUBLISHED)

# Topics that `proving-ground observe` adds to its bag of estimates

OBSERVER_STATUS: Final = Topic(name="observer/status", type=types.TEXT, text="status of an observer, when it changes")
SIDESLIP_STD: Final = Topic(
    name="observer/sideslip_std", type=types.NUMBER, text="standard deviation of the sideslip [rad]"
)

# Services

RESET: Final = Service(
    name="simulation/reset", type=types.TRIGGER, node="vehicle",
    text="state, filters, ruts and seeds as at the start; time runs on",
)  # fmt: skip
PAUSE: Final = Service(
    name="simulation/pause", type=types.SWITCH, node="vehicle",
    text="true pauses; `/clock` is still published, with the same time",
)  # fmt: skip
STEP: Final = Service(
    name="simulation/step", type=types.TRIGGER, node="vehicle", text="10 ms while paused, else rejected",
)  # fmt: skip
OBSERVER_RESET: Final = Service(name="observer/reset", type=types.TRIGGER, node="observer", text="restarts the filter")
CANCEL: Final = Service(
    name="planner/cancel", type=types.TRIGGER, node="planner", text="stops the vehicle and clears the goal"
)
REPLAY_PAUSE: Final = Service(name="~/pause", type=types.SWITCH, node="replayer", text="true pauses, false resumes")
REPLAY_RESUME: Final = Service(name="~/resume", type=types.TRIGGER, node="replayer", text="goes on")
REPLAY_TOGGLE: Final = Service(name="~/toggle", type=types.TRIGGER, node="replayer", text="pauses or resumes")
REPLAY_STEP: Final = Service(name="~/step", type=types.TRIGGER, node="replayer", text="the next message, while paused")

SERVICES: Final = (
    RESET, PAUSE, STEP, OBSERVER_RESET, CANCEL, REPLAY_PAUSE, REPLAY_RESUME, REPLAY_TOGGLE, REPLAY_STEP,
    *SIMULATION_SERVICES,
)  # fmt: skip
ACTIONS: Final = (SIMULATE_STEPS,)
