"""Meshes as OBJ, STL and PLY files, through trimesh."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from proving_ground.settings.files import whole_file
from terrain.formats.regular_file import check_is_file
from terrain.limits import MESH_FILE_LIMIT_BYTES, file_error
from terrain.mesh import Mesh

SUFFIXES = (".obj", ".ply", ".stl")
STL_HEADER_BYTES, STL_TRIANGLE_BYTES = 84, 50  # of binary STL; the header ends with the number of triangles


def load_mesh(path: Path) -> Mesh:
    """Read one mesh, without the materials and textures that it may name; raises SettingsError."""
    import trimesh  # slow to import, and only mesh files need it

    if path.suffix.lower() not in SUFFIXES:
        raise file_error(path, f"must end in one of {', '.join(SUFFIXES)}")
    check_is_file(path)
    try:
        size = path.stat().st_size
        if size > MESH_FILE_LIMIT_BYTES:
            raise file_error(path, f"{size} bytes are too many for a mesh (limit {MESH_FILE_LIMIT_BYTES})")
        data = path.read_bytes()
    except OSError as error:
        raise file_error(path, error.strerror or error) from None
    kind = path.suffix.lower()[1:]
    options = {"skip_materials": True} if kind == "obj" else {}
    try:
        if kind == "obj":
            data = _obj_text(data)
        elif kind == "stl" and not _is_binary_stl(data):
            data = _stl_text(data)
        # From memory and without a resolver: nothing else that the file names is opened.
        with np.errstate(all="ignore"):  # from corners that are not finite, which Mesh rejects
            found: Any = trimesh.load_mesh(io.BytesIO(data), file_type=kind, process=False, **options)
        mesh = Mesh(np.asarray(found.vertices, np.float64), np.asarray(found.faces, np.int32))
    except Exception as error:  # trimesh parsers raise arbitrary exceptions
        raise file_error(path, f"is not a valid mesh: {str(error)[:200] or type(error).__name__}") from None
    if not len(mesh.faces):
        raise file_error(path, "is not a valid mesh: it has no faces")
    return mesh


def _obj_text(data: bytes) -> bytes:
    text = _utf8(data)
    if not re.search(rb"^[ \t]*f[ \t]", text, re.MULTILINE):
        raise ValueError("it has no faces")
    return text


def _is_binary_stl(data: bytes) -> bool:
    return len(data) == STL_HEADER_BYTES + STL_TRIANGLE_BYTES * _stl_count(data)


def _stl_count(data: bytes) -> int:
    return int.from_bytes(data[STL_HEADER_BYTES - 4 : STL_HEADER_BYTES], "little")


def _stl_text(data: bytes) -> bytes:
    """The text of an ASCII STL file, if complete."""
    if not re.match(rb"\s*solid", data, re.IGNORECASE) or b"\0" in data:
        promised = f"for {_stl_count(data)} triangles, " if len(data) >= STL_HEADER_BYTES else ""
        raise ValueError(f"neither STL text nor whole binary STL ({promised}{len(data)} bytes); it looks truncated")
    last_line = data.rstrip()[-1000:].splitlines()[-1]
    if not last_line.strip().lower().startswith(b"endsolid"):
        raise ValueError("the text does not end with 'endsolid'; it looks truncated")
    return _utf8(data)


def _utf8(data: bytes) -> bytes:
    """Text in UTF-8; other bytes above 127 only occur in names and comments, so any code page will do."""
    if b"\0" in data:
        raise ValueError("it is not a text file")
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def save_mesh(mesh: Mesh, path: Path, kind: str) -> None:
    """Write a mesh; kind is obj (text), ply or stl (both binary)."""
    import trimesh

    data: Any = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False, validate=False).export(file_type=kind)
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)
