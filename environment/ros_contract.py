"""A contract for import-linter: only the folders meant for it import ROS, directly or through others."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class RosContract(Contract):
    """No module outside `allowed_modules` imports one of `ros_packages`, directly or through others."""

    ros_packages = fields.ListField(subfield=fields.StringField())
    allowed_modules = fields.ListField(subfield=fields.StringField())  # patterns, e.g. `*.ros.*`

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find chains of imports to a ROS package from modules that may not have them."""
        patterns: Any = self.allowed_modules
        packages = [name for name in self.ros_packages if name in graph.modules]  # type: ignore[attr-defined]
        ours = [name for name in sorted(graph.modules) if not graph.is_module_squashed(name)]
        pure = [name for name in ours if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        chains = [graph.find_shortest_chain(name, package) for name in pure for package in packages]
        found = [" -> ".join(chain) for chain in chains if chain]
        return ContractCheck(kept=not found, metadata={"chains": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line for each chain of imports that reaches ROS."""
        for chain in check.metadata["chains"]:
            output.print_error(chain)
