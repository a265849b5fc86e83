"""Why a service did not do what was asked."""

from __future__ import annotations


class RefusalError(Exception):
    """Becomes a result code: the name of a constant of the response or of simulation_interfaces/Result."""

    def __init__(self, constant: str, message: str) -> None:
        super().__init__(message)
        self.constant = constant


FAILED = "RESULT_OPERATION_FAILED"
NOT_FOUND = "RESULT_NOT_FOUND"
WRONG_STATE = "RESULT_INCORRECT_STATE"
UNSUPPORTED = "RESULT_FEATURE_UNSUPPORTED"
