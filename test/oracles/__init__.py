# SPDX-License-Identifier: Apache-2.0
"""What results are compared with, written independently of the package."""
