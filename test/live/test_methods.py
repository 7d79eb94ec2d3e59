# SPDX-License-Identifier: Apache-2.0
"""Humanoids that stand and move a hand, controller and simulator in their own processes, by every method in turn."""

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from helpers import ros
from helpers.compiled_nodes import parameters
from helpers.support import load_quietly, urdf_path
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64, Float64MultiArray

from opspace_ctrl import load_robot
from opspace_ctrl.osim import methods

NODE = "/opspace_controller"
PATIENT = {"state_timeout": ros.LONG, "odom_timeout": ros.LONG, "overrun_count": 0}


@pytest.mark.parametrize("name", ["asimo", "g1"])
def test_a_humanoid_moves_on_through_all_eight_methods(name, tmp_path):
    path = urdf_path("g1_29dof_rev_1_0") if name == "g1" else None
    model = load_quietly(path, "floating") if path else load_robot(name)
    robot = {"robot": str(path) if path else name}
    plant = parameters(name, "opspace_simulator") | {"mode": "lockstep"}
    law = parameters(name, "opspace_controller") | PATIENT | {"method": "rjk"}
    with ros.Graph(tmp_path) as graph:
        graph.start("simulator", parameters=plant | robot)
        graph.start("controller", parameters=law | robot)
        for node in ("/opspace_simulator", NODE):
            assert graph.transition(node, "configure") and graph.transition(node, "activate")
        residuals = graph.listen(Float64, "opspace_controller/method_residual")
        efforts = graph.listen(Float64MultiArray, "effort_controller/commands")
        base = graph.listen(Odometry, "odom")
        hand = graph.listen(PoseStamped, "opspace_controller/right_hand/pose")
        graph.wait_for(lambda: efforts.count > 500 and hand.count, "the robot stands")
        assert graph.get_parameter(NODE, "method") == "rjk"
        target = graph.publisher(PoseStamped, "opspace_controller/right_hand/target_pose")
        start, height = hand.last, base.last.pose.pose.position.z
        for turn, method in enumerate(methods(model)):
            goal = PoseStamped(pose=start.pose)
            goal.pose.position.z += 0.04 if turn % 2 == 0 else -0.04
            target.publish(goal)
            moved, heard, sent = hand.count, residuals.count, efforts.count
            graph.wait_for(lambda moved=moved: hand.count > moved + 5, "the hand is on its way")
            assert graph.set_parameters(NODE, method=method) == (True, "")
            graph.wait_for(lambda heard=heard: residuals.count > heard, f"a residual of {method}")
            assert residuals.last.data < 1e-9, method
            graph.wait_for(lambda sent=sent: efforts.count > sent + 200, "the loop goes on")
            assert np.isfinite(efforts.last.data).all()
        assert graph.get_parameter(NODE, "method") == "base_invariant"
        assert base.last.pose.pose.position.z == pytest.approx(height, abs=0.03)  # it stands
