"""YAML files with one value replaced by an arbitrary other, for tests that every file is loaded or rejected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from proving_ground.settings import SettingsError

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.floats()))


def many(examples: int) -> settings:
    """Settings for this many examples, the same in every run."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def with_another_leaf(data: st.DataObject, path: Path) -> str:
    """The text of a YAML file with an arbitrary value in one of its leaves."""
    content = yaml.safe_load(path.read_text())
    key_path: Any = content
    while True:
        key = data.draw(st.sampled_from(sorted(key_path)) if isinstance(key_path, dict) else st.just(0))
        if not isinstance(key_path[key], dict | list) or not key_path[key]:
            break
        key_path = key_path[key]
    key_path[key] = data.draw(LEAVES)
    return yaml.safe_dump(content)


def assert_loaded_or_rejected_in_one_line(load: Callable[[], object]) -> None:
    words = ""
    try:
        load()
    except SettingsError as rejection:
        words = str(rejection)
    assert "\n" not in words
