"""Who is held out when: plans, how rows are dealt to folds, and what keeps together."""
