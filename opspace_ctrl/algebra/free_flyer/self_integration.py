# SPDX-License-Identifier: Apache-2.0
"""Algorithm 7: each link integrates its own pose and velocity ([Jain1995] 3.3.1); what the hinges lose is measured.

The links' accelerations come from lemma 3.2, so that no link waits for another to be integrated. Nothing holds the
hinges together but the accuracy of the integration: 6 N numbers for fewer freedoms, a differential-algebraic system.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...model import JointType, Model
from ...model.joints import motion_subspace, planar_axes
from ...model.rotations import skew
from .link_tree import LinkState, link_state, link_tree
from .two_filters import two_filters


def step_links(model: Model, state: LinkState, tau: ArrayLike, dt: float) -> LinkState:
    """The links dt [s] later under constant forces tau (nv,), by the classical fourth-order Runge-Kutta step."""
    start = _flat(state)
    slopes = [_rates(model, state, tau)]
    for part in (0.5, 0.5, 1.0):
        slopes.append(_rates(model, _state(start + part * dt * slopes[-1]), tau))
    return _state(start + dt / 6.0 * (slopes[0] + 2.0 * slopes[1] + 2.0 * slopes[2] + slopes[3]))


class LinkIntegrator:
    """A simulation by algorithm 7, whose hinges are brought together again by projection.

    Between projections every link integrates itself; a projection reads the coordinates of the hinges off the links, as
    near as the hinges allow, and puts the links where these say. What it moves is the drift since the last one.

    Args:
        model: A freely floating robot.
        q, v: Where it starts.
        step: [s].
        every: Steps from one projection to the next.
    """

    def __init__(
        self, model: Model, q: ArrayLike, v: ArrayLike, step: float = 1e-3, every: int = 1
    ):
        self.model, self.dt, self.every = model, float(step), int(every)
        self.q, self.v = model.check_configuration(q), model.check_velocity(v)
        self.links, self.worst, self._count = link_state(model, self.q, self.v), (0.0, 0.0), 0

    def step(self, tau: ArrayLike) -> None:
        """Go one step under joint forces tau (nv,); `worst` is the largest drift [m], [rad] that was projected away."""
        self.links = step_links(self.model, self.links, tau, self.dt)
        self._count += 1
        if self._count % self.every == 0:
            apart, turned = drift(self.model, self.links)
            self.worst = max(self.worst[0], apart), max(self.worst[1], turned)
            self.q, self.v = hinge_coordinates(self.model, self.links)
            self.links = link_state(self.model, self.q, self.v)


def hinge_coordinates(model: Model, state: LinkState) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and v (nv,) of the hinges that fit the links best: each from its two links, across their gap."""
    # here: it would triple the time to import the package
    from scipy.spatial.transform import Rotation

    q, v = model.neutral(), np.zeros(model.nv)
    for k, p in enumerate(model.parent):
        kind, axis = model.joint_type[k], model.axis[k]
        at, dof = model.q_index[k], model.v_index[k]
        R, x, V = state.rotation[k], state.position[k], state.velocity[k]
        if p >= 0:
            before = state.rotation[p] @ model.placement_rotation[k]
            r = x - state.position[p]
            V = V - np.append(
                state.velocity[p, :3], state.velocity[p, 3:] + np.cross(state.velocity[p, :3], r)
            )
            x = before.T @ (r - state.rotation[p] @ model.placement_translation[k])
            R = before.T @ R
            own = state.rotation[k].T
        else:
            own = R.T
        S = motion_subspace(kind, axis)
        v[dof : dof + S.shape[1]] = S.T @ np.append(own @ V[:3], own @ V[3:])
        turn = Rotation.from_matrix(R)
        if kind == JointType.REVOLUTE:
            q[at] = _turn_about(axis, R)
        elif kind == JointType.PRISMATIC:
            q[at] = axis @ x
        elif kind == JointType.SPHERICAL:
            q[at : at + 4] = turn.as_quat()
        elif kind == JointType.FLOATING:
            q[at : at + 7] = [*x, *turn.as_quat()]
        else:
            Q = planar_axes(axis)
            q[at : at + 3] = [*(Q.T @ x)[:2], _turn_about(axis, R)]
    return q, v


def _turn_about(axis: np.ndarray, R: np.ndarray) -> float:
    """The angle of the turn about an axis that is nearest to R."""
    x = planar_axes(axis)[:, :2]
    moved = x.T @ R @ x
    return float(np.arctan2(moved[1, 0] - moved[0, 1], moved[0, 0] + moved[1, 1]))


def drift(model: Model, state: LinkState) -> tuple[float, float]:
    """The gap of the worst hinge: [m] across its free directions, and [rad] between its axes."""
    apart, turned = 0.0, 0.0
    for k, p in enumerate(model.parent):
        if p < 0:
            continue
        R = state.rotation[p] @ model.placement_rotation[k]
        gap = R.T @ (
            state.position[k]
            - state.position[p]
            - state.rotation[p] @ model.placement_translation[k]
        )
        S = motion_subspace(model.joint_type[k], model.axis[k])
        slides, turns = S[3:], S[:3, S[:3].any(axis=0)]  # unit vectors, at right angles
        apart = max(apart, float(np.linalg.norm(gap - slides @ (slides.T @ gap))))
        if turns.shape[1] < 3:  # else it turns as it likes
            axes = turns if turns.size else np.eye(3)
            turn = R.T @ state.rotation[k]
            turned = max(turned, float(np.linalg.norm(turn @ axes - axes, 2)))
    return apart, turned


def _rates(model: Model, state: LinkState, tau: ArrayLike) -> np.ndarray:
    """d/dt of everything a link integrates, (N, 18): each row from that link's own acceleration."""
    tree = link_tree(model, state, tau)
    alpha = two_filters(tree).alpha
    rates = np.empty((len(alpha), 18))
    for k, (a, r) in enumerate(zip(alpha, tree.offset)):
        omega, v = state.velocity[k, :3], state.velocity[k, 3:]
        rates[k, :9] = (skew(omega) @ state.rotation[k]).ravel()
        rates[k, 9:12], rates[k, 12:15] = v, a[:3]
        rates[k, 15:] = a[3:] + np.cross(a[:3], r) + np.cross(omega, v)
    return rates


def _flat(state: LinkState) -> np.ndarray:
    return np.hstack([state.rotation.reshape(-1, 9), state.position, state.velocity])


def _state(flat: np.ndarray) -> LinkState:
    """The nearest rotations to the integrated ones, each link by itself."""
    u, _, vt = np.linalg.svd(flat[:, :9].reshape(-1, 3, 3))
    return LinkState(u @ vt, flat[:, 9:12].copy(), flat[:, 12:].copy())
