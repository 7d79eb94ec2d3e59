# SPDX-License-Identifier: Apache-2.0
"""`python -m opspace_ctrl` is the command `opspace`."""

import sys

from .cli import main

sys.exit(main())
