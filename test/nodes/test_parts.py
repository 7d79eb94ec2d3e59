# SPDX-License-Identifier: Apache-2.0
"""Parts of the nodes that need no graph: frames of messages, statistics of a loop, the base's transform."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.support import pin_model

from opspace_ctrl import load_robot
from opspace_ctrl.errors import SourceError, TargetError
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.nodes import privileges, transforms
from opspace_ctrl.nodes.frames import Frames
from opspace_ctrl.nodes.robot import load
from opspace_ctrl.nodes.statistics import LoopStatistics, judge


@pytest.fixture(scope="module")
def arm():
    return load_robot("arm7")


@pytest.mark.parametrize("frame_id", ["", "world", "base_link", "link3", "tool"])
@pytest.mark.parametrize("reference", ["", "link2"])
def test_poses_twists_and_wrenches_are_taken_from_any_frame_into_the_axes_of_the_task(
    arm, frame_id, reference
):
    q = arm.random_configuration(np.random.default_rng(1))
    twin = pin_model(robot_text("arm7"))
    data = twin.createData()
    pin.framesForwardKinematics(twin, data, q)

    def placement(name):
        return pin.SE3.Identity() if name in ("", "world") else data.oMf[twin.getFrameId(name)]

    own = placement(reference).inverse() * placement(frame_id) if frame_id else pin.SE3.Identity()
    given = pin.SE3.Random()
    found = Frames(arm, lambda: q, lambda: "world").placement(frame_id, reference)
    position, quaternion = found.pose(given.translation, pin.Quaternion(given.rotation).coeffs())
    expected = own * given
    assert position == pytest.approx(expected.translation, abs=1e-12)
    assert pin.Quaternion(quaternion).toRotationMatrix() == pytest.approx(
        expected.rotation, abs=1e-12
    )
    many = found.poses(
        np.tile(given.translation, (3, 1)), np.tile(pin.Quaternion(given.rotation).coeffs(), (3, 1))
    )
    assert many[0][2] == pytest.approx(position, abs=1e-12) and many[1][2] == pytest.approx(
        quaternion, abs=1e-12
    )
    six = np.arange(1.0, 7.0)
    assert found.turned(six) == pytest.approx(
        [*(own.rotation @ six[:3]), *(own.rotation @ six[3:])], abs=1e-12
    )


def test_a_frame_that_does_not_exist_is_refused_with_those_that_do(arm):
    frames = Frames(arm, arm.neutral, lambda: "map")
    with pytest.raises(TargetError, match="'moon' is neither .* valid are map, base_link, link1"):
        frames.placement("moon")


def test_the_statistics_of_a_loop_are_those_of_its_last_ticks():
    rng = np.random.default_rng(2)
    periods, work = rng.integers(900_000, 1_100_000, 3000), rng.integers(20_000, 90_000, 3000)
    starts = 10**9 + np.cumsum(periods)
    statistics = LoopStatistics()
    for start, computed in zip(starts.tolist(), work.tolist()):
        statistics.tick(start, start + computed)
    summary = statistics.summary(1e-3)
    last, computed = periods[-2048:] * 1e-3, work[-2048:] * 1e-3
    assert (statistics.ticks, statistics.longest, summary.count) == (3000, work.max(), 2048)
    assert summary.period_mean == pytest.approx(last.mean()) and summary.rate == pytest.approx(
        1e6 / last.mean()
    )
    assert summary.rate_deviation == pytest.approx(
        (1e6 / last).std()
    ) and summary.expected == pytest.approx(1000.0)
    assert (summary.median, summary.p99) == pytest.approx(tuple(np.percentile(computed, (50, 99))))
    assert (summary.mean, summary.deviation) == pytest.approx((computed.mean(), computed.std()))
    assert LoopStatistics().summary(0.0).count == 0


def test_a_pause_of_the_loop_is_no_period():
    statistics = LoopStatistics()
    statistics.tick(1_000, 2_000)
    statistics.pause()
    statistics.tick(10**12, 10**12 + 1_000)
    statistics.tick(10**12 + 10**6, 10**12 + 10**6 + 1_000)
    assert statistics.summary(0.0).period_mean == pytest.approx(1000.0)


def test_thresholds_are_those_of_ros2_control():
    assert judge({"periodicity.mean_error": 4.9, "execution_time.mean_error": 999.0}) == ("ok", [])
    assert (
        judge({"periodicity.mean_error": 6.0, "execution_time.standard_deviation": 50.0})[0]
        == "warn"
    )
    level, texts = judge(
        {"periodicity.standard_deviation": 11.0, "execution_time.mean_error": 1500.0}
    )
    assert level == "error" and len(texts) == 2


def test_the_base_goes_out_as_a_transform_once_a_stamp(monkeypatch):
    sent = []
    monkeypatch.setitem(
        sys.modules,
        "tf2_ros",
        SimpleNamespace(
            TransformBroadcaster=lambda node: SimpleNamespace(
                sendTransform=lambda message: sent.append(
                    (
                        message.header.frame_id,
                        message.child_frame_id,
                        message.transform.translation.x,
                        message.transform.rotation.w,
                        message.header.stamp.nanosec,
                    )
                )
            )
        ),
    )
    assert transforms.has_tf2()
    gate = SimpleNamespace(base_stamp=0, pose=np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8]))
    transform = transforms.BaseTransform(None, "bus")
    transform.publish(gate, "odom")
    gate.base_stamp = 5
    transform.publish(gate, "odom")
    transform.publish(gate, "odom")
    assert sent == [("odom", "bus", 1.0, 0.8, 5)]


def test_the_interpreter_is_quiet_while_a_loop_runs_and_as_before_after_it():
    import gc

    interval = sys.getswitchinterval()
    try:
        privileges.quiet_interpreter()
        assert (
            not gc.isenabled()
            and sys.getswitchinterval() == pytest.approx(1e-4)
            and gc.get_freeze_count()
        )
        privileges.collect_garbage()
    finally:
        privileges.restore_interpreter()
    assert (
        gc.isenabled()
        and gc.get_freeze_count() == 0
        and sys.getswitchinterval() == pytest.approx(interval)
    )
    assert (
        privileges.raise_priority(0) == "as started"
        and privileges.lock_memory(False) == "not locked"
    )


@pytest.mark.parametrize("name", ["arm8", "nowhere/arm.urdf", "x" * 5000])
def test_a_robot_that_is_neither_shipped_nor_a_file_is_refused_with_where_was_looked(name):
    with pytest.raises(
        SourceError, match="neither a shipped robot .arm7, asimo, free_flyer. nor a file; relative"
    ):
        load(name, "", {}, print)


BLOCKS = """
import ctypes
from opspace_ctrl.nodes.privileges import bound_heaps

