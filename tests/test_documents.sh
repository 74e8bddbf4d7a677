#!/usr/bin/env bash
# Documents say what holds: their pictures and commands agree with tools/gallery.txt, what docs/papers.md names exists, the
# commands of README.md that take seconds end well, and the program of docs/contact.md compiles and runs.
# Usage: test_documents.sh BUILD_FOLDER SCRATCH_FOLDER
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
scratch=$2

"$source/tools/gallery" --check
"$source/tools/check-papers" "$build/sinew"

rm -rf "$scratch"
mkdir -p "$scratch/build"
ln -s "$build" "$scratch/build/release"
ln -s "$source/scenes" "$scratch/scenes"
cd "$scratch"
count=0
while read -r command; do
    case $command in
    # Pictures and whole experiments take longer; model.msh is the reader's own.
    *" render "* | *" reproduce "*/* | *model.*) continue ;;
    esac
    if ! bash -c "$command" >printed.txt 2>&1 </dev/null; then
        echo "README.md: failed: $command" >&2
        cat printed.txt >&2
        exit 1
    fi
    count=$((count + 1))
done < <(sed -n 's|^    \(build/release/sinew .*\)|\1|p' "$source/README.md")
if [ "$count" -lt 4 ]; then
    echo "README.md: only $count commands were found" >&2
    exit 1
fi
echo "$count commands of README.md"

# The program of docs/contact.md: the one text between ```c and ```.
sed -n '/^```c$/,/^```$/p' "$source/docs/contact.md" | sed '/^```/d' >contact.c
grep -q 'int main(void)' contact.c
gcc -std=c17 -O2 -Wall -Wextra -Werror -pedantic -I"$source/include" contact.c -o contact -L"$build" -lsinew -lm \
    -Wl,-rpath,"$build"
./contact
