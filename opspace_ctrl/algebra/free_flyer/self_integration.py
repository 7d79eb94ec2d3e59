"""Algorithm 7: each link integrates its own pose and velocity ([Jain1995] 3.3.1); what the hinges lose is measured.

The links' accelerations come from lemma 3.2, so that no link waits for another to be integrated. Nothing holds the
hinges together but the accuracy of the integration: 6 N numbers for fewer freedoms, a differential-algebraic system.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...model import JointType, Model
from ...model.rotations import skew
from .link_tree import LinkState, link_tree
from .two_filters import two_filters


def step_links(model: Model, state: LinkState, tau: ArrayLike, dt: float) -> LinkState:
    """The links dt [s] later under constant forces tau (nv,), by the classical fourth-order Runge-Kutta step."""
    start = _flat(state)
    slopes = [_rates(model, state, tau)]
    for part in (0.5, 0.5, 1.0):
        slopes.append(_rates(model, _state(start + part * dt * slopes[-1]), tau))
    return _state(start + dt / 6.0 * (slopes[0] + 2.0 * slopes[1] + 2.0 * slopes[2] + slopes[3]))


def drift(model: Model, state: LinkState) -> tuple[float, float]:
    """The gap of the worst hinge: [m] across its free directions, and [rad] between its axes."""
    apart, turned = 0.0, 0.0
    for k, p in enumerate(model.parent):
        if p < 0 or model.joint_type[k] == JointType.FLOATING:
            continue
        R = state.rotation[p] @ model.placement_rotation[k]
        gap = R.T @ (
            state.position[k]
            - state.position[p]
            - state.rotation[p] @ model.placement_translation[k]
        )
        axis, kind = model.axis[k], model.joint_type[k]
        along = np.outer(axis, axis)
        held = {
            JointType.REVOLUTE: np.eye(3),
            JointType.PRISMATIC: np.eye(3) - along,
            JointType.PLANAR: along,
            JointType.SPHERICAL: np.eye(3),
        }[kind]
        apart = max(apart, float(np.linalg.norm(held @ gap)))
        if kind == JointType.SPHERICAL:
            continue  # it turns as it likes
        turn = R.T @ state.rotation[k]
        off = turn - np.eye(3) if kind == JointType.PRISMATIC else (turn @ axis - axis)[:, None]
        turned = max(turned, float(np.linalg.norm(off, 2)))
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
