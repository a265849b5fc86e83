"""Meshes as OBJ, STL and PLY files, through trimesh."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from terrain.formats.whole_file import whole_file
from terrain.limits import MESH_FILE_LIMIT_BYTES, file_refusal
from terrain.mesh import Mesh

SUFFIXES = (".obj", ".ply", ".stl")


def load_mesh(path: Path) -> Mesh:
    """Read one mesh, without the materials and pictures that it may name; raises SettingsError."""
    import trimesh  # slow to import, and only mesh files need it

    if path.suffix.lower() not in SUFFIXES:
        raise file_refusal(path, f"must end in one of {', '.join(SUFFIXES)}")
    try:
        size = path.stat().st_size
        if size > MESH_FILE_LIMIT_BYTES:
            raise file_refusal(path, f"{size} bytes are too many for a mesh (limit {MESH_FILE_LIMIT_BYTES})")
        data = path.read_bytes()
    except OSError as error:
        raise file_refusal(path, error.strerror or error) from None
    options = {"skip_materials": True} if path.suffix.lower() == ".obj" else {}
    try:
        # From memory and without a resolver: nothing else that the file names is opened.
        found: Any = trimesh.load_mesh(io.BytesIO(data), file_type=path.suffix.lower()[1:], process=False, **options)
        mesh = Mesh(np.asarray(found.vertices, np.float64), np.asarray(found.faces, np.int32))
    except Exception as error:  # trimesh raises what its parsers happen to raise
        raise file_refusal(path, f"is not a sound mesh: {str(error)[:200] or type(error).__name__}") from None
    if not len(mesh.faces):
        raise file_refusal(path, "is not a sound mesh: it has no faces")
    return mesh


def save_mesh(mesh: Mesh, path: Path, kind: str) -> None:
    """Write a mesh; kind is obj, ply or stl (both binary)."""
    import trimesh

    data: Any = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False, validate=False).export(file_type=kind)
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)
