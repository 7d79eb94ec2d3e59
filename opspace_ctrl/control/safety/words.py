# SPDX-License-Identifier: Apache-2.0
"""Gates in words: why each is closed."""

from .state_gate import StateGate, names_of

__all__ = ["GATE_TEXTS", "gates_in_words"]

GATE_TEXTS = {
    "first": "no joint states yet",
    "state": "joint states are stale",
    "odom": "odometry is missing or old",
    "clock": "the stamps of joint_states jumped",
    "finite": "a number that is used is NaN or infinite",
    "quaternion": "the base's quaternion is not normalised",
    "size": "arrays of joint_states do not fit, or a message cannot be read",
    "names": "joints are missing, named twice, or odom is about another link",
    "velocity": "joints are faster than they can be, or their velocities do not fit their positions",
    "enable": "nobody permits motion",
    "position": "joints are outside their limits",
    "overrun": "ticks take too long",
    "publishers": "a target has several publishers",
    "target": "a target is stale",
    "error": "the control loop failed",
    "stop": "emergency stop",
}


def gates_in_words(gate: StateGate, closed: int) -> str:
    """Why each gate of a set of bits is closed."""
    names = names_of(closed)
    text = "; ".join(f"{name}: {GATE_TEXTS[name]}" for name in names)
    missing = gate.missing_names()
    if missing and {"first", "names"} & set(names):
        text += f"; joints not told yet: {', '.join(missing[:10])}"
    return text
