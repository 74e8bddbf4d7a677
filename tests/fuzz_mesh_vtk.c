/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_vtk.c: libFuzzer feeds the reader of legacy VTK files.
 */
#include "mesh_entry.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return mesh_entry_fuzz("fuzz.vtk", bytes, size);
}
