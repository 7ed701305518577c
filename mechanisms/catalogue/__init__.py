"""The mechanisms: one file each, or one per family that shares a calibration."""
