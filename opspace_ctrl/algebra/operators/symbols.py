# SPDX-License-Identifier: Apache-2.0
"""The operators by name: what each maps, which recursion applies it, and what the papers call it.

`explain` prints these lines; `SpatialOperators` takes the spaces from them.
"""

from typing import NamedTuple

_MEMORYLESS = "memoryless, body by body"
_IN, _OUT = "inward, tips to base", "outward, base to tips"


class Symbol(NamedTuple):
    """One operator.

    Attributes:
        rows, columns: names of the spaces it maps to and from.
        meaning: what it is, with the place in the papers (000 [Rodriguez1992], 003 [Rodriguez1991], 004 [Jain1995]).
        forward, backward: (direction, recursion) of A x and of A* x; c runs over the children of k, p is its parent.
        uses: the link-to-link quantities of the recursion.
        is_articulated: whether it needs the Riccati recursion.
        inverse: how its inverse is applied, or why there is none.
    """

    rows: str
    columns: str
    meaning: str
    forward: tuple[str, str]
    backward: tuple[str, str]
    uses: tuple[str, ...]
    is_articulated: bool = False
    inverse: str = "not square"


def _blocks(
    name: str, meaning: str, is_articulated: bool = True, inverse: str = "block by block"
) -> Symbol:
    step = (_MEMORYLESS, f"y(k) = {name}(k) x(k)")
    back = step if name != "taubar" else (_MEMORYLESS, "y(k) = taubar*(k) x(k)")
    return Symbol("body", "body", meaning, step, back, (f"{name}(k)",), is_articulated, inverse)


