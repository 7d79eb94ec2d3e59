# SPDX-License-Identifier: Apache-2.0
"""One file a method: the inverse operational-space inertia. `osim.registry` knows them by name."""
