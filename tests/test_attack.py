"""Some trials of every attack, always the same; and whether what makes trials sees what breaks."""

import time

import pytest

from attack import ATTACKS, campaign
from attack.campaign import finding_line, run_trials
from helpers.planted_faults import NAME, trial_of

TRIALS = {
    "mutated_files": 1500,
    "kills": 6,
    "interrupts": 25,
    "forged_certificates": 40,
    "same_bits": 150,
    "same_counts": 100,
    "same_family": 40,
    "exports": 150,
    "shared_cache": 20,
    "kernel_cache": 15,
    "stopped_commands": 15,
    "changed_files": 60,
    "escapes": 100,
    "full_disk": 30,
    "power_loss": 30,
    "killed_servers": 8,
    "killed_watches": 8,
    "odd_requests": 5,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_breaks(name):
    trials = TRIALS.get(name, 300)
    done, findings = run_trials(name, 0, 600, most=trials)
    assert not findings, "\n".join(findings)
    assert done == trials


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("difference", "a difference"),
        ("exception", "unexpected KeyError('planted')"),
        ("segfault", "ended with status -11"),
        ("endless", "no end after 3 seconds"),
        ("much memory", "memory grew by 1."),
        ("more memory than there may be", "unexpected MemoryError"),
    ],
)
def test_planted_faults_are_found(fault, words):
    number = trial_of(fault)
    done, findings = run_trials(NAME, number, 0, most=1, longest=3.0 if fault == "endless" else 60.0)
    assert done == (fault not in ("segfault", "endless"))
    assert len(findings) == 1
    assert findings[0].startswith(f"FINDING  make attack ONLY={NAME} TRIAL={number}  ")
    assert words in findings[0]


def test_healthy_trials_are_counted():
    assert run_trials(NAME, trial_of("nothing"), 0, most=1) == (1, [])


def test_a_campaign_shares_the_time_and_tells_findings(monkeypatch):
    made, told = [], []

    def run_trials(name, first, seconds):
        made.append(name)
        time.sleep(0.005)
        return 3, [finding_line(name, first, "a difference\nin detail")] if name == "b" else []

    monkeypatch.setattr(campaign, "run_trials", run_trials)
    records = campaign.run_campaign(["a", "b"], 7, 1.0, jobs=1, tell=told.append)
    assert set(made[:2]) == {"a", "b"}
    assert told[0] == "FINDING  make attack ONLY=b TRIAL=7  a difference"
    assert len(told) == len(records["b"].findings) == campaign.ENOUGH
    assert records["a"].trials == 3 * made.count("a") > records["b"].trials
