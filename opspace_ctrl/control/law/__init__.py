# SPDX-License-Identifier: Apache-2.0
"""The control law as kernels: what tasks ask for, hierarchy, limits, and the tick that runs them."""
