"""Opening raster images of heights: their properties are checked before they are decoded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from terrain.formats.regular_file import check_is_file
from terrain.limits import check_grid_size, file_error

# Pillow warns of tags whose values lie beyond the end of the file, and goes on without them.
CUT_OFF = r"(Possibly corrupt|Corrupt) EXIF data|Tag data larger than file|Tag offset too large|Truncated"
HEIGHT_MODES = ("L", "I;16", "I;16B", "I;16L", "I", "F")  # of Pillow: one number per pixel


@contextmanager
def height_image(path: Path, file_format: str) -> Iterator[Image.Image]:
    """An image of one number per pixel, not yet decoded; every error becomes one line that names the file."""
    check_is_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is checked below
            warnings.simplefilter("ignore", UserWarning)  # Pillow, of tags that it skips: checked below
            warnings.filterwarnings("error", CUT_OFF, UserWarning)
            with Image.open(path, formats=[file_format]) as image:
                check_grid_size(image.height, image.width)
                if getattr(image, "n_frames", 1) > 1 and file_format != "TIFF":
                    raise ValueError("holds several images")
                if image.mode not in HEIGHT_MODES:
                    raise ValueError(f"holds colours (mode {image.mode}), not one height per pixel")
                yield image
    except UnidentifiedImageError:
        raise file_error(path, f"is not a {file_format} image that can be read") from None
    except Image.DecompressionBombError:
        raise file_error(path, "has far too many pixels") from None
    except UserWarning as warning:
        raise file_error(path, f"is damaged or truncated: {warning}") from None
    except (SyntaxError, EOFError, KeyError, TypeError, AttributeError) as error:  # Pillow, for damaged files
        raise file_error(path, f"is damaged: {error}") from None
    except OSError as error:
        # Pillow's own errors of this type have no errno: they are about the content.
        raise file_error(path, error.strerror or f"is damaged or truncated: {error}") from None
    except ValueError as error:
        raise file_error(path, error) from None


def pixels(image: Image.Image) -> Any:
    """The decoded values; row 0 is the one of least y, at the bottom of the image."""
    return np.asarray(image)[::-1]
