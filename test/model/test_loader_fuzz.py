# SPDX-License-Identifier: Apache-2.0
"""Whatever is fed to the loader, nothing but an OpspaceError leaves it, and what loads is sound."""

import copy
import warnings
import xml.etree.ElementTree as ET

import numpy as np
from helpers.support import urdf_path
from helpers.urdf_text import BOX, joint, limit, link, mimic, robot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspace_ctrl import OpspaceError, load_urdf
from opspace_ctrl.errors import InertiaWarning, UrdfWarning

EVERYTHING = robot(
    *(link(name) for name in "abcdef"),
    joint("plane", "a", "b", "planar"),
    joint("float", "b", "c", "floating"),
    joint("slide", "c", "d", "prismatic", extra=limit() + '<dynamics damping="1" friction="0.1"/>'),
    joint("turn", "a", "e", "revolute", extra=limit() + mimic("slide", 2.0, 0.1)),
    joint("weld", "e", "f", "fixed"),
)
TEXTS = [EVERYTHING] + [
    urdf_path(name).read_text() for name in ("panda", "double_pendulum", "finger_edu", "z1")
]
NASTY = [
    "",
    " ",
    "nan",
    "-inf",
    "1e999",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-0",
    "-1",
    "1_0",
    "0x1p3",
    "1e",
    "1,2,3",
    "0 0 0",
    "1 0 0",
    "1e200 1e200 1e200",
    "nan nan nan",
    "1 2",
    "a",
    "None",
    "\u0661",
    "true",
    "&",
    "<",
    "\t",
    "revolute",
    "planar",
    "floating",
    "fixed",
    "unknown",
    "slide",
    "turn",
    "b",
    "world",
    "x" * 1000,
    "9" * 400,
]
TAGS = [
    "robot",
    "link",
    "joint",
    "inertial",
    "mass",
    "inertia",
    "origin",
    "axis",
    "limit",
    "mimic",
    "parent",
    "child",
]

fuzz = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
options = st.fixed_dictionaries(
    {
        "base": st.sampled_from(["fixed", "floating"]),
        "strict": st.booleans(),
        "armature": st.sampled_from([None, 0.1]),
    }
)


def load_or_refuse(source, **keywords):
    """Load; anything but an OpspaceError fails the test, and so do warnings of numpy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for doubt in (InertiaWarning, UrdfWarning):
            warnings.simplefilter("ignore", doubt)
        try:
            model = load_urdf(source, **keywords)
        except OpspaceError as error:
            assert 0 < len(str(error)) < 5000
            return
    check_sound(model)


def check_sound(model):
    assert (model.parent < np.arange(len(model.parent))).all()
    for name in (
        "mass",
        "com",
        "inertia",
        "axis",
        "placement_translation",
        "armature",
        "damping",
        "multiplier",
    ):
        assert np.isfinite(getattr(model, name)).all()
    for rotation in (*model.placement_rotation, *model.frame_rotation):
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
    assert (model.position_limits[:, 0] <= model.position_limits[:, 1]).all()
    q = model.random_configuration(np.random.default_rng(0))
    np.testing.assert_allclose(model.check_configuration(q), q)


@st.composite
def spliced(draw):
    """A real URDF with some stretches deleted, repeated or overwritten."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 5, 20, 200])))
        filling = draw(
            st.one_of(
                st.just(""),
                st.sampled_from(NASTY),
                st.sampled_from(["<", ">", "/>", '"', "'", "<!--", "]]>", "&lt;", "<a>"]),
                st.just(2 * text[start:end]),
                st.text(max_size=5),
            )
        )
        text = text[:start] + filling + text[end:]
    return text


