# SPDX-License-Identifier: Apache-2.0
"""What the launch files ask for by name: the robot and its parameters, a world, the controllers' file.

`actions` alone imports launch; everything else is decided, and tested, without it.
"""
