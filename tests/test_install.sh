#!/usr/bin/env bash
# An installed tree is usable by other projects: examples/hello is built against it through pkg-config (shared and
# static) and through CMake's find_package, in both precisions, and runs. Usage: test_install.sh BUILD PREFIX
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
prefix=$2
rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null

pc=$(find "$prefix" -name sinew.pc)
export PKG_CONFIG_PATH=${pc%/*}
libraries=$(pkg-config --variable=libdir sinew)
source=$root/examples/hello/hello.c
for package in sinew sinew_single; do
    cc -std=c17 -Wall -Wextra -Werror "$source" $(pkg-config --cflags --libs $package) \
        -Wl,-rpath,"$libraries" -o "$prefix/hello_$package"
    linked=$(ldd "$prefix/hello_$package")
    grep -qF "$libraries/lib$package.so.0" <<<"$linked" # the installed one, not another
    "$prefix/hello_$package"
    cc -std=c17 "$source" $(pkg-config --cflags $package) "$libraries/lib$package.a" \
        $(pkg-config --static --libs $package | sed "s/-l$package\\>//") -o "$prefix/hello_${package}_static"
    "$prefix/hello_${package}_static"
done

# A program with its own energy and solver: the libraries export the functions of sinew/extend.h.
for package in sinew sinew_single; do
    cc -std=c17 -Wall -Wextra -Werror "$root"/examples/extend/*.c $(pkg-config --cflags --libs $package) -lm \
        -Wl,-rpath,"$libraries" -o "$prefix/extend_$package"
    "$prefix/extend_$package"
done

cmake -S "$root/examples/hello" -B "$prefix/cmake_hello" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$prefix/cmake_hello" >/dev/null
"$prefix/cmake_hello/hello"
"$prefix/cmake_hello/hello_single"

for command in sinew sinew-single sinew-reproduce sinew-reproduce-single "sinew reproduce" "sinew-single reproduce"; do
    "$prefix/bin/"$command --help >/dev/null
done
# The installed command finds the installed scenes from any folder, and agrees with its pkg-config file on the version.
[ "sinew $(pkg-config --modversion sinew) (double)" = "$("$prefix/bin/sinew" --version)" ]
(cd / && env -u SINEW_SCENES "$prefix/bin/sinew" run cantilever --frames 1 --out "$prefix/out" --quiet)
# Links of the installed README.md reach every installed page.
documents=$(find "$prefix" -name README.md -path '*/doc/sinew/README.md')
[ -e "${documents%/*}/docs/guides/contact.md" ]
