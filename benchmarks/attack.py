# SPDX-License-Identifier: Apache-2.0
"""The controller under attack, with a monitor inside its process and one outside.

    python benchmarks/attack.py [--robot arm7] [--seconds 20] [--minutes 0] [--rate 500] [--json FILE] [--only NAME,...]
A robot that stands still says so 500 times a second from a process of its own; another sends it what nobody should.
Every scenario takes so many seconds, then the controller has to be active again by itself or after `~/reset`; all are
repeated until so many minutes have passed. Wanted: no command that is not finite, above the URDF's limits or over
`torque_rate_limit`, an active controller after each, and memory that does not grow. A simulator that runs beside at the
same rate is attacked too. Gaps between commands are figures of this machine: the gap when idle is shown too; `stop.py`
tells the time of the emergency stop.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacking.attacker import READY
from attacking.monitor import Memory, run_inside
from attacking.robot import run_robot
from attacking.scenarios import BESIDE, SCENARIOS, Scenarios

COUNTS = ("commands", "not_finite", "over_limit", "over_rate")


def attack(attacker: Scenarios, name: str, seconds: float) -> dict[str, Any]:
    """One scenario: what was counted in it, inside and outside."""
    action: Callable[[], None] = getattr(attacker, name)
    before, sent = attacker.inside(), attacker.sent
    outside = dict(attacker.outside)
    attacker.is_lifecycle = False
    end, gap, step = time.monotonic() + seconds, 0.0, 0.0
    while time.monotonic() < end:
        action()
        seen = attacker.inside()
        gap, step = max(gap, seen["gap"]), max(step, seen["step"])
    recovery = attacker.recover()
    time.sleep(1.0)
    after = attacker.inside()
    row: dict[str, Any] = {"scenario": name, "messages": attacker.sent - sent}
    row |= {count: after[count] - before[count] for count in COUNTS}
    row |= {f"outside_{key}": attacker.outside[key] - outside[key] for key in outside}
    row |= {"step_Nm": max(step, after["step"]), "gap_ms": 1e3 * gap, "recovery_s": recovery}
    return row


def added(row: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Two rows of one scenario as one: sums of what is counted, the worst of the rest."""
    if row is None:
        return new
    worst = {key: max(row[key], new[key]) for key in ("step_Nm", "gap_ms")}
    waits = row["recovery_s"], new["recovery_s"]
    worst["recovery_s"] = None if None in waits else max(waits)
    sums = {key: row[key] + new[key] for key in row if key not in ("scenario", *worst)}
    return {**new, **sums, **worst}


def measure(
    robot: str, seconds: float, minutes: float, rate: float, scenarios: list[str]
) -> dict[str, Any]:
    """All scenarios, one after the other, at least once and for so many minutes."""
    import rclpy

    from opspace_ctrl.commands._processes import Processes, local_graph
    from opspace_ctrl.data import shipped_path

    os.environ.update(local_graph())
    rclpy.init()
    with Processes() as processes:
        inside = processes.folder / "inside.json"
        boxes = processes.folder / "black_box"
        parameters = ["-p", "autostart:=true", "-p", f"black_box:={boxes}"]
        if robot == "arm7":
            given = ["-p", "robot:=arm7", "-p", "tasks:=[hand]", "-p", "hand.frame:=tool"]
        else:
            given = ["--params-file", str(shipped_path("config", f"{robot}.yaml"))]
        me = [sys.executable, str(Path(__file__).resolve())]
        controller = processes.start(
            "controller", [*me, "--inside", str(inside), "--ros-args", *given, *parameters]
        )
        processes.start("robot", [*me, "--as-robot", robot, "--rate", str(rate)])
        beside = [sys.executable, "-m", "opspace_ctrl.nodes.simulator", "--ros-args"]
        beside += ["-r", f"__ns:={BESIDE}", "-p", "robot:=arm7", "-p", f"rate:={rate}"]
        simulator = processes.start("simulator", [*beside, "-p", "autostart:=true"])
        attacker = Scenarios(robot, controller, inside)
        end = time.monotonic() + READY
        while attacker.safety != "active":
            processes.ensure_alive()
            time.sleep(0.2)
            if time.monotonic() > end:
                raise SystemExit("the controller does not become active")
        time.sleep(2.0)
        idle = attacker.inside()["gap"]
        memory = Memory({"controller": controller.pid, "simulator": simulator.pid})
        rows: dict[str, dict[str, Any]] = {}
        start, rounds = time.monotonic(), 0
        while not rounds or time.monotonic() < start + 60.0 * minutes:
            for name in scenarios:
                rows[name] = added(rows.get(name), attack(attacker, name, seconds))
                processes.ensure_alive()
                memory.look()
            rounds += 1
            sizes = ", ".join(f"{name} {size[-1]:.1f} MB" for name, size in memory.sizes.items())
            print(f"round {rounds} after {time.monotonic() - start:.0f} s: {sizes}", flush=True)
        result = {"robot": robot, "idle_gap_ms": 1e3 * idle, "rounds": rounds}
        result |= {"seconds": time.monotonic() - start, "memory": memory.found()}
        files = [path.stat().st_size for path in boxes.iterdir()]
        result |= {"black_boxes": len(files), "black_boxes_MB": sum(files) / 2**20}
        result["rows"] = list(rows.values())
        attacker.close()
    rclpy.shutdown()
    return result


def table(result: dict[str, Any]) -> str:
    """The result as a table."""
    columns = ("scenario", "messages", "commands", "not_finite", "over_limit", "over_rate")
    columns += ("step_Nm", "gap_ms", "recovery_s")
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for row in result["rows"]:
        cells = [row[name] for name in columns]
        shown = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> int:
    """Attack and print; exit code 1 if a promise was broken."""
    if "--inside" in sys.argv:
        return run_inside(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="arm7", help="a shipped robot (default: arm7)")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of each scenario (default: 20)"
    )
    parser.add_argument("--minutes", type=float, default=0.0, help="of all (default: one round)")
    parser.add_argument("--rate", type=float, default=500.0, help="of the states [Hz]")
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, with commas")
    parser.add_argument("--json", help="write all numbers there")
    parser.add_argument("--as-robot", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_robot:
        return run_robot(args.as_robot, args.rate)
    result = measure(args.robot, args.seconds, args.minutes, args.rate, args.only.split(","))
    print(table(result))
    print(f"{result['rounds']} rounds; gap when idle {result['idle_gap_ms']:.3g} ms")
    print(f"{result['black_boxes']} black boxes with {result['black_boxes_MB']:.3g} MB")
    for name, found in result["memory"].items():
        print(f"{name}: MB {found['MB']}, slope {found['MB_per_h']} MB/h")
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=1))
    broken = [
        row
        for row in result["rows"]
        if row["not_finite"] or row["over_limit"] or row["over_rate"] or row["recovery_s"] is None
    ]
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
