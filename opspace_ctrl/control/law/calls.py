# SPDX-License-Identifier: Apache-2.0
"""What is called from outside, by Python (`entries`) and by C (`export`): stages on the state that is given.

Each leaves in `status` whether it was OK; REFUSED: an input is unusable, and nothing has changed.
"""

from __future__ import annotations

from ...compiled.jit import integer, kernel, real, stage
from ...dynamics.state import OK, REFUSED, are_usable, copy, has_rotations, take_configuration
from ..fields import Law
from .holding import begin_again, expire_streams, hold_all
from .tick import FAR, run_safe, run_tick, take_state


@kernel
def has_state(law):
    """Can the state that is given be computed with?"""
    q, v = law.given_q, law.given_v
    is_finite = are_usable(q, law.nq) and are_usable(v, law.nv)
    return is_finite and has_rotations(law.space.tree, q)


@stage(Law, real, real)
def tick(law, time, steady):
    """One control tick, not before the last one; steady: see `door.time_to_move`."""
    law.status = REFUSED
    if has_state(law) and abs(time) < FAR and time >= law.last_time:
        expire_streams(law, time)
        run_tick(law, law.given_q, law.given_v, time, steady)
        law.status = OK


@stage(Law, integer, real, real)
def safe(law, kind, time, steady):
    """One safe command: NO_TORQUE, GRAVITY or BRAKING; without a time (NaN) no state is answered."""
    law.status = REFUSED
    if has_state(law) and not abs(time) >= FAR:
        run_safe(law, kind, law.given_q, law.given_v, time, steady)
        law.status = OK


@kernel
def find_motion(law):
    """Find `pose` and `velocity` of the tasks; whether the state can be computed with."""
    law.status = REFUSED
    if not has_state(law):
        return False
    tree = law.space.tree
    take_configuration(tree, law.given_q)
    copy(law.given_v, tree.v, law.nv)
    take_state(law)
    law.status = OK
    return True


@stage(Law)
def measure(law):
    """`pose` and `velocity` of the tasks; no torques."""
    find_motion(law)


@stage(Law, real)
def hold(law, time):
    """Take the present pose of every task, and the present posture, as targets."""
    law.status = REFUSED
    if abs(time) < FAR and find_motion(law):
        hold_all(law, time)


@stage(Law, real)
def restart(law, time):
    """Start anew: every task holds where it is, the ramp begins; torques move on from where they are."""
    law.status = REFUSED
    if abs(time) < FAR and find_motion(law):
        begin_again(law, time)
