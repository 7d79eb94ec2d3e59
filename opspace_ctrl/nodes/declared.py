# SPDX-License-Identifier: Apache-2.0
"""Our parameter tables on a ROS 2 node: declared with description and range, read, and set all or none.

The node must have been made with `**NODE_OPTIONS`: then setting a name that does not exist is left to us to refuse.
What the command line and the files give is read before anything is declared, so that a misspelt name is an error
instead of being ignored, and `[]`, which rcl hands on as no value at all, is the empty list that `ros2 param dump` has
written.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from ..errors import OpspaceError, ParameterError, quoted
from ..parameters import Parameter, checked, checked_value
from . import qos

__all__ = ["NODE_OPTIONS", "Declared", "descriptor"]

NODE_OPTIONS: dict[str, Any] = {
    "allow_undeclared_parameters": True,
    "rosout_qos_profile": qos.ROSOUT,
}

TYPES = {
    "bool": RosParameter.Type.BOOL,
    "integer": RosParameter.Type.INTEGER,
    "double": RosParameter.Type.DOUBLE,
    "string": RosParameter.Type.STRING,
    "double_array": RosParameter.Type.DOUBLE_ARRAY,
    "string_array": RosParameter.Type.STRING_ARRAY,
}
TableFor: TypeAlias = Callable[[Mapping[str, Any]], Iterable[Parameter]]
LARGEST = sys.float_info.max
LARGEST_INTEGER = 2**63 - 1
# What rclpy declares for itself.
FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")
MOST_FOREIGN = 500  # of these, each of LONGEST_FOREIGN characters at most
LONGEST_FOREIGN = 300


class Declared:
    """The parameters of a node.

    Attributes:
        table: name -> Parameter.
        accept: called with all values, and the names that change, before a change counts; it refuses by raising an
            OpspaceError, whose message is the reason the caller sees. Nothing is set unless it returns.
    """

    def __init__(self, node: Node):
        self._node = node
        self._values: dict[str, Any] = {}
        # rclpy has no public name for what was given
        self._given = {
            name: parameter.value for name, parameter in node._parameter_overrides.items()
        }
        self.table: dict[str, Parameter] = {}
        self._table_for: TableFor | None = None
        self._is_declaring = False
        self.accept: Callable[[dict[str, Any], list[str]], None] = lambda values, names: None
        node.add_pre_set_parameters_callback(self._in_our_types)

    @property
    def values(self) -> dict[str, Any]:
        """A copy of all values."""
        return dict(self._values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    @property
    def given(self) -> dict[str, Any]:
        """What the command line and the files give, but for what rclpy declares."""
        return {
            name: [] if value is None else value
            for name, value in self._given.items()
            if not name.startswith(FOREIGN)
        }

    def declare(self, table: Iterable[Parameter]) -> None:
        """Declare a table.

        Raises:
            ParameterError: A value from the command line or a file is invalid.
        """
        for parameter in table:
            self._values[parameter.name] = self._first_value(parameter)
            self._declare(parameter, self._values[parameter.name])

    def declare_for(self, table_for: TableFor) -> None:
        """Declare the table that the values ask for, and follow it: when they change, so does the table.

        What comes in by a change begins with what was given at the start, or its default, unless the same change sets
        it; what goes is undeclared.

        Raises:
            ParameterError: As `declare`; and what table_for raises.
        """
        self.declare(table_for(self.given))
        self._table_for = table_for

    def _declare(self, parameter: Parameter, value: Any) -> None:
        name = parameter.name
        if not self._node.has_parameter(name):
            unfinished = descriptor(parameter, False)
            self._node.declare_parameter(name, value, unfinished, ignore_override=True)
        # an empty list has no type by itself, and only what is set later may be refused as read-only
        self._node.set_parameters([RosParameter(name, TYPES[parameter.kind], value)])
        self._node.set_descriptor(name, descriptor(parameter))
        self.table[name] = parameter

    def complete(self) -> None:
        """All tables are declared: refuse what is left over, and check every change from now on.

        Raises:
            ParameterError: A parameter was given that is in no table.
        """
        checked(self.table.values(), self.given)
        self._node.add_on_set_parameters_callback(self._veto)
        if self._table_for is not None:
            self._node.add_post_set_parameters_callback(self._follow)

    def _first_value(self, parameter: Parameter) -> Any:
        """What was given, or the default."""
        return checked_value(parameter, self.given.get(parameter.name, parameter.default))

    def _table_with(self, changes: dict[str, Any]) -> dict[str, Parameter]:
        """The table when some values have changed."""
        if self._table_for is None:
            return self.table
        return {each.name: each for each in self._table_for(self._values | changes)}

    def _in_our_types(self, changes: list[RosParameter]) -> list[RosParameter]:
        """An integer is a valid double; anything else is left for `_veto` to refuse."""
        try:
            table = self._table_with({change.name: change.value for change in changes})
        except OpspaceError:
            return changes

        def converted(change: RosParameter) -> RosParameter:
            parameter = table.get(change.name)
            if parameter is None:
                return change
            try:
                return RosParameter(
                    change.name, TYPES[parameter.kind], checked_value(parameter, change.value)
                )
            except OpspaceError:
                return change

        return [converted(change) for change in changes]

    def _veto(self, changes: list[RosParameter]) -> SetParametersResult:
        if self._is_declaring:
            return SetParametersResult(successful=True)
        ours = {
            change.name: change.value for change in changes if not change.name.startswith(FOREIGN)
        }
        try:
            self._check_foreign([change for change in changes if change.name not in ours])
            table = self._table_with(ours)
            before = {
                name: self._values[name] if name in self._values else self._first_value(each)
                for name, each in table.items()
            }
            values = checked(table.values(), before | ours)
            if ours:
                self.accept(dict(values), list(ours))
        except OpspaceError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._values = values
        return SetParametersResult(successful=True)

    def _follow(self, changes: list[RosParameter]) -> None:
        """Declare what has come into the table, and undeclare what has gone."""
        if self._is_declaring or self._values.keys() == self.table.keys():
            return
        table, self._is_declaring = self._table_with({}), True
        try:
            for name in self.table.keys() - table.keys():
                self._node.undeclare_parameter(name)
                del self.table[name]
            for name in table.keys() - self.table.keys():
                self._declare(table[name], self._values[name])
        finally:
            self._is_declaring = False

    def _check_foreign(self, changes: list[RosParameter]) -> None:
        """Raise ParameterError for what rclpy would take, and keep for good, whatever it is."""
        for change in changes:
            is_scalar = isinstance(change.value, (bool, int, float, str))
            if not is_scalar or len(change.name) + len(str(change.value)) > LONGEST_FOREIGN:
                raise ParameterError(
                    f"{quoted(change.name)}: a bool, a number or a string of less than {LONGEST_FOREIGN} "
                    "characters is valid"
                )
        if changes and len(self._node.get_parameters_by_prefix("")) > MOST_FOREIGN + len(
            self.table
        ):
            raise ParameterError(f"{quoted(changes[0].name)}: there are too many parameters")


def descriptor(parameter: Parameter, final: bool = True) -> ParameterDescriptor:
    """What `ros2 param describe` shows.

    Types are left to `Declared`, whose refusal says more than rclpy's; `final` False leaves out what would stand in
    the way of declaring.
    """
    text = parameter.text
    if parameter.choices:
        text += f" One of: {', '.join(choice or repr('') for choice in parameter.choices)}."
    result = ParameterDescriptor(
        name=parameter.name,
        description=text,
        dynamic_typing=True,
        read_only=parameter.read_only and final,
    )
    if parameter.minimum is None and parameter.maximum is None:
        return result
    if parameter.kind == "integer":
        low, high = _ends(parameter, LARGEST_INTEGER)
        result.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
    elif parameter.kind == "double":
        low, high = _ends(parameter, LARGEST)
        result.floating_point_range = [
            FloatingPointRange(from_value=float(low), to_value=float(high))
        ]
    else:
        least, most = parameter.minimum, parameter.maximum
        result.additional_constraints = (
            f"each from {least if least is not None else '-inf'} to "
            f"{most if most is not None else 'inf'}"
        )
    return result


def _ends(parameter: Parameter, largest: float) -> tuple[float, float]:
    return (
        -largest if parameter.minimum is None else parameter.minimum,
        largest if parameter.maximum is None else parameter.maximum,
    )
