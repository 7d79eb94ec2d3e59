# SPDX-License-Identifier: Apache-2.0
"""Operation counts: the tables of [Featherstone2010] recomputed, on the code that ships."""
