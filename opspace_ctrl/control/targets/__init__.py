# SPDX-License-Identifier: Apache-2.0
"""References: how targets from outside become programs that the tick samples."""
