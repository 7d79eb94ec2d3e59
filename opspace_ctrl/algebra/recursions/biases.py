"""Velocities V(k), hinge accelerations a(k) and body forces b(k), link by link ([Rodriguez1992] (6), (8), (10)).

No accelerations are summed along the tree and no D'Alembert forces M phi* a are formed: what the three-sweep
algorithms start from.
"""

from __future__ import annotations

from ...dynamics import layout as at
from ...dynamics.layout import LAST, SINGLE, count, floats, ints
from ...dynamics.spatial import add, cross, get3, load3, load_inertia, momentum, scale, set3, store3
from ...jit import kernel
from ...lanes import WIDTH


@kernel
def velocity(w, b):
    """V(k) = V(parent) + S rate of node b."""
    p, S, rate, vel = (
        ints(w, at.PARENT)[b],
        floats(w, at.S),
        floats(w, at.RATE),
        floats(w, at.VELOCITY),
    )
    set3(vel, 0, b, add(get3(vel, 0, p), scale(rate[b], get3(S, 0, b))))
    set3(vel, 3, b, add(get3(vel, 3, p), scale(rate[b], get3(S, 3, b))))


@kernel
def hinge_acceleration(w, b):
    """a(k) = V(before the joint) x V(k) of node b into HINGE.

    The joint's own term is V x V_joint with V_joint = V(k) - V(before): due once, at the last node of the joint.
    """
    kind, before = ints(w, at.KIND)[b], ints(w, at.BEFORE)[b]
    vel, hinge = floats(w, at.VELOCITY), floats(w, at.HINGE)
    if kind == SINGLE or kind == LAST:
        omega, v, omega_before = get3(vel, 0, b), get3(vel, 3, b), get3(vel, 0, before)
        set3(hinge, 0, b, cross(omega_before, omega))
        set3(hinge, 3, b, add(cross(omega_before, v), cross(get3(vel, 3, before), omega)))


@kernel
def velocities(w):
    """V(k) and a(k) of every node, base to tips."""
    for b in range(count(w, at.NODES)):
        velocity(w, b)
        hinge_acceleration(w, b)


@kernel
def gyroscopic_forces(w):
    """FORCE = b(k) = V x* M V of every body by itself, eight at a time."""
    vel, IW, force = floats(w, at.VELOCITY), floats(w, at.IW), floats(w, at.FORCE)
    for b in range(0, count(w, at.NODES) + 1, WIDTH):
        m, mc, i = load_inertia(IW, b)
        omega, v = load3(vel, 0, b), load3(vel, 3, b)
        k, l = momentum(m, mc, i, omega, v)
        store3(force, 0, b, add(cross(omega, k), cross(v, l)))
        store3(force, 3, b, cross(omega, l))


@kernel
def subtract_weight(w):
    """FORCE -= the weight of every body at its centre: (m c x g, m g)."""
    IW, force, gravity = floats(w, at.IW), floats(w, at.FORCE), floats(w, at.GRAVITY)
    g = (gravity[0], gravity[1], gravity[2])
    for b in range(count(w, at.NODES)):
        couple = cross(get3(IW, 1, b), g)
        for k in range(3):
            force[k, b] -= couple[k]
            force[3 + k, b] -= IW[0, b] * g[k]
