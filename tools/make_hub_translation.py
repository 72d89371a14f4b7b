#!/usr/bin/env python3
"""Write tests/golden/hub_translation/: small encoder-decoders of Hugging Face's families, and what they compute, for
tests/io/test_hub_translation.c.

For whoever adds a family. Not needed to build or test: the folders are in the project.

    python3 tools/make_hub_translation.py [-o FOLDER] NAME...     needs torch, transformers and sentencepiece. Names that end in
                                                                  _4 are made by transformers 4.57, the others by 5.23

Each NAME/ is a model folder: random weights of a wide range, so that no logit decides by noise, and random norms, biases and output
biases, so that one that is dropped shows. NAME/expected.safetensors has, for each sentence I = 0 .. 2,
    source.I [n]             ids of a text, with the end
    target.I [8]             ids that the decoder is given, the first is its start
    encoder.I [n, d_model]   the encoder's output, computed in float64
    logits.I [vocab]         of the last target, in float64
    greedy.I [12]            the best tokens one after the other, in float64, but for pad, end and those that were there before
and
    encoder_error, error []  the largest distance of the float32 model from encoder.I and logits.I
    margin []                the least distance of the best two logits of greedy.I
Two files are written by --texts, with the models and tokenizers that are there: specials.json has for each NAME the ids of texts that
hold special tokens, long.json what generate() makes of a long text, for T5 and its kin. NAME/expected.json has the texts of the sentences, and what generate() makes of them with the settings of the folder: with one
beam ("greedy") and as it is ("beams"), ids with the start, text, and sequences_scores.
"""
import argparse
import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (AutoModelForSeq2SeqLM, BartConfig, GenerationConfig, M2M100Config, MBartConfig, MarianConfig,
                          MarianTokenizer, MT5Config, PegasusConfig, PreTrainedTokenizerFast, T5Config, UMT5Config)

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "golden" / "hub_translation"
TARGETS, GREEDY = 8, 12
TEXTS = [">>deu<< I want to buy a horse on Saturday.", "The cat", "Tom asked Mary why she was late for the meeting, didn't he?"]
SPECIALS = ["hello </s> world", "hello</s>world", "</s> hello", "a <unk><pad></s> b", "hello de_DE world", "hello <s> world",
            "hello <extra_id_0> world", "hello  <mask>  world", ">>deu<< a </s> b", ">>deu<<</s>>>fra<< b", "</s>", "</s", "a </s"]

SIZES = dict(encoder_layers=2, decoder_layers=1, encoder_attention_heads=3, decoder_attention_heads=2, encoder_ffn_dim=20,
             decoder_ffn_dim=28, d_model=12, max_position_embeddings=64)
MARIAN = dict(**SIZES, vocab_size=524, pad_token_id=523, decoder_start_token_id=523, eos_token_id=0, scale_embedding=True)
GENERATION = dict(num_beams=4, max_length=24, forced_eos_token_id=0, bad_words_ids=[[523]], renormalize_logits=True,
                  decoder_start_token_id=523, pad_token_id=523, eos_token_id=0)

# <s> <pad> </s> <unk>, bytes, two languages
BYTES = dict(**{**SIZES, "max_position_embeddings": 80}, vocab_size=264, bos_token_id=0, pad_token_id=1, eos_token_id=2)
BYTES_GENERATION = dict(num_beams=3, max_length=24, decoder_start_token_id=2, pad_token_id=1, eos_token_id=2, no_repeat_ngram_size=2)
T5 = dict(vocab_size=266, d_model=12, d_kv=5, d_ff=20, num_layers=3, num_decoder_layers=2, num_heads=3, pad_token_id=1,
          eos_token_id=2, decoder_start_token_id=1, relative_attention_num_buckets=8, relative_attention_max_distance=20)
T5_GENERATION = {**BYTES_GENERATION, "decoder_start_token_id": 1}

