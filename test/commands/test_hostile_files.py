# SPDX-License-Identifier: Apache-2.0
"""Files of unknown origin given to a command: one line, at once, whatever they are."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.urdf_text import BOX, joint, limit, link, robot

from opspace_ctrl.cli import main

READERS = {
    "info": ["info", "FILE"],
    "check": ["check", "arm7", "FILE"],
    "controllers": ["check", "arm7", "arm7", "--controllers", "FILE"],
    "gazebo": ["gazebo", "FILE", "--out", "out"],
    "params": ["gazebo", "arm7", "--out", "out", "--params", "FILE"],
    "bench": ["bench", "--from", "FILE"],
    "blackbox": ["blackbox", "FILE"],
    "init": ["init", "FILE", "--out", "out"],
    "parity": ["parity", "FILE", "arm7"],
    "parity, second": ["parity", "arm7", "FILE"],
    "demo": ["demo", "FILE", "--no-ros"],
    "export": ["export", "FILE", "--out", "out"],
}
FILES = {
    "empty": b"",
    "zeros": bytes(10_000),
    "brackets": b"[" * 100_000,
    "braces": b"{" * 100_000,
    "elements": b"<a>" * 100_000,
    "zip": b"PK\x03\x04" + bytes(100),
    "text": "a\x9b\u202e\u2028b: c\n".encode() * 100,
    "aliases": b"a: &a [x]\nb: [" + b"*a, " * 1000 + b"]",
    "pickle": b"\x80\x04cos\nsystem\n(S'touch pwned'\ntR.",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", [*FILES, "pipe", "device", "folder", "npz of objects"])
def test_a_file_that_is_none_of_ours_is_refused_in_one_line(
    kind, reader, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    path = Path("file")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "npz of objects":
        np.savez("file.npz", arrival=np.array([print]), command=np.array([1]))
        assert zipfile.is_zipfile("file.npz")
        path = Path("file.npz")
    else:
        path.write_bytes(FILES[kind])
    code = main([str(path) if word == "FILE" else word for word in READERS[reader]])
    out, err = capsys.readouterr()
    assert code in (1, 2), out + err
    assert "Traceback" not in out + err and not os.path.exists("pwned")
    assert all(line.isprintable() for line in (out + err).split("\n"))
    if code == 2:
        assert err.count("\n") == 1 and len(err) < 5000
    assert not os.path.exists("out")


@pytest.mark.parametrize(
    "write, words",
    [
        (lambda path: path.write_text("hello"), "it is no .npz file, or is damaged"),
        (lambda path: np.savez(path, a=1), "it lacks arrival, closed"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: None, "No such file"),
        (
            lambda path: np.savez(
                path,
                **dict.fromkeys(("arrival", "closed", "is_ticking"), np.zeros(3, int)),
                **dict.fromkeys(("q", "v", "command"), np.zeros((2, 7))),
                **dict.fromkeys(("why", "robot", "joints", "state_joints", "gates"), ["a"]),
            ),
            "its arrays do not fit each other",
        ),
    ],
)
def test_what_is_no_black_box_is_refused_in_words(write, words, tmp_path, capsys):
    path = tmp_path / "black_box-x.npz"
    write(path)
    assert main(["blackbox", str(path)]) == 2
    error = capsys.readouterr().err
    assert "is no black box of the controller (black_box-*.npz)" in error and words in error


LINKS = link("a"), link("b"), link("c")
MOVED = {"kind": "revolute", "axis": "0 1 0", "extra": limit()}
ONE, TWO = joint("j1", "a", "b", **MOVED), joint("j2", "b", "c", **MOVED)
NO_ROBOTS = {
    "a loop without a root": (robot(*LINKS, ONE, TWO, joint("j3", "c", "a", **MOVED)), "no root"),
    "a link with two parents": (
        robot(*LINKS, ONE, TWO, joint("j3", "c", "b", **MOVED)),
        "child of two",
    ),
    "inertias that are no numbers": (
        robot(link("a", inertia=BOX.replace("0.02", "nan", 1)), *LINKS[1:], ONE, TWO),
        "not a finite number",
    ),
}


@pytest.mark.parametrize("command", ["init FILE --out out", "info FILE", "parity arm7 FILE"])
@pytest.mark.parametrize("kind", NO_ROBOTS)
def test_a_urdf_that_is_no_robot_is_refused_in_one_line_that_names_file_and_element_once(
    kind, command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    text, words = NO_ROBOTS[kind]
    Path("mine.urdf").write_text(text)
    assert main(command.replace("FILE", "mine.urdf").split()) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("mine.urdf") == 1 and err.count("\n") == 1
    assert "Error" not in err and not os.path.exists("out")


@pytest.mark.parametrize("command", ["init FILE --out out", "demo FILE --no-ros"])
def test_a_robot_without_joints_cannot_be_moved(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.urdf").write_text(robot(link("a")))
    assert main(command.replace("FILE", "mine.urdf").split()) == 2
    err = capsys.readouterr().err
    assert "no joint" in err and err.count("\n") == 1 and "Error" not in err


def test_a_document_that_is_not_xml_is_named_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.urdf").write_text("<robot><link></robot>")
    assert main(["info", "mine.urdf"]) == 2
    assert capsys.readouterr().err.count("mine.urdf") == 1
