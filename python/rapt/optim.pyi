from collections.abc import Iterable
from typing import Any, Literal

from .nn import Parameter

__all__ = ["Adam", "AdamW", "Muon", "SGD"]

class Optimizer:
    lr: float
    params: tuple[Parameter, ...]
    def __init__(self, params: Iterable[Parameter], lr: float, kind: Literal["adam", "muon", "sgd"],
                 options: dict[str, Any]) -> None: ...
    def step(self) -> None: ...
    def zero_grad(self) -> None: ...
    def clip(self, max_norm: float) -> float: ...

class Adam(Optimizer):
    def __init__(self, params: Iterable[Parameter], lr: float = 0.001, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8) -> None: ...

class AdamW(Optimizer):
    def __init__(self, params: Iterable[Parameter], lr: float = 0.001, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0.01) -> None: ...

class Muon(Optimizer):
    def __init__(self, params: Iterable[Parameter], lr: float = 0.001, weight_decay: float = 0.1, momentum: float = 0.95,
                 nesterov: bool = True, ns_steps: int = 5,
                 adjust_lr: Literal["match_rms_adamw", "original"] = "original") -> None: ...

class SGD(Optimizer):
    def __init__(self, params: Iterable[Parameter], lr: float, momentum: float = 0.0, weight_decay: float = 0.0,
                 nesterov: bool = False) -> None: ...
