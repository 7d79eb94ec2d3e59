# SPDX-License-Identifier: Apache-2.0
"""Joint velocities as commands: qdot = Jbar xdot + N qdot0 ([Featherstone2010] section 4), on every level of tasks.

The hierarchy needs no second solution. It finds J^T w with w such that every level has the accelerations asked of it;
asked for velocities instead, without Jdot v and h, it finds the momentum p = H qdot that has them:
    p = J^T Lambda xdot + N^T H qdot0,   H^-1 p = Jbar xdot + N qdot0
so that singular directions, priorities, joints at their limits, fades and all methods are those of the torques.
"""

from ...compiled.jit import kernel
from ...compiled.lanes import row
from .joints import inertia_solve, inertia_times


@kernel
def balanced_rate(kp, kd):
    """Kp / Kd [1/s]: an error e falls at this times e where spring and damper are in balance; 0 without a damper."""
    return kp / kd if kd > 0.0 else 0.0


@kernel
def find_posture_velocity(law):
    """Write qdot0 = v_d + Kp/Kd (q_d - q) into `posture_acceleration`, and H qdot0 into `posture_force`.

    As `find_posture_acceleration`, the error clipped; joints without a posture rest. No joint is asked into the margin
    of its limits: what the limit takes back of it would move other joints for good.
    """
    q, qdot0, joint_q, joint_v = (
        law.space.tree.q,
        law.posture_acceleration,
        law.joint_q,
        law.joint_v,
    )
    kp, kd, limit = law.posture_stiffness, law.posture_damping, law.posture_error_clip
    q_d, v_d, margin = law.posture_target, law.posture_target_velocity, law.position_margin
    lower, upper = law.position_lower, law.position_upper
    for i in range(law.nv):
        qdot0[i] = 0.0
    for j in range(law.k):
        if joint_q[j] >= 0 and kp[j] > 0.0:
            wanted = min(max(q_d[j], lower[j] + margin[j]), upper[j] - margin[j])
            e = min(max(wanted - q[joint_q[j]], -limit), limit)
            feed = v_d[j] if wanted == q_d[j] else 0.0
            qdot0[joint_v[j]] = feed + balanced_rate(kp[j], kd[j]) * e
    inertia_times(law, qdot0, law.posture_force)


@kernel
def to_velocities(law):
    """`level_torque` := H^-1 of it, level by level: from momenta to joint velocities. Needs `solve`; a fixed base."""
    p, joint_v = law.generalised_force, law.joint_v
    for level in range(law.L + 3):
        own = row(law.level_torque, level)
        for j in range(law.k):
            p[joint_v[j]] = own[j]
        inertia_solve(law, p)
        for j in range(law.k):
            own[j] = p[joint_v[j]]
