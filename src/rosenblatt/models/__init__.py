"""What learning leaves behind, as plain data: weights and counters, voters, the report of a run."""

from rosenblatt.models.ballots import Ballots
from rosenblatt.models.machines import Machines
from rosenblatt.models.report import Report

__all__ = ["Ballots", "Machines", "Report"]