_NILPOTENT = "it is nilpotent, without a diagonal"
SYMBOLS = {
    "H": Symbol(
        "joint",
        "body",
        "projection of link forces on the joint axes; H* spreads joint rates (000 (13), (18))",
        (_MEMORYLESS, "y(k) = H(k) x(k)"),
        (_MEMORYLESS, "y(k) = H*(k) x(k)"),
        ("H(k)",),
    ),
    "phi": Symbol(
        "body",
        "body",
        "transition operator of links with frozen joints (000 (17))",
        (_IN, "y(k) = sum_c phi(k,c) y(c) + x(k)"),
        (_OUT, "y(k) = phi*(p,k) y(p) + x(k)"),
        ("phi(k,c)",),
        inverse="phi^-1 = I - E_phi, one shift",
    ),
    "Phi": Symbol(
        "body",
        "body",
        "phi - I = phi E_phi (000 (28))",
        (_IN, "y(k) = sum_c phi(k,c) [y(c) + x(c)]"),
        (_OUT, "y(k) = phi*(p,k) [y(p) + x(p)]"),
        ("phi(k,c)",),
        inverse=_NILPOTENT,
    ),
    "E_phi": Symbol(
        "body",
        "body",
        "shift of forces by one link, phi = (I - E_phi)^-1 (003 sec. 4, 004 (2.5))",
        (_MEMORYLESS, "y(k) = sum_c phi(k,c) x(c)"),
        (_MEMORYLESS, "y(k) = phi*(p,k) x(p)"),
        ("phi(k,c)",),
        inverse=_NILPOTENT,
    ),
    "psi": Symbol(
        "body",
        "body",
        "transition operator of articulated links (003 (9), 004 (2.9))",
        (_IN, "y(k) = sum_c psi(k,c) y(c) + x(k)"),
        (_OUT, "y(k) = psi*(p,k) y(p) + x(k)"),
        ("psi(k,c)",),
        True,
        "psi^-1 = I - E_psi, one shift",
    ),
    "Psi": Symbol(
        "body",
        "body",
        "Kalman filter transition operator, psi E_phi (000 (41))",
        (_IN, "y(k) = sum_c [psi(k,c) y(c) + phi(k,c) x(c)]"),
        (_OUT, "z(k) = psi*(p,k) z(p) + x(k), y(k) = phi*(p,k) z(p)"),
        ("psi(k,c)", "phi(k,c)"),
        True,
        _NILPOTENT,
    ),
    "E_psi": Symbol(
        "body",
        "body",
        "shift of forces across a joint, E_phi (I - G H) (003 (10), 004 (2.7))",
        (_MEMORYLESS, "y(k) = sum_c psi(k,c) x(c)"),
        (_MEMORYLESS, "y(k) = psi*(p,k) x(p)"),
        ("psi(k,c)",),
        True,
        _NILPOTENT,
    ),
    "M": _blocks(
        "M",
        "spatial inertias of the links (000 (2), (22))",
        False,
        "block by block, where no link is degenerate",
    ),
    "r": _blocks("r", "composite inertias of all that a joint carries (000 (29)-(31))", False),
    "P": _blocks("P", "articulated-body inertias, the Riccati solution (000 (35))"),
    "P_plus": _blocks(
        "P_plus",
        "P+ = (I - G H) P, the inertia seen through the joint (004 (2.6))",
        inverse="block by block, only where every joint has armature",
    ),
    "taubar": _blocks(
        "taubar",
        "I - G H, crossing a joint (004 (2.6))",
        inverse="block by block, only where every joint has armature",
    ),
    "Upsilon": _blocks(
        "Upsilon",
        "inverse operational-space inertia of every link (004 (4.7), (4.8))",
        inverse="block by block, where every link can move in all six directions",
    ),
    "D": Symbol(
        "joint",
        "joint",
        "articulated inertia about each joint, H P H* + A (000 (36))",
        (_MEMORYLESS, "y(k) = D(k) x(k)"),
        (_MEMORYLESS, "y(k) = D(k) x(k)"),
        ("D(k)",),
        True,
        "joint by joint, always",
    ),
    "G": Symbol(
        "body",
        "joint",
        "Kalman gain P H* D^-1 (000 (36))",
        (_MEMORYLESS, "y(k) = G(k) x(k)"),
        (_MEMORYLESS, "y(k) = G*(k) x(k)"),
        ("G(k)",),
        True,
    ),
    "K": Symbol(
        "body",
        "joint",
        "shifted gain E_phi G (003 sec. 4, 004 (2.7))",
        (_MEMORYLESS, "y(k) = sum_c phi(k,c) G(c) x(c)"),
        (_MEMORYLESS, "y(k) = G*(k) phi*(p,k) x(p)"),
        ("phi(k,c)", "G(k)"),
        True,
    ),
    "Omega": Symbol(
        "body",
        "body",
        "psi* H* D^-1 H psi, how every link answers a force on any (004 (4.4))",
        (f"{_IN}, then {_OUT}", "z = H psi x, y = psi* H* D^-1 z"),
        (f"{_IN}, then {_OUT}", "z = H psi x, y = psi* H* D^-1 z"),
        ("psi(k,c)", "H(k)", "D(k)"),
        True,
        "its rank is at most nv",
    ),
    "A": Symbol(
        "joint",
        "joint",
        "armature (rotor inertia) of the joints; not in the papers",
        (_MEMORYLESS, "y(k) = A(k) x(k)"),
        (_MEMORYLESS, "y(k) = A(k) x(k)"),
        ("A(k)",),
        inverse="joint by joint, where every joint has armature",
    ),
    "B": Symbol(
        "body",
        "task",
        "takes forces at the frames to the links that carry them (000 (18), 004 (4.3))",
        (_MEMORYLESS, "y(k) = sum of phi(k,f) x(f) over the frames f on link k"),
        (_MEMORYLESS, "y(f) = phi*(k,f) x(k), k the link of frame f"),
        ("phi(k,f)",),
    ),
    "J": Symbol(
        "task",
        "joint",
        "Jacobian of the frames, B* phi* H* (000 (20))",
        (_OUT, "V(k) = phi*(p,k) V(p) + H*(k) x(k), y(f) = phi*(k,f) V(k)"),
        (_IN, "f(k) = sum_c phi(k,c) f(c) + sum_f phi(k,f) x(f), y(k) = H(k) f(k)"),
        ("phi(k,c)", "phi(k,f)", "H(k)"),
    ),
}
ARTICULATED = frozenset(name for name, symbol in SYMBOLS.items() if symbol.is_articulated)
# Other spellings in an expression.
ALIASES = {"φ": "phi", "Φ": "Phi", "ψ": "psi", "Ψ": "Psi", "Ω": "Omega", "Υ": "Upsilon"}
