# SPDX-License-Identifier: Apache-2.0
"""opspace_controller on a live graph, a floating base: odometry paired by stamp, its gates, and `shutdown`."""

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from helpers import ros
from oracles.robot_peer import STEP, RobotPeer
from visualization_msgs.msg import MarkerArray

from opspace_ctrl import frame_pose, load_robot

NODE = "/opspace_controller"
PARAMETERS = {
    "robot": "free_flyer",
    "tasks": ["hand"],
    "hand.rows": "pose",
    "state_timeout": ros.LONG,
    "odom_timeout": ros.LONG,
    "ramp": 0.0,
    "publish_rate": 200.0,
    "overrun_count": 0,
    "safe_command": "zero",
}


def test_the_base_is_that_of_the_same_stamp_and_its_faults_close_gates(tmp_path):
    model = load_robot("free_flyer")
    hand = model.frame_names[-1]
    with ros.Graph(tmp_path) as graph:
        process = graph.start("controller", parameters=PARAMETERS | {"hand.frame": hand})
        assert graph.transition(NODE, "configure")
        peer = RobotPeer(graph, model, NODE)
        poses = graph.listen(PoseStamped, "opspace_controller/hand/pose")
        markers = graph.listen(MarkerArray, "opspace_controller/markers")
        assert graph.transition(NODE, "activate")
        rng = np.random.default_rng(3)
        peer.q = model.random_configuration(rng)
        peer.first_answer()
        check_pairing(graph, peer, model, hand, poses)
        check_gates(graph, peer)
        graph.wait_for(
            lambda: (
                markers.last
                and {"frames", "targets", "errors", "inertia"}
                <= {marker.ns for marker in markers.last.markers}
            ),
            "the markers",
        )
        assert {marker.header.frame_id for marker in markers.last.markers} == {"odom"}
        assert graph.transition(NODE, "shutdown")
        assert process.wait() == 0
        graph.wait_for(lambda: not peer.effort().any(), "the last command")


def position(message):
    at = message.pose.position
    return [at.x, at.y, at.z]


def check_pairing(graph, peer, model, hand, poses):
    """Each state is answered once, when both messages of its stamp are there, in whichever order they come."""
    rng = np.random.default_rng(4)
    for odom_first in (True, False, False, True):
        peer.q[:3] = rng.normal(size=3)
        peer.answer()  # a jump of the base is no fault of its own
        peer.quiet()
        count = peer.answers.count
        peer.stamp += STEP
        odometry, joints = peer.odometry(), peer.message()
        if odom_first:
            peer.send_odometry(odometry)
            peer.send_joints(joints)
        else:
            peer.send_joints(joints)
            peer.quiet()
            assert peer.answers.count == count
            peer.send_odometry(odometry)
        graph.wait_for(lambda count=count: peer.answers.count > count, "an answer to the pair")
        graph.wait_for(
            lambda: (
                poses.last
                and position(poses.last)
                == pytest.approx(frame_pose(model, peer.q, hand)[0], abs=1e-9)
            ),
            "the pose of the hand",
        )
        assert peer.answers.count == count + 1


def check_gates(graph, peer):
    """Odometry that is wrong, old or missing."""
    for gate, fields in (("quaternion", {"x": 3.0}), ("finite", {"x": float("nan")})):
        peer.stamp += STEP
        count = peer.answers.count
        peer.send_odometry(peer.odometry(**fields))
        peer.send_joints(peer.message())
        graph.wait_for(lambda count=count: peer.answers.count > count, "an answer")
        graph.wait_for(lambda: not peer.effort().any(), "zeros")
        peer.status(
            "gates", lambda text, values, gate=gate: values["gate"] == gate, f"the gate {gate}"
        )
        peer.answer()
    graph.set_parameters(NODE, odom_timeout=0.01)
    peer.stamp += 20 * STEP
    count = peer.answers.count
    peer.send_joints(peer.message())
    graph.wait_for(lambda: peer.answers.count > count, "an answer without odometry")
    graph.wait_for(lambda: not peer.effort().any(), "zeros")
    peer.status("gates", lambda text, values: values["gate"] == "odom", "the gate odom")
    graph.set_parameters(NODE, odom_timeout=ros.LONG)
    peer.answer()
    peer.status("gates", lambda text, values: values["gate"] == "", "open gates")
