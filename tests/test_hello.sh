#!/usr/bin/env bash
# The hello world in the comment at the top of include/sinew/sinew.h is extracted, compiled as C17 and as C++17, linked
# with either library and run. Usage: test_hello.sh BUILD SCRATCH
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
scratch=$2
mkdir -p "$scratch"

# The program reaches from the first #include of the comment to the closing brace of main, without the comment's margin.
awk '/^ \*     #include/ { on = 1 } on { sub(/^ \*(     )?/, ""); print } on && /^}/ { exit }' \
    "$root/include/sinew/sinew.h" >"$scratch/hello.c"
grep -q 'int main(void)' "$scratch/hello.c"

for library in sinew sinew_single; do
    define=
    [ $library = sinew ] || define=-DSINEW_SINGLE
    for language in "gcc -x c -std=c17" "g++ -x c++ -std=c++17"; do
        echo "$library: $language"
        $language -O2 -Wall -Wextra -Werror -pedantic $define -I"$root/include" "$scratch/hello.c" -o "$scratch/hello" \
            -L"$build" -l$library -Wl,-rpath,"$build"
        "$scratch/hello"
    done
done
