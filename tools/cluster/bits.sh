#!/bin/bash
# tools/cluster/bits.sh [MPI...]: five recipes, each with 8 and with 24 shards, trained by one process and then under a real
# mpirun by 1, 2, 3, 4, 5, 7 and 8 processes on this machine, whose numbers of threads differ from rank to rank (1, 2, 3), and in
# fp32 their instruction sets as well. Model, best model, checkpoints and the log's losses and BLEU must equal the results of the
# one process, byte for byte; then a run that is stopped and resumed by 4, 1, 3 and 8 processes, each time under the other MPI.
# One line a comparison; the last is "N passed, N failed, N skipped". MPI: openmpi and mpich, where the build has found them. From
# the environment: RAPT (default build/rapt).
. "$(dirname "$0")/../help.sh"
. "$(dirname "$0")/../../tests/cli/lib_mpi.sh"
MPIS=("$@")
[ $# -gt 0 ] || MPIS=(openmpi mpich)
COUNTS=(1 2 3 4 5 7 8)
LEVELS=$(levels)
STEPS=(--set train.steps=8 --set train.report_every=4 --set train.checkpoint_every=2 --set train.keep=9)

# ---- recipes ------------------------------------------------------------------------------------------------------
head -300 "$SOURCE/data/en-fr.tsv" >pairs.tsv
head -c 20000 "$SOURCE/docs/files.md" >text.txt
cat "$SOURCE"/docs/{files,recipes}.md | head -c 60000 >long.txt
NAMES=(translator-post translator-pre wide-vocabulary grouped-query bf16)
SMALL='layers: 2, d_model: 32, heads: 4, ffn: 64, dropout: 0.1'
PAIRS='data: {pairs: pairs.tsv, max_len: 16, validation_fraction: 0.1}'
cat >translator-post.yaml <<END
task: translation
$PAIRS
tokenizer: {type: words}
model: {$SMALL, norm_place: post}
train: {batch: 4, eval_bleu: true}
END
cat >translator-pre.yaml <<END
task: translation
$PAIRS
tokenizer: {type: words, shared: true}
model: {$SMALL, norm_place: pre, tied: true}
train: {batch: 4, weight_decay: 0.1}
END
cat >wide-vocabulary.yaml <<END
task: language_model
data: {text: long.txt, validation_fraction: 0.1}
tokenizer: {type: bpe, vocab_size: 3000}
model: {$SMALL, context: 8}
train: {batch: 1, weight_decay: 0.1}
END
cat >grouped-query.yaml <<END
task: language_model
data: {text: text.txt, validation_fraction: 0.1}
tokenizer: {type: characters}
model: {$SMALL, context: 16, tied: true, kv_heads: 2, positions: rotary, norm_kind: rms, ffn_kind: swiglu, bias: false}
train: {batch: 2, recompute: true}
END
cat >bf16.yaml <<END
task: language_model
data: {text: text.txt, validation_fraction: 0.1}
tokenizer: {type: characters}
model: {$SMALL, context: 16}
train: {batch: 2, precision: bf16}
END

# ---- runs ---------------------------------------------------------------------------------------------------------
# A rank: threads, and in fp32 the instruction set, by its number.
cat >rank.sh <<'END'
#!/bin/bash
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
levels=($LEVELS)
[ "$MIXED" != yes ] || export RAPT_ISA=${levels[$((rank % ${#levels[@]}))]}
exec "$RAPT" train "$@" --threads $((1 + rank % 3))
END
chmod +x rank.sh
export RAPT LEVELS

RUN_SECONDS=600
# ranks MPI PROCESSES MIXED ARGUMENTS...
ranks() {
    local mpi=$1 count=$2
    export MIXED=$3
    shift 3
    run "$mpi" "$count" ./rank.sh "$@" --quiet
}

there=()
for mpi in "${MPIS[@]}"; do
    if [ -e "$BUILD/rapt_mpi_$mpi.so" ]; then there+=("$mpi"); else skip "$mpi: the build has found none"; fi
done
for name in "${NAMES[@]}"; do
    for shards in 8 24; do
        with=("$name.yaml" "${STEPS[@]}" --set "train.accumulate=$((shards + 1))" --set "train.shards=$shards")
        "$RAPT" train "${with[@]}" --out one --quiet || { fail "$name, $shards shards: one process"; continue; }
        mixed=yes
        [ "$name" != bf16 ] || mixed=no
        for mpi in "${there[@]}"; do
            for count in "${COUNTS[@]}"; do
                ranks "$mpi" "$count" $mixed "${with[@]}" --out many >.log 2>&1 || head -c 600 .log
                check "$name, $shards shards, $mpi, $count processes" same_run one many
                rm -rf many
            done
        done
        rm -rf one
    done
done

# ---- stopped and resumed ------------------------------------------------------------------------------------------
for name in translator-post grouped-query; do
    [ ${#there[@]} -gt 0 ] || break
    with=("$name.yaml" "${STEPS[@]}" --set train.accumulate=8 --set train.shards=8)
    "$RAPT" train "${with[@]}" --out one --quiet
    part=0
    for count in 4 1 3 8; do
        part=$((part + 1))
        more=(--resume)
        [ $part -gt 1 ] || more=()
        ranks "${there[$((part % ${#there[@]}))]}" $count yes "${with[@]}" --out many "${more[@]}" --max-steps $((2 * part)) >.log 2>&1 ||
            head -c 600 .log
    done
    check "$name: stopped and resumed by 4, 1, 3, 8 processes" same_run one many
    rm -rf one many
done
finish
