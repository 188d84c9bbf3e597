# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of the scripts: no kernel build, no network, no VM."""
