# SPDX-License-Identifier: Apache-2.0
"""Whatever happens in whatever order: gates and commands are those of the table in docs/safety.md."""

from helpers.gate_table import Table, run_table


def test_gates_and_commands_are_those_of_the_table_whatever_happens():
    run_table(Table, 300)
