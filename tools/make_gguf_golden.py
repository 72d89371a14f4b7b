#!/usr/bin/env python3
"""Write tests/golden/gguf/: models as GGUF files by llama.cpp's own converter, for tests/io/test_gguf_model.c.

For whoever changes how GGUF files are read. Not needed to build or test: the files are in the project.

    python3 tools/make_gguf_golden.py [-o FOLDER] LLAMA_CPP [NAME...]

LLAMA_CPP is a folder of llama.cpp's sources, as the package llama-cpp-python has it in vendor/llama.cpp; needs torch, transformers,
tokenizers, safetensors, sentencepiece and protobuf, too.

NAME.gguf         convert_hf_to_gguf.py --outtype auto of tests/golden/hub/NAME, or of hub_translation/t5, whose
                  expected.safetensors has what transformers computes; or of a model of this script's own, with
NAME.safetensors  the same of it
mixed.gguf        a model with matrices in all formats of blocks: those that the gguf package quantizes, and random blocks of
                  256; what transformers computes is with the numbers that the package makes of the blocks
pieces.json       texts, and the ids that sentencepiece gives them with the models in pieces.gguf ("llama") and t5.gguf ("t5");
                  bpe.json the same of the package tokenizers and bpe.gguf ("gpt2" with the label of Llama 3)

The converter knows a tokenizer by the ids of a text; those of the small tokenizers here it does not know, so it is told.
"""
import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, Gemma2Config, Gemma3TextConfig, GPT2Config, GPTNeoXConfig, LlamaConfig, Qwen2Config

import make_hub

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
# of architectures that GGUF has, and of few bytes
HUB = ["llama_heads", "llama_yarn", "qwen3", "gemma", "phi3", "phi3_long", "granite", "starcoder2"]


def llama_of(**sizes):
    return LlamaConfig(**{**make_hub.LLAMA, "tie_word_embeddings": True, "num_hidden_layers": 1, **sizes})


OWN = {
    # as the converter wants it: four times as wide within
    "gpt2": GPT2Config(vocab_size=make_hub.VOCAB, n_positions=64, n_embd=32, n_layer=1, n_head=2, bos_token_id=256, eos_token_id=257),
    # small ones of what is large in tests/golden/hub
    "llama3": LlamaConfig(**make_hub.TINY, tie_word_embeddings=True, rope_theta=500000.0, rope_scaling=make_hub.LLAMA3),
    "qwen2": Qwen2Config(**make_hub.TINY, rope_theta=1e6),
    # what the converter does not write as readers take it for granted: the base of positions, what scores are divided by, windows
    "gpt_neox": GPTNeoXConfig(**make_hub.NEOX, rotary_pct=0.5),
    "gemma2": Gemma2Config(**make_hub.TINY, head_dim=10, sliding_window=9, query_pre_attn_scalar=10, attn_logit_softcapping=2.0,
                           final_logit_softcapping=3.0),
    "gemma3": Gemma3TextConfig(**{**make_hub.TINY, "hidden_size": 12, "intermediate_size": 16, "num_hidden_layers": 7}, head_dim=10,
                               sliding_window=9, query_pre_attn_scalar=10, **make_hub.GEMMA3_ROPE),
    # rows of whole blocks of 256
    "mixed": llama_of(hidden_size=256, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
                      head_dim=16),
    # for their tokenizers
    "pieces": llama_of(hidden_size=8, intermediate_size=8, num_attention_heads=1, num_key_value_heads=1, vocab_size=420,
                       bos_token_id=1, eos_token_id=2),
    "bpe": llama_of(hidden_size=8, intermediate_size=8, num_attention_heads=1, num_key_value_heads=1, vocab_size=420,
                    bos_token_id=418, eos_token_id=419),
}
TOKENIZERS = {"pieces", "bpe"}
LABELS = {"bpe": "llama-bpe"}
TEXTS = ["", "Hello world", " two  spaces ", "the tokens\tof a text\n\nand 12345 numbers", "naïve café ½ ﬁ Ａ", "日本語 и кириллица", "a🙂b"]
# MATRIX: its format, and whether its rows belong to queries or keys, which the converter moves
MIXED = {"model.embed_tokens": "Q4_K"}
for layer, formats in enumerate(["Q4_K Q5_K Q6_K Q8_0 Q4_0 Q4_1 Q5_0", "Q6_K Q4_0 Q5_1 Q4_0 Q5_K Q8_0 Q5_1"]):
    matrices = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
                "mlp.down_proj"]
    MIXED |= {f"model.layers.{layer}.{matrix}": name for matrix, name in zip(matrices, formats.split())}


