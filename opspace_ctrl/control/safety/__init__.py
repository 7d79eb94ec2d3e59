# SPDX-License-Identifier: Apache-2.0
"""Is this state usable, may a command be sent, and which one is safe meanwhile."""
