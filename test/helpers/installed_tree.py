# SPDX-License-Identifier: Apache-2.0
"""What an installed package must hold, whoever installed it; used by the tests of pip and of colcon."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ament_index_python

SOURCE = Path(__file__).parents[2]
NODES = ("opspace_controller", "opspace_gazebo_bridge", "opspace_simulator")
NOT_SOURCE = (".*", "build", "dist", "env", "install", "log", "__pycache__", "*.egg-info")


def copy_source(target: Path) -> Path:
    """The tree as a fresh checkout would have it, so that nothing built here before can help or hinder."""
    shutil.copytree(SOURCE, target, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    return target


def setup_argument(name: str):
    """A literal argument of setup() in setup.py."""
    tree = ast.parse((SOURCE / "setup.py").read_text())
    call = tree.body[-1].value
    return ast.literal_eval(next(keyword.value for keyword in call.keywords if keyword.arg == name))


def environment(**more: str) -> dict[str, str]:
    """The environment without what this venv's ROS wheels, a sourced ROS or pytest put there."""
    ours = ("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "AMENT_PREFIX_PATH", "PYTHONPATH", "PYTEST_ADDOPTS")
    others = {name: value for name, value in os.environ.items() if name not in ours}
    libraries = others.pop("LD_LIBRARY_PATH", "").split(os.pathsep)
    kept = [path for path in libraries if path and not path.startswith(sys.prefix)]
    return others | ({"LD_LIBRARY_PATH": os.pathsep.join(kept)} if kept else {}) | more


def run(*command, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env or environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


def share_dependencies(venv: Path) -> None:
    """Let a new venv see the packages installed here, so that a test need not download them again."""
    (folder,) = venv.glob("lib/python3*/site-packages")
    ours = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (folder / "dependencies.pth").write_text("\n".join(ours))


def check_ament_index(prefix: Path, monkeypatch) -> None:
    """The package is found by ament, with the folders that launch files and users look for."""
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(prefix))
    assert ament_index_python.get_package_prefix("opspace_ctrl") == str(prefix)
    share = ament_index_python.get_package_share_path("opspace_ctrl")
    files = {path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()}
    patterns = "config/*.yaml", "launch/*.launch.py", "rviz/*.rviz", "urdf/*.urdf"
    wanted = {
        path.relative_to(SOURCE).as_posix() for pattern in patterns for path in SOURCE.glob(pattern)
    }
    assert wanted >= {
        "config/task_frames.yaml",
        "launch/description.launch.py",
        "rviz/opspace.rviz",
        "urdf/arm7.urdf",
    }
    assert files >= wanted | {"package.xml"}


def check_executables(prefix: Path, cwd: Path, *before: str) -> None:
    """What `ros2 run opspace_ctrl NAME` would start, starts; `before` is a command prefix, such as `env`."""
    folder = prefix / "lib" / "opspace_ctrl"
    assert sorted(path.name for path in folder.iterdir()) == ["opspace", *NODES]
    ros = environment(
        LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", ""), _ROS_WHEELS_BOOTSTRAP_COMPLETE="1"
    )
    for name in ("opspace", *NODES):  # nodes import this venv's ROS wheels
        assert run(*before, folder / name, "--help", cwd=cwd, env=ros).startswith(f"usage: {name} ")
    assert "n = 40 coordinates" in run(*before, folder / "opspace", "info", "asimo", cwd=cwd)
