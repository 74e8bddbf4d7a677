#!/usr/bin/env bash
# The library and the command load permissive libraries only, directly or indirectly: docs/reference/licences.md lists
# them.
# Usage: test_linked_libraries.sh LIBRARY COMMAND
set -euo pipefail

# expect FILE NAME...: fails if `ldd` prints a library other than the C library's and the named ones
expect() {
    local file=$1 loaded line name
    shift
    loaded=$(ldd "$file")
    while read -r line; do
        name=${line%% *}
        name=${name##*/}
        name=${name%%.so*}
        case " linux-vdso ld-linux-x86-64 ld-linux-aarch64 libc libm libpthread $* " in
        *" $name "*) ;;
        *)
            echo "$file loads $name, which docs/reference/licences.md does not list" >&2
            exit 1
            ;;
        esac
    done <<<"$loaded"
    echo "$file: $(wc -l <<<"$loaded") libraries, all listed"
}

library=(libamd libcamd libsuitesparseconfig libjansson libz)
expect "$1" "${library[@]}"
expect "$2" "${library[@]}" libpng16 libfreetype libbrotlidec libbrotlicommon
