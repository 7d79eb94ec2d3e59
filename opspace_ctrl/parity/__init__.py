# SPDX-License-Identifier: Apache-2.0
"""Two descriptions of one robot, or a description and the robot itself: where do they disagree?

sources    URDF, xacro, SDF and MJCF files as models     sdf        the reader of SDF
recorded   efforts of a robot at rest, from a bag        zeros      joints that count from elsewhere
compare    what differs, in words, worst first
"""
