"""What can be proved about data and runs: margins, verdicts, bounds, linear programs, VC dimension."""
