# SPDX-License-Identifier: Apache-2.0
"""Algorithm 7: each link integrates its own pose and velocity ([Jain1995] 3.3.1); what the hinges lose is measured.

The links' accelerations come from lemma 3.2, so that no link waits for another to be integrated. Nothing holds the
hinges together but the accuracy of the integration: 6 N numbers for fewer freedoms, a differential-algebraic system.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ConfigurationError, MethodError, listed
from ...model import JointType, Model
from ...model.joints import motion_subspace, planar_axes
from ...model.rotations import skew
from .link_tree import LinkState, Wrenches, link_state, link_tree
from .two_filters import two_filters

# kinds of joints whose coordinates `hinge_coordinates` reads off the links
READ = ("REVOLUTE", "PRISMATIC", "SPHERICAL", "FLOATING", "PLANAR")


def step_links(
    model: Model,
    state: LinkState,
    tau: ArrayLike,
    dt: float,
    damping: ArrayLike | None = None,
    external: Wrenches = (),
) -> LinkState:
    """The links dt [s] later, by the classical fourth-order Runge-Kutta step.

    Args:
        model, state: The robot and its links.
        tau: (nv,) hinge forces, constant meanwhile.
        dt: [s].
        damping: (nv,) what each hinge loses of its force per velocity; nothing if not given.
        external: Wrenches on frames, constant meanwhile, as `link_tree` takes them.
    """
    start, d = _flat(state), None if damping is None else np.asarray(damping, float)
    forces, external = np.asarray(tau, float), tuple(external)

    def rates(links: LinkState) -> np.ndarray:
        lost = 0.0 if d is None else d * hinge_rates(model, links)
        return _rates(model, links, forces - lost, external)

    slopes = [rates(state)]
    for part in (0.5, 0.5, 1.0):
        slopes.append(rates(_state(start + part * dt * slopes[-1])))
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

    Raises:
        ConfigurationError: A state, a step or a number of steps that is none.
    """

    def __init__(
        self, model: Model, q: ArrayLike, v: ArrayLike, step: float = 1e-3, every: int = 1
    ):
        if not (0.0 < step < np.inf and every >= 1):
            raise ConfigurationError(
                f"step = {step}, every = {every}: seconds above 0, and 1 or more, are valid"
            )
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
            self.q, self.v = hinge_coordinates(self.model, self.links, self.q)
            self.links = link_state(self.model, self.q, self.v)


def hinge_rates(model: Model, state: LinkState) -> np.ndarray:
    """v (nv,) of the hinges: how each link moves against the one before it, along its hinge."""
    v = np.zeros(model.nv)
    for k, p in enumerate(model.parent):
        own, V, dof = state.rotation[k].T, state.velocity[k], model.v_index[k]
        if p >= 0:
            omega, r = state.velocity[p, :3], state.position[k] - state.position[p]
            V = V - np.append(omega, state.velocity[p, 3:] + np.cross(omega, r))
        S = motion_subspace(model.joint_type[k], model.axis[k])
        v[dof : dof + S.shape[1]] = S.T @ np.append(own @ V[:3], own @ V[3:])
    return v


def hinge_coordinates(
    model: Model, state: LinkState, near: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and v (nv,) of the hinges that fit the links best: each from its two links, across their gap.

    Args:
        model, state: The robot and its links.
        near: (nq,) where it was: angles are those of the same turn; between -pi and pi if not given.

    Raises:
        MethodError: A hinge is of a kind whose coordinates cannot be read off its links.
        ConfigurationError: The links are those of another robot, or `near` is no configuration.
    """
    # here: it would triple the time to import the package
    from scipy.spatial.transform import Rotation

    if len(state.rotation) != len(model.parent):
        raise ConfigurationError(
            f"{model.name} has {len(model.parent)} moving links, and the state {len(state.rotation)}"
        )
    q = model.neutral()
    before_q = q if near is None else model.check_configuration(near)
    for k, p in enumerate(model.parent):
        kind, axis, at = model.joint_type[k], model.axis[k], model.q_index[k]
        R, x = state.rotation[k], state.position[k]
        if p >= 0:
            before = state.rotation[p] @ model.placement_rotation[k]
            r = x - state.position[p]
            x = before.T @ (r - state.rotation[p] @ model.placement_translation[k])
            R = before.T @ R
        turn = Rotation.from_matrix(R)
        if kind == JointType.REVOLUTE:
            q[at] = _same_turn(_turn_about(axis, R), before_q[at])
        elif kind == JointType.PRISMATIC:
            q[at] = axis @ x
        elif kind == JointType.SPHERICAL:
            q[at : at + 4] = turn.as_quat()
        elif kind == JointType.FLOATING:
            q[at : at + 7] = [*x, *turn.as_quat()]
        elif kind == JointType.PLANAR:
            theta = _same_turn(_turn_about(axis, R), before_q[at + 2])
            q[at : at + 3] = [*(planar_axes(axis).T @ x)[:2], theta]
        else:
            raise MethodError(
                f"{model.name}: {model.body_joint_names[k]} is of the kind {kind}, whose "
                f"coordinates are not read off links; valid are {listed(READ)}"
            )
    return q, hinge_rates(model, state)


def _same_turn(angle: float, near: float) -> float:
    """The same angle, within half a turn of another."""
    return angle + 2.0 * np.pi * np.round((near - angle) / (2.0 * np.pi))


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


def _rates(model: Model, state: LinkState, tau: ArrayLike, external: Wrenches) -> np.ndarray:
    """d/dt of everything a link integrates, (N, 18): each row from that link's own acceleration."""
    tree = link_tree(model, state, tau, external)
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
