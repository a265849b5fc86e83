"""A stack from outside: steers along the x axis by the truth, and takes a random time for each answer.

python slow_stack.py 0.3        # up to 0.3 s
"""

from __future__ import annotations

import contextlib
import random
import sys
import time

import rclpy
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

SLOWEST_S = float(sys.argv[1]) if len(sys.argv) > 1 else 0.05


class Stack(Node):
    """Answers each odometry with a command that has its stamp."""

    def __init__(self) -> None:
        super().__init__("stack")
        self._commands = self.create_publisher(TwistStamped, "cmd_vel", 10)
        self.create_subscription(Odometry, "ground_truth/odom", self._on_odometry, 256)

    def _on_odometry(self, message: Odometry) -> None:
        time.sleep(random.uniform(0.0, SLOWEST_S))  # of a stack that computes
        command = TwistStamped(header=message.header)
        command.twist.linear.x = 10.0
        command.twist.angular.z = -0.1 * message.pose.pose.position.y
        self._commands.publish(command)


if __name__ == "__main__":
    rclpy.init()
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Stack())
