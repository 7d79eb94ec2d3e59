# SPDX-License-Identifier: Apache-2.0
"""opspace_simulator: a lifecycle node that, seen from the ROS graph, is the robot.

configure loads and prepares the robot, activate lets time run, deactivate stops it where it is, cleanup forgets it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import SetBool, Trigger

from ..errors import ConfigurationError, OpspaceError
from ..model.source import ROBOTS
from ..robot_settings import locked_joints
from ..sim.plant.fault_kinds import ASKED
from ..sim.plant.faults import Schedule, faults_of_text, load_faults
from ..sim.plant.plant import Plant
from ..sim.settings import SIMULATOR_TABLE, simulator_settings
from ..sim.simulator import Simulator
from .bond import Bond
from .declared import NODE_OPTIONS, Declared
from .groups import Forgetful
from .operator import Operator
from .privileges import quiet_interpreter, restore_interpreter
from .robot import load
from .robot_topics import RobotTopics, joint_order
from .runtime import DONE, Stop, leave, run_lifecycle
from .simulation_loop import SimulationLoop
from .simulator_status import SimulatorStatus

__all__ = ["SimulatorNode", "main"]

NAME = "opspace_simulator"
USAGE = """\
opspace_simulator [--ros-args -p robot:=ROBOT --params-file FILE ...]

