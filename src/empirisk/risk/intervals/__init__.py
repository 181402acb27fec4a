"""From held-out losses to an interval, what it does not guarantee, and how often it covers."""
