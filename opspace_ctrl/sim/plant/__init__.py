# SPDX-License-Identifier: Apache-2.0
"""The robot as its bus shows it: channels, encoders, drives, watchdog and their faults."""
