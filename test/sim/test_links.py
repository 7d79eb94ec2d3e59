# SPDX-License-Identifier: Apache-2.0
"""Algorithm 7 of paper 004 as an integrator: links that integrate themselves, against the other integrators."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sim_cases import PASSIVE
from helpers.urdf_text import joint, link, robot

from opspace_ctrl import Simulator, load_robot, load_urdf
from opspace_ctrl.errors import ExportError, MethodError
from opspace_ctrl.export.simulator import simulator_image

FLYER = load_robot("free_flyer")
SPINNER = robot(
    *(link(name) for name in "ab"),
    joint("j", "a", "b", "continuous"),
)


def started(integrator, step=2e-3, **options):
    """The free flyer in motion."""
    rng = np.random.default_rng(3)
    sim = Simulator(FLYER, integrator=integrator, step=step, **{**PASSIVE, **options})
    sim.reset(FLYER.random_configuration(rng), 0.4 * rng.normal(size=FLYER.nv))
    return sim


def driven(sim, seconds):
    """Under efforts that are constant in every 4 ms."""
    held = round(4e-3 / sim.settings.step)
    for k in range(round(seconds / sim.settings.step)):
        sim.step(0.2 * np.sin(0.3 * (k // held) + np.arange(len(sim.tau))))
    return sim


def apart(one, other):
    """Largest difference of two states."""
    return max(np.abs(FLYER.difference(one.q, other.q)).max(), float(np.abs(one.v - other.v).max()))


def test_004_algorithm_7_as_an_integrator_is_of_order_four():
    exact = driven(started("rkmk4", 2.5e-4), 0.04)
    errors = [apart(driven(started("algorithm7", step), 0.04), exact) for step in (4e-3, 2e-3)]
    assert errors[1] < 1e-7 and errors[0] > 10.0 * errors[1]


def test_it_keeps_energy_and_momentum_and_says_how_far_the_hinges_drifted():
    model = load_robot("free_flyer", gravity=(0.0, 0.0, 0.0))
    sim = Simulator(model, integrator="algorithm7", **PASSIVE)
    sim.reset(started("algorithm7").q, started("algorithm7").v)
    before = sim.energy()
    for _ in range(50):
        sim.step(np.zeros(len(sim.tau)))
    assert abs(sim.energy() - before) < 1e-9 * before
    metres, radians = sim.drift
    assert 0.0 < metres < 1e-9 and 0.0 < radians < 1e-9
    sim.reset()
    assert sim.drift == (0.0, 0.0)


@pytest.mark.parametrize(
    "options", [{"joint_damping": True}, {"joint_friction": True}, {"joint_limits": True}]
)
def test_damping_friction_stops_and_pushes_are_those_of_the_other_integrators(options):
    pair = [started(name, 1e-3, **options) for name in ("algorithm7", "rkmk4")]
    for sim in pair:
        sim.push(FLYER.frame_names[-1], [3.0, -2.0, 1.0, 0.1, 0.2, -0.3], 0.02)
        driven(sim, 0.04)
    assert apart(*pair) < 1e-7


def test_a_hinge_that_turns_round_and_round_counts_its_turns():
    model, ends = load_urdf(SPINNER, base="floating", gravity=(0.0, 0.0, 0.0)), []
    for integrator in ("algorithm7", "rkmk4"):
        sim = Simulator(model, integrator=integrator, step=5e-3)
        sim.reset(None, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 20.0])
        for _ in range(100):
            sim.step([0.0])
        ends.append(sim.q[-1])
    assert ends[0] > 3.0 * np.pi and ends[0] == pytest.approx(ends[1], abs=1e-4)


def test_it_goes_on_from_a_saved_state_bit_for_bit():
    sim = started("algorithm7", 1e-3)
    saved = sim.save()
    one = driven(sim, 0.01).q.copy()
    sim.restore(saved)
    assert (driven(sim, 0.01).q == one).all()


def test_its_drives_follow_velocities_as_those_of_rkmk4_do():
    pair = [started(name, 1e-3) for name in ("algorithm7", "rkmk4")]
    wanted = 0.01 * np.arange(len(pair[0].tau))
    for sim in pair:
        for _ in range(5):
            sim.step(sim.servo(wanted))
        assert np.abs(sim.v[6:] - wanted).max() < 1e-5
    assert apart(*pair) < 1e-8


def test_what_it_does_not_carry_is_refused_by_name():
    with pytest.raises(MethodError, match="algorithm7' cannot carry a fixed base.*rkmk4 can"):
        Simulator("arm7", integrator="algorithm7")
    with pytest.raises(MethodError, match="cannot carry contacts"):
        Simulator(FLYER, integrator="algorithm7", contacts=[FLYER.frame_names[-1]])
    with pytest.raises(MethodError, match="cannot carry integrator algorithm7"):
        Simulator(FLYER, engine="mujoco", integrator="algorithm7")
    with pytest.raises(
        ExportError, match="'algorithm7' cannot be exported; valid are semi_implicit"
    ):
        simulator_image(Simulator(FLYER, integrator="algorithm7"))
