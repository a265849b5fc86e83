"""Campaigns whose runs go on from a checkpoint of their base."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proving_ground.campaigns.kit import load_kit, prepared
from proving_ground.campaigns.perform import perform
from proving_ground.campaigns.plan import Plan
from proving_ground.campaigns.repeat import task_of_run
from proving_ground.campaigns.store import load_results
from proving_ground.report.lock_step_run import Outputs
from proving_ground.report.lock_step_run import perform as repeat
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings import SettingsError
from some_campaigns import command
from written_campaigns import BASE, CAMPAIGN, write

QUICK = BASE.replace("speed_mps: 5.0", "speed_mps: 5.0, acceleration_mps2: 10.0")
FROM_CHECKPOINT = CAMPAIGN.replace("runs: 64", "checkpoint: begun.checkpoint\nruns: 3")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The campaign, and a checkpoint of its base after 0.4 s."""
    path = write(tmp_path, FROM_CHECKPOINT, QUICK)
    runner = LockStep(load_scenario(tmp_path / "base.yaml"))
    runner.advance_to(40)
    (tmp_path / "begun.checkpoint").write_bytes(runner.save())
    return path


def test_runs_share_what_was_before_the_checkpoint_and_differ_after(made: Path) -> None:
    kit = load_kit(made)
    plan = Plan(kit.campaign)
    histories = []
    for number in range(plan.runs):
        ready = prepared(kit, plan.job(number))
        runner = LockStep(ready.scenario, parameters=ready.parameters, world=ready.world)
        assert kit.checkpoint is not None
        runner.restore(kit.checkpoint, changed=True)
        histories.append(runner.run().history)
        row = perform(kit, plan.job(number))
        assert row["metric.speed_mps.end"] == pytest.approx(np.linalg.norm(histories[-1]["velocity"][-1]), abs=1e-3)

    assert len({history[:40].tobytes() for history in histories}) == 1
    assert len({history.tobytes() for history in histories}) == plan.runs


def test_a_campaign_with_a_checkpoint_runs_and_its_runs_can_be_repeated(made: Path) -> None:
    folder = made.parent / "results"
    assert command("run", str(made), "--workers", "1", "--out", str(folder)) == 0

    table = load_results(folder)
    assert repeat(task_of_run(folder, 1), Outputs(made.parent / "again", with_pictures=False)) == 0
    last = np.genfromtxt(made.parent / "again" / "history.csv", delimiter=",", names=True)[-1]

    assert table is not None
    assert last["x_m"] > 0.0
    (made.parent / "begun.checkpoint").write_bytes(b"another")
    with pytest.raises(SettingsError, match="checkpoint"):
        task_of_run(folder, 1)


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        (
            QUICK.replace("low_cost", "rtk"),
            "begun.checkpoint: checkpoint: does not fit: the settings of gps must be",
        ),
        (QUICK.replace("duration_s: 1.0", "duration_s: 0.3"), "is of 0.4 s, but the run ends at 0.3 s"),
    ],
)
def test_a_checkpoint_of_another_base_is_rejected(made: Path, base: str, reason: str) -> None:
    (made.parent / "base.yaml").write_text(base)

    with pytest.raises(SettingsError, match=reason):
        load_kit(made)


def test_a_missing_checkpoint_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"begun\.checkpoint: No such file"):
        load_kit(write(tmp_path, FROM_CHECKPOINT, QUICK))
