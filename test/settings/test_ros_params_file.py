"""ROS parameter files: which sections are for a node, and what is rejected with file, line, key and range."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from planner.joystick import JoystickSettings
from planner.teleop import TeleopSettings
from proving_ground.settings import SettingsError, declarations
from proving_ground.settings.ros_params_file import check_params_file, check_together, matches
from proving_ground.settings.share import share_directory

CONFIG = share_directory() / "config"


@pytest.mark.parametrize(
    ("pattern", "node", "expected"),
    [
        ("/**", "/teleop", True),
        ("/**", "/a/b/teleop", True),
        ("teleop", "/teleop", True),
        ("/teleop", "/truck/teleop", False),
        ("/*/teleop", "/truck/teleop", True),
        ("/*/teleop", "/teleop", False),
        ("/**/teleop", "/teleop", True),
        ("/**/teleop", "/a/b/teleop", True),
        ("/truck/**", "/truck/teleop", True),
        ("/truck/**", "/tank/teleop", False),
        ("/tele.p", "/teleop", False),
    ],
)
def test_section_matches_the_nodes_that_rcl_would_give_it_to(pattern: str, node: str, expected: bool) -> None:
    assert matches(pattern, node) is expected


@pytest.mark.parametrize(
    "path", [CONFIG / "teleop.yaml", *sorted((CONFIG / "pads").glob("*.yaml"))], ids=lambda path: path.stem
)
def test_shipped_files_are_good(path: Path) -> None:
    check_together(TeleopSettings, check_params_file(path, "/teleop", TeleopSettings).given)
    check_params_file(path, "/joystick", JoystickSettings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("teleop:\n  ros__parameters:\n    expo: 2.0\n", ":3: expo: must be a number from 0 to 1, got 2.0"),
        ("teleop:\n  ros__parameters:\n    expoo: 0.2\n", ":3: expoo: unknown; did you mean expo?"),
        ("teleop:\n  ros__parameters: [1]\n", ":2: ros__parameters: must map names to values, got list"),
        ("teleop: 5\n", ":1: teleop: expected a node name with 'ros__parameters' below it"),
        ("- 1\n", ":1: a ROS parameter file maps node names to 'ros__parameters', got list"),
        ("", ":1: a ROS parameter file maps node names to 'ros__parameters', got NoneType"),
        ("/**:\n  ros__parameters:\n    use_sim_time: 3\n", ":3: use_sim_time: must be true or false, got 3"),
    ],
)
def test_bad_file_is_rejected_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)

    with pytest.raises(SettingsError) as rejection:
        check_params_file(path, "/teleop", TeleopSettings)

    assert str(rejection.value) == f"{path}{words}" or str(rejection.value).startswith(f"{path}{words} ")


def test_other_nodes_sections_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("gps:\n  ros__parameters:\n    lever_arm: 3\n/**/teleop:\n  ros__parameters:\n    expo: 0\n")

    assert check_params_file(path, "/truck/teleop", TeleopSettings).given["expo"].value == 0.0


# One value of every wrong kind; text that YAML would read as a good number is not among them.
BAD_VALUES: st.SearchStrategy[object] = st.one_of(
    st.none(),
    st.sampled_from([".nan", ".inf", "-.inf"]).map(lambda text: yaml.safe_load(text)),
    st.floats(min_value=1e6) | st.floats(max_value=-1e6),
    st.integers(min_value=10**6),
    st.lists(st.integers(), min_size=1, max_size=3),
    st.dictionaries(st.text("abc", min_size=1), st.integers(), min_size=1, max_size=2),
    st.text("xyz ", min_size=3, max_size=9).map(lambda text: "?" + text),
)
NUMERIC = sorted(name for name, item in declarations(TeleopSettings).items() if item.kind in (int, float))


@given(name=st.sampled_from(NUMERIC), value=BAD_VALUES, others=st.integers(0, 5))
@hypothesis_settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_bad_value_in_a_file_is_rejected_with_file_key_and_range(
    tmp_path: Path, name: str, value: object, others: int
) -> None:
    values = {other: declarations(TeleopSettings)[other].default for other in NUMERIC[:others]} | {name: value}
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump({"teleop": {"ros__parameters": values}}, sort_keys=False))
    line = 1 + next(n for n, text in enumerate(path.read_text().splitlines()) if text.strip().startswith(f"{name}:"))

    with pytest.raises(SettingsError) as rejection:
        check_params_file(path, "/teleop", TeleopSettings)

    allowed = declarations(TeleopSettings)[name].allowed()
    assert str(rejection.value).startswith(f"{path}:{line}: {name}: must be {allowed}, got ")
    assert "\n" not in str(rejection.value)
