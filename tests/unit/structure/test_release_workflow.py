"""The release workflow names the commits of its actions: a tag can be moved to other code, which gets our rights."""

from __future__ import annotations

import re

from support.paths import ROOT

_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")


def test_each_action_is_pinned_to_a_commit_with_its_version_next_to_it() -> None:
    """A tag, a branch and a hash without its version are found; the same action is the same commit everywhere."""
    workflows = [path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    uses = [use.strip() for text in workflows for use in re.findall(r"uses:(.*)", text)]
    assert len(uses) > 10
    assert [use for use in uses if not _PINNED.fullmatch(use)] == []
    assert len(set(uses)) == len({use.partition("@")[0] for use in uses})
