"""Bridges a settings dataclass and a node's ROS parameters: declared, described, validated, set atomically."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from proving_ground.settings import Declaration, SettingsError, as_parameters, build, declarations
from proving_ground.settings.fields import check_named
from proving_ground.settings.ros_params_file import belongs_to_rclpy

Settings = TypeVar("Settings")

# The node is created with its overrides declared, so that unknown names are found and numbers are read leniently
# (5 for 5.0) before the real declaration.
NODE_OPTIONS = {"automatically_declare_parameters_from_overrides": True}

_PARAMETER_TYPES = {
    (bool, False): Parameter.Type.BOOL,
    (int, False): Parameter.Type.INTEGER,
    (float, False): Parameter.Type.DOUBLE,
    (str, False): Parameter.Type.STRING,
    (bool, True): Parameter.Type.BOOL_ARRAY,
    (int, True): Parameter.Type.INTEGER_ARRAY,
    (float, True): Parameter.Type.DOUBLE_ARRAY,
    (str, True): Parameter.Type.STRING_ARRAY,
}


class ParameterBridge(Generic[Settings]):
    """Keeps `settings` equal to the node's parameters; a rejected set leaves both as they were."""

    def __init__(
        self,
        node: Node,
        settings_type: type[Settings],
        on_change: Callable[[Settings, Settings], None],
        check: Callable[[Settings], None] = lambda settings: None,
    ) -> None:
        """Declare all settings on the node; raises SettingsError when a start value is bad.

        check: raises SettingsError for changed settings that the running node cannot have.
        """
        self._declarations = declarations(settings_type)
        self._on_change, self._check = on_change, check
        self.settings: Settings = build(settings_type, _take_overrides(node, self._declarations))
        values = as_parameters(self.settings)
        for declaration in self._declarations.values():
            value = values[declaration.name]
            node.declare_parameter(
                declaration.name,
                _to_ros(declaration, value).value,
                _descriptor(declaration),
                ignore_override=True,
            )
        node.add_on_set_parameters_callback(self._validate)
        node.add_post_set_parameters_callback(self._accept)
        _answer_malformed_requests(node)

    def checked(self, parameters: Iterable[Parameter]) -> list[Parameter]:
        """The parameters in their declared types (5 becomes 5.0); raises SettingsError if any must be rejected."""
        result = []
        for parameter in parameters:
            if not belongs_to_rclpy(parameter.name):
                value = check_named(self._declarations, parameter.name, _value(parameter))
                declaration = self._declarations[parameter.name]
                if declaration.read_only:
                    raise SettingsError(f"{parameter.name}: can only be set when the node starts")
                parameter = _to_ros(declaration, value)
            result.append(parameter)
        self._candidate(result)
        return result

    def _validate(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            self._candidate(parameters)
        except SettingsError as error:
            return rejected(error)
        return SetParametersResult(successful=True)

    def _accept(self, parameters: list[Parameter]) -> None:
        old = self.settings
        self.settings = self._candidate(parameters)
        if self.settings != old:
            self._on_change(old, self.settings)

    def _candidate(self, parameters: Iterable[Parameter]) -> Settings:
        ours = {item.name: _value(item) for item in parameters if item.name in self._declarations}
        if not ours:  # a parameter of rclpy, as each QoS override is
            return self.settings
        candidate = build(type(self.settings), {**as_parameters(self.settings), **ours})
        self._check(candidate)
        return candidate


def _take_overrides(node: Node, known: dict[str, Declaration]) -> dict[str, object]:
    """Start values from files and command line; they are undeclared again, to be declared with descriptors."""
    values = {}
    for name, parameter in node.get_parameters_by_prefix("").items():
        if belongs_to_rclpy(name):
            continue
        values[name] = check_named(known, name, _value(parameter))
        node.undeclare_parameter(name)
    return values


def _descriptor(declaration: Declaration) -> ParameterDescriptor:
    # Ranges and types are enforced by Declaration.check, whose messages say more than rclpy's; the descriptor's
    # range and constraint text are for `ros2 param describe` and tools that draw sliders.
    descriptor = ParameterDescriptor(
        name=declaration.name,
        type=_PARAMETER_TYPES[declaration.kind, declaration.is_list].value,
        description=declaration.description,
        additional_constraints=f"must be {declaration.allowed()}",
        read_only=declaration.read_only,
        # rclpy takes an empty list for one of bytes, and would reject all others later.
        dynamic_typing=declaration.is_list and not declaration.read_only and not declaration.default,
    )
    if declaration.minimum is not None and declaration.maximum is not None:
        if declaration.kind is float:
            bounds = FloatingPointRange(from_value=float(declaration.minimum), to_value=float(declaration.maximum))
            descriptor.floating_point_range = [bounds]
        else:
            bounds = IntegerRange(from_value=int(declaration.minimum), to_value=int(declaration.maximum), step=1)
            descriptor.integer_range = [bounds]
    return descriptor


def _to_ros(declaration: Declaration, value: Any) -> Parameter:
    kind = _PARAMETER_TYPES[declaration.kind, declaration.is_list]
    return Parameter(declaration.name, kind, list(value) if declaration.is_list else value)


def _value(parameter: Parameter) -> object:
    value = parameter.value
    return list(value) if hasattr(value, "typecode") else value  # numeric arrays arrive as array.array


def _answer_malformed_requests(node: Node) -> None:
    """Make rclpy's parameter services reject a malformed request, which otherwise ends the node."""
    for service in node.services:
        if service.srv_type is SetParameters:
            service.callback = _guarded(service.callback, _reject_each)
        elif service.srv_type is SetParametersAtomically:
            service.callback = _guarded(service.callback, _reject_all)


def _guarded(callback: Callable[[Any, Any], Any], reject: Callable[[Any, Any, SetParametersResult], Any]) -> Any:
    def answer(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except (TypeError, ValueError) as error:  # e.g. an unknown value type
            return reject(request, response, rejected(SettingsError(f"malformed request: {error}")))

    return answer


def _reject_each(request: Any, response: Any, result: SetParametersResult) -> Any:
    done = len(response.results)
    response.results.extend(result for _ in request.parameters[done:])
    return response


def _reject_all(request: Any, response: Any, result: SetParametersResult) -> Any:
    response.result = result
    return response


def rejected(error: SettingsError) -> SetParametersResult:
    """The answer to a rejected set request."""
    return SetParametersResult(successful=False, reason=str(error))
