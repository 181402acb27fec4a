"""The coverage certificate: how often intervals contain the true risk, setting by setting."""
