"""`python -m opspace_ctrl` is the command `opspace`."""

import sys

from opspace_ctrl.cli import main

sys.exit(main())