def load_converter(llama_cpp):
    sys.path[:0] = [str(llama_cpp / "gguf-py"), str(llama_cpp)]
    from conversion import base
    base.TextModel.get_vocab_base_pre = lambda self, tokenizer: LABELS.get(self.dir_model.name, "gpt-2")
    load = base.ModelBase.load_hparams  # it takes what transformers' classes keep of config.json
    base.ModelBase.load_hparams = staticmethod(lambda folder, *rest, **names: {
        **json.loads((Path(folder) / "config.json").read_text()), **load(folder, *rest, **names)})
    transformers.AutoTokenizer.from_pretrained = transformers.PreTrainedTokenizerFast.from_pretrained  # classes add tokens


def write_byte_level(folder):
    """256 bytes, the two special tokens of the models' configurations, and a merge."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: i for i, letter in enumerate(letters)} | {"<|begin|>": 256, "<|end|>": 257, "\u0120t": 258}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("\u0120", "t")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|begin|>", "<|end|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = dict(tokenizer_class="PreTrainedTokenizerFast", bos_token="<|begin|>", eos_token="<|end|>")
    (folder / "tokenizer_config.json").write_text(json.dumps(names))


def write_pieces(folder):
    """A SentencePiece model of special pieces and bytes alone, for the classes that know no other tokenizers."""
    from sentencepiece import sentencepiece_model_pb2 as proto
    model = proto.ModelProto()
    special = [("<unk>", 2), ("<s>", 3), ("</s>", 3)] if "phi3" in folder.name else [("<pad>", 3), ("<eos>", 3), ("<unk>", 2)]
    for piece, kind in special + [(f"<0x{i:02X}>", 6) for i in range(256)]:
        model.pieces.add(piece=piece, score=0.0, type=kind)
    model.trainer_spec.model_type = proto.TrainerSpec.BPE
    model.trainer_spec.byte_fallback = True
    (folder / "tokenizer.model").write_bytes(model.SerializeToString())
    (folder / "tokenizer.json").unlink(missing_ok=True)
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(tokenizer_class="LlamaTokenizer")))


def read_texts():
    return (GOLDEN.parent.parent / "docs" / "files.md").read_text()[:20000]


def train_pieces(folder, name, **options):
    import io
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
    model = io.BytesIO()
    SentencePieceTrainer.train(sentence_iterator=iter(read_texts().splitlines()), model_writer=model, minloglevel=2, num_threads=1,
                               hard_vocab_limit=True, **options)
    (folder / name).write_bytes(model.getvalue())
    return SentencePieceProcessor(model_proto=model.getvalue())


def write_llama_pieces(folder, target):
    """BPE with bytes, a token of users' own, and a chat template."""
    pieces = train_pieces(folder, "tokenizer.model", model_type="bpe", vocab_size=419, byte_fallback=True, character_coverage=0.98,
                          normalization_rule_name="identity", remove_extra_whitespaces=False)
    names = dict(tokenizer_class="LlamaTokenizer", bos_token="<s>", eos_token="</s>",
                 added_tokens_decoder={"419": dict(content="@turn@", special=False)},
                 chat_template="{% for m in messages %}@turn@{{ m['content'] }}{% endfor %}")
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    ids = {text: [1] + pieces.encode(text) for text in TEXTS}
    (target / "pieces.json").write_text(json.dumps(ids, indent=1) + "\n")


def write_t5_pieces(folder, target):
    """Unigram; the model of the golden folder has 261 tokens, of which these are special."""
    (folder / "tokenizer.json").unlink(missing_ok=True)
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(tokenizer_class="T5Tokenizer")))
    rules = {"\ufb01": "fi", "\uff21": "A", "\u00bd": "1 2", "\t": " "}  # a small part of what nmt_nfkc has
    lines = ["\t".join(" ".join(f"{ord(c):X}" for c in text) for text in rule) + "\n" for rule in rules.items()]
    (folder / "rules.tsv").write_text("".join(lines))
    pieces = train_pieces(folder, "spiece.model", normalization_rule_tsv=str(folder / "rules.tsv"), model_type="unigram", vocab_size=261, bos_id=0, pad_id=1, eos_id=2, unk_id=3,
                          character_coverage=0.99)
    ids = {text: pieces.encode(text) + [2] for text in TEXTS}
    (target / "t5.json").write_text(json.dumps(ids, indent=1) + "\n")


