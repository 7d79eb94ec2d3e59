# SPDX-License-Identifier: Apache-2.0
"""A Coriolis matrix C with C v = h - gravity and dH/dt = C + C^T ([Echeandia2021], algorithm 1, in world axes).

For a body with velocity v and inertia I:  B = 1/2 (v x* I - I v x + (I v) xbar*),  so that B + B^T = dI/dt and
B v = v x* I v. With I_c and B_c summed over the subtree of j:
    C_ij = S_i^T (I_c dS_j/dt + B_c S_j),   C_ji = (dS_i/dt)^T I_c S_j + S_i^T B_c^T S_j,   i on the support of j.
"""

from ..compiled.jit import kernel
from .fields import FIRST, MEMBER
from .rows import clear
from .spatial import add, cross, dot, get3, momentum, scale, sub


@kernel
def times_inertia(Ic, b, omega, v):
    """I_c of node b times a motion."""
    i = (Ic[4, b], Ic[5, b], Ic[6, b], Ic[7, b], Ic[8, b], Ic[9, b])
    return momentum(Ic[0, b], get3(Ic, 1, b), i, omega, v)


@kernel
def body_b(tree, b):
    """B of body b, column by column: B x = 1/2 (v x* I x - I (v x x) + x x* (I v)). Needs I, velocity. Writes B."""
    I, vel = tree.I, tree.velocity
    omega, v = get3(vel, 0, b), get3(vel, 3, b)
    k, l = times_inertia(I, b, omega, v)
    for c in range(6):
        e = (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0)
        none = (0.0, 0.0, 0.0)
        x, y = (e, none) if c < 3 else (none, e)
        n, f = times_inertia(I, b, x, y)
        moved_n, moved_f = times_inertia(I, b, cross(omega, x), add(cross(omega, y), cross(v, x)))
        angular = sub(add(cross(omega, n), cross(v, f)), moved_n)
        angular = add(angular, add(cross(x, k), cross(y, l)))
        linear = add(sub(cross(omega, f), moved_f), cross(x, l))
        for r in range(3):
            tree.B[6 * r + c, b] = 0.5 * angular[r]
            tree.B[6 * (3 + r) + c, b] = 0.5 * linear[r]


@kernel
def subspace_rate(tree, b):
    """dS/dt of node b: S is fixed in the body that its joint moves, whose velocity the joint's last node has."""
    vel = tree.velocity
    last = b
    while tree.kind[last] == FIRST or tree.kind[last] == MEMBER:
        last += 1
    omega, v = get3(vel, 0, last), get3(vel, 3, last)
    s, t = get3(tree.S, 0, b), get3(tree.S, 3, b)
    return cross(omega, s), add(cross(omega, t), cross(v, s))


@kernel
def times_b(B, b, x, y, transposed):
    """B_c or B_c^T of node b times (x; y)."""
    angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for c in range(3):
        if transposed:
            angular = add(
                angular, add(scale(x[c], get3(B, 6 * c, b)), scale(y[c], get3(B, 6 * (3 + c), b)))
            )
            linear = add(
                linear,
                add(scale(x[c], get3(B, 6 * c + 3, b)), scale(y[c], get3(B, 6 * (3 + c) + 3, b))),
            )
        else:
            angular = add(angular, scale(x[c], (B[c, b], B[6 + c, b], B[12 + c, b])))
            angular = add(angular, scale(y[c], (B[3 + c, b], B[9 + c, b], B[15 + c, b])))
            linear = add(linear, scale(x[c], (B[18 + c, b], B[24 + c, b], B[30 + c, b])))
            linear = add(linear, scale(y[c], (B[21 + c, b], B[27 + c, b], B[33 + c, b])))
    return angular, linear


@kernel
def coriolis_matrix(tree):
    """C. Needs S, I, velocity and Ic. Writes B, summed over subtrees, and dense."""
    n, parent, coordinate = tree.n, tree.parent, tree.coordinate
    S, B, C = tree.S, tree.B, tree.dense
    clear(C, tree.nv, tree.nv)
    for b in range(n):
        body_b(tree, b)
    for j in range(n - 1, -1, -1):
        if parent[j] < n:
            for k in range(36):
                B[k, parent[j]] += B[k, j]
    for j in range(n):
        s, t = get3(S, 0, j), get3(S, 3, j)
        rate_s, rate_t = subspace_rate(tree, j)
        f2_n, f2_f = times_inertia(tree.Ic, j, s, t)
        f1_n, f1_f = times_inertia(tree.Ic, j, rate_s, rate_t)
        b_n, b_f = times_b(B, j, s, t, False)
        f1_n, f1_f = add(f1_n, b_n), add(f1_f, b_f)
        f3_n, f3_f = times_b(B, j, s, t, True)
        i = j
        while i < n:
            scaled = tree.multiplier[i] * tree.multiplier[j]
            C[coordinate[i], coordinate[j]] += scaled * (
                dot(get3(S, 0, i), f1_n) + dot(get3(S, 3, i), f1_f)
            )
            if i != j:
                rate_s, rate_t = subspace_rate(tree, i)
                C[coordinate[j], coordinate[i]] += scaled * (
                    dot(rate_s, f2_n)
                    + dot(rate_t, f2_f)
                    + dot(get3(S, 0, i), f3_n)
                    + dot(get3(S, 3, i), f3_f)
                )
            i = parent[i]
