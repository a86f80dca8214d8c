"""Drawing: figures of regret, of the league and of explored data."""
