# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 layer: lifecycle nodes around the controller and the simulator."""
