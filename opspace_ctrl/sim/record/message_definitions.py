# SPDX-License-Identifier: Apache-2.0
"""Definitions of the ROS 2 messages in a recording, as an MCAP schema carries them: no ROS is needed to write them."""

__all__ = ["schema_text"]

SEPARATOR = "\n" + "=" * 80 + "\n"

_DEFINITIONS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "sensor_msgs/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
    "float64[] effort",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset",
    "std_msgs/Float64MultiArray": "std_msgs/MultiArrayLayout layout\nfloat64[] data",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose\nfloat64[36] covariance",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist\nfloat64[36] covariance",
    "geometry_msgs/TwistStamped": "std_msgs/Header header\ngeometry_msgs/Twist twist",
    "nav_msgs/Odometry": "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
    "geometry_msgs/TwistWithCovariance twist",
    "rcl_interfaces/Log": "byte DEBUG=10\nbyte INFO=20\nbyte WARN=30\nbyte ERROR=40\nbyte FATAL=50\n"
    "builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\n"
    "string function\nuint32 line",
}


def schema_text(name: str) -> str:
    """The definition of a message such as sensor_msgs/JointState, followed by those it is made of."""
    needed = [name]
    for message in needed:  # grows while it is walked
        for line in _DEFINITIONS[message].split("\n"):
            part = line.split()[0].split("[")[0]
            if part in _DEFINITIONS and part not in needed:
                needed.append(part)
    return SEPARATOR.join(
        [_DEFINITIONS[name], *(f"MSG: {part}\n{_DEFINITIONS[part]}" for part in needed[1:])]
    )
