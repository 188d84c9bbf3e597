# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""bench.locks: what /proc/lock_stat says, and what a message takes of it."""

import unittest

from bench import locks
from scripts.errors import LabError

# Two classes in the layout of Documentation/locking/lockstat.rst; one has a
# read side, and lines of who contended follow.
TEXT = """lock_stat version 0.4
-----------
  class name  con-bounces  contentions  waittime-min
-----------

 &qp->state_lock:  0  1  0.26  9.10  16.53  1.90  47  1500  0.16  2.69  6.32  5.99
 ---------------
 &qp->state_lock  1  [<ffffffff81040fa2>] rxe_requester+0x12/0x30
 ...........

 &mm->mmap_lock-W:  0  0  0.00  0.00  0.00  0.00  0  100  0.16  2.69  6.32  5.99
 &mm->mmap_lock-R:  0  0  0.00  0.00  0.00  0.00  0  11  0.16  2.69  6.32  5.99
"""


class Locks(unittest.TestCase):

    def test_acquisitions_of_each_class(self):
        self.assertEqual(locks.parse(TEXT), {"&qp->state_lock": 1500,
                                             "&mm->mmap_lock": 111})

    def test_nothing_is_an_error(self):
        with self.assertRaises(LabError):
            locks.parse("lock_stat version 0.4\n")

    def test_start_up_is_subtracted(self):
        extra = 2 * (locks.LONG - locks.SHORT)
        taken = locks.per_message({"a": 7}, {"a": 7 + extra, "b": 0})
        self.assertEqual(taken, {"a": 2.0, "b": 0.0})

    def test_rare_classes_are_not_shown(self):
        shown = locks.table({"A": {"often": 3.0, "rare": 0.001},
                             "B": {"often": 1.0}})
        self.assertIn("often", shown)
        self.assertNotIn("rare", shown)


if __name__ == "__main__":
    unittest.main()
