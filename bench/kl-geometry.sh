#!/usr/bin/env bash
# First-order steps a state to a certified gap of 1e-3 on KL sets, by proximal setup: the table
# "Choice of geometry for KL" of docs/benchmarks.md. A run is given 10 seconds ('>' if it needs more).
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet
rmdp="${CARGO_TARGET_DIR:-target}/release/rmdp"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make() { "$rmdp" generate "$@" > /dev/null; }
make garnet --states 50 --actions 50 --costs state-driven --discount 0.99 --seed 3 -o "$work/driven.npz"
make garnet --states 50 --actions 50 --seed 3 -o "$work/iid50.npz"
make garnet --states 100 --actions 100 --seed 1 -o "$work/iid100.npz"
make garnet --states 300 --actions 6 --band 4 --branching 0.9 --discount 0.999 --seed 2 -o "$work/band.json"
make healthcare --states 30 -o "$work/healthcare.json"
steps() {
  local code=0
  "$rmdp" solve "$work/$1" --set kl --radius "$2" --gap 1e-3 --method fom-vi --setup "$3" \
    --time-limit 10 --quiet --json "$work/out.json" > /dev/null || code=$?
  if [ "$code" = 3 ]; then printf '> '; fi
  grep -o '"first_order_steps": *[0-9]*' "$work/out.json" | grep -o '[0-9]*$'
}
echo "| model | radius | l1,l1 | l2,l1 | l2,l2 |"
echo "|---|---|---|---|---|"
while read -r file radius; do
  echo "| ${file%.*} | $radius | $(steps "$file" "$radius" l1,l1) | $(steps "$file" "$radius" l2,l1) | $(steps "$file" "$radius" l2,l2) |"
done <<LIST
driven.npz 0.25
iid50.npz 5
iid100.npz 7.07
band.json 0.05
healthcare.json 1
LIST
