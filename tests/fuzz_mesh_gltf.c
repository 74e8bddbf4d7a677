/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_gltf.c: libFuzzer feeds the reader of glTF files, JSON and binary, with one external buffer.
 */
#include "mesh_entry.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return mesh_entry_fuzz("fuzz.gltf", bytes, size);
}
