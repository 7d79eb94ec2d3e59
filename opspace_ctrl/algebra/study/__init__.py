# SPDX-License-Identifier: Apache-2.0
"""Variants of published methods for Lambda^-1, for study: `OperationalSpace(model, tasks, "chang_khatib")`.

They have names in the registry of `osim`, and are in none of its lists: `osim.methods()`, auto, parameters and the
exported library leave them out.
"""
