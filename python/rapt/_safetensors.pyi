from ._model import Model
from ._rapt import Array

def exported(model: Model) -> dict[str, Array]: ...
