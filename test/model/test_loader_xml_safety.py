# SPDX-License-Identifier: Apache-2.0
"""Hostile XML is refused before anything is expanded, in bounded time and memory."""

import tracemalloc

import pytest
from helpers.urdf_text import arm, link, robot

from opspace_ctrl import load_urdf
from opspace_ctrl.errors import SourceError, UnsafeXmlError, UrdfSyntaxError
from opspace_ctrl.model import xml_safety

LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 11))
    + "]>"
)
HOSTILE = {
    "billion laughs": f'<?xml version="1.0"?>{LAUGHS}<robot name="&a10;"/>',
    "billion laughs in text": f'{LAUGHS}<robot name="r"><link name="a">&a10;</link></robot>',
    "quadratic blowup": f'<!DOCTYPE x [<!ENTITY a "{"a" * 10**5}">]><robot name="{"&a;" * 10**4}"/>',
    "external entity": '<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><robot name="r">&f;</robot>',
    "parameter entity": '<!DOCTYPE r [<!ENTITY % f SYSTEM "file:///etc/passwd"> %f;]><robot name="r"/>',
    "external subset": '<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd"><robot name="r"/>',
    "harmless document type": f"<!DOCTYPE robot>{arm()}",
}


@pytest.fixture
def bounded():
    """Some megabytes of memory for the test: what an entity blows up would need gigabytes."""
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize(
    "encoding", [None, "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
)
def test_document_types_and_entities_are_refused_in_any_encoding(case, encoding, bounded):
    with pytest.raises(UnsafeXmlError, match="document type or an entity"):
        load_urdf(HOSTILE[case] if encoding is None else HOSTILE[case].encode(encoding))


def test_hostile_files_are_refused_too(tmp_path, bounded):
    for name in ("robot.urdf", "robot.xacro"):
        path = tmp_path / name
        path.write_text(HOSTILE["billion laughs"])
        with pytest.raises(UnsafeXmlError):
            load_urdf(path)


def test_utf7_and_other_ways_to_hide_a_document_type_are_refused():
    hidden = b'<?xml version="1.0" encoding="utf-7"?>' + HOSTILE["external entity"].encode("utf-7")
    with pytest.raises(UrdfSyntaxError, match="'utf-7'.*valid: .*utf-8"):
        load_urdf(hidden)
    with pytest.raises(UrdfSyntaxError, match="'rot-13'"):
        load_urdf(b'<?xml version="1.0" encoding="rot13"?><ebobg/>')


def test_deep_nesting_is_refused(bounded):
    with pytest.raises(UnsafeXmlError, match="levels"):
        load_urdf("<robot name='r'>" + "<a>" * 10**6)


def test_too_many_elements_are_refused():
    with pytest.raises(UnsafeXmlError, match="elements"):
        load_urdf("<robot name='r'>" + "<a/>" * (xml_safety.MAX_ELEMENTS + 1) + "</robot>")


def test_huge_texts_and_files_are_refused(tmp_path):
    huge = f"<robot name='r'><!--{'x' * xml_safety.MAX_BYTES}--></robot>"
    with pytest.raises(UnsafeXmlError, match="bytes"):
        load_urdf(huge)
    path = tmp_path / "huge.urdf"
    path.write_text(huge)
    with pytest.raises(SourceError, match="larger"):
        load_urdf(path)


def test_endless_files_are_refused(bounded):
    with pytest.raises(SourceError, match="not a regular file"):
        load_urdf("/dev/zero")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_honest_documents_load_in_any_encoding(encoding):
    text = '<?xml version="1.0"?>' + robot(link("gr\u00fcn"), name="\u673a\u5668\u4eba")
    model = load_urdf(text.encode(encoding), "floating")
    assert (model.name, model.body_names) == ("\u673a\u5668\u4eba", ("gr\u00fcn",))


def test_a_declared_latin_1_is_obeyed():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + robot(link("gr\u00fcn"))
    assert load_urdf(text.encode("latin-1")).frame_names == ("gr\u00fcn",)


def test_bytes_that_are_not_in_their_encoding_are_refused():
    with pytest.raises(UrdfSyntaxError, match="byte 0 is not utf-8"):
        load_urdf(b"\xff<robot/>")


def test_an_encoding_declared_in_text_is_ignored():
    assert load_urdf('<?xml version="1.0" encoding="UTF-16"?>' + arm()).nv == 3


def test_entities_in_a_file_that_a_xacro_includes_are_refused(tmp_path):
    (tmp_path / "part.xacro").write_text(
        '<!DOCTYPE a [<!ENTITY x "y">]><robot><link name="&x;"/></robot>'
    )
    robot = tmp_path / "robot.xacro"
    include = '<xacro:include filename="part.xacro"/>'
    robot.write_text(
        f'<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">{include}<link name="a"/></robot>'
    )
    with pytest.raises(UnsafeXmlError):
        load_urdf(robot)
    (tmp_path / "part.xacro").write_text(
        '<robot><link name="b"/><joint name="j" type="fixed"><parent link="a"/>'
        '<child link="b"/></joint></robot>'
    )
    assert set(load_urdf(robot).frame_names) == {"a", "b"}
