# SPDX-License-Identifier: Apache-2.0
"""What is public has types: its modules are clean under `mypy --strict`, and so are programs that use them."""

import ast
import os
import sys
from inspect import signature
from pathlib import Path

import pytest
from helpers.documents import ROOT, blocks
from mypy import api

import opspace_ctrl
from opspace_ctrl.model.options import LoadOptions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # mypy brings it

USER = Path(__file__).with_name("typed_user.py")


def public_modules():
    """Those of which pyproject.toml says that they are public."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (listed,) = [
        each["module"] for each in tools["mypy"]["overrides"] if "disallow_untyped_defs" in each
    ]
    return listed


def test_every_public_name_is_defined_in_modules_that_are_listed_as_public():
    """A class is what its bases define, too."""
    public = [getattr(opspace_ctrl, name) for name in opspace_ctrl.__all__]
    homes = {part.__module__ for each in public for part in getattr(each, "__mro__", (each,))}
    assert {home for home in homes if home.startswith("opspace_ctrl")} <= set(public_modules())


def test_the_users_program_uses_every_public_name():
    (imported,) = [
        node
        for node in ast.parse(USER.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module == "opspace_ctrl"
    ]
    assert sorted(alias.name for alias in imported.names) == sorted(opspace_ctrl.__all__)


def test_a_shipped_robot_is_loaded_with_every_option_of_load_urdf():
    _, *options = signature(opspace_ctrl.load_urdf).parameters
    assert list(LoadOptions.__annotations__) == options


@pytest.fixture
def programs(tmp_path):
    """Printed programs of public names as files; the last block writes a kernel, which has no annotations."""
    printed = [
        *blocks("python", document="README.md"),
        *blocks("python", document="docs/python.md"),
    ]
    *texts, kernel = (block.text for block in printed)
    assert "njit" in kernel and "Controller(" in texts[0] and len(texts) == 3
    paths = [tmp_path / f"printed_{number}.py" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_text(text, encoding="utf-8")
    return paths


def test_public_modules_and_programs_that_use_them_are_strictly_typed(
    programs, tmp_path, monkeypatch
):
    monkeypatch.chdir(ROOT)
    modules = [ROOT.joinpath(*name.split(".")) for name in public_modules()]
    files = [path / "__init__.py" if path.is_dir() else path.with_suffix(".py") for path in modules]
    words = ("--strict", "--follow-imports=silent", "--config-file=pyproject.toml")
    cache = f"--cache-dir={tmp_path / 'cache'}"
    said, wrong, status = api.run([*words, cache, *map(os.fspath, [*files, USER, *programs])])
    assert status == 0, said + wrong
