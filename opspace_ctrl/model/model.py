# SPDX-License-Identifier: Apache-2.0
"""The robot as everything above sees it: an immutable tree of moving bodies."""

import difflib
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConfigurationError, UnknownFrameError, listed, quoted
from . import configuration, connectivity


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A kinematic tree (or forest) of N moving bodies, F frames and nv coordinates; arrays are read-only.

    Bodies are numbered base to tip, depth first in document order, parent[i] < i, -1 = the fixed world. Each
    is moved by one joint: body frame = placement (in the parent body) times joint_placement(position). A
    mimic follower is a body without a coordinate of its own: position = multiplier * q[q_index] + offset.

    Attributes:
        name: the robot's name; a forest's are joined by "+".
        gravity: (3,) acceleration in world axes [m/s^2].
        nq, nv: lengths of q and v.
        joint_names: the joints with coordinates, in coordinate order, without floating bases.
        body_names, body_joint_names: (N) link moved by, and name of, each body's joint.
        parent: (N,) lambda.
        parent_expanded: (nv,) lambda_e; with mimic joints the elimination tree of the merged pattern of H.
        depth: the longest path in parent_expanded.
        joint_type: (N,) JointType.  axis: (N, 3) unit axes in the joint frame.
        placement_rotation, placement_translation: (N, 3, 3), (N, 3) [m], joint frame in the parent body.
        mass, com, inertia: (N,) [kg], (N, 3) [m] and (N, 3, 3) [kg m^2] about com, in body axes.
        total_mass: of every link, also those fixed to the world [kg].
        q_index, v_index: (N,) first coordinate of the body's joint; a follower's are its leader's.
        multiplier, offset, is_mimic: (N,).
        is_base_coordinate: (nv,) whether a coordinate of v belongs to a floating base.
        armature, damping, friction: (nv,), those of followers reflected to their leader.
        position_limits, velocity_limits, effort_limits: (k, 2), (k,), (k,), in the order of v without the
            floating bases, infinite where there is none.
        frame_names, frame_body, frame_rotation, frame_translation: (F) every link, in its body's axes.
        source: the URDF text, a tuple of them for a forest, empty for a robot from MJCF.
    """

    name: str
    gravity: NDArray[np.float64]
    nq: int
    nv: int
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    body_joint_names: tuple[str, ...]
    parent: NDArray[np.int64]
    parent_expanded: NDArray[np.int64]
    depth: int
    joint_type: NDArray[np.int64]
    axis: NDArray[np.float64]
    placement_rotation: NDArray[np.float64]
    placement_translation: NDArray[np.float64]
    mass: NDArray[np.float64]
    com: NDArray[np.float64]
    inertia: NDArray[np.float64]
    total_mass: float
    q_index: NDArray[np.int64]
    v_index: NDArray[np.int64]
    multiplier: NDArray[np.float64]
    offset: NDArray[np.float64]
    is_mimic: NDArray[np.bool_]
    is_base_coordinate: NDArray[np.bool_]
    armature: NDArray[np.float64]
    damping: NDArray[np.float64]
    friction: NDArray[np.float64]
    position_limits: NDArray[np.float64]
    velocity_limits: NDArray[np.float64]
    effort_limits: NDArray[np.float64]
    frame_names: tuple[str, ...]
    frame_body: NDArray[np.int64]
    frame_rotation: NDArray[np.float64]
    frame_translation: NDArray[np.float64]
    source: str | tuple[str, ...]
    _frame_numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        numbers = {name: number for number, name in enumerate(self.frame_names)}
        object.__setattr__(self, "_frame_numbers", numbers)
        self._freeze()

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._freeze()  # copies and pickles lose the flag

    def _freeze(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, bodies={len(self.parent)}, nq={self.nq}, nv={self.nv})"

    def frame_index(self, name: str) -> int:
        """The number of a frame (link).

        Raises:
            UnknownFrameError: naming close matches and the valid names.
        """
        try:
            return self._frame_numbers[name]
        except (KeyError, TypeError):
            close = difflib.get_close_matches(str(name)[:200], self.frame_names)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise UnknownFrameError(
                f"no frame {quoted(name)}.{hint} Frames: {listed(self.frame_names)}"
            ) from None

    def children(self, i: int) -> list[int]:
        """mu(i): the bodies on body i (-1: on the world), ascending."""
        return connectivity.children(self.parent, i)

    def support(self, i: int) -> list[int]:
        """kappa(i): the bodies on the path from the world to body i, itself included, ascending."""
        return connectivity.support(self.parent, i)

    def subtree(self, i: int) -> list[int]:
        """nu(i): the bodies that joint i carries, i included, ascending."""
        return connectivity.subtree(self.parent, i)

    def neutral(self) -> NDArray[np.float64]:
        """q (nq,) of zeros, with identity quaternions; it may lie outside the limits."""
        return configuration.neutral(self)

    def random_configuration(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """A random q (nq,) within the limits; see `configuration.random_configuration`."""
        return configuration.random_configuration(self, rng)

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float = 1.0) -> NDArray[np.float64]:
        """q (nq,) after moving with constant v (nv,) for dt [s]; exp of SE(3) and SE(2) where they apply."""
        return configuration.integrate(self, q, v, dt)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> NDArray[np.float64]:
        """The velocity v (nv,) that takes q0 to q1 in one second: integrate(q0, v, 1) = q1."""
        return configuration.difference(self, q0, q1)

    def check_configuration(self, q: ArrayLike) -> NDArray[np.float64]:
        """A float64 copy (nq,) of q with unit quaternions; ConfigurationError if it is no configuration."""
        return configuration.check_configuration(self, q)

    def check_velocity(self, v: ArrayLike, name: str = "v") -> NDArray[np.float64]:
        """A float64 copy (nv,) of a vector ordered like v; ConfigurationError naming it if it is not one."""
        return configuration.check_vector(v, self.nv, name)


def check_model(model: object) -> None:
    """Refuse what is no Model, such as a robot's name.

    Raises:
        ConfigurationError: It is something else.
    """
    if not isinstance(model, Model):
        raise ConfigurationError(
            f"model = {quoted(model)} is no Model: load_robot and load_urdf make one"
        )
