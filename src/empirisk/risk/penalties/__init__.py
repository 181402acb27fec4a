"""The training error and what must be added to it: optimism, degrees of freedom, criteria."""
