"""XML text of exported models: deterministic, and numbers that read back exactly."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike


def document(root: ElementTree.Element) -> str:
    """The indented text of a whole document."""
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def numbers(values: ArrayLike) -> str:
    """A vector's components separated by blanks."""
    return " ".join(number(value) for value in np.asarray(values, dtype=float))


def number(value: float) -> str:
    """The shortest text that reads back as the same number.

    >>> number(-0.0), number(0.1)
    ('0.0', '0.1')
    """
    return repr(float(value) + 0.0)
