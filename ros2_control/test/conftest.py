# SPDX-License-Identifier: Apache-2.0
"""What the tests of the running plugin share: this folder, and helpers of the Python package's tests.

`colcon test` runs them from another folder, and pytest does not look beside a test for what it imports.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "test")]
