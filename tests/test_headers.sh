#!/usr/bin/env bash
# Every public header compiles alone, as C17 and as C++17, in both precisions, without a warning.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

checked=0
for header in "$root"/include/sinew/*.h; do
    for precision in SINEW_DOUBLE SINEW_SINGLE; do
        for language in "gcc -x c -std=c17" "g++ -x c++ -std=c++17"; do
            echo "#include <sinew/$(basename "$header")>" |
                $language -fsyntax-only -Wall -Wextra -Wshadow -Werror -pedantic -D$precision -I"$root/include" -
            checked=$((checked + 1))
        done
    done
done
[ "$checked" -ge 16 ] # four headers at least, or this looked in the wrong place
echo "$checked compilations"
