# SPDX-License-Identifier: Apache-2.0
"""The documentation site: Sphinx with MyST. `make docs` builds it into build/site, warnings as errors."""

project = "opspace_ctrl"
copyright = "opspace_ctrl contributors, Apache 2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "opspace_ctrl"
html_static_path = ["_static"]
html_css_files = ["site.css"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_use_param = False
# fields.md has links for headings, which Sphinx cannot list: it is read in the repository.
exclude_patterns = ["fields.md", "generate.py"]
# Links to files outside docs/ (README, configurations) are for readers of the repository; test/docs checks every link.
suppress_warnings = ["myst.xref_missing", "myst.header"]
