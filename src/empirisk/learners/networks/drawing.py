"""Pictures of a network and of its training."""


class NetworkPictures:
    """Methods that draw."""
