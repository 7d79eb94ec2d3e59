# SPDX-License-Identifier: Apache-2.0
"""From a URDF to a robot that moves: propose a configuration, try it, and look at what was guessed.

Run it with the path of your URDF; without one it takes a small arm of its own.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from opspace_ctrl.proposal.propose import propose
from opspace_ctrl.proposal.trial import Trial, try_out

LINK = """<inertial><origin xyz="0 0 0.1"/><mass value="1"/>
  <inertia ixx="0.004" iyy="0.004" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>"""
AXES = ("0 0 1", "0 1 0", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
JOINT = """<joint name="joint{0}" type="revolute"><parent link="link{1}"/><child link="link{0}"/>
  <origin xyz="0 0 0.2"/><axis xyz="{2}"/><limit lower="-2.5" upper="2.5" effort="40" velocity="2"/></joint>"""


def small_arm() -> str:
    """A URDF of six joints."""
    links = "".join(f'<link name="link{k}">{LINK if k else ""}</link>' for k in range(7))
    joints = "".join(JOINT.format(k, k - 1, axis) for k, axis in enumerate(AXES, 1))
    return f'<robot name="small_arm">{links}{joints}</robot>'


def main(urdf: str = "") -> Trial:
    """What the trial found."""
    with TemporaryDirectory() as folder:
        path = Path(urdf or Path(folder, "small_arm.urdf"))
        if not urdf:
            path.write_text(small_arm())
        proposal = propose(path)
        for note in proposal.notes:
            print(f"{note.subject}: {note.taken} ({note.reason})")
        trial = try_out(proposal)
    print(trial)
    return trial


if __name__ == "__main__":
    main(*sys.argv[1:2])
