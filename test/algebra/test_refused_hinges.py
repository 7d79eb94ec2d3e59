# SPDX-License-Identifier: Apache-2.0
"""What of the papers cannot carry a kind of hinge says so by name, before it computes anything."""

import numpy as np
import pytest
from helpers.urdf_text import joint, link, mimic, robot

from opspace_ctrl import Simulator, load_robot, load_urdf
from opspace_ctrl.algebra.counts.link_frames import link_frames
from opspace_ctrl.algebra.free_flyer import LinkIntegrator, hinge_coordinates, link_state
from opspace_ctrl.algebra.recursions.polynomial_sweep import two_sweeps
from opspace_ctrl.algebra.recursions.square_root import SquareRootDual, SquareRootFilter
from opspace_ctrl.algebra.recursions.symbolic import symbolic_inverse
from opspace_ctrl.errors import ConfigurationError, MethodError

TIED = robot(
    *(link(name) for name in "abc"),
    joint("one", "a", "b"),
    joint("two", "b", "c", extra=mimic("one", 1.0, 0.0)),
)
CALLS = {
    "two_sweeps": lambda model, q, v: two_sweeps(model, q, v, v),
    "SquareRootFilter": lambda model, q, v: SquareRootFilter(model, q),
    "SquareRootDual": lambda model, q, v: SquareRootDual(model, q),
    "link_frames": lambda model, q, v: link_frames(model, q),
    "symbolic_inverse": lambda model, q, v: symbolic_inverse(model),
    "LinkIntegrator": lambda model, q, v: LinkIntegrator(model, q, v).step(v),
    "integrator algorithm7": lambda model, q, v: Simulator(model, integrator="algorithm7"),
}


@pytest.mark.parametrize("name", CALLS)
def test_mimic_joints_are_refused_by_name_where_they_are_not_carried(name):
    model = load_urdf(TIED, base="fixed" if name == "symbolic_inverse" else "floating")
    with pytest.raises(MethodError, match="mimic"):
        CALLS[name](model, model.neutral(), np.zeros(model.nv))


def test_coordinates_of_a_kind_that_is_not_read_off_links_are_refused_by_name():
    """A kind that nobody has taught it is not taken for a planar joint."""
    model = load_robot("free_flyer")
    links = link_state(model, model.neutral(), np.zeros(model.nv))

    class Unknown:
        """The robot with another kind of joint at its second body."""

        def __getattr__(self, name):
            return getattr(model, name)

        @property
        def joint_type(self):
            return np.where(np.arange(len(model.joint_type)) == 1, 99, model.joint_type)

    with pytest.raises(
        MethodError, match=f"{model.body_joint_names[1]} is of the kind 99.*REVOLUTE"
    ):
        hinge_coordinates(Unknown(), links)


def test_links_of_another_robot_are_refused():
    model = load_robot("free_flyer")
    links = link_state(model, model.neutral(), np.zeros(model.nv))
    with pytest.raises(ConfigurationError, match="arm7 has 7 moving links, and the state 15"):
        hinge_coordinates(load_robot("arm7"), links)


@pytest.mark.parametrize("wrong", [{"step": 0.0}, {"step": np.nan}, {"every": 0}])
def test_steps_of_links_that_are_none_are_refused(wrong):
    model = load_robot("free_flyer")
    with pytest.raises(ConfigurationError, match="step = .*every = .*valid"):
        LinkIntegrator(model, model.neutral(), np.zeros(model.nv), **wrong)