MODELS = {
    "marian": dict(config=lambda: MarianConfig(**MARIAN, activation_function="swish"),
                   generation={**GENERATION, "no_repeat_ngram_size": 2}, tokenizer="marian"),
    "marian_4": dict(config=lambda: MarianConfig(**{**MARIAN, "decoder_layers": 3, "encoder_layers": 1}, activation_function="relu",
                                                 share_encoder_decoder_embeddings=False, decoder_vocab_size=524),
                     generation=GENERATION, tokenizer="marian", bin=True),
    "pegasus": dict(config=lambda: PegasusConfig(**{**BYTES, "pad_token_id": 1}, activation_function="relu", scale_embedding=True,
                                                 decoder_start_token_id=1),
                    generation={**BYTES_GENERATION, "decoder_start_token_id": 1}, tokenizer="$A </s>"),
    "bart": dict(config=lambda: BartConfig(**BYTES, decoder_start_token_id=2),
                 generation={**BYTES_GENERATION, "forced_bos_token_id": 0, "forced_eos_token_id": 2}, tokenizer="<s> $A </s>"),
    "mbart": dict(config=lambda: MBartConfig(**BYTES, activation_function="gelu_new"),
                  generation={**BYTES_GENERATION, "forced_bos_token_id": 261}, tokenizer="en_XX $A </s>"),
    "m2m_100": dict(config=lambda: M2M100Config(**BYTES, decoder_start_token_id=2),
                    generation={**BYTES_GENERATION, "forced_bos_token_id": 261}, tokenizer="en_XX $A </s>"),
    "t5": dict(config=lambda: T5Config(**T5), generation=T5_GENERATION, tokenizer="$A </s>", added=["<extra_id_0>"]),
    "t5_4": dict(config=lambda: T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False), generation=T5_GENERATION,
                 tokenizer="$A </s>", bin=True),
    "mt5": dict(config=lambda: MT5Config(**T5), generation=T5_GENERATION, tokenizer="$A </s>"),
    "umt5": dict(config=lambda: UMT5Config(**{**T5, "d_ff": 16}), generation=T5_GENERATION, tokenizer="$A </s>",
                 added=[AddedToken("<mask>", lstrip=True)]),
    "umt5_4": dict(config=lambda: UMT5Config(**{**T5, "num_layers": 2, "num_decoder_layers": 2}, feed_forward_proj="relu",
                                           tie_word_embeddings=False), generation=T5_GENERATION, tokenizer="$A </s>"),
    "m2m_100_4": dict(config=lambda: M2M100Config(**{**BYTES, "d_model": 15, "decoder_attention_heads": 5},
                                                  decoder_start_token_id=2, activation_function="gelu"),
                      generation={**BYTES_GENERATION, "forced_bos_token_id": 260}, tokenizer="en_XX $A </s>", bin=True),
}


def randomize(model, seed, config):
    """Norms around 1, biases around 0; layers that count for more than the embeddings, lest a token follows itself; no padding."""
    generator = torch.Generator().manual_seed(seed)
    tensors = list(model.named_parameters()) + [(n, b) for n, b in model.named_buffers() if n == "final_logits_bias"]
    for name, p in tensors:
        if "embed_positions" in name and not p.requires_grad:
            continue
        noise = torch.randn(p.shape, generator=generator)
        norm = ("norm" in name or name.split(".")[-2:-1] == ["layer_norm"]) and name.endswith("weight")
        embedding = "embed_tokens" in name or "shared" in name or "lm_head" in name
        p.data = 1 + 0.2 * noise if norm else (0.2 if embedding or noise.ndim == 1 else 0.6) * noise
        if "Attention.q." in name: # T5 does not scale scores: as it draws them
            p.data *= config.d_kv ** -0.5
        if embedding and "lm_head" not in name and config.pad_token_id is not None:
            p.data[config.pad_token_id] = 0


def other_order(vocabulary):
    """The ids of all but special tokens and languages, backwards, so that no piece is decoded with the other side's id."""
    kept = {"</s>", "<unk>", "<pad>"}
    pieces = [p for p in vocabulary if p not in kept and not p.startswith(">>")]
    return vocabulary | dict(zip(pieces, [vocabulary[p] for p in reversed(pieces)]))


def write_tokenizer(folder, kind, config, added=()):
    """Those of the tests of tokenizers."""
    if kind == "marian":
        source = ROOT / "tests" / "text" / "marian"
        for name in ("source.spm", "target.spm", "vocab.json"):
            shutil.copy(source / name, folder / name)
        if not config.share_encoder_decoder_embeddings:
            vocabulary = other_order(json.loads((source / "vocab.json").read_text()))
            (folder / "target_vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False, indent=0) + "\n")
        return MarianTokenizer(str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json"),
                               str(folder / "target_vocab.json") if not config.share_encoder_decoder_embeddings else None,
                               separate_vocabs=not config.share_encoder_decoder_embeddings)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    languages = ["en_XX", "de_DE"] if "en_XX" in kind else []
    tokens = {t: i for i, t in enumerate(specials + alphabet + languages)}
    tokenizer = Tokenizer(models.BPE(vocab=tokens, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(specials + languages + list(added))
    used = [t for t in kind.split() if t != "$A"]
    tokenizer.post_processor = processors.TemplateProcessing(single=kind, special_tokens=[(t, tokens[t]) for t in used])
    tokenizer.save(str(folder / "tokenizer.json"))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def save(model, folder, spec, dtype):
    """As save_pretrained does it, or as folders of years ago are: torch.save, and all settings in config.json."""
    model.to(dtype).save_pretrained(folder)
    if spec.get("bin"):
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **spec["generation"]}, indent=2) + "\n")
        (folder / "model.safetensors").unlink()
        (folder / "generation_config.json").unlink()


def greedy(model, source, start, banned):
    target, margin = torch.tensor([[start]]), float("inf")
    for _ in range(GREEDY):
        logits = model(input_ids=source, decoder_input_ids=target).logits[0, -1].clone()
        logits[banned + target[0].tolist()] = -float("inf")
        best = logits.topk(2)
        margin = min(margin, float(best.values[0] - best.values[1]))
        target = torch.cat([target, best.indices[None, :1]], 1)
    return target[0, 1:], margin


