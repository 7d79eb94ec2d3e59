# SPDX-License-Identifier: Apache-2.0
"""Send the tool of a running controller 5 cm up, from a script: what a planner or a policy would do over ROS 2.

opspace_simulator --ros-args --params-file my_robot.yaml -p autostart:=true
opspace_controller --ros-args --params-file my_robot.yaml -p autostart:=true -p use_sim_time:=true
python ros_send_a_target.py tool
"""

import sys
import time
from copy import deepcopy

import rclpy
from geometry_msgs.msg import PoseStamped

CONTROLLER = "opspace_controller"


def main(task: str = "tool", up: float = 0.05, patience: float = 120.0) -> float:
    """The distance that is left when the tool is there [m]."""
    rclpy.init()
    node = rclpy.create_node("send_a_target")
    poses = []
    topic = f"{CONTROLLER}/{task}"
    node.create_subscription(PoseStamped, f"{topic}/pose", poses.append, 1)
    publisher = node.create_publisher(PoseStamped, f"{topic}/target_pose", 1)
    end = time.monotonic() + patience
    while not (poses and publisher.get_subscription_count()):
        rclpy.spin_once(node, timeout_sec=0.1)
        if time.monotonic() > end:
            raise SystemExit(f"no {topic}/pose: is the controller active?")
    target = PoseStamped(pose=deepcopy(poses[-1].pose))  # an empty frame_id is the world's
    target.pose.position.z += up
    publisher.publish(target)
    left = up
    while left > 2e-3:
        rclpy.spin_once(node, timeout_sec=0.1)
        left = abs(target.pose.position.z - poses[-1].pose.position.z)
        if time.monotonic() > end:
            raise SystemExit(f"{task} is still {1e3 * left:.1f} mm from its target")
    print(f"{task} is {1e3 * left:.1f} mm from its target")
    rclpy.shutdown()
    return left


if __name__ == "__main__":
    main(*sys.argv[1:2])
