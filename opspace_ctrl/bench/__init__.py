# SPDX-License-Identifier: Apache-2.0
"""Timings: what the package costs, beside its peers."""
