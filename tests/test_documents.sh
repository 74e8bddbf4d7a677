#!/usr/bin/env bash
# Documents agree with the tree: links, lines and versions (tools/docs), pictures (tools/gallery.txt), the names of
# docs/evidence/papers.md, the fast commands of README.md and of the first scene, and the program of
# docs/guides/contact.md, which is compiled and run.
# Usage: test_documents.sh BUILD_FOLDER SCRATCH_FOLDER
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
scratch=$2

"$source/tools/docs" --check
"$source/tools/gallery" --check
"$source/tools/check-papers" "$build/sinew"

# Runs the commands of a page in an empty folder, with the program on the path: the program finds its example scenes.
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
export PATH="$build:$PATH"
unset SINEW_SCENES
run_commands() { # PAGE, least number of commands
    local count=0 command
    while read -r command; do
        case $command in
        # Pictures and whole experiments take too long; upper case and model.* are placeholders for the reader's files.
        *" render "* | *" reproduce "*/* | *" reproduce contact"* | *model.* | *SCENE* | *DIR*) continue ;;
        esac
        # 1: the run has unsolved steps, which some pages show on purpose.
        local status=0
        bash -c "$command" >printed.txt 2>&1 </dev/null || status=$?
        if [ "$status" -gt 1 ]; then
            echo "$1: exit status $status: $command" >&2
            cat printed.txt >&2
            exit 1
        fi
        count=$((count + 1))
    done < <(sed -n 's|^    \(sinew [^#]*\).*|\1|p' "$source/$1")
    if [ "$count" -lt "$2" ]; then
        echo "$1: only $count commands were found" >&2
        exit 1
    fi
    echo "$count commands of $1"
}
run_commands README.md 7
sed -n '/^```json$/,/^```$/p' "$source/docs/guides/first-scene.md" | sed '/^```/d' >jelly.json
rm -rf out
run_commands docs/guides/first-scene.md 5

# The program of docs/guides/contact.md is the only text between ```c and ```.
sed -n '/^```c$/,/^```$/p' "$source/docs/guides/contact.md" | sed '/^```/d' >contact.c
grep -q 'int main(void)' contact.c
gcc -std=c17 -O2 -Wall -Wextra -Werror -pedantic -I"$source/include" contact.c -o contact -L"$build" -lsinew -lm \
    -Wl,-rpath,"$build"
./contact
