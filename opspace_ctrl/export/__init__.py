# SPDX-License-Identifier: Apache-2.0
"""The compiled controller without Python: libopspace, and robots as images that it opens."""

from .library import library_path

__all__ = ["library_path"]
