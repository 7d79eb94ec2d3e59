"""What a launch file starts, with which parameters: decisions in plain Python."""
