#!/usr/bin/env python3
"""Writes tests/golden/preferences: ten pairs of answers, and what TRL's DPOTrainer makes of them with the model in
tests/golden/hub/llama. For tests/train/test_golden_preferences.c; made with TRL 1.16.0, transformers 5.24.0 and PyTorch 2.15.

    tools/make_hub_preferences.py [-o FOLDER]     needs trl, torch, transformers, safetensors; some seconds

pairs.jsonl has a pair a line, in all forms; the template is tests/golden/conversations/chat_template.jinja. In
expected.safetensors, of the chosen and the rejected answer of the first pair, of the second pair and so on:
    ids, labels [tokens]     of all answers with their prompts, one after the other; a label is the token one position later, -1:
                             it has no loss
    lengths [20]             tokens of each, which are one less than prompt and answer have
    log_probs [20]           the log-probability of each answer, in float64 (F64)
    reference [20]           the same by another model, which has other weights (F32)
    loss, smoothed []        TRL's loss with beta 0.3, and the loss with label smoothing 0.1 (Mitchell 2023), which TRL has no more (F64)
    rewards [3]              TRL's means: rewards/accuracies, rewards/chosen, rewards/rejected (F64)
    log_probs_error []       the largest distance of float32 from log_probs, as a part of it (F64)
    loss_error []            of float32 from both losses, likewise (F64)
    gradient_error []        of float32 from the gradients of a parameter, as a part of its largest entry; the worst one (F64)
    grad/NAME                the gradients of `loss`, under rapt's names, computed in float64 and rounded to float32
"""
import argparse
import json
import tempfile
from pathlib import Path

import pyarrow
import torch
import torch.nn.functional as F
from datasets import Dataset
from datasets.table import InMemoryTable
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer

from make_hub_conversations import END, GOLDEN, message, rapts_name

BETA, SMOOTHING = 0.3, 0.1


def pairs():
    """Ten in all forms: answers of one token and of many, of unequal length, several turns, two scripts."""
    def explicit(prompt, chosen, rejected):
        return {"prompt": prompt, "chosen": [message("assistant", chosen)], "rejected": [message("assistant", rejected)]}
    yield explicit([message("user", "Hi")], "Hello", "Go away")
    yield explicit([message("user", "2+2?")], "4", "It is five, I think.")
    yield explicit([message("system", "Be brief."), message("user", "Why?")], "So.", "B" * 40)
    yield explicit([message("user", "\u00fcber"), message("assistant", "ja"), message("user", "?")], "\u4f60\u597d", "no")
    talk = [message("user", "Who?"), message("assistant", "Me"), message("user", "Really?")]
    yield {"chosen": [*talk, message("assistant", "Yes.")], "rejected": [*talk, message("assistant", "Yes, I am.")]}
    yield {"chosen": [message("user", "Go"), message("assistant", "On")],
           "rejected": [message("user", "Go"), message("assistant", "Off")]}
    yield {"prompt": "2 + 2 =", "chosen": " 4", "rejected": " 22"}
    yield {"prompt": "The cat", "chosen": " sat on the mat.", "rejected": " is"}
    yield {"chosen": "The sky is blue.", "rejected": "The sky is black."} # no space before the difference: TRL puts it into the answers
    yield {"chosen": "abcd", "rejected": "abdc" + END}


def trainer_of(rows, dtype, folder):
    """TRL's trainer of all rows of a form, and their batch, in order."""
    tokenizer = AutoTokenizer.from_pretrained(GOLDEN / "hub" / "llama", pad_token=END, eos_token=END)
    tokenizer.chat_template = (GOLDEN / "conversations" / "chat_template.jinja").read_text()
    model = AutoModelForCausalLM.from_pretrained(GOLDEN / "hub" / "llama", dtype=dtype, attn_implementation="eager")
    other = AutoModelForCausalLM.from_pretrained(GOLDEN / "hub" / "llama", dtype=dtype, attn_implementation="eager")
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for p in other.parameters():
            p += 0.1 * p.double().std() * torch.randn(p.shape, generator=generator, dtype=torch.float64)
    config = DPOConfig(folder, beta=BETA, bf16=False, use_cpu=True, max_length=None, gradient_checkpointing=False, report_to="none")
    table = Dataset(InMemoryTable(pyarrow.Table.from_pylist(rows)), fingerprint="pairs")
    trainer = DPOTrainer(model, other, config, processing_class=tokenizer, train_dataset=table)
    return trainer, trainer.data_collator(list(trainer.train_dataset))


def sums(model, row):
    """The log-probability of the labels of a row, alone."""
    ids, labels = row
    logits = model(torch.tensor([ids])).logits[0]
    return -F.cross_entropy(logits, torch.tensor(labels), ignore_index=-1, reduction="sum")


