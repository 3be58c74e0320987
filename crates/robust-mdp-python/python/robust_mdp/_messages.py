"""What the package says: by ``warnings`` and ``logging``, never by itself."""

from __future__ import annotations

import logging
import os
import sys
import warnings

logger = logging.getLogger("robust_mdp")


class RobustMDPWarning(UserWarning):
    """Any warning of this package."""


class ModelWarning(RobustMDPWarning):
    """Something about the input that may not be what was meant."""


class ConvergenceWarning(RobustMDPWarning):
    """A run ended before the gap asked for was certified; its bounds hold."""


_HERE = os.path.dirname(__file__) + os.sep


def warn(message: str, category: type[RobustMDPWarning]) -> None:
    """Warn about the line that called the package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
