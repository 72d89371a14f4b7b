#!/bin/bash
# bench/adam8bit.sh RECIPE [KEY=VALUE...]: the validation loss of training with Adam's moments in fp32, in 8 bits, and in 8 bits
# with gradients in bf16, for each of SEEDS (default 1 2 3). VARIANTS names what is trained (default all).
. "$(dirname "$0")/lib.sh"
recipe=${1:?a recipe is missing} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
read -ra seeds <<<"${SEEDS:-1 2 3}"
read -ra variants <<<"${VARIANTS:-adam adam8bit both}"
settings=()
for setting in "${@:2}"; do settings+=(--set "$setting"); done

# lowest VARIANT SEED: the lowest validation loss of a run.
lowest() {
    local keys=()
    [ "$1" = adam ] || keys+=(--set train.optimizer=adam8bit)
    [ "$1" != both ] || keys+=(--set train.gradients=bf16)
    rm -rf "$folder/model"
    "$RAPT" train "$recipe" --quiet --threads "$THREADS" --seed "$2" --out "$folder/model" "${settings[@]}" "${keys[@]}" >&2
    value val_loss <"$folder/model/train.jsonl" | sort -g | head -1
}

row 10 optimizer "${seeds[@]/#/seed }" mean spread
for variant in "${variants[@]}"; do
    losses=()
    for seed in "${seeds[@]}"; do losses+=("$(lowest "$variant" "$seed")"); done
    read -r mean spread < <(printf '%s\n' "${losses[@]}" | sort -g | awk '{ v[NR] = $1; s += $1 }
        END { printf "%.4f %.4f\n", s / NR, v[NR] - v[1] }')
    row 10 "$variant" "${losses[@]}" "$mean" "$spread"
done