def rows_of(batch):
    """Tokens and labels of TRL's batch, which has all chosen answers and then all rejected ones."""
    half = len(batch["input_ids"]) // 2
    for i in (at + side for at in range(half) for side in (0, half)):
        size = int(batch["attention_mask"][i].sum())
        ids, mask = batch["input_ids"][i, :size].tolist(), batch["completion_mask"][i, :size].tolist()
        yield ids[:-1], [token if counts else -1 for token, counts in zip(ids[1:], mask[1:])]


def both(trainer, batch):
    """A batch with the reference's log-probabilities, in float32's precision."""
    chosen, rejected = (x.float() for x in trainer.compute_ref_log_probs(trainer.ref_model, batch))
    trainer.precompute_ref_logps = True
    dtype = next(trainer.model.parameters()).dtype
    return {**batch, "ref_chosen_logps": chosen.to(dtype), "ref_rejected_logps": rejected.to(dtype)}


def compute(dtype, reference=None):
    """Everything, of messages and of texts, which TRL reads as data sets of their own."""
    every, with_prompt = list(pairs()), lambda row: ("prompt" in row, isinstance(row["chosen"], str))
    loss, rows, references, rewards, gradients, log_probs = 0, {}, {}, [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for form in dict.fromkeys(map(with_prompt, every)):
            places = [i for i, row in enumerate(every) if with_prompt(row) == form]
            trainer, batch = trainer_of([every[i] for i in places], dtype, folder)
            batch = both(trainer, batch)
            if reference is not None:
                batch["ref_chosen_logps"], batch["ref_rejected_logps"] = (reference[places, side].to(dtype) for side in (0, 1))
            trainer.model.train()
            part = trainer._compute_loss(trainer.model, batch, False) * len(places) / len(every)
            part.backward()
            loss += float(part.detach())
            metrics = trainer._metrics["train"]
            rewards.append([len(places) / len(every) * metrics[f"rewards/{name}"][-1] for name in ("accuracies", "chosen", "rejected")])
            found = list(rows_of(batch))
            for j, place in enumerate(places):
                rows[place] = found[2 * j:2 * j + 2]
                references[place] = [float(batch["ref_chosen_logps"][j]), float(batch["ref_rejected_logps"][j])]
                log_probs[place] = [float(sums(trainer.model, row).detach()) for row in rows[place]]
            for name, p in trainer.model.named_parameters():
                gradients[name] = gradients.get(name, 0) + p.grad.double()
    order = range(len(every))
    return (loss, [row for i in order for row in rows[i]], torch.tensor([references[i] for i in order], dtype=torch.float64),
            torch.tensor(rewards, dtype=torch.float64).sum(0), gradients,
            torch.tensor([log_probs[i] for i in order], dtype=torch.float64))


def smoothed_of(log_probs, reference, dtype):
    x = (log_probs - reference).to(dtype)
    z = BETA * (x[:, 0] - x[:, 1])
    return float((-(1 - SMOOTHING) * F.logsigmoid(z) - SMOOTHING * F.logsigmoid(-z)).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=GOLDEN / "preferences")
    folder = parser.parse_args().o
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    loss, rows, reference, rewards, gradients, log_probs = compute(torch.float64)
    loss32, _, _, _, gradients32, log_probs32 = compute(torch.float32, reference)
    smoothed, smoothed32 = smoothed_of(log_probs, reference, torch.float64), smoothed_of(log_probs32, reference, torch.float32)
    formula = float(-F.logsigmoid(BETA * ((log_probs - reference)[:, 0] - (log_probs - reference)[:, 1])).mean())
    assert abs(formula - loss) < 1e-6 * loss, (formula, loss) # transformers has softmax and norms in float32
    distance = max(float((gradients32[n] - g).abs().max() / g.abs().max()) for n, g in gradients.items())
    log_error = float(((log_probs32 - log_probs).abs() / log_probs.abs()).max())
    loss_error = max(abs(loss32 - loss) / loss, abs(smoothed32 - smoothed) / smoothed)
    print(f"{[len(ids) for ids, _ in rows]} tokens; loss {loss:.9f}, smoothed {smoothed:.9f}; rewards {rewards.tolist()}; in float32 "
          f"log-probabilities differ by {log_error:.1e} of their size, losses by {loss_error:.1e}, gradients by {distance:.1e}")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in pairs()))
    number = lambda x: torch.tensor(x, dtype=torch.float64)
    save_file({"ids": torch.tensor([i for ids, _ in rows for i in ids], dtype=torch.int32),
               "labels": torch.tensor([i for _, labels in rows for i in labels], dtype=torch.int32),
               "lengths": torch.tensor([len(ids) for ids, _ in rows], dtype=torch.int32), "log_probs": log_probs.flatten(),
               "reference": reference.flatten().float(), "loss": number(loss), "smoothed": number(smoothed), "rewards": rewards,
               "log_probs_error": number(log_error), "loss_error": number(loss_error), "gradient_error": number(distance),
               **{f"grad/{rapts_name(n)}": g.float().contiguous() for n, g in gradients.items()}},
              folder / "expected.safetensors")


if __name__ == "__main__":
    main()
