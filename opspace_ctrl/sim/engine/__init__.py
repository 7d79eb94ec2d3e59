# SPDX-License-Identifier: Apache-2.0
"""The physics: our own engine, DART and MuJoCo behind one interface."""
