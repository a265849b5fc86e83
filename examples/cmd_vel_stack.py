"""A stack in the manner of Nav2: odometry and a map in, a plain Twist on /cmd_vel out, by pure pursuit of waypoints.

    proving-ground launch vehicle                              # in one terminal
    python examples/cmd_vel_stack.py 30,0 50,10 50,40          # in another: x,y of each waypoint [m]

With `launch observer` and `--ros-args -r odometry:=odometry/filtered` it uses the observer's estimate. A /plan replaces
the waypoints, and where a /local_map is published, it stops before obstacles in it.
"""

import math
import sys

import rclpy
from geometry_msgs.msg import Twist
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from rclpy.node import Node
from rclpy.utilities import remove_ros_args

FASTEST, LOOK_AHEAD, ARRIVED = 4.0, 6.0, 2.0  # [m/s], [m], [m]
SHARPEST, OCCUPIED, NEEDED = 0.12, 65, 10.0  # [1/m]; of 100; [m] that must be free


class CmdVelStack(Node):
    def __init__(self, waypoints: list[tuple[float, float]]) -> None:
        super().__init__("cmd_vel_stack")
        self.waypoints, self.map, self.has_arrived = waypoints, None, False
        self.commands = self.create_publisher(Twist, "cmd_vel", 10)
        self.create_subscription(OccupancyGrid, "local_map", self.on_map, 10)
        self.create_subscription(Path, "plan", self.on_plan, 10)
        self.create_subscription(Odometry, "odometry", self.on_odometry, 10)

    def on_map(self, message: OccupancyGrid) -> None:
        self.map = message

    def on_plan(self, message: Path) -> None:
        self.waypoints = [(pose.pose.position.x, pose.pose.position.y) for pose in message.poses] or self.waypoints

    def on_odometry(self, odometry: Odometry) -> None:
        position, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        heading = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y**2 + q.z**2))
        away = [math.dist(point, (position.x, position.y)) for point in self.waypoints]
        while len(away) > 1 and away[0] < LOOK_AHEAD:  # steer for the next one
            self.waypoints, away = self.waypoints[1:], away[1:]
        self.has_arrived = len(away) == 1 and away[0] < ARRIVED
        x, y = self.waypoints[0]
        bearing = math.remainder(math.atan2(y - position.y, x - position.x) - heading, math.tau)
        curvature = min(max(2.0 * math.sin(bearing) / max(away[0], LOOK_AHEAD), -SHARPEST), SHARPEST)
        to_go = away[0] + sum(math.dist(a, b) for a, b in zip(self.waypoints, self.waypoints[1:], strict=False))
        speed = min(FASTEST, 0.5 * to_go, FASTEST * (1.0 - 0.6 * abs(curvature) / SHARPEST))
        command = Twist()
        if not self.has_arrived and self.is_free(position.x, position.y, heading, curvature):
            command.linear.x, command.angular.z = speed, speed * curvature
        self.commands.publish(command)

    def is_free(self, x: float, y: float, heading: float, curvature: float) -> bool:
        """Whether the arc ahead is free in the map, if there is one."""
        if self.map is None:
            return True
        info = self.map.info
        for step in range(6, round(2 * NEEDED)):  # every 0.5 m, from the bumper on
            middle = heading + 0.25 * step * curvature
            column = int((x + 0.5 * step * math.cos(middle) - info.origin.position.x) / info.resolution)
            row = int((y + 0.5 * step * math.sin(middle) - info.origin.position.y) / info.resolution)
            is_inside = 0 <= column < info.width and 0 <= row < info.height
            if is_inside and self.map.data[row * info.width + column] >= OCCUPIED:
                return False
        return True


rclpy.init(args=[*sys.argv, "--ros-args", "-r", "odometry:=ground_truth/odom"])  # default: the first remapping wins
positions = [text.split(",") for text in remove_ros_args(sys.argv)[1:]]
if not positions or any(len(position) != 2 for position in positions):
    sys.exit("usage: cmd_vel_stack.py X,Y [X,Y ...]   waypoints in the map [m]")
node = CmdVelStack([(float(x), float(y)) for x, y in positions])
while rclpy.ok() and not node.has_arrived:
    rclpy.spin_once(node)
print("arrived")
