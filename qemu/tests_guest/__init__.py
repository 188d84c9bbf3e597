# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of the harness on real guests: each loss is reported as what it is."""
