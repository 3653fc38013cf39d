"""Programs that try to break the package; see the README."""

ATTACKS = (
    "same_bits",
    "same_counts",
    "kills",
    "interrupts",
    "forged_files",
    "forged_certificates",
    "mutated_files",
    "parsers",
    "odd_arrays",
    "full_disk",
    "power_loss",
)