@st.composite
def rearranged(draw):
    """A real URDF, still XML, with elements dropped, repeated, renamed, moved, or attributes replaced."""
    root = ET.fromstring(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 5))):
        parents = [element for element in root.iter() if len(element)]
        with_attributes = [element for element in root.iter() if element.attrib]
        if not parents or not with_attributes:
            break
        parent = draw(st.sampled_from(parents))
        child = draw(st.sampled_from(list(parent)))
        element = draw(st.sampled_from(with_attributes))
        key = draw(st.sampled_from(sorted(element.attrib)))
        action = draw(
            st.sampled_from(
                ["drop", "repeat", "rename", "move", "replace", "replace", "lose", "swap"]
            )
        )
        if action == "drop":
            parent.remove(child)
        elif action == "repeat":
            parent.append(copy.deepcopy(child))
        elif action == "rename":
            child.tag = draw(st.sampled_from(TAGS))
        elif action == "move":
            parent.append(copy.deepcopy(draw(st.sampled_from(list(root.iter())))))
        elif action == "replace":
            element.set(key, draw(st.sampled_from(NASTY)))
        elif action == "lose":
            del element.attrib[key]
        elif action == "swap":
            element.set(key, draw(st.sampled_from(with_attributes)).get("name", "0 0 1"))
    return ET.tostring(root, encoding="unicode")


@st.composite
def odd_trees(draw):
    """Any joints between any links, of any type, in any order."""
    names = [f"l{i}" for i in range(draw(st.integers(1, 6)))]
    kinds = ["revolute", "continuous", "prismatic", "fixed", "planar", "floating"]
    number = st.one_of(
        st.sampled_from(["0", "1", "-2.5", "1e-9", "1e9", "1e150", "1e-150"]),
        st.floats(-3, 3).map(str),
    )
    vector = st.tuples(number, number, number).map(" ".join)
    moments = BOX if draw(st.booleans()) else None
    parts = [
        link(
            name,
            draw(st.sampled_from([None, 0.0, 1.0, 1e-12, 1e12])),
            draw(vector),
            draw(vector),
            moments,
        )
        for name in names
    ]
    for i in range(draw(st.integers(0, 6))):
        follow = draw(st.one_of(st.none(), st.integers(0, 6)))
        extra = "" if follow is None else mimic(f"j{follow}", draw(number), draw(number))
        parts.append(
            joint(
                f"j{i}",
                draw(st.sampled_from(names)),
                draw(st.sampled_from(names)),
                draw(st.sampled_from(kinds)),
                draw(vector),
                draw(vector),
                draw(vector),
                extra,
            )
        )
    return robot(*draw(st.permutations(parts)))


@fuzz
@given(text=spliced(), keywords=options)
def test_spliced_urdfs_load_or_are_refused(text, keywords):
    load_or_refuse(text, **keywords)


@fuzz
@given(text=rearranged(), keywords=options)
def test_rearranged_urdfs_load_or_are_refused(text, keywords):
    load_or_refuse(text, **keywords)


@fuzz
@given(text=odd_trees(), keywords=options)
def test_odd_trees_load_or_are_refused(text, keywords):
    load_or_refuse(text, **keywords)


@fuzz
@given(
    source=st.one_of(
        st.text(),
        st.binary(),
        st.text().map(lambda text: f"<robot name='r'>{text}</robot>"),
        st.binary().map(lambda data: b"<robot name='r'>" + data + b"</robot>"),
        st.text(max_size=20).map(
            lambda text: f"<?xml version='1.0' encoding='{text}'?><robot/>".encode(
                "utf-8", "ignore"
            )
        ),
    )
)
def test_arbitrary_text_and_bytes_are_refused(source):
    load_or_refuse(source)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.floats(), max_size=8),
    st.dictionaries(
        st.sampled_from(["turn", "slide", "float", "x"]),
        st.one_of(st.floats(), st.lists(st.floats())),
    ),
)


@fuzz
@given(
    keywords=st.dictionaries(
        st.sampled_from(["base", "gravity", "armature", "locked", "prefixes"]), junk, max_size=3
    )
)
def test_arbitrary_arguments_are_taken_or_refused(keywords):
    load_or_refuse(EVERYTHING, **keywords)
