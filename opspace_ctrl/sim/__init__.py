# SPDX-License-Identifier: Apache-2.0
"""A simulated robot, without ROS: forward dynamics, contacts, faults."""
