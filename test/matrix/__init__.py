# SPDX-License-Identifier: Apache-2.0
"""`make matrix`: a smoke suite, and what runs it on every interpreter of a machine."""
