"""Some trials of every attack, always the same; and whether what makes trials sees what breaks."""

import pytest

from attack import ATTACKS
from attack.campaign import run_campaign, run_trials
from helpers.planted_faults import NAME, trial_of

TRIALS = {"kills": 6, "interrupts": 25, "forged_certificates": 40, "same_bits": 150, "full_disk": 30, "power_loss": 30}


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
        ("exception", "nothing expected KeyError('planted')"),
        ("segfault", "ended with status -11"),
        ("endless", "no end after 3 seconds"),
        ("much memory", "memory grew by 1."),
        ("more memory than there may be", "nothing expected MemoryError"),
    ],
)
def test_planted_faults_are_found(fault, words):
    number = trial_of(fault)
    done, findings = run_trials(NAME, number, 0, most=1, longest=3.0)
    assert done == (fault not in ("segfault", "endless"))
    assert len(findings) == 1
    assert findings[0].startswith(f"FINDING  make attack ONLY={NAME} TRIAL={number}  ")
    assert words in findings[0]


def test_healthy_trials_are_counted():
    assert run_trials(NAME, trial_of("nothing"), 0, most=1) == (1, [])


def test_a_campaign_shares_the_time_and_tells_findings():
    told = []
    number = trial_of("difference")
    records = run_campaign([NAME], number, 0.1, jobs=1, tell=told.append)
    assert records[NAME].trials >= 1
    assert len(told) == len(records[NAME].findings)
    assert f"TRIAL={number}  a difference" in told[0]
