# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The kernel side: base source, kernels, the series and its modules."""
