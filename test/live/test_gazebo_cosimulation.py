# SPDX-License-Identifier: Apache-2.0
"""The controller before Gazebo's engine: DART behind the topics of the Gazebo launch, and our own simulator beside it.

The same controller parameters serve all of them.
"""

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from helpers.compiled_nodes import compile_controller, parameters
from helpers.gazebo_graph import start_gazebo
from helpers.ros import LONG, Graph
from helpers.shipped_robots import gravity_torque, home, ours
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.nodes.messages import nanoseconds, pose_message, quaternion_of, vector_of

CONTROLLER = "/opspace_controller"
SECOND = 10**9  # [ns]
# A simulated second takes so many: a machine that is busy with other things for a moment must not shake the robot.
SLOW = {"arm7": 0.2, "asimo": 0.05}
REACHED = 0.005  # [m] of 0.14; what is left is dry friction, which a law without integral does not overcome
WORLDS = ("dart lockstep", "dart free", "native lockstep")


@pytest.fixture(scope="module", autouse=True)
def compiled():
    for robot in ("arm7", "asimo"):
        compile_controller(robot)


def start(graph, robot, world):
    """The robot in its world, and the controller."""
    engine, mode = world.split()
    if engine == "dart":
        start_gazebo(
            graph,
            robot,
            "--paused",
            "--factor",
            str(SLOW[robot]),
            command_timeout=LONG,
            lockstep=mode == "lockstep",
            run_on_command=mode == "free",
        )
    else:
        graph.start(
            "simulator",
            parameters=parameters(robot, "opspace_simulator")
            | {"mode": mode, "autostart": True, "command_timeout": LONG},
        )
    graph.start(
        "controller",
        parameters=parameters(robot, "opspace_controller")
        | {
            "autostart": True,
            "state_timeout": LONG,
            "odom_timeout": LONG,
            "liveness_timeout": 0.0,
            "overrun_count": 0,
        },
    )


@pytest.mark.parametrize("world", WORLDS)
def test_the_arm_reaches_its_target(tmp_path, world):
    with Graph(tmp_path) as graph:
        start(graph, "arm7", world)
        poses = graph.listen(PoseStamped, f"{CONTROLLER}/tool/pose")
        targets = graph.publisher(PoseStamped, f"{CONTROLLER}/tool/target_pose")
        graph.wait_for(lambda: poses.count, "the pose of the tool")
        begin = place(poses.last)
        goal = begin + [0.06, -0.10, 0.08]
        target = PoseStamped(pose=pose_message(goal, quaternion_of(poses.last.pose.orientation)))
        # sent again until the tool moves: the first may be lost before both ends know each other
        graph.publish_until(
            targets, target, lambda: np.linalg.norm(place(poses.last) - begin) > 0.01, "it to move"
        )
        graph.wait_for(
            lambda: np.linalg.norm(place(poses.last) - goal) < REACHED, "the tool at its target"
        )
        check_rest(graph, poses, goal)


def check_rest(graph, poses, goal):
    """The arm comes to rest at its target, and its efforts carry its weight, whoever simulates it."""
    states = graph.listen(JointState, "joint_states")
    efforts = graph.listen(Float64MultiArray, "effort_controller/commands")
    model = ours("arm7")

    def is_carried():
        if not states.count or not efforts.count or np.abs(states.last.velocity).max() >= 1e-3:
            return False
        q = [states.last.position[states.last.name.index(name)] for name in model.joint_names]
        difference = np.array(efforts.last.data) - gravity_torque("arm7", np.array(q))
        return np.all(
            np.abs(difference) < model.friction + 0.1
        )  # on which a joint at rest may rely

    # a joint that turns round is slow for a moment, too
    graph.wait_for(is_carried, "rest, and no more effort than weight and friction take")
    assert np.linalg.norm(place(poses.last) - goal) < REACHED


def place(message):
    return vector_of(message.pose.position)


@pytest.mark.parametrize("world", WORLDS)
def test_asimo_stands(tmp_path, world):
    with Graph(tmp_path) as graph:
        start(graph, "asimo", world)
        odometry = graph.listen(Odometry, "odom")
        graph.wait_for(lambda: odometry.count, "the first state")
        lowest, least_upright = [], []

        def upright():
            pose = odometry.last.pose.pose
            x, y = pose.orientation.x, pose.orientation.y
            lowest.append(pose.position.z)
            least_upright.append(1.0 - 2.0 * (x * x + y * y))  # cosine of the tilt
            return nanoseconds(odometry.last.header.stamp) > 1.5 * SECOND

        graph.wait_for(upright, "a second and a half")
        assert min(lowest) > home("asimo")[2] - 0.03
        assert min(least_upright) > np.cos(0.1)
        states = graph.listen(JointState, "joint_states")
        graph.wait_for(
            lambda: states.count and np.abs(states.last.velocity).max() < 0.2, "asimo at rest"
        )
