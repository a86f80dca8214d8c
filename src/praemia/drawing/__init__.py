"""Drawing: figures of regret, diagrams of machines, maps of tasks."""
