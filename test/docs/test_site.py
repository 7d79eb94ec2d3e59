# SPDX-License-Identifier: Apache-2.0
"""The documentation site builds without a warning, and has what readers come for."""

import subprocess
import sys

from helpers.documents import ROOT

import opspace_ctrl


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    built = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    api = (tmp_path / "api.html").read_text(encoding="utf-8")
    missing = [name for name in opspace_ctrl.__all__ if f"opspace_ctrl.{name}" not in api]
    assert not missing
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert index.index("safety.html") < index.index("getting_started.html")  # hardware users first


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8").split()
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages - {"fields"} <= set(index)  # see conf.py
