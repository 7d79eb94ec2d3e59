"""A graph in which a DART world stands in for Gazebo, behind the package's own bridge node."""
import sys
from pathlib import Path

from gazebo_stand_in import gazebo_name
from ros import LONG
from shipped_robots import ours

HERE = Path(__file__).parent


def start_gazebo(graph, robot, *options, joints=None, **parameters):
    """Start the world (options of gazebo_stand_in) and the bridge (its parameters); (joints, bridge's process)."""
    joints = joints or [*ours(robot).joint_names]
    graph.run([sys.executable, str(HERE / "gazebo_stand_in.py"), robot, *options], "stand_in")
    values = {"model": robot, "joints": joints, "gazebo_joints": [gazebo_name(joint) for joint in joints],
              "silence_timeout": LONG} | parameters
    command = [sys.executable, str(HERE / "gazebo_bridge_process.py"), "--ros-args"]
    for name, value in values.items():
        command += ["-p", f"{name}:={str(value).lower() if isinstance(value, bool) else value}"]
    return joints, graph.run(command, "bridge")
