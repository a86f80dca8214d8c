"""What a problem is: guards, labels, rewards, machines, labelled MDPs, tasks."""
