# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The parts of `make test`: each yields outcomes, one per case.

A suite is a function run(plan) -> Iterator[Outcome]; see qemu.test for their
order and for which of them side A has records.
"""
