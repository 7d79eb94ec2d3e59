# SPDX-License-Identifier: Apache-2.0
"""`opspace bench --exported`: the tick of a library that is linked and run here, hot and cold."""

import pytest

from opspace_ctrl.bench.exported import exported
from opspace_ctrl.commands._bench_tables import exported as table
from opspace_ctrl.errors import ExportError


def test_the_exported_tick_is_measured_hot_and_cold():
    told: list[str] = []
    found = exported(["arm7"], told.append)
    assert told == ["arm7: the exported tick, hot and cold"]
    times = found["arm7"]
    assert [*times] == [
        "hot",
        "after 4 MB of other memory",
        "after 64 MB of other memory",
        "after a pause of 0.9 ms",
        "after a pause and opspace_warm",
    ]
    assert all(0.0 < each["median"] <= each["p99"] for each in times.values())
    assert times["hot"]["median"] < times["after 64 MB of other memory"]["median"]
    assert table({"exported": found}, markdown=False).row_count == 5


def test_without_a_compiler_it_says_so(monkeypatch, tmp_path):
    exported(["free_flyer"])  # its library is there now
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(ExportError, match="no C compiler"):
        exported(["free_flyer"])
