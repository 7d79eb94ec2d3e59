# SPDX-License-Identifier: Apache-2.0
"""Install opspace_ctrl with pip, or with colcon as an ament_python package."""

import sys
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "opspace_ctrl"

# pip installs by a finder what is mapped, and Python asks it last: from the folder that holds a checkout it would find
# the checkout itself, as a namespace package. So an editable install is of the package alone, by a path; data.py finds
# the folders beside it.
IS_EDITABLE = "editable_wheel" in sys.argv
# Folders at the top of the tree that are package data too.
DATA_PACKAGES = (
    {} if IS_EDITABLE else {f"{PACKAGE}.{folder}": folder for folder in ("config", "rviz", "urdf")}
)

EXECUTABLES = {
    "opspace": f"{PACKAGE}.cli:main",
    "opspace_controller": f"{PACKAGE}.nodes.executables:controller",
    "opspace_gazebo_bridge": f"{PACKAGE}.nodes.executables:gazebo_bridge",
    "opspace_simulator": f"{PACKAGE}.nodes.executables:simulator",
}

# On a robot ROS 2 comes from apt; these wheels bring it into a plain venv.
ROS_MESSAGES = (
    "diagnostic",
    "geometry",
    "nav",
    "sensor",
    "shape",
    "std",
    "trajectory",
    "visualization",
)

# The page in the browser. How viser starts its server is known to view/door.py, which refuses one it does not know.
VIEW = ["viser>=1.1,<2", "trimesh", "pycollada"]


def ros_wheels(rclpy: str, messages: str) -> list[str]:
    """One ROS 2 distribution from PyPI, given the versions of rclpy and of common_interfaces."""
    versioned = [f"ros-{name}-msgs~={messages}" for name in ROS_MESSAGES] + [
        f"ros-std-srvs~={messages}"
    ]
    pinned_by_rclpy = [
        f"ros-{name}"
        for name in ("ament-index-python", "lifecycle-msgs", "rcl-interfaces", "rosgraph-msgs")
    ]
    return [f"ros-rclpy[fastrtps]=={rclpy}", *versioned, *pinned_by_rclpy]


def wheel_launchers() -> list[tuple[str, list[str]]]:
    """lib/<package>/<name> for a wheel: pip puts executables into bin/, ROS looks in lib/<package>."""
    if "bdist_wheel" not in sys.argv:
        return []
    folder = Path("build", "launchers")
    folder.mkdir(parents=True, exist_ok=True)
    for name in EXECUTABLES:
        launcher = folder / name
        launcher.write_text(f'#!/bin/sh\nexec "$(dirname "$0")/../../bin/{name}" "$@"\n')
        launcher.chmod(0o755)
    return [(f"lib/{PACKAGE}", [str(folder / name) for name in EXECUTABLES])]


setup(
    name=PACKAGE,
    version="0.1.0",
    description="Operational-space dynamics and control for ROS 2, in Python",
    # colcon --symlink-install runs a link to this file in its own build folder
    long_description=(Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="opspace_ctrl contributors",
    maintainer="opspace_ctrl maintainers",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["ROS", "robotics", "dynamics", "operational space", "torque control"],
    python_requires=">=3.10",
    packages=[*find_packages(include=[PACKAGE, f"{PACKAGE}.*"]), *DATA_PACKAGES],
    package_dir={"": "."} if IS_EDITABLE else DATA_PACKAGES,
    package_data={
        PACKAGE: ["py.typed"],
        # what is prebuilt is there when `make build` made it; a wheel without it is as good where there is a C compiler
        f"{PACKAGE}.export": ["runtime/*.[ch]", "recorder/*.c", "example/*", "prebuilt/*/*"],
        f"{PACKAGE}.algebra.papers": ["*.yaml"],
        f"{PACKAGE}.config": ["*.yaml", "*.policy.xml"],
        f"{PACKAGE}.rviz": ["*.rviz"],
        f"{PACKAGE}.urdf": ["*.urdf"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/config", glob("config/*.yaml") + glob("config/*.policy.xml")),
        (f"share/{PACKAGE}/launch", glob("launch/*.launch.py")),
        (f"share/{PACKAGE}/rviz", glob("rviz/*.rviz")),
        (f"share/{PACKAGE}/urdf", glob("urdf/*.urdf")),
        *wheel_launchers(),
    ],
    zip_safe=False,
    install_requires=[
        # from the oldest to the newest that `make matrix` has passed with
        "numba>=0.55.1,<0.69",
        "numpy>=1.21.5,<2.6",
        "scipy>=1.8,<1.19",
        "pyyaml",
        "rich",
        "urdf-parser-py",
    ],
    extras_require={
        "ros-kilted": ros_wheels(rclpy="9.1.2", messages="5.5.1"),
        "ros-jazzy": ros_wheels(rclpy="7.1.6", messages="5.3.6"),
        "xacro": ["xacro"],
        "mujoco": ["mujoco"],
        "plot": ["matplotlib"],
        "study": ["mpmath", "sympy"],
        "bench": ["example-robot-data", "mujoco", "pin"],
        "dart": ["dartpy"],
        "record": ["mcap-ros2-support"],
        "docs": ["furo", "myst-parser", "sphinx"],
        "view": VIEW,
        "test": [
            "colcon-common-extensions",
            "dartpy",
            "drake",  # its libsdformat reads the generated worlds
            "example-robot-data",
            "furo",
            "hypothesis",
            "matplotlib",
            "mcap-ros2-support",
            "mpmath",
            "mujoco",
            "mypy",
            "myst-parser",
            "pin",
            "playwright",  # with the machine's Chromium; it downloads none
            "pytest",
            "pytest-xdist",
            "reuse",
            "ruff",
            "sympy",
            "setuptools>=70.1,<80",  # 70.1 can build a wheel; 80 lost what `colcon --symlink-install` needs
            "sphinx",
            "xacro",
            *VIEW,
        ],
    },
    entry_points={
        "console_scripts": [f"{name} = {target}" for name, target in EXECUTABLES.items()]
    },
)
