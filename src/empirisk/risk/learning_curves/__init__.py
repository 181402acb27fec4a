"""The risk as rows or features are added: learning curves, what they tend to, double descent."""
