"""The filters by name. A new one is one module and one line here; your own is named as module:Class."""

from __future__ import annotations

from collections.abc import Iterable

from proving_ground.settings.fields import close_name

FILTERS = {
    "CEKF": "state_observer.filters.cekf:Cekf",
    "DEKF": "state_observer.filters.dekf:Dekf",
    "UKF-FE": "state_observer.filters.ukf:UkfEuler",
    "UKF-TR": "state_observer.filters.ukf:UkfTrapezoidal",
    "SCKF": "state_observer.filters.constrained:Sckf",
    "DIEKFpm": "state_observer.filters.constrained:DiekfPm",
    "errorEKF": "state_observer.filters.error_ekf:ErrorEkf",
    "forceEKF": "state_observer.filters.error_ekf:ForceEkf",
}


def check_filter_names(names: Iterable[str]) -> None:
    """Raise ValueError for a name that is neither listed nor of the form module:Class."""
    for name in names:
        if name not in FILTERS and ":" not in name:
            raise ValueError(f"filters: {name}: {close_name(name, FILTERS)}; or your own as module:Class")
