# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import threading

from scripts import cache
from scripts.tests_unit.fixture import CacheCase


class Key(CacheCase):
    def test_parts_do_not_run_together(self):
        self.assertNotEqual(cache.key("ab", "c"), cache.key("a", "bc"))

    def test_text_and_bytes_are_the_same(self):
        self.assertEqual(cache.key("ab"), cache.key(b"ab"))
        self.assertEqual(len(cache.key("ab")), cache.KEY_LENGTH)


class Entry(CacheCase):
    def check_made_once(self, get):
        made = []

        def make(into):
            made.append(into)
            (into / "file").write_text("content")

        first = get("kind", "entry", make, "it")
        second = get("kind", "entry", make, "it")
        self.assertEqual(first, second)
        self.assertEqual((first / "file").read_text(), "content")
        self.assertEqual(len(made), 1)

    def check_failure_leaves_nothing(self, get):
        def fail(into):
            (into / "half").touch()
            raise RuntimeError("no")

        with self.assertRaisesRegex(RuntimeError, "no"):
            get("kind", "entry", fail, "it")
        path = get("kind", "entry", lambda into: None, "it")
        self.assertFalse((path / "half").exists())

    def test_made_once(self):
        self.check_made_once(cache.get)

    def test_made_once_in_place(self):
        self.check_made_once(cache.get_in_place)

    def test_failure_leaves_nothing(self):
        self.check_failure_leaves_nothing(cache.get)

    def test_failure_leaves_nothing_in_place(self):
        self.check_failure_leaves_nothing(cache.get_in_place)

    def test_unfinished_entry_is_made_again(self):
        path = cache.get_in_place("kind", "entry", lambda into: None, "it")
        (path / ".done").unlink()
        (path / "half").touch()
        cache.get_in_place("kind", "entry", lambda into: None, "it")
        self.assertFalse((path / "half").exists())

    def test_second_run_waits_for_the_first(self):
        inside, go, made = threading.Event(), threading.Event(), []

        def make(into):
            made.append(into)
            inside.set()
            self.assertTrue(go.wait(10))

        def ask():
            cache.get("kind", "entry", make, "it")

        first = threading.Thread(target=ask)
        first.start()
        self.assertTrue(inside.wait(10))
        second = threading.Thread(target=ask)
        second.start()
        go.set()
        first.join(10)
        second.join(10)
        self.assertEqual(len(made), 1)
