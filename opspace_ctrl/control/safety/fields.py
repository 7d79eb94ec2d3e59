# SPDX-License-Identifier: Apache-2.0
"""The memory of the gates: what a robot has said, which of it is believed, and what that permits to be sent.

Stamps, arrivals and the steady clock are whole nanoseconds: two messages belong together when their stamps are equal.
0 is no stamp and no arrival: "never".
"""

from ...compiled.workspace import Workspace, call, constant, count, result, scratch, setting, state
from ..declared import declared_fields
from .settings import GATES, SafetySettings

__all__ = [
    "ADVISORY",
    "BIT",
    "DROPPED",
    "NOTHING",
    "OF_MESSAGE",
    "READY",
    "REFUSED",
    "SAFE",
    "START",
    "STATE_LESS",
    "TAKEN",
    "TICK",
    "Gates",
]

BIT = {name: 1 << i for i, name in enumerate(GATES)}
ADVISORY = BIT["target"] | BIT["publishers"]
# Gates that leave no state to compute with.
STATE_LESS = sum(
    BIT[name]
    for name in ("velocity", "names", "size", "quaternion", "finite", "odom", "state", "first")
)
# What a message may be blamed for; the next state that is accepted decides again.
OF_MESSAGE = BIT["position"] | BIT["clock"] | STATE_LESS & ~BIT["first"]
# What becomes of a message: it counts for nothing, is a part of a state, completes one, or is at fault.
DROPPED, TAKEN, READY, REFUSED = range(4)
# What is to be sent: nothing now, a safe command, a torque of the law that is started anew, or a torque of the law.
NOTHING, SAFE, START, TICK = range(4)


class Gates(Workspace, declared=declared_fields(SafetySettings, law=False)):
    """The gates between the messages of a robot and the controller; their settings are those of `SafetySettings`."""

    nq = count("coordinates of the configuration")
    nv = count("coordinates of the velocity")
    k = count("joints, the last entries of q and v")
    gates = count("gates")

    # ---- the robot ----
    has_base = constant("", "1: a floating base, told by odometry", int)
    is_simulated = constant("", "1: time is simulated, and a state is stale by it", int)
    lower = constant("k", "least position [rad or m]; -inf where there is no limit")
    upper = constant("k", "largest position [rad or m]; inf where there is no limit")
    speed = constant("k", "largest speed [rad/s or m/s]; inf where there is no limit")
    circular = constant("k", "1: an angle without limits, given modulo 2 pi", int)

    # ---- a message, before it is judged ----
    new_joint = scratch("k", "the joints that it is about", int)
    new_position = scratch("k", "their positions [rad or m]")
    new_velocity = scratch("k", "their velocities [rad/s or m/s]; NaN: not told")
    new_tells = scratch("k", "1: it is told, not found by differences", int)
    new_pose = scratch("7", "the base: position [m] and quaternion xyzw in the world")
    new_twist = scratch("6", "the base: linear [m/s] and angular [rad/s] velocity in its axes")

    # ---- the state that is believed ----
    q = state("nq", "configuration")
    v = state("nv", "velocity")
    stamp = state("", "of it [ns]", int)
    arrival = state("", "when it came, by the steady clock [ns]", int)
    seen = state("", "when it came, by the clock that states are judged by [ns]", int)
    origin = state("", "the first stamp since the clock was last set [ns]", int)
    has_state = state("", "1: there is one", int)

    # ---- parts of the next state: joints ----
    position = state("k", "the newest of each joint that was believed [rad or m]")
    velocity = state("k", "likewise [rad/s or m/s]")
    told_stamp = state("k", "when [ns]; 0: not since the clock was set", int)
    tells_velocity = state("k", "1: its velocity has been told", int)
    is_told = state("k", "1: in this round", int)
    is_rare = state("k", "1: it comes more rarely than others, which do not wait for it", int)
    missing = state("", "joints that have not been told", int)

    # ---- parts of the next state: base ----
    pose = state("7", "the newest that was believed")
    twist = state("6", "likewise")
    base_stamp = state("", "of it [ns]", int)
    base_fault = state("", "bits of what was wrong with the newest odometry", int)
    is_waiting = state("", "1: joint states are there, and odometry of their stamp is awaited", int)
    unpaired = state("", "joint states whose odometry never came", int)
    unpaired_in_a_row = state("", "likewise, since one did", int)

    # ---- time ----
    last_stamp = state("", "the newest that counts [ns]", int)
    last_arrival = state("", "when it came [ns]", int)
    heard = state("", "when any message of joint states came [ns]", int)
    late_in_a_row = state("", "messages that are older than the newest", int)
    zeros_in_a_row = state("", "messages without a stamp", int)
    zero_arrival = state("", "when the last of these came [ns]", int)
    was_set = state("", "1: the clock was set since the last state", int)
    period = state("", "mean period of the states [s]; 0: not known")
    interval = state("", "mean time between two messages by the steady clock [s]; 0: not known")

    # ---- the gates ----
    faults = state("", "bits of what is wrong", int)
    advice = state("", "bits of what is wrong with targets", int)
    closed = state("", "bits of the closed gates", int)
    must_restart = state("", "1: the control was stopped: start the controller anew", int)
    enabled = state("", "when permission was last given, steady clock [ns]", int)
    valid = state("", "when no gate had taken the state away, steady clock [ns]", int)
    overruns_in_a_row = state("", "ticks that were too long", int)
    last_fault = state("gates", "when the fault of each gate was last seen, steady clock [ns]", int)

    # ---- commands, see `decisions` ----
    is_active = state("", "1: commands go out", int)
    is_ticking = state("", "1: the last command was the law's", int)
    told = state("", "the controller's time of what was answered last [s]")
    safe_kind = state(
        "", "the newest safe command: NO_TORQUE, GRAVITY or BRAKING; -1: none yet", int
    )
    safe_time = state("", "the controller's time of it [s]; NaN: it answers no state")
    safe_sent = state("", "when it was sent, steady clock [ns]", int)
    is_moving = state("", "1: a safe command is being approached; whoever sends it knows", int)
    verdict = result("", "DROPPED, TAKEN, READY or REFUSED: what became of the last message", int)
    decision = result("", "NOTHING, SAFE, START or TICK: what is to be sent", int)

    # ---- what is told to others; never reset ----
    is_stopped = setting("", "1: emergency stop; written by any thread", int)
    closings = setting("gates", "how often each gate has closed", int)
    fault_counts = setting("gates", "messages with a fault of each gate", int)
    overruns = setting("", "ticks that were too long, in all", int)
    repeated = setting("", "messages with the stamp of the one before", int)
    late = setting("", "messages that were overtaken", int)
    foreign = setting("", "messages about other joints", int)

    # ---- what Python and C call, see `calls` ----
    take_joints = call(
        "(gates, count, has_velocity, stamp, arrival, time): verdict on joint states"
    )
    take_base = call("(gates, faults, stamp, arrival, time): verdict on odometry")
    refuse = call("(gates, faults, arrival): verdict on what could not be read")
    activate = call("(gates, time, steady): decision, commands go out from now on")
    deactivate = call("(gates): decision, and the last command in safe_kind")
    answer = call("(gates, verdict, time, steady): decision")
    refrain = call("(gates, faults, time, steady): decision, after the law could not be used")
    note_tick = call("(gates, elapsed): how long a tick took")
    open_again = call("(gates): a reset")
