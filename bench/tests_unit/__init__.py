# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of the benchmark: /usr/bin/python3 -m unittest discover -s
bench/tests_unit -t .  (run by `make check`; no VM is needed)"""
