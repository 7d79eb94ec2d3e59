"""What a launch file starts, with which parameters: decisions in plain Python.

`arguments` says what can be asked for, `plan` which processes follow from it; neither imports launch. `launching` turns
a plan into launch actions and is what the files in launch/ call.
"""
