/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_obj.c: libFuzzer feeds the reader of Wavefront OBJ files.
 */
#include "mesh_entry.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return mesh_entry_fuzz("fuzz.obj", bytes, size);
}