def write_bpe(folder, target):
    """Byte-level BPE as Llama 3 has it: a piece that is a token is this one, whatever the merges are."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([read_texts()], trainers.BpeTrainer(
        vocab_size=418, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = dict(tokenizer_class="PreTrainedTokenizerFast", bos_token="<|begin_of_text|>", eos_token="<|eot_id|>")
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    ids = {text: [418] + tokenizer.encode(text).ids for text in TEXTS + ["<|eot_id|> the end"]}
    (target / "bpe.json").write_text(json.dumps(ids, indent=1) + "\n")


def move_rows(rows, heads, back):
    """Of a matrix whose rows are features of heads: (2, half) as (half, 2), or back."""
    shape = (heads, -1, 2, rows.shape[-1]) if back else (heads, 2, -1, rows.shape[-1])
    return rows.reshape(shape).swapaxes(1, 2).reshape(rows.shape)


def blocks_of(rows, name, generator):
    """A matrix in a format: its own numbers, or, where the package does not quantize, random ones of a like size."""
    import gguf
    kind = gguf.GGMLQuantizationType[name]
    if not name.endswith("_K"):
        return gguf.quants.quantize(rows, kind)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = generator.integers(0, 256, (rows.size // elements, size)).astype(np.uint8)
    scale = 0.2 / (15 if name != "Q6_K" else 31) / 30 if name != "Q6_K" else 0.2 / 31 / 64
    for at in [208] if name == "Q6_K" else [0, 2]:  # minima of about the middle
        step = scale * (1 if at != 2 else 7 if name == "Q4_K" else 15)
        blocks[:, at:at + 2] = np.full((len(blocks), 1), step, "<f2").view(np.uint8)
    return blocks.reshape(len(rows), -1)


def quantize_mixed(model):
    """Gives the matrices numbers of blocks, and returns the blocks as they will lie in the file, by the names there."""
    import gguf
    generator, blocks = np.random.default_rng(5), {}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2)
    for name, kind in MIXED.items():
        weight = model.get_submodule(name).weight
        heads = {"q_proj": 2, "k_proj": 1}.get(name.split(".")[-1])
        rows = weight.detach().numpy()
        made = blocks_of(move_rows(rows, heads, False) if heads else rows, kind, generator)
        numbers = gguf.quants.dequantize(made, gguf.GGMLQuantizationType[kind])
        weight.data = torch.from_numpy(move_rows(numbers, heads, True) if heads else numbers).clone()
        blocks[names.get_name(name) + ".weight"] = (made, gguf.GGMLQuantizationType[kind])
    return blocks


def replace_tensors(path, blocks):
    """Writes a GGUF file again, with blocks in place of some tensors."""
    import gguf
    reader = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(path.with_suffix(".new"), "llama")
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            kind = field.types[0]
            writer.add_key_value(field.name, field.contents(), kind, field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        data, kind = blocks.get(tensor.name, (tensor.data, tensor.tensor_type))
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    path.with_suffix(".new").replace(path)


def write_own(name, folder, target):
    """A model folder, and its golden text and logits; the blocks that are to be in its file."""
    model = AutoModelForCausalLM.from_config(OWN[name], attn_implementation="eager").eval()
    make_hub.randomize(model, len(name))
    blocks = quantize_mixed(model) if name == "mixed" else {}
    model.to(torch.float32 if blocks else torch.bfloat16).save_pretrained(folder)
    if name not in TOKENIZERS:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        expected = make_hub.expected(model, 7)
        save_file({"ids": expected["ids"], "logits": expected["logits"][-4:].contiguous(), "error": expected["error"]},
                  target / f"{name}.safetensors")
        (target / f"{name}.safetensors").chmod(0o644)
    return blocks


def prepare(name, folder, target):
    """The folder of a model with what the converter asks for; the blocks that are to be in its file."""
    blocks = {}
    if name in OWN:
        blocks = write_own(name, folder, target)
    else:
        shutil.copytree(GOLDEN / ("hub_translation" if name == "t5" else "hub") / name, folder)
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] == "gpt2":
        config["n_ctx"] = config["n_positions"]  # transformers 5 does not write it
    if config["model_type"] == "gpt_neox":
        config["rotary_pct"] = config["rope_parameters"]["partial_rotary_factor"]
    (folder / "config.json").write_text(json.dumps(config))
    if name in ("pieces", "t5", "bpe"):
        {"pieces": write_llama_pieces, "t5": write_t5_pieces, "bpe": write_bpe}[name](folder, target)
    elif config["model_type"] in ("gemma", "gemma2", "phi3"):
        write_pieces(folder)
    else:
        write_byte_level(folder)
    return blocks


def convert(source, target, blocks):
    """Runs the converter in this process, which has its modules."""
    import convert_hf_to_gguf
    sys.argv = ["convert_hf_to_gguf.py", str(source), "--outfile", str(target), "--outtype", "auto"]
    convert_hf_to_gguf.main()
    if blocks:
        replace_tensors(target, blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("llama_cpp", type=Path, metavar="LLAMA_CPP")
    parser.add_argument("-o", type=Path, default=GOLDEN / "gguf", metavar="FOLDER")
    parser.add_argument("names", nargs="*", default=HUB + ["t5", *OWN])
    args = parser.parse_args()
    args.o.mkdir(parents=True, exist_ok=True)
    load_converter(args.llama_cpp)
    with tempfile.TemporaryDirectory() as work:
        for name in args.names:
            blocks = prepare(name, Path(work) / name, args.o)
            convert(Path(work) / name, args.o / f"{name}.gguf", blocks)


if __name__ == "__main__":
    main()