def expected(model, sources, seed):
    config, out = model.config, {}
    errors, margin = {"encoder": 0.0, "logits": 0.0}, float("inf")
    generator = torch.Generator().manual_seed(seed)
    start = model.generation_config.decoder_start_token_id
    for i, ids in enumerate(sources):
        source = torch.tensor([ids])
        vocab = model.get_output_embeddings().weight.shape[0]
        target = torch.cat([torch.tensor([start]), torch.randint(4, vocab - 1, (TARGETS - 1,), generator=generator)])
        values = {}
        for dtype in (torch.float32, torch.float64):
            model.to(dtype)
            with torch.no_grad():
                y = model(input_ids=source, decoder_input_ids=target[None])
            values[dtype] = {"encoder": y.encoder_last_hidden_state[0].double(), "logits": y.logits[0, -1].double()}
        for key in errors:
            errors[key] = max(errors[key], float((values[torch.float32][key] - values[torch.float64][key]).abs().max()))
        with torch.no_grad():
            best, least = greedy(model, source, start, [config.pad_token_id, config.eos_token_id])
        margin = min(margin, least)
        out |= {f"source.{i}": source[0].int(), f"target.{i}": target.int(), f"greedy.{i}": best.int(),
                f"encoder.{i}": values[torch.float64]["encoder"], f"logits.{i}": values[torch.float64]["logits"]}
    out |= {"encoder_error": torch.tensor(errors["encoder"], dtype=torch.float64),
            "error": torch.tensor(errors["logits"], dtype=torch.float64), "margin": torch.tensor(margin, dtype=torch.float64)}
    return {k: v.contiguous() for k, v in out.items()}


def generated(model, tokenizer, texts):
    """In float32."""
    result = {"texts": texts, "greedy": [], "beams": []}
    sources = [tokenizer(text)["input_ids"] for text in texts]
    model.float()
    for ids in sources:
        for key, options in (("greedy", {"num_beams": 1}), ("beams", {})):
            y = model.generate(torch.tensor([ids]), return_dict_in_generate=True, output_scores=True, do_sample=False, **options)
            score = float(y.sequences_scores[0]) if getattr(y, "sequences_scores", None) is not None else None
            result[key].append({"ids": y.sequences[0].tolist(), "score": score,
                                "text": tokenizer.decode(y.sequences[0], skip_special_tokens=True)})
    return result


def write(name, folder):
    spec, target = MODELS[name], folder / name
    assert name.endswith("_4") == transformers.__version__.startswith("4."), "see the versions above"
    shutil.rmtree(target, ignore_errors=True)
    config = spec["config"]()
    model = AutoModelForSeq2SeqLM.from_config(config, attn_implementation="eager").eval()
    randomize(model, len(name), config)
    model.generation_config = GenerationConfig(**spec["generation"])
    save(model, target, spec, torch.float16)
    tokenizer = write_tokenizer(target, spec["tokenizer"], config, spec.get("added", ()))
    sources = [tokenizer(text)["input_ids"] for text in TEXTS]
    model = AutoModelForSeq2SeqLM.from_pretrained(target, dtype=torch.float32, attn_implementation="eager").eval()
    text = generated(model, tokenizer, TEXTS)
    save_file(expected(model, sources, 7), target / "expected.safetensors")
    (target / "expected.json").write_text(json.dumps(text, ensure_ascii=False, indent=1) + "\n")
    return target


def loaded_tokenizer(name, folder):
    if MODELS[name]["tokenizer"] != "marian":
        return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    separate = not MODELS[name]["config"]().share_encoder_decoder_embeddings
    return MarianTokenizer(*[str(folder / file) for file in ("source.spm", "target.spm", "vocab.json")],
                           str(folder / "target_vocab.json") if separate else None, separate_vocabs=separate)


def write_specials(folder):
    """Sources, and targets as they are trained."""
    found = {}
    for name in MODELS:
        tokenizer = loaded_tokenizer(name, folder / name)
        found[name] = [{"text": text, "ids": tokenizer(text)["input_ids"], "target": tokenizer(text_target=text)["input_ids"]}
                       for text in SPECIALS]
    (folder / "specials.json").write_text(json.dumps(found, indent=0) + "\n")


def write_long(folder):
    """Of more tokens than T5's n_positions, 512."""
    found = {}
    for name in ("t5", "t5_4", "mt5", "umt5", "umt5_4"):
        model = AutoModelForSeq2SeqLM.from_pretrained(folder / name, dtype=torch.float32, attn_implementation="eager").eval()
        found[name] = generated(model, loaded_tokenizer(name, folder / name), ["word " * 110 + "end"])
    (folder / "long.json").write_text(json.dumps(found, ensure_ascii=False, indent=0) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=FOLDER)
    parser.add_argument("--texts", action="store_true", help="specials.json and long.json, no models")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.texts:
        write_specials(arguments.o)
        return write_long(arguments.o)
    torch.set_num_threads(1)
    for name in arguments.names:
        target = write(name, arguments.o)
        size = sum(f.stat().st_size for f in target.iterdir())
        print(target.name, json.dumps({"bytes": size, "transformers": transformers.__version__}))


if __name__ == "__main__":
    main()
