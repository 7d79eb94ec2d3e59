# SPDX-License-Identifier: Apache-2.0
"""Tasks, hierarchy, limits and safety: the controller, without ROS."""
