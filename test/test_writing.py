# SPDX-License-Identifier: Apache-2.0
"""What we may write, replace and remove: our own results, and nothing else."""

import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from opspace_ctrl.errors import OutputError
from opspace_ctrl.writing import MARK, OutputFolder, check_output, new_file, open_stream

NAMES = ("report.json", "robot.urdf")


def claimed(path, **options):
    folder = OutputFolder(path, "opspace hil", NAMES, **options)
    folder.claim()
    return folder


def contents(path):
    """{name: bytes} of a folder, links as their targets, without the mark."""
    return {
        each.name: os.readlink(each) if each.is_symlink() else each.read_bytes()
        for each in path.iterdir()
        if each.name != MARK and not (each.is_dir() and not each.is_symlink())
    }


# ---- files ----


def test_a_new_file_appears_whole_at_the_end_with_the_usual_permissions(tmp_path):
    with new_file(tmp_path / "a.json") as file:
        file.write(b"whole")
        file.flush()
        assert not (tmp_path / "a.json").exists()
    assert contents(tmp_path) == {"a.json": b"whole"}
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("force", [False, True])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path, force):
    if force:
        (tmp_path / "a.json").write_bytes(b"older")
    before = contents(tmp_path)
    with pytest.raises(ZeroDivisionError), new_file(tmp_path / "a.json", force) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert contents(tmp_path) == before


def test_a_file_that_exists_is_replaced_by_force_alone(tmp_path):
    (tmp_path / "a.json").write_bytes(b"mine")
    with pytest.raises(OutputError, match=r"a.json'?: it exists \(--force replaces it\)"):
        check_output(tmp_path / "a.json")
    check_output(tmp_path / "a.json", force=True)
    with new_file(tmp_path / "a.json", force=True) as file:
        file.write(b"new")
    assert contents(tmp_path) == {"a.json": b"new"}


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    with pytest.raises(OutputError, match="exists by now"), new_file(tmp_path / "a") as file:
        file.write(b"ours")
        (tmp_path / "a").write_bytes(b"theirs")
    assert contents(tmp_path) == {"a": b"theirs"}


@pytest.mark.parametrize("force", [False, True])
def test_a_link_is_not_followed(tmp_path, force):
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "a").symlink_to("target")
    if force:
        with new_file(tmp_path / "a", force=True) as file:
            file.write(b"new")
        assert not (tmp_path / "a").is_symlink()
    else:
        with pytest.raises(OutputError, match="a link"):
            check_output(tmp_path / "a")
    assert (tmp_path / "target").read_bytes() == b"precious"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("path", ["/dev/null", "/dev/full", "pipe"])
def test_devices_and_pipes_are_left_alone(tmp_path, path, force):
    if path == "pipe":
        path = tmp_path / path
        os.mkfifo(path)
    before = os.stat(path)
    with pytest.raises(OutputError, match="device"), new_file(path, force):
        pass
    assert os.stat(path).st_mode == before.st_mode and not stat.S_ISREG(before.st_mode)


@pytest.mark.parametrize("path", ["", "\0", "x" * 300, "missing/a", "."])
def test_paths_that_cannot_be_written_are_named(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="cannot write"), new_file(path):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["itself", "symlink", "hard link"])
def test_what_is_read_is_not_written_even_by_force(tmp_path, kind):
    source = tmp_path / "robot.urdf"
    source.write_bytes(b"<robot/>")
    path = source if kind == "itself" else tmp_path / "other"
    if kind == "symlink":
        path.symlink_to(source)
    elif kind == "hard link":
        os.link(source, path)
    with pytest.raises(OutputError, match="reads it"):
        check_output(path, force=True, inputs=[source])


# ---- folders ----


def test_a_folder_is_made_marked_and_used_again_without_what_was_in_it(tmp_path):
    path = tmp_path / "deep" / "report"
    claimed(path).write({"report.json": "{}", "robot.urdf": b"<robot/>"})
    assert contents(path) == {"report.json": b"{}", "robot.urdf": b"<robot/>"}
    claimed(path).write({"report.json": "1"})
    assert contents(path) == {"report.json": b"1"}


