# SPDX-License-Identifier: Apache-2.0
"""The parts of `attack.py`: the monitor in the controller, the robot before it, the attacker, and what it sends."""
