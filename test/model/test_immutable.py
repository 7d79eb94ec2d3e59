# SPDX-License-Identifier: Apache-2.0
"""A Model cannot be changed, copies included, and its frames are found by name."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from helpers.support import load_quietly, urdf_path

from opspace_ctrl.errors import UnknownFrameError


@pytest.fixture(scope="module")
def model():
    return load_quietly(urdf_path("panda"), "floating")


def arrays(model):
    return {
        field.name: value
        for field in dataclasses.fields(model)
        if isinstance(value := getattr(model, field.name), np.ndarray)
    }


@pytest.mark.parametrize(
    "how",
    [
        lambda model: model,
        copy.copy,
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
    ],
)
def test_neither_arrays_nor_attributes_can_be_written(model, how):
    same = how(model)
    assert len(arrays(same)) > 20
    for name, array in arrays(same).items():
        np.testing.assert_array_equal(array, getattr(model, name))
        with pytest.raises(ValueError):
            array[...] = 0
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(same, name, array)


def test_arrays_have_the_documented_shapes_and_types(model):
    N, F = len(model.body_names), len(model.frame_names)
    shapes = {name: array.shape for name, array in arrays(model).items()}
    assert (N, F, model.nq, model.nv) == (10, 13, 15, 14)
    assert shapes == {
        "gravity": (3,),
        "parent": (N,),
        "parent_expanded": (14,),
        "joint_type": (N,),
        "axis": (N, 3),
        "placement_rotation": (N, 3, 3),
        "placement_translation": (N, 3),
        "mass": (N,),
        "com": (N, 3),
        "inertia": (N, 3, 3),
        "q_index": (N,),
        "v_index": (N,),
        "multiplier": (N,),
        "offset": (N,),
        "is_mimic": (N,),
        "is_base_coordinate": (14,),
        "armature": (14,),
        "damping": (14,),
        "friction": (14,),
        "position_limits": (8, 2),
        "velocity_limits": (8,),
        "effort_limits": (8,),
        "frame_body": (F,),
        "frame_rotation": (F, 3, 3),
        "frame_translation": (F, 3),
    }
    integers = {"parent", "parent_expanded", "joint_type", "q_index", "v_index", "frame_body"}
    for name, array in arrays(model).items():
        assert array.dtype == (
            np.int64 if name in integers else bool if name.startswith("is_") else np.float64
        )


def test_frames_are_found_by_name(model):
    assert model.frame_names[model.frame_index("panda_hand")] == "panda_hand"


@pytest.mark.parametrize("name", ["panda_hnd", "", None, ["panda_hand"]])
def test_unknown_frames_are_refused_with_the_valid_names(model, name):
    with pytest.raises(UnknownFrameError, match="Frames: .*panda_link0"):
        model.frame_index(name)


def test_close_matches_are_offered(model):
    with pytest.raises(UnknownFrameError, match="Did you mean panda_hand"):
        model.frame_index("panda_hnd")


def test_repr_is_one_short_line(model):
    assert repr(model) == "Model('panda', bodies=10, nq=15, nv=14)"
