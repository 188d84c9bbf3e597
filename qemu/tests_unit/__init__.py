# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of the harness; no guest is started."""
