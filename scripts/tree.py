# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make tree`: build/linux, where a kernel developer works on the series.

Its first commit is the pristine base; on top is the series, applied with
`git am`, on the branch `series`. refs/rxe/base and refs/rxe/exported say
where the series starts and which commit patches/ was last in step with.
"""

from pathlib import Path

from scripts import basegit, git, series
from scripts.base import Base, base
from scripts.errors import LabError, run_main
from scripts.paths import BUILD
from scripts.progress import Step

TREE = BUILD / "linux"
BASE_REF = "refs/rxe/base"
EXPORTED_REF = "refs/rxe/exported"
BRANCH = "series"


class TreeError(LabError):
    """The tree is in a state that a command must not touch; says which."""


def revision(tree: Path, name: str) -> str | None:
    """The commit a name stands for, None when there is none."""
    done = git.attempt(tree, "rev-parse", "-q", "--verify",
                       f"{name}^{{commit}}")
    return done.stdout.strip() if done.returncode == 0 else None


def require_settled(tree: Path) -> None:
    """Raise TreeError in the middle of an am or rebase, or with changes."""
    where = Path(git.run(tree, "rev-parse", "--absolute-git-dir").strip())
    for name, what in (("rebase-apply", "git am"), ("rebase-merge",
                       "git rebase"), ("MERGE_HEAD", "git merge"),
                       ("CHERRY_PICK_HEAD", "git cherry-pick")):
        if (where / name).exists():
            raise TreeError(f"a {what} is under way in {_shown(tree)}; finish "
                            f"it (`{what} --continue`) or give it up "
                            f"(`{what} --abort`), then try again")
    changed = git.run(tree, "status", "--porcelain")
    if changed:
        raise TreeError(f"{_shown(tree)} has changes that are in no commit:\n"
                        f"{changed}commit or discard them, then try again")


def _shown(tree: Path) -> str:
    return "build/linux" if tree == TREE else str(tree)


def require_exported(tree: Path) -> None:
    """Raise TreeError when commits of the tree are not in patches/."""
    exported = revision(tree, EXPORTED_REF)
    for name in ("HEAD", BRANCH):
        here = revision(tree, name)
        if here and here != exported:
            raise TreeError(
                f"{_shown(tree)} has commits that are not in patches/ ({name} "
                f"is at {here[:12]}): run `make export` to keep them, or "
                f"`git -C build/linux checkout -B {BRANCH} {EXPORTED_REF}` to "
                "drop them; then try again")


def _open(source: Base, tree: Path) -> None:
    """Make the tree stand on the pristine base, cloning it if it is new."""
    repository = basegit.repository(source)
    if not (tree / ".git").exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        with Step(f"check out {_shown(tree)} (about 2 GB)", key="checkout"):
            # Local: packs are hard-linked, and the tree outlives the cache.
            git.run(tree.parent, "clone", "-q", "--local", "-o", "base",
                    "--no-tags", str(repository), str(tree))
    else:
        require_settled(tree)
        require_exported(tree)
        git.run(tree, "fetch", "-q", "--no-tags", str(repository),
                f"+{basegit.BRANCH}:refs/remotes/base/{basegit.BRANCH}")
    git.run(tree, "update-ref", BASE_REF,
            f"refs/remotes/base/{basegit.BRANCH}")
    git.run(tree, "checkout", "-q", "-B", BRANCH, BASE_REF)
    git.run(tree, "update-ref", EXPORTED_REF, BASE_REF)


def lay_out(source: Base, which: list[Path], tree: Path = TREE) -> None:
    """Bring the tree to base + patches; refuses to lose anybody's work.

    Raises TreeError when the tree holds work that is not in patches/, or when
    a patch does not apply: then `git am` is left open in the tree.
    """
    _open(source, tree)
    for patch in which:
        series.check(patch)
    if which:
        done = git.attempt(tree, "am", "-q", "--keep-cr", *map(str, which))
        if done.returncode:
            raise TreeError(
                f"the series does not apply on Linux {source.version}:\n"
                f"{done.stdout}{done.stderr}"
                f"Settle it in {_shown(tree)} (edit, `git add`, "
                "`git am --continue`), then run `make export`; or give up "
                "with `git am --abort`.")
    git.run(tree, "update-ref", EXPORTED_REF, "HEAD")


def main() -> int:
    """Lay out build/linux."""
    source = base()
    which = series.patches()
    lay_out(source, which)
    print(f"build/linux: Linux {source.version} and {len(which)} patches; "
          "edit, commit and rebase there, then `make export`")
    return 0


if __name__ == "__main__":
    run_main("tree", main)
