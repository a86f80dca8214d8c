"""Tasks: labelled MDPs, tasks, what a learner may know of one, and the explicit product."""
