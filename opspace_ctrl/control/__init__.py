"""Tasks, hierarchy, limits and safety: the controller, without ROS."""
