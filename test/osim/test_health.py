# SPDX-License-Identifier: Apache-2.0
"""Paper 000 X.C: intermediates with a physical meaning tell what is wrong."""

import numpy as np
import pytest

from opspace_ctrl import OperationalSpace, load_robot, load_urdf
from opspace_ctrl.osim.health import health_of

ARM = """<robot name="two">
  <link name="base"/>
  <link name="upper">{upper}</link>
  <link name="lower">{lower}</link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
INERTIAL = (
    '<inertial><origin xyz="0.5 0 0"/><mass value="{mass}"/>'
    '<inertia ixx="{ixx}" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_000_X_C_a_sound_robot_is_healthy(name):
    """P > 0, D > 0 and H > 0 everywhere, Lambda^-1 symmetric; the numbers are those of dense algebra."""
    model = load_robot(name)
    q = model.random_configuration(np.random.default_rng(0))
    ospace = OperationalSpace(model, model.body_names[-1]).update(q)
    report = ospace.health()
    assert report.sound and report.findings == ()
    assert report.least_D[0] > 0.0 and report.least_D[1] in model.body_joint_names
    assert 0.0 < report.least_P[0] < 1.0 and report.least_P[1] in model.body_names
    values = np.linalg.eigvalsh(ospace.inertia_inv)
    assert report.least_response == pytest.approx(
        values[0] / abs(ospace.inertia_inv).max(), abs=1e-12
    )
    assert report.asymmetry == 0.0


@pytest.mark.filterwarnings("ignore")
def test_000_X_C_an_impossible_inertia_is_found_and_its_body_named():
    """A negative moment about an axis that no joint turns: H and D hide it, P, which should be positive, does not."""
    good, bad = (INERTIAL.format(mass=2.0, ixx=ixx) for ixx in (0.1, -0.5))
    model = load_urdf(ARM.format(upper=good, lower=bad), base="fixed")
    report = OperationalSpace(model, ("lower", "position")).update([0.1, 0.4]).health()
    assert report.least_D[0] > 0.0 and report.least_H > 0.0
    assert not report.sound
    assert any("P of body lower" in finding for finding in report.findings)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda x: x + np.triu(np.full_like(x, 1e-6), 1), "not symmetric"),
        (lambda x: x - 2.0 * np.trace(x) * np.eye(len(x)), "negative eigenvalue"),
    ],
)
def test_000_X_C_a_wrong_inverse_inertia_is_found(spoil, says):
    model = load_robot("arm7")
    q = model.random_configuration(np.random.default_rng(0))
    found = OperationalSpace(model, "link7").update(q).inertia_inv
    assert health_of(model, q, found).sound
    report = health_of(model, q, spoil(found))
    assert any(says in finding for finding in report.findings)


def test_health_does_not_change_what_is_computed():
    model = load_robot("arm7")
    ospace = OperationalSpace(model, "link7").update(model.neutral())
    before = ospace.inertia_inv.copy()
    ospace.health()
    assert (ospace.inertia_inv == before).all()