class Information(ctypes.Structure):  # mallinfo2(3)
    names = ("arena", "free", "fast", "blocks", "bytes", "most", "small", "used", "unused", "top")
    _fields_ = [(name, ctypes.c_size_t) for name in names]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype, libc.malloc.restype = Information, ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
bound_heaps()
size = 16 << 20
libc.free(libc.malloc(size))  # from now on glibc itself would take no block of this size for a large one
before = libc.mallinfo2()
libc.malloc(size)
after = libc.mallinfo2()
print(after.blocks - before.blocks, after.bytes - before.bytes >= size)
"""


def test_large_blocks_of_memory_never_lie_in_a_heap_that_keeps_them():
    """In a process of its own: what glibc has learnt from another test is not to count."""
    ran = subprocess.run([sys.executable, "-c", BLOCKS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "True"]


HEAPS = """
import ctypes, sys, threading
from opspace_ctrl.nodes.privileges import bound_heaps

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "bound":
    bound_heaps()
together = threading.Barrier(12)

def allocate():
    together.wait()
    libc.malloc(2000)
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(12)]
for each in (threading.Thread.start, threading.Thread.join):
    for thread in threads:
        each(thread)
out = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, out)
libc.fclose(out)
"""


@pytest.mark.parametrize("way, is_bound", [("bound", True), ("as it is", False)])
def test_threads_share_two_heaps(way, is_bound, tmp_path):
    """As it is each has its own, or else ours were of no use any more."""
    found = tmp_path / "heaps.xml"
    subprocess.run([sys.executable, "-c", HEAPS, way, str(found)], check=True)
    assert (found.read_text().count("<heap nr") <= 2) == is_bound
