"""The report: one HTML file that says what held, from stored runs and the tasks they name."""
