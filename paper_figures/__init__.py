"""The papers' tables and figures, drawn from aggregated results alone."""
