"""A contract for import-linter: only the folders that are meant for it need ROS, at any distance."""

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
        """Chains of imports from each module that is not allowed to a ROS package."""
        patterns: Any = self.allowed_modules
        packages = [name for name in self.ros_packages if name in graph.modules]  # type: ignore[attr-defined]
        ours = [name for name in sorted(graph.modules) if not graph.is_module_squashed(name)]
        pure = [name for name in ours if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        chains = [graph.find_shortest_chain(name, package) for name in pure for package in packages]
        found = [" -> ".join(chain) for chain in chains if chain]
        return ContractCheck(kept=not found, metadata={"chains": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line a chain."""
        for chain in check.metadata["chains"]:
            output.print_error(chain)