A simulated robot as a ROS 2 lifecycle node: commands of efforts (or velocities) in, joint_states (and odom) out.
Its parameters and topics: docs/ros_interface.md; a file to start from: config/arm7.yaml.
"""
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class SimulatorNode(Forgetful, LifecycleNode):
    """The node; services and parameters in the executor, the simulation in a thread of its own.

    Attributes:
        finished: the process shall end.
        exit_code: of the process.
    """

    def __init__(self, stop: Stop) -> None:
        """Stop: tells of signals.

        Raises:
            ParameterError: a parameter is invalid.
        """
        super().__init__(NAME, **NODE_OPTIONS)
        self.finished, self.exit_code = False, DONE
        self._interruptible = stop.interruptible
        self._declared = Declared(self)
        simulator_settings(self._declared.given)
        self._declared.declare(SIMULATOR_TABLE)
        self._declared.complete()
        self._declared.accept = self._accept
        self._loop: SimulationLoop | None = None
        self._topics: RobotTopics | None = None
        self._status: SimulatorStatus | None = None
        self._operator: Operator | None = None
        self._bond = Bond(self)
        self.create_service(SetBool, "~/pause", self._pause)
        self.create_service(Trigger, "~/step", self._step)
        self.create_service(Trigger, "~/reset", self._reset)

    def end(self) -> None:
        """Stop the simulation and write the rest of its log."""
        self._forget()

    # Lifecycle.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the robot, make its simulator and compile what it needs."""
        try:
            with self._interruptible():
                self._prepare(self._declared.values)
        except Exception as error:  # rclpy would swallow it
            kind = "" if isinstance(error, OpspaceError) else f"{type(error).__name__}: "
            self.get_logger().error(f"not configured: {kind}{error}")
            self._forget()
            return FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let time run."""
        quiet_interpreter()
        self._configured.start()
        self._bond.start()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop time; the state stays."""
        self._configured.stop()
        self._bond.end()
        restore_interpreter()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot."""
        self._forget()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot and end the process."""
        self._forget()
        self.finished = True
        return super().on_shutdown(state)

    @property
    def _configured(self) -> SimulationLoop:
        """The loop of a configured simulator; ConfigurationError while there is none."""
        if self._loop is None:
            raise ConfigurationError("the simulator is not configured")
        return self._loop

    def _prepare(self, values: dict[str, Any]) -> None:
        if not values["robot"]:
            raise ConfigurationError(
                f"robot is empty; valid: a shipped robot ({', '.join(ROBOTS)}) or the path of a "
                "URDF or xacro file"
            )
        model = load(
            values["robot"], values["base"], locked_joints(values), self.get_logger().warning
        )
        joint_order(model, values["joints"])
        simulator = Simulator.from_settings(model, simulator_settings(values))
        simulator.step(simulator.hold())  # compiles
        simulator.reset()
        schedule = load_faults(values["faults"])
        plant = Plant(
            simulator,
            schedule,
            values["seed"],
            commands=values["commands"],
            lockstep=values["mode"] == "lockstep",
            command_timeout=values["command_timeout"],
            timeout_action=values["timeout_action"],
            log_folder=values["log"],
        )
        if values["fault"]:
            injected = faults_of_text(values["fault"])
            plant.inject(injected)
            schedule = replace(schedule, faults=schedule.faults + injected.faults)
        if values["engine"] == "native":
            plant.prepare_forward_methods()  # compiled before time runs, whichever will be chosen
        owns_time = values["mode"] != "free"
        has_clock = values["publish_clock"] == "always" or (
            owns_time and values["publish_clock"] == "auto"
        )
        self._topics = RobotTopics(self, model, values, has_clock)
        self._loop = SimulationLoop(
            plant, self._topics, values, lambda: self.get_clock().now().nanoseconds
        )
        self._prepare_to_ask(self._loop, schedule)
        self._status = SimulatorStatus(self, self._loop, self._topics)
        self.get_logger().info(
            f"{model.name} is ready: {len(model.joint_names)} joints, mode {values['mode']}"
        )

    def _prepare_to_ask(self, loop: SimulationLoop, schedule: Schedule) -> None:
        """Be the controller's user, if a schedule asks something of it; else nothing of that is on the graph."""
        if not any(fault.kind in ASKED for fault in schedule.faults):
            return
        if self._operator is None:
            self._operator = Operator(self, loop.plant.model, loop.answered)
            loop.ask = self._operator.ask
        self._operator.prepare(schedule)

    def _forget(self) -> None:
        """Undo `_prepare`, as far as it came."""
        self._bond.end()
        if self._loop is not None:
            self._loop.stop()
            self._loop.plant.close()
            restore_interpreter()
        for part in (self._status, self._operator, self._topics):
            if part is not None:
                part.close()
        self._loop = self._status = self._topics = self._operator = None

    # Parameters.

    def _accept(self, values: dict[str, Any], names: list[str]) -> None:
        """A change of parameters while the node runs; raises what refuses it."""
        schedule = faults_of_text(values["fault"]) if "fault" in names and values["fault"] else None
        loop = self._loop
        if loop is None:
            return
        if schedule is not None:
            loop.plant.check(schedule)
            self._prepare_to_ask(loop, schedule)
        if "forward_method" in names:  # here, so that the loop's thread does not wait for it
            loop.plant.prepare_forward_methods(values["forward_method"])
        loop.values = values
        loop.do(lambda: _apply(loop.plant, values, names, schedule))

    # Services.

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return self._answer(
            response, lambda loop: loop.pause(request.data), "paused" if request.data else "running"
        )

    def _step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        count = self._declared["step_count"]
        return self._answer(response, lambda loop: loop.step(count), f"{count} steps")

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, lambda loop: loop.reset(), "reset")

    def _answer(self, response, action: Callable[[SimulationLoop], None], text: str):
        """Do it, and say that or why not."""
        response.success = False
        if self._loop is None or not self._loop.is_running:
            response.message = "the simulator is not active"
            return response
        try:
            action(self._loop)
        except (OpspaceError, TimeoutError) as error:
            response.message = str(error) or "the simulation does not answer"
            return response
        response.success, response.message = True, text
        return response


def _apply(
    plant: Plant, values: dict[str, Any], names: list[str], schedule: Schedule | None
) -> None:
    """Take over what may change while the robot runs."""
    plant.watchdog.timeout, plant.watchdog.action = (
        values["command_timeout"],
        values["timeout_action"],
    )
    if schedule is not None:
        plant.inject(schedule)
    elif "fault" in names:
        plant.clear_injected()
    if "forward_method" in names:
        plant.take_forward_method(values["forward_method"])


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the node and end the process; the exit codes are those of `runtime`."""
    leave(run_lifecycle(SimulatorNode, arguments, USAGE))


if __name__ == "__main__":
    main()
