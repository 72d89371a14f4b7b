"""The book's modules with the parameters of a loaded model, and back."""
from . import _rapt
from ._nn_transformer import EncoderDecoder, TransformerDecoder, TransformerEncoder

# What differs between the names of the book's parameters and those of a model.
_WORDS = ((".blks.", "."), ("attention1.", "self_attention."), ("attention2.", "cross_attention."), ("addnorm", "norm"),
          (".ln.", "."), ("W_", ""), ("decoder.dense.", "decoder.output."))


def _name_in_model(name):
    for book, model in _WORDS:
        name = name.replace(book, model)
    return name


def _shared_name(name, parameters):
    """The name of the matrix that a model with tied matrices has in place of this one; None: it has none."""
    if name.endswith(("embedding.weight", "output.weight")):
        for other in ("decoder.embedding.weight", "encoder.embedding.weight", "embedding.weight", "decoder.output.weight"):
            if other in parameters:
                return other
    return None


def _check(value, kind, name, expected):
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")


def _architecture_of(model):
    """Sizes, activation, eps and bias of a loaded model."""
    from ._model import Model # which rapt.nn needs nowhere else
    _check(model, Model, "model", "a rapt.Model")
    return model._handle.book()


def _blocks(net):
    return (*net.encoder.blks, *net.decoder.blks)


def _norms(block):
    return [part for name, part in vars(block).items() if name.startswith("addnorm")]


def from_model(model):
    """The EncoderDecoder of a loaded translation model (Model.load), with copies of its parameters, in eval(): call train()
    before training it, for dropout.

    For ids of the model's tokenizers it computes what the model computes: net(sources, targets, valid_lens) are the logits. A
    model of rapt fits unless its recipe asks for another architecture than the book's, and so do Marian's models. Matrices that
    a model shares are copied to each place.

    InvalidValueError: the book's modules are not this model; the message says what they lack."""
    of = _architecture_of(model)
    common = {"use_bias": of["use_bias"], "max_len": of["max_len"]}
    net = EncoderDecoder(TransformerEncoder(of["source_vocab"], of["num_hiddens"], of["ffn"], of["heads"],
                                            of["layers"], of["dropout"], **common),
                         TransformerDecoder(of["target_vocab"], of["num_hiddens"], of["decoder_ffn"],
                                            of["decoder_heads"], of["decoder_layers"], of["dropout"], **common))
    for block in _blocks(net):
        block.ffn.activation = of["activation"]
        for norm in _norms(block):
            norm.ln.eps = of["eps"]
    parameters = model.parameters
    for part, prefix in ((net.encoder, "encoder"), (net.decoder, "decoder")):
        part.pos_encoding._table.assign(parameters[f"{prefix}.positions.table"])
    for name, parameter in net.named_parameters():
        own = _name_in_model(name)
        if own not in parameters:
            own = _shared_name(own, parameters)
        if own is None: # of the output, where the model adds no bias
            parameter.assign([0.0] * parameter.shape[0])
        else:
            parameter.assign(parameters[own])
    return net.eval()


def _architecture(net):
    """What shapes of parameters do not tell."""
    encoder, decoder = net.encoder.blks, net.decoder.blks
    return {"heads": [block.attention.num_heads for block in encoder],
            "decoder_heads": [attention.num_heads for block in decoder for attention in (block.attention1, block.attention2)],
            "activation": [block.ffn.activation for block in _blocks(net)],
            "eps": [norm.ln.eps for block in _blocks(net) for norm in _norms(block)]}


def to_model(net, model):
    """Writes the parameters of an EncoderDecoder of the book's modules, such as from_model returns, to a model of the same
    architecture that was loaded with trainable=True (Model.load, Run.model), which can then translate, be saved and exported. All
    or nothing.

    InvalidValueError: the model is another one, or shares matrices that differ in the net; ShapeError: the sizes differ."""
    _check(net, EncoderDecoder, "net", "a rapt.nn.EncoderDecoder")
    _check(net.encoder, TransformerEncoder, "net.encoder", "a rapt.nn.TransformerEncoder")
    _check(net.decoder, TransformerDecoder, "net.decoder", "a rapt.nn.TransformerDecoder")
    of, parameters, state = _architecture_of(model), model.parameters, {}
    for what, values in _architecture(net).items():
        for value in values:
            if value != of[what]:
                raise _rapt.InvalidValueError(f"the net's {what} is {value}, the model's {of[what]}")
    for name, parameter in net.named_parameters():
        own = _name_in_model(name)
        shared = own if own in parameters else _shared_name(own, parameters)
        if shared is None and own == "decoder.output.bias":
            if any(parameter.tolist()):
                raise _rapt.InvalidValueError(f"the model has no bias of the output; {name} is not zero")
            continue
        shared = shared or own # load_state_dict says that the model lacks it
        if shared in state and memoryview(state[shared]).tobytes() != memoryview(parameter).tobytes():
            raise _rapt.InvalidValueError(f"{name} differs from another matrix of the net; in the model they are one, {shared}")
        state[shared] = parameter
    state.update((name, parameters[name]) for name in parameters if name.endswith("positions.table"))
    model.load_state_dict(state)
