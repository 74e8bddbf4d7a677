/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_tetgen.c: libFuzzer feeds the reader of TetGen files, .node, .ele, .face and .edge in one block.
 */
#include "mesh_entry.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return mesh_entry_fuzz("fuzz.node", bytes, size);
}
