"""Kinds by name: those of the suite, and those that installed packages add by an entry point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import close_name


class Named(Protocol):
    """Anything with a name: what a Registry holds."""

    @property
    def name(self) -> str: ...


Kind = TypeVar("Kind", bound=Named)


class Registry(Mapping[str, Kind]):
    """Kinds of one sort. A package adds its own by one line in its metadata: an entry point of the group.

    Entry points are loaded on first use of the registry, so that their modules may import ours.
    """

    def __init__(self, group: str, *built_in: Kind) -> None:
        """group: of the entry points, e.g. `proving_ground.sensors`, each of which names a kind."""
        self._group = group
        self._kinds: dict[str, Kind] = {kind.name: kind for kind in built_in}
        self._is_complete = False

    def __getitem__(self, name: str) -> Kind:
        """Raises SettingsError, with the nearest name, for a kind that is not known."""
        kinds = self._all()
        if name not in kinds:
            raise SettingsError(f"{name}: {close_name(name, kinds)}")
        return kinds[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Kind]:
        if not self._is_complete:
            self._is_complete = True
            for entry in sorted(entry_points(group=self._group), key=lambda item: item.name):
                kind = _loaded(entry)
                self._kinds.setdefault(kind.name, kind)
        return self._kinds


def _loaded(entry: Any) -> Any:
    try:
        return entry.load()
    except Exception as error:  # whatever a user's package does when it is imported
        raise SettingsError(f"plug-in {entry.name} = {entry.value}: {type(error).__name__}: {error}") from None
