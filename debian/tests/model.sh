# debian/tests/model.sh: for the tests beside it: a translation model of 20 training steps in $model. What it writes is nonsense,
# but always the same.
set -eu
model=$AUTOPKGTEST_TMP/model
train() { rapt train "$@" --set train.steps=20 --set train.report_every=20 --quiet; }
train /usr/share/rapt/recipes/quickstart.yaml --out "$model"
