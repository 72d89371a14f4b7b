#!/usr/bin/env python3
"""Writes tests/golden/conversations: twenty conversations, and what transformers and PyTorch make of them with the model in
tests/golden/hub/llama. For tests/train/test_golden_conversations.c; made with transformers 5.24.0 and PyTorch 2.15.

    tools/make_hub_conversations.py [-o FOLDER]     needs torch, transformers, safetensors; some seconds

chat_template.jinja is the template of the model, talks.jsonl has a conversation a line, and expected.safetensors
    ids, labels [tokens]     of all conversations, one after the other; a label is the token one position later, -1: it has no loss
    lengths [20]             tokens of each, which are one less than the conversation has
    nll [20]                 the sum of -log p(label) of each, in float64 (F64)
    loss []                  the mean over all labels that have loss (F64)
    loss_error []            the largest distance of float32 from nll, as a part of it (F64)
    gradient_error []        and from the gradients: of a parameter, as a part of its largest entry; the worst parameter (F64)
    grad/NAME                the gradients of the loss, under rapt's names, computed in float64 and rounded to float32
The marks of the answers are the ones that transformers finds by {% generation %}, which rapt does not need.
"""
import argparse
import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
END = "<|end|>"
MARKED = ("{% for m in messages %}{{ '<|begin|>' + m.role + '\\n' }}{% if m.role == 'assistant' %}"
          "{% generation %}{{ m.content + '<|end|>' }}{% endgeneration %}"
          "{% else %}{{ m.content + '<|end|>' }}{% endif %}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|begin|>assistant\\n' }}{% endif %}")
NAMES = {"model.embed_tokens": "embedding", "model.layers": "blocks", "model.norm": "norm", "input_layernorm": "norm1",
         "post_attention_layernorm": "norm2", "self_attn": "attention", "q_proj": "q", "k_proj": "k", "v_proj": "v", "o_proj": "o",
         "mlp": "ffn", "gate_proj": "gate", "up_proj": "up", "down_proj": "down"}


def message(role, content):
    return {"role": role, "content": content}


def conversations():
    """Twenty in all forms, of 3 to 96 tokens: a row that fills the context, one token of loss, answers in a row, two scripts."""
    for question, answer in (("Hi", "Hello"), ("2+2?", "4"), ("A color?", "Blue."), ("Who?", "Me"), ("\u00fcber", "\u4f60\u597d"),
                             ("Say it twice", "it it"), ("x" * 30, "y"), ("1", "z" * 40)):
        yield {"messages": [message("user", question), message("assistant", answer)]}
    yield {"messages": [message("system", "Be brief."), message("user", "Why?"), message("assistant", "So."),
                        message("user", "And?"), message("assistant", "No.")]}
    yield {"messages": [message("user", "Go"), message("assistant", "On"), message("assistant", "and on")]}
    yield {"messages": [message("user", "Last"), message("assistant", "word"), message("user", "is mine")]}
    yield {"conversations": [{"from": "human", "value": "Name?"}, {"from": "gpt", "value": "Llama"}]}
    yield {"conversations": [{"from": "system", "value": "s"}, {"from": "human", "value": "h"}, {"from": "gpt", "value": "g"}]}
    yield {"prompt": [message("user", "a"), message("assistant", "b"), message("user", "c")], "completion": [message("assistant", "d")]}
    yield {"prompt": "2 + 2 =", "completion": " 4"}
    yield {"prompt": "The cat", "completion": " sat on the mat."}
    yield {"prompt": "A", "completion": "B"}
    yield {"text": "Plain text."}
    yield {"text": "abc"}
    yield {"text": "0123456789" * 9 + "01234" + END}


def messages_of(line):
    """Messages of a line, and how many of them are given: without loss."""
    if "conversations" in line:
        roles = {"human": "user", "gpt": "assistant", "system": "system"}
        return [message(roles[turn["from"]], turn["value"]) for turn in line["conversations"]], 0
    if isinstance(line.get("prompt"), list):
        return line["prompt"] + line["completion"], len(line["prompt"])
    return line.get("messages"), 0


def tokens_of(tokenizer, line):
    """Ids, and 1 for those that have loss."""
    turns, given = messages_of(line)
    if turns:
        whole = tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, return_assistant_tokens_mask=True)
        ids, marks = whole["input_ids"], whole["assistant_masks"]
        before = len(tokenizer(tokenizer.apply_chat_template(turns[:given], tokenize=False)).input_ids) if given else 0
        return ids, [0] * before + marks[before:]
    prompt, answer = line.get("prompt", ""), line.get("completion", line.get("text"))
    ids = tokenizer(prompt + answer.removesuffix(END) + END).input_ids
    before = len(tokenizer(prompt).input_ids) if prompt else 1
    return ids, [0] * before + [1] * (len(ids) - before)


def compute(rows, dtype):
    """Sums of -log p of each row, alone, and the gradients of the mean over all labels."""
    model = AutoModelForCausalLM.from_pretrained(GOLDEN / "hub" / "llama", dtype=dtype, attn_implementation="eager").eval()
    sums = [F.cross_entropy(model(torch.tensor([ids])).logits[0], torch.tensor(labels), ignore_index=-1, reduction="sum")
            for ids, labels in rows]
    loss = sum(sums) / sum(label >= 0 for _, labels in rows for label in labels)
    loss.backward()
    return torch.stack(sums).detach().double(), float(loss.detach()), {n: p.grad.double() for n, p in model.named_parameters()}


def rapts_name(name):
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=GOLDEN / "conversations")
    folder = parser.parse_args().o
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(GOLDEN / "hub" / "llama")
    tokenizer.chat_template = MARKED
    lines = list(conversations())
    rows = []
    for line in lines:
        ids, marks = tokens_of(tokenizer, line)
        rows.append((ids[:-1], [i if mark else -1 for i, mark in zip(ids[1:], marks[1:])]))
    nll, loss, gradients = compute(rows, torch.float64)
    nll32, _, gradients32 = compute(rows, torch.float32)
    distance = max(float((gradients32[n] - g).abs().max() / g.abs().max()) for n, g in gradients.items())
    print(f"{[len(ids) for ids, _ in rows]} tokens; loss {loss:.6f}; in float32 losses differ by "
          f"{float(((nll32 - nll).abs() / nll).max()):.1e} of their size, gradients by {distance:.1e}")
    (folder / "chat_template.jinja").write_text(MARKED.replace("{% generation %}", "").replace("{% endgeneration %}", ""))
    (folder / "talks.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    save_file({"ids": torch.tensor([i for ids, _ in rows for i in ids], dtype=torch.int32),
               "labels": torch.tensor([i for _, labels in rows for i in labels], dtype=torch.int32),
               "lengths": torch.tensor([len(ids) for ids, _ in rows], dtype=torch.int32), "nll": nll,
               "loss": torch.tensor(loss, dtype=torch.float64),
               "loss_error": ((nll32 - nll).abs() / nll).max(), "gradient_error": torch.tensor(distance, dtype=torch.float64),
               **{f"grad/{rapts_name(n)}": g.float().contiguous() for n, g in gradients.items()}}, folder / "expected.safetensors")
    for file in folder.iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    main()
