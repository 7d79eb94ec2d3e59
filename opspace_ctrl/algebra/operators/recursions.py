# SPDX-License-Identifier: Apache-2.0
"""The recursions that apply named operators and their adjoints: shifts and sweeps over the bodies, blocks on each."""

from collections.abc import Callable

import numpy as np

from . import sweeps
from .algebra import Recursion
from .quantities import Quantities, square_roots, transition

# A x and A* x, the same function where A is symmetric. x is (n, c), the result a new array.
Pair = tuple[Recursion, Recursion]

_BODY_BLOCKS = {"M", "r", "P", "P_plus", "taubar", "Upsilon"}
ROOTS = {
    f"{name}^1/2" for name in ("M", "r", "P", "D", "A")
}  # of what is symmetric, block by block
_TIED = {"P_plus", "taubar"}  # what ties the members of a cluster: then no block a body


class Recursions:
    """The recursions of one robot at one q; none computes anything before it is applied."""

    def __init__(self, quantities: Quantities, frames: np.ndarray):
        self.quantities, self.parent = quantities, quantities.parent
        self._frames = frames
        self._table: dict[str, Callable[[], Pair]] = {
            "H": lambda: self._joint_map("axes")[::-1],
            "phi": lambda: self._sweep("phi"),
            "Phi": lambda: self._chain("phi", "E_phi"),
            "E_phi": lambda: self._shift("phi"),
            "phi^-1": lambda: self._unshifted("E_phi"),
            "psi": lambda: self._sweep("psi"),
            "Psi": lambda: self._chain("psi", "E_phi"),
            "E_psi": lambda: self._shift("psi"),
            "psi^-1": lambda: self._unshifted("E_psi"),
            "D": lambda: self._joint_blocks("D"),
            "D^-1": lambda: self._joint_blocks("D_inverse"),
            "G": lambda: self._joint_map("G"),
            "K": lambda: self._chain("E_phi", "G"),
            "Omega": self._omega,
            "A": lambda: _symmetric(lambda x: quantities.armature[:, None] * x),
            "A^-1": lambda: _symmetric(lambda x: x / quantities.armature[:, None]),
            "B": self._pick_off,
            "J": lambda: self._chain("H", "phi", "B")[::-1],
            "taubar": self._tied_taubar,
            "P_plus": lambda: self._chain("taubar", "P"),
            "D^1/2": lambda: self._joint_blocks("D_root"),
            "A^1/2": lambda: _symmetric(lambda x: np.sqrt(quantities.armature)[:, None] * x),
        }

    def of(self, name: str) -> Pair:
        """The recursions of an operator of `symbols`, of phi^-1, psi^-1, D^-1, A^-1 or one of `ROOTS`."""
        if name in ROOTS and name not in self._table:
            return body_blocks(lambda: square_roots(getattr(self.quantities, name[: -len("^1/2")])))
        if name in _BODY_BLOCKS and not (name in _TIED and self.quantities.has_clusters):
            return body_blocks(
                lambda: getattr(self.quantities, name), is_symmetric=name != "taubar"
            )
        return self._table[name]()

    def _sweep(self, name: str) -> Pair:
        """phi x inward and phi* x outward, or psi."""

        def run(sweep, x):
            y = _by_body(x).copy()
            sweep(self.parent, getattr(self.quantities, name), y)
            return y.reshape(x.shape)

        return (lambda x: run(sweeps.inward, x)), (lambda x: run(sweeps.outward, x))

    def _shift(self, name: str) -> Pair:
        """One step of a sweep: every body to its parent, and back. Transitions to the world are zero."""

        def forward(x):
            y = np.zeros((len(self.parent), 6, x.shape[1]))
            np.add.at(y, self.parent, getattr(self.quantities, name) @ _by_body(x))
            return y.reshape(x.shape)

        def backward(x):
            return _times(
                getattr(self.quantities, name).transpose(0, 2, 1), _by_body(x)[self.parent]
            )

        return forward, backward

    def _unshifted(self, shift: str) -> Pair:
        """(I - E) x."""
        forward, backward = self.of(shift)
        return (lambda x: x - forward(x)), (lambda x: x - backward(x))

    def _joint_map(self, name: str) -> Pair:
        """Columns of a (6, dofs) matrix of each body times its joint's coordinates, and the transpose."""

        def to_bodies(x):
            return _times(getattr(self.quantities, name), self._by_joint(x))

        def to_joints(x):
            return self._from_joints(
                getattr(self.quantities, name).transpose(0, 2, 1) @ _by_body(x)
            )

        return to_bodies, to_joints

    def _joint_blocks(self, name: str) -> Pair:
        return _symmetric(
            lambda x: self._from_joints(getattr(self.quantities, name) @ self._by_joint(x))
        )

    def _chain(self, *names: str) -> Pair:
        """The product of several operators."""
        pairs = [self.of(name) for name in names]

        def forward(x):
            for apply, _ in reversed(pairs):
                x = apply(x)
            return x

        def backward(x):
            for _, apply in pairs:
                x = apply(x)
            return x

        return forward, backward

    def _tied_taubar(self) -> Pair:
        """x - G H x."""
        forward, backward = self._chain("G", "H")
        return (lambda x: x - forward(x)), (lambda x: x - backward(x))

    def _omega(self) -> Pair:
        inward, outward = self._chain("H", "psi")
        solve, _ = self.of("D^-1")
        return _symmetric(lambda x: outward(solve(inward(x))))

    def _pick_off(self) -> Pair:
        """B: wrenches at the frames to their bodies; a frame of the world moves no body."""
        model = self.quantities.model
        body = model.frame_body[self._frames]
        # the world is the last one, index -1
        R = np.concatenate([self.quantities.R, np.eye(3)[None]])
        blocks = transition(np.einsum("fij,fj->fi", R[body], model.frame_translation[self._frames]))

        def forward(x):
            y = np.zeros((len(self.parent) + 1, 6, x.shape[1]))
            np.add.at(y, body, blocks @ _by_body(x))
            return y[:-1].reshape(6 * len(self.parent), x.shape[1])

        def backward(x):
            links = np.concatenate([_by_body(x), np.zeros((1, 6, x.shape[1]))])
            return _times(blocks.transpose(0, 2, 1), links[body])

        return forward, backward

    def _by_joint(self, x: np.ndarray) -> np.ndarray:
        """(N, 6, c): the coordinates of each body's joint, padded with zeros."""
        return np.vstack([x, np.zeros((1, x.shape[1]))])[self.quantities.rows]

    def _from_joints(self, y: np.ndarray) -> np.ndarray:
        """Back to (nv, c); mimic followers add to their leader."""
        x = np.zeros((self.quantities.model.nv + 1, y.shape[2]))
        np.add.at(x, self.quantities.rows, y)
        return x[:-1]


def body_blocks(blocks: Callable[[], np.ndarray], is_symmetric: bool = True) -> Pair:
    """A block diagonal operator over bodies, blocks (N, 6, 6)."""

    def forward(x):
        return _times(blocks(), _by_body(x))

    if is_symmetric:
        return _symmetric(forward)
    return forward, lambda x: _times(blocks().transpose(0, 2, 1), _by_body(x))


def _symmetric(recursion: Recursion) -> Pair:
    """One recursion for A and A*."""
    return recursion, recursion


def _by_body(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x) // 6, 6, x.shape[1])


def _times(blocks: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (blocks @ x).reshape(6 * len(x), x.shape[2])
