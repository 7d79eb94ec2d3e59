"""The ROS 2 layer: lifecycle nodes around the controller and the simulator."""
