"""Rows of the topic table for simulation_interfaces: services and the action, with the features that they make true.

A service is called after its type, as `simulation/get_entities`; the standard fixes no names.
"""

from __future__ import annotations

import re
from typing import Final

from proving_ground.interfaces.topic import Action, Service

PACKAGE: Final = "simulation_interfaces"
NODE: Final = "simulation"  # in the vehicle node's process, with a thread of its own: steps and worlds take long
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def message_type(name: str) -> str:
    """ROS type of a message of the package.

    >>> message_type("Bounds")
    'simulation_interfaces/msg/Bounds'
    """
    return f"{PACKAGE}/msg/{name}"


def handler_name(type_name: str) -> str:
    """Name of a type in snake case, which is that of its service and of the function that serves it.

    >>> handler_name("simulation_interfaces/srv/GetEntityState")
    'get_entity_state'
    """
    return _WORD.sub("_", type_name.rpartition("/")[2]).lower()


def _service(kind: str, text: str, *features: str) -> Service:
    name = f"simulation/{handler_name(kind)}"
    return Service(name=name, type=f"{PACKAGE}/srv/{kind}", node=NODE, text=text, features=features)


SIMULATION_SERVICES: Final = (
    _service("GetSimulatorFeatures", "codes of what works, and the format that can be spawned"),
    _service("GetSimulationState", "stopped, playing, paused or loading a world", "SIMULATION_STATE_GETTING"),
    _service(
        "SetSimulationState", "stops (paused and reset), plays, pauses, or ends the process",
        "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE",
    ),
    _service(
        "ResetSimulation", "time back to the start, state as by `simulation/reset`, spawned obstacles removed, or all",
        "SIMULATION_RESET", "SIMULATION_RESET_TIME", "SIMULATION_RESET_STATE", "SIMULATION_RESET_SPAWNED",
    ),
    _service(
        "StepSimulation", "steps of 10 ms while paused; answers after the last one",
        "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE",
    ),
    _service(
        "GetEntities", "names of the vehicle and of spawned obstacles, filtered", "ENTITY_TAGS", "ENTITY_CATEGORIES",
        "ENTITY_BOUNDS", "ENTITY_BOUNDS_BOX",
    ),
    _service("GetEntitiesStates", "poses and twists of the same", "ENTITY_STATE_GETTING"),
    _service("GetEntityState", "true pose and twist in `map`"),
    _service(
        "SetEntityState", "moves the vehicle, at rest or rolling, on the ground; or an obstacle",
        "ENTITY_STATE_SETTING",
    ),
    _service("GetEntityInfo", "category, description, tags", "ENTITY_INFO_GETTING"),
    _service("SetEntityInfo", "replaces them", "ENTITY_INFO_SETTING"),
    _service("GetEntityBounds", "box around it, in its own axes"),
    _service("GetSpawnables", "what can be spawned, with its size", "SPAWNABLES"),
    _service("SpawnEntity", "puts up a box or a cylinder", "SPAWNING", "SPAWNING_RESOURCE_STRING"),
    _service("SpawnEntities", "several at once", "SPAWNING_ENTITIES"),
    _service("DeleteEntity", "removes a spawned obstacle", "DELETING"),
    _service("GetNamedPoses", "start and goal of the world", "NAMED_POSES"),
    _service("GetNamedPoseBounds", "box that the vehicle covers there", "POSE_BOUNDS"),
    _service("GetAvailableWorlds", "worlds of config/worlds and of given folders", "AVAILABLE_WORLDS", "WORLD_TAGS"),
    _service("GetCurrentWorld", "the world that the vehicle is in", "WORLD_INFO_GETTING"),
    _service("LoadWorld", "another world, in the state stopped; sensors, planner and map follow", "WORLD_LOADING"),
)  # fmt: skip
SIMULATE_STEPS: Final = Action(
    name="simulation/simulate_steps", type=f"{PACKAGE}/action/SimulateSteps", node=NODE,
    text="as `simulation/step_simulation`, with feedback after each step; can be cancelled",
    features=("STEP_SIMULATION_ACTION",),
)  # fmt: skip
