# SPDX-License-Identifier: Apache-2.0
"""The bridge node of the package, with the stand-in's world control instead of the service of ros_gz_bridge."""

import sys

from helpers.gazebo_stand_in import TopicWorld
from opspace_ctrl.nodes.gazebo_bridge import main

if __name__ == "__main__":
    main(sys.argv[1:], make_world=TopicWorld)
