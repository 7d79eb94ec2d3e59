# SPDX-License-Identifier: Apache-2.0
"""The record of a run: its log, its report, and the run as an MCAP bag."""
