# SPDX-License-Identifier: Apache-2.0
"""What the tests of the running plugin share: helpers of the Python package's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
