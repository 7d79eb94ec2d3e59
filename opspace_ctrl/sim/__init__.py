"""A simulated robot, without ROS: forward dynamics, contacts, faults."""
