# SPDX-License-Identifier: Apache-2.0
"""Parameters as data: types, ranges and choices; YAML files as ROS 2 reads them."""

from __future__ import annotations

import os
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.errors import OpspaceError, ParameterError, ParameterFileError
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.parameters import KINDS, MOST_ENTRIES, Parameter, checked
from opspace_ctrl.yaml_reader import LARGEST, load_yaml, parse_yaml

TABLE = (
    Parameter("robot", "", "What is controlled.", read_only=True),
    Parameter("mode", "tasks", "Law.", choices=("tasks", "raw", "gravity")),
    Parameter("rate", 0.5, "Rate [Hz].", minimum=0.0, maximum=10.0),
    Parameter("count", 3, "How many.", minimum=1),
    Parameter("is_on", False, "Switch."),
    Parameter("gains", [1.0, 2.0], "Gains.", minimum=0.0),
    Parameter("names", [], "Names.", kind="string_array"),
    Parameter("hand.rows", [], "Rows.", kind="string_array", choices=("x", "y")),
)


def test_kind_follows_the_default_and_is_one_of_the_ros_types():
    kinds = [parameter.kind for parameter in TABLE]
    assert kinds == [
        "string",
        "string",
        "double",
        "integer",
        "bool",
        "double_array",
        "string_array",
        "string_array",
    ]
    assert set(kinds) == set(KINDS)


def test_an_empty_list_needs_a_kind_and_a_default_must_be_valid():
    with pytest.raises(ParameterError, match="kind"):
        Parameter("names", [], "Names.")
    with pytest.raises(ParameterError, match="rate.*0 to 10"):
        Parameter("rate", 11.0, "Rate.", minimum=0.0, maximum=10.0)
    with pytest.raises(ParameterError, match="list"):
        Parameter("mixed", [1.0, "a"], "Mixed.")


def test_defaults_are_filled_in_and_are_copies():
    first, second = checked(TABLE, {}), checked(TABLE, {})
    assert list(first) == [parameter.name for parameter in TABLE]
    first["gains"].append(3.0)
    assert second["gains"] == checked(TABLE, {})["gains"] == [1.0, 2.0]


@pytest.mark.parametrize("value", [7, np.float32(7.0), np.int64(7)])
def test_integers_and_numpy_scalars_are_numbers(value):
    out = checked(TABLE, {"rate": value})["rate"]
    assert type(out) is float and out == 7.0


