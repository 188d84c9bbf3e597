# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The benchmark: A (the untouched driver) against B (the series).

    /usr/bin/python3 -m bench      (that is `make bench`)

METHOD.md says what is measured and how; matrix.toml says which cells.
"""
