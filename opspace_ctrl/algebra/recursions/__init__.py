# SPDX-License-Identifier: Apache-2.0
"""The recursions of the papers beyond those the control path uses: algorithms 1 to 4, Kalman, smoother ..."""
