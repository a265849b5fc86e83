"""YAML reading: lines are recorded, and hostile or broken files are rejected in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from proving_ground.settings import SettingsError
from proving_ground.settings.yaml_file import SIZE_LIMIT_BYTES, read_value, read_yaml


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_lines_of_keys_are_known(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "a: 1\nb:\n  c: 2\n  d: [1,\n   2]\n"))

    assert file.content == {"a": 1, "b": {"c": 2, "d": [1, 2]}}
    assert file.location(("b", "d")) == f"{file.path}:4"
    assert str(file.error(("b", "c"), "is wrong")) == f"{file.path}:3: is wrong"


def test_powers_of_ten_are_numbers_as_in_ros(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, "a: 1e3\nb: -2.5E-3\nc: e3\n")).content == {"a": 1000.0, "b": -0.0025, "c": "e3"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1, 2\n", "not valid YAML"),
        ("a: 1\na: 2\n", ":2: duplicate key 'a'"),
        ("a: !!python/name:os.system\n", "could not determine a constructor"),
        ("? [1, 2]\n: x\n", "a key must be a plain word"),
        ("a: 2026-99-99\n", "not a valid value"),
        ("a: " + "[" * 5000, "nested too deeply"),
        (b"a: \xff\xfe\n", "not UTF-8 text"),
        ("a: \x00\n", "not valid YAML"),
        ("&a [" + ", ".join(["x"] * 1000) + "]\n--- 2\n", "not valid YAML"),
    ],
)
def test_broken_file_is_rejected_in_one_line(tmp_path: Path, text: str | bytes, words: str) -> None:
    path = write(tmp_path, text)

    with pytest.raises(SettingsError) as rejection:
        read_yaml(path)

    assert str(rejection.value).startswith(str(path))
    assert words in str(rejection.value)
    assert "\n" not in str(rejection.value)


def test_tags_of_python_are_only_data(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "a: !!python/object/apply:os.getcwd []\n"))

    assert file.content == {"a": []}


def test_aliases_cannot_blow_up(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(SettingsError, match="more than 200000 values"):
        read_yaml(write(tmp_path, "\n".join(lines)))


def test_huge_file_is_rejected_unread(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="too large"):
        read_yaml(write(tmp_path, b" " * (SIZE_LIMIT_BYTES + 1)))


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml: No such file"):
        read_yaml(tmp_path / "nowhere.yaml")
    with pytest.raises(SettingsError, match="Is a directory"):
        read_yaml(tmp_path)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_are_read_or_rejected(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, content)
    try:
        words = str(read_yaml(path).location(()))
    except SettingsError as error:
        words = str(error)

    assert words.startswith(str(path))
    assert "\n" not in words


def test_value_of_a_command_line() -> None:
    assert read_value("[1, 2.5]", "here") == [1, 2.5]
    with pytest.raises(SettingsError, match="here: not a valid value"):
        read_value("[1", "here")
