"""Workers and drivers that are killed with SIGKILL while a cluster trains: ``make test-cluster``."""