@pytest.mark.parametrize(
    "value", [[1, 2.5], (1.0, 2.5), array("d", [1.0, 2.5]), np.array([1.0, 2.5])]
)
def test_any_sequence_is_a_list(value):
    assert checked(TABLE, {"gains": value})["gains"] == [1.0, 2.5]


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("rate", "fast", "a number"),
        ("rate", True, "a number"),
        ("rate", float("nan"), "finite"),
        ("rate", float("inf"), "finite"),
        ("rate", 10**400, "finite"),
        ("rate", 10.5, "0 to 10"),
        ("count", 2.0, "an integer"),
        ("count", 0, "at least 1"),
        ("count", False, "an integer"),
        ("is_on", 1, "true or false"),
        ("mode", "tusks", "tasks, raw, gravity"),
        ("mode", None, "a string"),
        ("gains", 1.0, "a list of numbers"),
        ("gains", "12", "a list of numbers"),
        ("gains", [1.0, -1.0], "at least 0"),
        ("gains", [[1.0]], "a list of numbers"),
        ("gains", np.eye(2), "a list of numbers"),
        ("names", ["a", 1], "a list of strings"),
        ("hand.rows", ["z"], "x, y"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_what_is_valid(name, value, words):
    with pytest.raises(ParameterError, match=f"{name}.*{words}"):
        checked(TABLE, {name: value})


def test_an_unknown_name_is_refused_with_the_names_beside_it():
    with pytest.raises(ParameterError, match="'hand.row'.*hand.rows") as caught:
        checked(TABLE, {"hand.row": []})
    assert "mode" not in str(caught.value)
    with pytest.raises(ParameterError, match="'moed'.*mode"):
        checked(TABLE, {"moed": "raw"})
    with pytest.raises(
        ParameterError, match=r"'speed' \(valid are robot, mode, rate, count, is_on, gains, names\)"
    ):
        checked(TABLE, {"speed": 1.0})


def test_all_unknown_names_are_reported_at_once_each_with_the_nearest():
    with pytest.raises(ParameterError) as caught:
        checked(TABLE, {"moed": "raw", "rate": 1.0, "hand.row": [], "gain": []})
    assert str(caught.value) == (
        "unknown parameters 'moed' (did you mean 'mode'?); 'hand.row' (did you mean "
        "'hand.rows'?); 'gain' (did you mean 'gains'?)"
    )
    with pytest.raises(ParameterError, match=r"'x19'.*; and 5 more$"):
        checked(TABLE, {f"x{i}": i for i in range(25)})


@pytest.mark.parametrize(
    "given, words",
    [
        (
            {"tasks": ["tol"], "tool.frame": "a", "tool.level": 1},
            "'tool.frame', 'tool.level' (there is no 'tool': tasks has tol, contacts has (none); did you mean 'tol'?)",
        ),
        (
            {"tasks": ["a"], "contacts": ["b", "c"], "hand.frame": "a"},
            "'hand.frame' (there is no 'hand': tasks has a, contacts has b, c)",
        ),
        ({"tasks": ["a"], "postur.stiffness": [1.0]}, "did you mean 'posture'?"),
        (
            {"tasks": ["a"], "a.frme": "tool", "b.frame": "tool"},
            "'a.frme' (did you mean 'a.frame'?); 'b.frame' (there is",
        ),
    ],
)
def test_a_task_that_is_not_listed_is_named_as_what_is_missing(given, words):
    with pytest.raises(ParameterError) as caught:
        controller_settings(given)
    assert words in str(caught.value)


@given(
    st.dictionaries(
        st.sampled_from([p.name for p in TABLE]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
            st.lists,
            max_leaves=4,
        ),
    )
)
def test_rubbish_is_refused_by_name_or_comes_out_valid(values):
    try:
        out = checked(TABLE, values)
    except ParameterError:
        return
    assert checked(TABLE, out) == out


# ---- files ----


def written(tmp_path, text):
    path = tmp_path / "parameters.yaml"
    path.write_text(text)
    return path


def test_parameters_are_flat_and_the_own_section_overrides_the_wildcard(tmp_path):
    path = written(
        tmp_path,
        """
/**:
  ros__parameters: {use_sim_time: true, posture: {stiffness: 60, joints: [a, b]}}
opspace_controller:
  ros__parameters:
    posture.stiffness: 1e2
    hand: {law: inertia}
other:
  ros__parameters: {x: 1}
""",
    )
    assert node_parameters(path, "opspace_controller") == {
        "posture.stiffness": 100.0,
        "posture.joints": ["a", "b"],
        "hand.law": "inertia",
    }
    assert node_parameters(path, "absent") == {
        "posture.stiffness": 60,
        "posture.joints": ["a", "b"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "/left/arm: {ros__parameters: {x: 1}}",
        "left: {arm: {ros__parameters: {x: 1}}}",
        "/left: {arm: {ros__parameters: {x: 1}}}",
    ],
)
def test_namespaces_are_keys_joined_by_slashes(tmp_path, text):
    path = written(tmp_path, text)
    assert node_parameters(path, "arm") == node_parameters(path, "/left/arm") == {"x": 1}
    with pytest.raises(ParameterFileError, match="/right/arm.*left/arm"):
        node_parameters(path, "/right/arm")


def test_a_plain_name_in_two_namespaces_is_ambiguous(tmp_path):
    path = written(tmp_path, "/a/n: {ros__parameters: {x: 1}}\n/b/n: {ros__parameters: {x: 2}}")
    with pytest.raises(ParameterFileError, match="/a/n, /b/n"):
        node_parameters(path, "n")
    assert node_parameters(path, "/b/n") == {"x": 2}


@pytest.mark.parametrize(
    "number, value", [("1e3", 1000.0), ("-2.5E-4", -2.5e-4), ("1.e+2", 100.0), ("7", 7)]
)
def test_numbers_with_an_exponent_are_numbers(tmp_path, number, value):
    out = load_yaml(written(tmp_path, f"x: {number}"))["x"]
    assert out == value and type(out) is type(value)


@pytest.mark.parametrize(
    "text, words",
    [
        ("a: [1", "not YAML"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("a: 1\na: 2", "twice"),
        ("1: 2", "not a string"),
        ("a: !!python/object:os.system {}", "not YAML"),
        ("[" * 100 + "]" * 100, "deep"),
        ("n: [" + "[]," * 200_000 + "]", "more than 20000 keys and values"),
        ("a: \x07", "not YAML"),
        ("<<: {a: 1}", "merge"),
        ("n: {ros__parameters: {x: }}", "x has no value"),
        ("n: 3", "not a mapping"),
        ("n: {ros__parameters: 3}", "not a mapping"),
        ("- 1", "not a mapping"),
        ("", "not a mapping"),
        ("m: {ros__parameters: {x: 1}}", "no section for the node 'n'; the file has m"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(tmp_path, text, words):
    with pytest.raises(ParameterFileError, match=words):
        node_parameters(written(tmp_path, text), "n")


def test_the_place_of_an_error_is_told_by_line_and_column(tmp_path):
    path = written(tmp_path, "a: 1\nb: [2")
    with pytest.raises(ParameterFileError) as caught:
        load_yaml(path)
    assert "line 2, column" in str(caught.value) and "string>" not in str(caught.value)


def test_missing_and_binary_files_are_named(tmp_path):
    with pytest.raises(ParameterFileError, match="absent.yaml.*No such file"):
        load_yaml(tmp_path / "absent.yaml")
    (tmp_path / "b.yaml").write_bytes(b"a: \x80\x81")
    with pytest.raises(
        ParameterFileError, match="b.yaml: not YAML: position 3: invalid start byte"
    ) as caught:
        load_yaml(tmp_path / "b.yaml")
    assert "<byte string>" not in str(caught.value)
    (tmp_path / "big.yaml").write_bytes(b"#" * (1 << 21))
    with pytest.raises(ParameterFileError, match="larger"):
        load_yaml(tmp_path / "big.yaml")


@given(st.text(alphabet="ab:{}[]-,&*!|>'\"#\n \t1.e/", max_size=60))
def test_any_text_is_read_or_refused_by_name(text):
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        try:
            node_parameters(file.name, "a")
        except OpspaceError:
            pass


@pytest.mark.parametrize(
    "text",
    [
        "1" * (LARGEST // 2),
        "1:" * (LARGEST // 4) + "1",
        "1." + "1" * (LARGEST // 2),
        "-" + "1_" * (LARGEST // 4),
        "0x" + "f" * (LARGEST // 2),
        "2001-01-01 " + " " * (LARGEST // 2) + "x",
    ],
)
def test_a_number_without_end_is_text_and_read_at_once(text):
    """In Python's own hands each of these takes minutes to hours."""
    assert parse_yaml(f"x: {text}", "it")["x"] == text


def test_pipes_devices_and_folders_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path, "\0"):
        with pytest.raises(ParameterFileError, match="not a regular file|not a path"):
            load_yaml(path)


def test_what_a_file_is_called_and_holds_cannot_write_on_a_terminal(tmp_path):
    for text in (
        '"n\\u202e\\x9b\\n": 3',
        '"n\\u2028": {ros__parameters: 3}',
        '"m\\n\\x85": {ros__parameters: {}}',
    ):
        with pytest.raises(ParameterFileError) as caught:
            node_parameters(written(tmp_path, text), "n")
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["names", "gains"])
def test_lists_have_an_end(name):
    entry = {"names": "a", "gains": 1.0}[name]
    assert len(checked(TABLE, {name: [entry] * MOST_ENTRIES})[name]) == MOST_ENTRIES
    with pytest.raises(ParameterError, match=f"{name}: {10**6} entries; at most {MOST_ENTRIES}"):
        checked(TABLE, {name: [entry] * 10**6})


def test_tasks_have_an_end():
    """Each of them has two dozen parameters, which a node declares one by one."""
    with pytest.raises(ParameterError, match="tasks: 4000 entries; at most 100 are valid"):
        controller_settings({"tasks": [f"t{i}" for i in range(4000)]})


@pytest.mark.parametrize("gains", [np.float64(3.0), np.array(3.0), 3.0])
def test_a_number_is_no_list(gains):
    with pytest.raises(ParameterError, match="gains: .* is not a list of numbers"):
        checked(TABLE, {"gains": gains})


@pytest.mark.parametrize("values", [{"robot": "x" * 10**7}, {"names": ["x" * 10**7]}])
def test_strings_have_an_end(values):
    with pytest.raises(ParameterError, match="10000000 characters; at most 4096 are valid"):
        checked(TABLE, values)
