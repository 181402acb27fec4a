"""Networks of PyTorch for benchmarks/torch_peer.py: python torch_server.py FOLDER

FOLDER has X.npy and y.npy, the rows to fit, and new.npy and target.npy, others to judge by. Each
line asked is JSON, and so is each answer: "fit" trains a network, keeps it under a name and answers
with the seconds that it took here; "score" and "log_loss" judge a network that was kept; "memory"
answers with the peak of the memory of this process, and with what it was before it trained.
"""

import json
import sys
import time
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

torch: Any = import_module("torch")
nn: Any = torch.nn


def perceptron(p: int) -> Any:
    """Two hidden layers of 100 units, one output."""
    return nn.Sequential(
        nn.Linear(p, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 1)
    )


def lenet(p: int) -> Any:
    """LeNet-5 with maxima and rectifiers, for pictures of 28 x 28."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def glorot(model: Any) -> None:
    """Weights and biases uniform within ±sqrt(6 / (inputs + outputs)), the law of ours."""
    for layer in model:
        if hasattr(layer, "weight"):
            shape = layer.weight.shape
            bound = (6.0 / (prod(shape[1:]) + shape[0] * prod(shape[2:]))) ** 0.5
            nn.init.uniform_(layer.weight, -bound, bound)
            nn.init.uniform_(layer.bias, -bound, bound)


class Server:
    """The data as tensors, and the networks that were trained on them."""

    def __init__(self, folder: Path) -> None:
        self.data = {
            name: torch.from_numpy(np.load(folder / f"{name}.npy"))
            for name in ("X", "y", "new", "target")
        }
        self.models: dict[str, Any] = {}
        self.before = 0

    def fit(
        self, name: str, net: str, epochs: int, batch: int, threads: int,
        fused: bool = False, layout: str = "contiguous", seed: int = 0,
    ) -> float:  # fmt: skip
        """Train by Adam, 1e-3; rows are tensors in their layout before the clock starts."""
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        X, y = self.rows("X", net, layout), self.data["y"]
        self.before = self.before or resident("VmRSS")
        begun = time.perf_counter()
        model = (lenet if net == "lenet" else perceptron)(X.shape[1])
        glorot(model)
        if layout == "channels_last":
            model = model.to(memory_format=torch.channels_last)
        loss = nn.CrossEntropyLoss() if net == "lenet" else nn.BCEWithLogitsLoss()
        adam = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused or None)
        for _ in range(epochs):
            for few in torch.randperm(len(X)).split(batch):
                adam.zero_grad()
                out = model(X[few])
                loss(out if net == "lenet" else out[:, 0], y[few]).backward()
                adam.step()
        self.models[name] = model
        return time.perf_counter() - begun

    def rows(self, which: str, net: str, layout: str = "contiguous") -> Any:
        """Rows as the network wants them; in another layout they stay so."""
        X = self.data[which]
        if net == "lenet" and X.ndim == 2:
            X = X.view(-1, 1, 28, 28)
        if layout == "channels_last":
            X = X.contiguous(memory_format=torch.channels_last)
        self.data[which] = X
        return X

    def score(self, name: str) -> float:
        """The share of new rows whose class is the one with the largest output."""
        with torch.no_grad():
            out = torch.cat(
                [self.models[name](few) for few in self.rows("new", "lenet").split(1000)]
            )
        return float((out.argmax(dim=1) == self.data["target"]).double().mean())

    def log_loss(self, name: str) -> float:
        """The mean of -log p(y) over new rows, two classes."""
        with torch.no_grad():
            out = self.models[name](self.data["new"])[:, 0].double()
        return float(nn.BCEWithLogitsLoss()(out, self.data["target"].double()))

    def memory(self) -> tuple[int, int]:
        """Bytes: the peak of this process, and what it had before the first training."""
        return resident("VmHWM"), self.before


def resident(which: str) -> int:
    """Bytes of this process in memory: VmRSS now, VmHWM at the peak (Linux only)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(dict(line.split(":") for line in lines)[which].split()[0]) * 1024


def main() -> None:
    """Answer until nobody asks."""
    server = Server(Path(sys.argv[1]))
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(getattr(server, asked.pop("do"))(**asked)), flush=True)


if __name__ == "__main__":
    main()
