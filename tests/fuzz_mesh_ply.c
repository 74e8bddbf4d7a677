/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_ply.c: libFuzzer feeds the reader of PLY files.
 */
#include "mesh_entry.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return mesh_entry_fuzz("fuzz.ply", bytes, size);
}
