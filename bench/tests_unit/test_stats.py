# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Statistics: known values, the rules of the verdict, its error rate."""

import random
import unittest

from bench import stats
from bench.stats import Gain, gain_of, judge, median, pair_gains, summarise


class Median(unittest.TestCase):
    def test_known_values(self):
        for values, right in (([5], 5), ([1, 2], 1.5), ([3, 1, 2], 2),
                              ([4, 1, 3, 2], 2.5), ([7, 7, 1, 7], 7)):
            with self.subTest(values=values):
                self.assertEqual(median(values), right)

    def test_leaves_its_argument_alone(self):
        values = [3, 1, 2]
        median(values)
        self.assertEqual(values, [3, 1, 2])

    def test_of_nothing_is_an_error(self):
        with self.assertRaises(ValueError):
            median([])


class Summaries(unittest.TestCase):
    def test_keeps_the_order_of_samples(self):
        found = summarise([3.0, 1.0, 2.0])
        self.assertEqual(found.as_json(), {"samples": [3.0, 1.0, 2.0],
                                           "median": 2.0, "min": 1.0,
                                           "max": 3.0})

    def test_refuses_what_is_no_number(self):
        for values in ([], [1.0, float("nan")], [float("inf")]):
            with self.subTest(values=values), self.assertRaises(ValueError):
                summarise(values)


class Pairs(unittest.TestCase):
    def test_above_one_is_better_in_both_directions(self):
        self.assertEqual(pair_gains([10], [20], "higher"), [2.0])
        self.assertEqual(pair_gains([20], [10], "lower"), [2.0])

    def test_only_neighbouring_repetitions_are_compared(self):
        gains = pair_gains([1, 1, 1, 1], [1, 10, 100, 1000], "higher")
        self.assertEqual(gains, [1, 10, 1, 10, 100, 10, 100, 1000, 100, 1000])

    def test_unpaired_samples_are_an_error(self):
        with self.assertRaises(ValueError):
            pair_gains([1, 2], [1], "higher")

    def test_a_ratio_needs_positive_samples(self):
        for a, b in (([0], [1]), ([1], [0]), ([-1], [1])):
            with self.subTest(a=a, b=b), self.assertRaises(ValueError):
                pair_gains(a, b, "higher")

    def test_an_unknown_direction_is_an_error(self):
        with self.assertRaises(ValueError):
            pair_gains([1], [1], "better")

    def test_nothing_to_compare_is_an_error(self):
        with self.assertRaises(ValueError):
            gain_of([], [], "higher")


class Verdict(unittest.TestCase):
    def test_rules(self):
        for gain, right in (
                (Gain(1.0, 1.0, 1.0), "no difference"),
                (Gain(1.5, 1.4, 1.6), "faster"),
                (Gain(1.5, 0.99, 1.6), "no difference"),
                (Gain(1.5, 1.0, 1.6), "no difference"),
                (Gain(0.5, 0.4, 0.6), "slower"),
                (Gain(0.5, 0.4, 1.01), "no difference"),
                # one repetition, as in the full matrix's instruction mode
                (Gain(0.97, 0.97, 0.97), "no difference"),
                (Gain(0.9699, 0.9699, 0.9699), "slower"),
                (Gain(1.03, 1.03, 1.03), "no difference"),
                (Gain(1.04, 1.04, 1.04), "faster")):
            with self.subTest(gain=gain):
                self.assertEqual(judge(gain), right)

    def test_drift_that_burdens_both_hides_no_gain(self):
        drift = [1.0, 1.1, 1.3, 1.6, 2.0]
        a = [100 * d for d in drift]
        b = [180 * d for d in drift]
        self.assertEqual(judge(gain_of(a, b, "higher")), "faster")
        self.assertGreater(max(a), min(b))      # without pairs it would


class NullTest(unittest.TestCase):
    """B like A must be told apart rarely, B much better than A always."""

    def rate(self, gain: float, noise: float, reps: int = 5) -> float:
        """Share of 4,000 seeded trials with a verdict of a difference."""
        rng = random.Random(7)
        told = 0
        for _ in range(4000):
            a = [rng.lognormvariate(0, noise) for _ in range(reps)]
            b = [gain * rng.lognormvariate(0, noise) for _ in range(reps)]
            told += judge(gain_of(a, b, "higher")) != "no difference"
        return told / 4000

    def test_equal_sides(self):
        for noise in (0.01, 0.05, 0.2):
            with self.subTest(noise=noise):
                self.assertLess(self.rate(1.0, noise), 0.025)

    def test_a_large_gain(self):
        self.assertGreater(self.rate(1.4, 0.05), 0.99)

    def test_the_dead_band_is_three_percent(self):
        self.assertEqual(stats.SLOWER, 0.97)
        self.assertLess(self.rate(1.01, 0.001), 0.01)


if __name__ == "__main__":
    unittest.main()
