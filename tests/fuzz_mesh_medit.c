/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_medit.c: libFuzzer feeds the reader of Medit files.
 */
#include "mesh_entry.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return mesh_entry_fuzz("fuzz.mesh", bytes, size);
}
