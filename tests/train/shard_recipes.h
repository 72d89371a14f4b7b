/* tests/train/shard_recipes.h: what runs of several shards are tested with. To be included after train_input.h. */
#ifndef TESTS_TRAIN_SHARD_RECIPES_H
#define TESTS_TRAIN_SHARD_RECIPES_H

/* kinds.txt: most rows of its embedding are used by few shards. */
static const char *const shard_recipes[] = {
    "data.text=kinds.txt train.accumulate=3 train.shards=3 train.weight_decay=0.1",
    "data.text=kinds.txt train.accumulate=5 train.shards=2 train.lazy=true",
    "data.text=kinds.txt train.accumulate=8 train.shards=8 train.weight_decay=0.1 model.output_bias=true train.batch=1",
    "model.norm_place=pre model.norm_kind=rms model.ffn_kind=swiglu model.positions=rotary model.kv_heads=1 model.bias=false "
    "model.tied=true model.init=gpt2 model.dropout=0.2 train.accumulate=8 train.shards=5 train.recompute=true",
    "model.positions=learned model.ffn_kind=gelu train.accumulate=13 train.shards=8 train.batch=1 train.clip=0.1 "
    "train.label_smoothing=0.1",
    "model.tied=true model.dropout=0.1 train.accumulate=4 train.shards=4 train.precision=bf16",
    "train.accumulate=7 train.shards=3 train.batch=1 train.freeze=*.bias",
    "train.accumulate=4 train.shards=4 train.batch=1 model.ffn=500 train.optimizer=adam8bit",
    "train.accumulate=5 train.shards=4 train.batch=1 model.ffn=700 train.optimizer=muon",
    "data.text=kinds.txt train.accumulate=5 train.shards=4 train.batch=1 train.optimizer=sgd train.sgd.momentum=0.9",
};
#define SHARD_RECIPES (sizeof shard_recipes / sizeof *shard_recipes)

#endif
