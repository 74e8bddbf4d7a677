#!/usr/bin/env bash
# Installed binaries are hardened: position-independent executables, read-only relocations (full RELRO), non-executable
# stacks with stack protection, and fortified calls of the C library.
# Usage: test_hardening.sh BUILD PREFIX
set -euo pipefail
build=$1
prefix=$2
rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null

# needs FILE WHAT PATTERN TEXT: fails unless a line of the text matches the pattern
needs() {
    grep -qE "$3" <<<"$4" || {
        echo "$1: $2 is missing" >&2
        exit 1
    }
}

checked=0
for file in "$prefix"/bin/sinew "$prefix"/bin/sinew-single "$prefix"/bin/sinew-reproduce \
    "$prefix"/bin/sinew-reproduce-single "$(find "$prefix" -name libsinew.so)" \
    "$(find "$prefix" -name libsinew_single.so)"; do
    header=$(readelf -hW "$file")
    segments=$(readelf -lW "$file")
    dynamic=$(readelf -dW "$file")
    symbols=$(readelf --dyn-syms -W "$file")
    needs "$file" "position independence" "Type: +DYN" "$header"
    [[ $file == *.so ]] || needs "$file" "the mark of a PIE" "FLAGS_1.* PIE" "$dynamic"
    needs "$file" "RELRO" "GNU_RELRO" "$segments"
    needs "$file" "binding at the start, which makes RELRO full" "FLAGS.* (BIND_)?NOW" "$dynamic"
    needs "$file" "a stack that is not executable" "GNU_STACK .* RW +0x" "$segments"
    needs "$file" "the guard of the stack" "__stack_chk_fail" "$symbols"
    needs "$file" "_FORTIFY_SOURCE" "__[a-z]+_chk" "${symbols//__stack_chk_fail/}"
    checked=$((checked + 1))
done
[ "$checked" -eq 6 ]
echo "$checked files are hardened"
