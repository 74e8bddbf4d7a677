#!/usr/bin/env bash
# The worked example of docs/guides/extending.md is built by the page's commands against the shared library, which
# exports the functions of sinew/extend.h. Derivatives agree with finite differences, energy and solver work with
# those of the library, pd refuses the energy by name, and a command with both registered lists, runs and compares them.
# Usage: test_extend.sh BUILD_FOLDER SCRATCH_FOLDER EXTENDED_COMMAND
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
scratch=$2
command=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
cp "$source"/examples/extend/* .

gcc -std=c17 -O2 -Wall -Wextra -Werror -pedantic -I"$source/include" extend.c extend_energy.c extend_solver.c \
    -L"$build" -lsinew -lm -Wl,-rpath,"$build" -o extend
./extend fibre.json newton descent qn pbng
if ./extend fibre.json pd 2>refused.txt; then
    exit 1
fi
grep "pd cannot take fibre: it is not a distance to a constraint set" refused.txt

"$command" info solvers >listed.txt
grep -q '^energy .* descent *$' listed.txt
grep -q '^fibre  *yes' listed.txt
grep -q '^descent: gradient descent' listed.txt
"$command" info energies | grep '^fibre: on tets' >/dev/null
"$command" info schema | grep '"descent"' >/dev/null
"$command" compare fibre.json --solvers newton,descent --iterations 400 --out compared >compared.txt
grep -E '^descent +[0-9]+ ' compared.txt
"$command" run fibre.json --solver descent --quiet --out run
if "$command" run fibre.json --solver decsent --quiet --out run2 2>misspelt.txt; then
    exit 1
fi
grep 'did you mean "descent"' misspelt.txt
