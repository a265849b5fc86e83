"""Your own autonomy in 60 lines: heads for a goal, slows down for obstacles in the LIDAR scan, and stops there.

    proving-ground launch sensors world:=urban      # in one terminal
    python examples/own_autonomy.py 60 -2           # in another: drive to x = 60, y = -2

It needs only rclpy and standard messages: odometry and a planar scan in, /cmd_vel out.
"""

import math
import sys

import rclpy
from geometry_msgs.msg import Twist, Vector3
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan

# [m/s]; [m] stopping distance; [m] free width to both sides; [s] age beyond which a scan is stale
FASTEST, NEAREST, HALF_WIDTH, OLDEST = 4.0, 6.0, 1.5, 0.5


class OwnAutonomy(Node):
    def __init__(self, goal_x: float, goal_y: float) -> None:
        super().__init__("own_autonomy")
        self.goal, self.free, self.scanned_at, self.has_arrived = (goal_x, goal_y), 0.0, 0.0, False
        self.commands = self.create_publisher(Twist, "cmd_vel", 10)
        self.create_subscription(LaserScan, "lidar/scan", self.on_scan, qos_profile_sensor_data)
        self.create_subscription(Odometry, "ground_truth/odom", self.on_odometry, 10)

    def on_scan(self, scan: LaserScan) -> None:
        self.free, self.scanned_at = scan.range_max, scan.header.stamp.sec + 1e-9 * scan.header.stamp.nanosec
        for number, distance in enumerate(scan.ranges):
            angle = scan.angle_min + number * scan.angle_increment
            is_valid = scan.range_min <= distance <= scan.range_max  # NaN and infinity are not (REP-117)
            if is_valid and math.cos(angle) > 0.0 and abs(distance * math.sin(angle)) < HALF_WIDTH:
                self.free = min(self.free, distance * math.cos(angle))

    def on_odometry(self, odometry: Odometry) -> None:
        position, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        heading = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y**2 + q.z**2))
        away_x, away_y = self.goal[0] - position.x, self.goal[1] - position.y
        away = math.hypot(away_x, away_y)
        self.has_arrived = away < 2.0
        bearing = math.remainder(math.atan2(away_y, away_x) - heading, math.tau)
        now = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec
        free = self.free if abs(now - self.scanned_at) < OLDEST and not self.has_arrived else 0.0
        speed = min(FASTEST, 0.5 * away, 0.5 * max(free - NEAREST, 0.0))
        curvature = min(max(2.0 * math.sin(bearing) / max(away, 5.0), -0.12), 0.12)  # pure pursuit
        self.commands.publish(Twist(linear=Vector3(x=speed), angular=Vector3(z=speed * curvature)))


if len(sys.argv) < 3:
    sys.exit("usage: own_autonomy.py X Y   the goal in the map [m]")
rclpy.init(args=sys.argv)
node = OwnAutonomy(float(sys.argv[1]), float(sys.argv[2]))
while rclpy.ok() and not node.has_arrived:
    rclpy.spin_once(node)
print("arrived")
