# SPDX-License-Identifier: Apache-2.0
"""docs/fields.md is what the workspaces declare."""

import importlib.util

from helpers.documents import ROOT

from opspace_ctrl.compiled.workspace import Workspace

SPEC = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)
PAGE = (ROOT / "docs" / "fields.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_code_declares():
    assert generate.fields_page() == PAGE, "run python docs/generate.py"


def test_every_workspace_that_declares_fields_is_on_the_page():
    found, declared = [Workspace], set()
    while found:
        each = found.pop()
        found += each.__subclasses__()
        if each.fields and each.__module__.startswith("opspace_ctrl."):
            if each.type is not getattr(each.__base__, "type", None):
                declared.add(each.__name__)
    assert declared == {each.__name__ for each in generate.workspaces()}


def test_every_field_has_a_meaning():
    for each in generate.workspaces():
        assert all(field.doc for field in each.fields.values()), each
