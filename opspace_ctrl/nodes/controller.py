# SPDX-License-Identifier: Apache-2.0
"""opspace_controller: a lifecycle node that turns states of a robot into efforts.

configure reads the robot, builds and compiles; activate lets efforts out; deactivate sends the last command; cleanup
forgets the robot. The loop has a thread of its own (`control_loop`); parameters, services, targets and diagnostics are
served by the executor in the main thread.
"""

import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from ..control.settings import ControllerSettings, controller_settings, table_for
from ..errors import ConfigurationError, OpspaceError
from ..turns import giving_way
from .bond import Bond
from .declared import NODE_OPTIONS, Declared
from .groups import Forgetful
from .inbox import Inbox
from .privileges import collect_garbage, fill_tuple_store
from .robot import Description, load
from .runtime import DONE, Stop, leave, run_lifecycle
from .sentry import Sentry
from .session import Session

__all__ = ["ControllerNode", "main"]

NAME = "opspace_controller"
USAGE = """\
opspace_controller [--ros-args -p robot:=ROBOT --params-file FILE ...]

The operational-space controller as a ROS 2 lifecycle node: joint_states (and odom) in, effort_controller/commands
out (mode velocity: velocity_controller/commands).
Its parameters and topics: docs/ros_interface.md; a file to start from: config/arm7.yaml.
"""
SUCCESS, FAILURE, ERROR = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)


class ControllerNode(Forgetful, LifecycleNode):
    """The node.

    Attributes:
        finished: the process shall end.
        exit_code: of the process.
    """

    def __init__(self, stop: Stop):
        """Stop: tells of signals.

        Raises:
            OpspaceError: A parameter is invalid.
        """
        super().__init__(NAME, **NODE_OPTIONS)
        self.finished, self.exit_code = False, DONE
        self._stop = stop
        self._session: Session | None = None
        self._is_stopped = False  # emergency stop, whatever becomes of the session
        self._declared = Declared(self)
        controller_settings(self._declared.given)  # which tells all that is wrong at once
        self._declared.declare_for(table_for)
        self._declared.complete()
        self._declared.accept = self._accept
        self._description = None if self._declared["robot"] else Description(self)
        self.create_service(Trigger, "~/hold", self._hold)
        self.create_service(Trigger, "~/reset", self._reset)
        # for good: of every participant that ends Fast DDS keeps some kB
        self._inbox = Inbox(self)
        self._inbox.start()
        self._sentry = Sentry(self, self._emergency_stop, self._enable, self._look)
        self._bond = Bond(self)

    def end(self) -> None:
        """Send the last command and end the loop."""
        self._forget()
        self._inbox.close()
        self._sentry.close()

    # ---- lifecycle ----

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the robot, build the controller, compile every method."""

        def configure() -> None:
            with self._stop.interruptible():
                self._build(controller_settings(self._declared.values))

        return self._transition("configured", configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let efforts out."""

        def activate() -> None:
            collect_garbage()  # not again while efforts go out
            fill_tuple_store()
            self._configured.loop.activate()
            self._bond.start()

        return self._transition("active", activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send the last command, and nothing after it."""

        def deactivate() -> None:
            self._configured.loop.deactivate()
            self._bond.end()

        return self._transition("inactive", deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot."""
        return self._transition("clean", self._forget)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send the last command, forget the robot and end the process."""
        self.finished = True
        return self._transition("shut down", self._forget)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send the last command and forget the robot; the node can be configured again."""
        return self._transition("clean after an error", self._forget)

    @property
    def _configured(self) -> Session:
        """The session of a configured controller; ConfigurationError while there is none."""
        if self._session is None:
            raise ConfigurationError("the controller is not configured")
        return self._session

    def _transition(self, goal: str, action: Callable[[], None]) -> TransitionCallbackReturn:
        """Do it and say so; rclpy itself would keep silent about what is raised."""
        try:
            action()
        except OpspaceError as error:
            self.get_logger().error(f"not {goal}: {error}")
            return FAILURE
        except Exception:
            self.get_logger().error(f"not {goal}: {traceback.format_exc()}")
            return ERROR
        self.get_logger().info(goal)
        return SUCCESS

    def _build(self, settings: ControllerSettings) -> None:
        log, named = self.get_logger(), settings.robot
        robot = named.robot
        if not robot and self._description is not None:
            robot = self._description.text(lambda: self._stop.requested)
        model = load(robot, named.base, named.locked, log.warning)
        log.info(f"{model.name}: {len(model.joint_names)} joints, {model.nv} coordinates")
        self._session = Session(self, self._inbox, model, settings)
        if self._is_stopped:
            self._session.emergency_stop()
        log.info(
            f"method {self._session.controller.method}, loop's thread "
            f"{self._session.loop.priority}, memory {self._session.memory}"
        )

    def _forget(self) -> None:
        """Undo `_build`."""
        session, self._session = self._session, None
        if session is not None:
            session.close()
        self._bond.end()

    # ---- parameters ----

    def _accept(self, values: dict[str, Any], names: list[str]) -> None:
        """A change while the node runs; raises what refuses it, and then nothing has changed."""
        with giving_way():
            settings = controller_settings(values)
            if self._session is not None:
                self._session.apply(settings)

    # ---- services ----

    def _hold(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._served(response, lambda session: session.hold(), "holding")

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._is_stopped = False
        return self._served(response, lambda session: session.reset(), "reset", always=True)

    # ---- asked for by the sentry, in its thread ----

    def _emergency_stop(self) -> str:
        self._is_stopped = (
            True  # before the look at the session: one that is being built looks here
        )
        session = self._session
        if session is not None:
            session.emergency_stop()
        return "stopped until ~/reset"

    def _enable(self, is_permitted: bool, steady: int) -> None:
        session = self._session
        if session is not None:
            session.enable(is_permitted, steady)

    def _look(self) -> str:
        session = self._session
        if session is None:
            return "stop" if self._is_stopped else "unconfigured"
        return session.look()

    def _served(
        self,
        response: Trigger.Response,
        action: Callable[[Session], None],
        text: str,
        always: bool = False,
    ) -> Trigger.Response:
        """Do it, and say that or why not; always: it has been done where nothing is configured."""
        response.success, response.message = True, text
        try:
            if self._session is not None or not always:
                action(self._configured)
        except (OpspaceError, TimeoutError) as error:
            response.success, response.message = False, str(error) or "the loop does not answer"
        return response


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the node and end the process; the exit codes are those of `runtime`."""
    leave(run_lifecycle(ControllerNode, arguments, USAGE))


if __name__ == "__main__":
    main()
