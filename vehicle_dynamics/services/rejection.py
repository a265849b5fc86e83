"""Rejection of a service request, with its result code."""

from __future__ import annotations


class RejectionError(Exception):
    """Rejected request; `constant` names the result code in the response or in simulation_interfaces/Result."""

    def __init__(self, constant: str, message: str) -> None:
        super().__init__(message)
        self.constant = constant


FAILED = "RESULT_OPERATION_FAILED"
NOT_FOUND = "RESULT_NOT_FOUND"
WRONG_STATE = "RESULT_INCORRECT_STATE"
UNSUPPORTED = "RESULT_FEATURE_UNSUPPORTED"
