# SPDX-License-Identifier: Apache-2.0
"""The demo: a controller and a simulated robot at work, over ROS 2 or in one process."""