def test_nothing_changes_before_the_folder_is_claimed(tmp_path):
    claimed(tmp_path / "report").write({"report.json": "{}"})
    OutputFolder(tmp_path / "report", "opspace hil", NAMES)
    OutputFolder(tmp_path / "new", "opspace hil", NAMES)
    assert contents(tmp_path / "report") == {"report.json": b"{}"}
    assert [each.name for each in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("there", ["notes.txt", "report.json", "log", MARK])
def test_a_folder_with_something_else_in_it_is_refused_by_name(tmp_path, there):
    if there == "log":
        (tmp_path / there).mkdir()
    else:
        (tmp_path / there).write_text("mine")
    with pytest.raises(OutputError, match=f"'{there}' is in the way .*--force"):
        OutputFolder(tmp_path, "opspace hil", NAMES)
    assert there == "log" or (tmp_path / there).read_text() == "mine"


def test_a_folder_of_another_command_is_refused(tmp_path):
    claimed(tmp_path)
    with pytest.raises(OutputError, match="opspace gazebo did not make this folder"):
        OutputFolder(tmp_path, "opspace gazebo", NAMES)


def test_files_beside_ours_stay_and_one_with_our_name_is_in_the_way(tmp_path):
    claimed(tmp_path).write({"report.json": "{}"})
    (tmp_path / "notes.txt").write_text("mine")
    claimed(tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}
    (tmp_path / "robot.urdf").write_text("mine too")
    with pytest.raises(OutputError, match="'robot.urdf' is in the way .not written by opspace hil"):
        claimed(tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine", "robot.urdf": b"mine too"}


def test_a_result_that_somebody_changed_is_in_the_way(tmp_path):
    claimed(tmp_path).write({"report.json": "{}"})
    (tmp_path / "report.json").write_text("{} with my notes")
    with pytest.raises(OutputError, match="'report.json' is in the way .changed since"):
        claimed(tmp_path)


def test_what_a_killed_run_has_left_is_ours(tmp_path):
    folder = claimed(tmp_path)
    folder.place("report.json").write_text("half a rep")
    claimed(tmp_path)
    assert contents(tmp_path) == {}


def test_force_replaces_our_names_and_nothing_else(tmp_path):
    (tmp_path / "report.json").write_text("theirs")
    (tmp_path / "notes.txt").write_text("theirs")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "old.txt").write_text("theirs")
    claimed(tmp_path, force=True).write({"report.json": "{}"})
    assert contents(tmp_path) == {"report.json": b"{}", "notes.txt": b"theirs"}
    assert (tmp_path / "log" / "old.txt").read_text() == "theirs"


def test_force_does_not_follow_links_out_of_the_folder(tmp_path):
    (tmp_path / "precious").write_text("theirs")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.json").symlink_to("../precious")
    (tmp_path / "out" / MARK).symlink_to("../precious")
    with pytest.raises(OutputError, match="in the way"):
        claimed(tmp_path / "out")
    claimed(tmp_path / "out", force=True).write({"report.json": "{}"})
    assert (tmp_path / "precious").read_text() == "theirs"
    assert contents(tmp_path / "out") == {"report.json": b"{}"}


def test_a_link_to_a_folder_is_refused_with_its_target(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OutputError, match="a link to 'real'"):
        OutputFolder(tmp_path / "link", "opspace hil", NAMES)


@pytest.mark.parametrize("force", [False, True])
def test_an_input_in_the_folder_is_not_replaced(tmp_path, force):
    claimed(tmp_path).write({"robot.urdf": "<robot/>"})
    with pytest.raises(OutputError, match="'robot.urdf' in it is read by this command"):
        OutputFolder(
            tmp_path, "opspace hil", NAMES, force=force, inputs=[tmp_path / "robot.urdf", ""]
        )
    assert contents(tmp_path) == {"robot.urdf": b"<robot/>"}


@pytest.mark.parametrize(
    "files", [{"../precious": ""}, {"/etc/passwd": ""}, ["report.json"], "report.json", None, 7]
)
def test_a_forged_mark_removes_nothing_outside(tmp_path, files):
    (tmp_path / "precious").write_text("theirs")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MARK).write_text(json.dumps({"owner": "opspace hil", "files": files}))
    try:
        claimed(tmp_path / "out")
    except OutputError:
        pass
    assert (tmp_path / "precious").read_text() == "theirs"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"{}" + b" " * (1 << 21)])
def test_a_damaged_mark_is_none(tmp_path, content):
    (tmp_path / MARK).write_bytes(content)
    with pytest.raises(OutputError, match="in the way"):
        claimed(tmp_path)


KILLED = """
import os, sys
from opspace_ctrl import writing
folder = writing.OutputFolder(sys.argv[1], "opspace hil", ("report.json", "robot.urdf"))
calls, wanted = [0], int(sys.argv[2])
def counted(function):
    def call(*arguments, **options):
        calls[0] += 1
        if calls[0] == wanted:
            os.kill(os.getpid(), 9)
        return function(*arguments, **options)
    return call
for name in ("replace", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
folder.write({"report.json": "new", "robot.urdf": "new"})
"""


@pytest.mark.parametrize("moment", range(1, 9))
def test_whenever_it_is_killed_every_file_is_whole_and_the_next_run_goes_on(tmp_path, moment):
    claimed(tmp_path).write({"report.json": "old", "robot.urdf": "old"})
    code = subprocess.run([sys.executable, "-c", KILLED, tmp_path, str(moment)]).returncode
    assert code in (0, -signal.SIGKILL)
    for name in NAMES:
        assert (tmp_path / name).read_text() in ("old", "new")
    claimed(tmp_path).write({"report.json": "newer"})
    assert (tmp_path / "report.json").read_text() == "newer"


def test_a_stream_is_a_new_file_in_its_place(tmp_path):
    (tmp_path / "precious").write_bytes(b"mine")
    (tmp_path / "a").symlink_to("precious")
    with pytest.raises(OutputError, match="a link"):
        open_stream(tmp_path / "a")
    with open_stream(tmp_path / "a", force=True) as file:
        file.write(b"new")
    assert contents(tmp_path) == {"precious": b"mine", "a": b"new"}
    with pytest.raises(OutputError, match="--force"):
        open_stream(tmp_path / "a")
