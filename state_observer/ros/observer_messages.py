"""What an observer tells, as messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from proving_ground.ros_support.time import ns_to_stamp
from state_observer.vehicle.forces import Forces

FORCE_COLUMNS = ("load_n", "along_n", "across_n", "friction_use", "load_std_n", "along_std_n", "across_std_n")


class EstimateMessages:
    """Odometry of base_link in map; made once and filled anew."""

    def __init__(self, map_frame: str, base_frame: str) -> None:
        self._message = Odometry(child_frame_id=base_frame)
        self._message.header.frame_id = map_frame

    def odometry(self, told: Any) -> Odometry:
        """Of a record of ESTIMATE; twist in base_link's own axes."""
        message = self._message
        message.header.stamp = ns_to_stamp(int(told["time_ns"]))
        place, turn = message.pose.pose.position, message.pose.pose.orientation
        place.x, place.y, place.z = told["position"].tolist()
        turn.x, turn.y, turn.z, turn.w = told["attitude"].tolist()
        linear, angular = message.twist.twist.linear, message.twist.twist.angular
        linear.x, linear.y, linear.z = told["velocity"].tolist()
        angular.x, angular.y, angular.z = told["turn"].tolist()
        spread = told["covariance"]
        message.pose.covariance = np.ascontiguousarray(spread[:6, :6]).ravel()
        message.twist.covariance = np.ascontiguousarray(spread[6:, 6:]).ravel()
        return message


def forces_to_msg(forces: Forces) -> Float64MultiArray:
    """A row for each wheel, front left to rear right; columns as FORCE_COLUMNS, which the layout names."""
    table = np.column_stack(
        [
            forces.load, forces.along, forces.across, forces.friction_use,
            np.sqrt(forces.load_variance), np.sqrt(forces.along_variance), np.sqrt(forces.across_variance),
        ]
    )  # fmt: skip
    rows, columns = table.shape
    wheels = MultiArrayDimension(label="wheel", size=rows, stride=table.size)
    values = MultiArrayDimension(label=",".join(FORCE_COLUMNS), size=columns, stride=columns)
    return Float64MultiArray(layout=MultiArrayLayout(dim=[wheels, values]), data=table.ravel().tolist())
