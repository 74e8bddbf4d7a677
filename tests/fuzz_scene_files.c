/* SPDX-License-Identifier: MIT
 *
 * fuzz_scene_files.c: libFuzzer feeds scenes together with the files that they name. An input has up to four parts,
 * separated by lines "%%%%" (mesh_entry.h): the scene; the mesh, stored under every mesh file name; a second mesh file
 * (.ele, or the buffer of a glTF); numbers for masses, positions and velocities, or an image. A small world that loads
 * takes a step.
 *
 *     m.msh m.node m.mesh m.vtk m.vtu m.obj m.ply m.stl m.off m.gltf     second part
 *     m.ele m.bin                                                         third part
 *     n.csv n.pgm                                                         fourth part
 */
#include <string.h>

#include "fuzz_files.h"
#include "fuzz_memory.h"
#include "sinew/scene.h"
#include "mesh_entry.h"

/* Writes only the files that the scene names; the index in the list selects the part of the input. */
static void store_named(const char *text, const mesh_entry_parts *parts)
{
    static const struct {
        const char *name;
        int part;
    } files[] = {{"m.msh", 1}, {"m.node", 1}, {"m.mesh", 1}, {"m.vtk", 1}, {"m.vtu", 1}, {"m.obj", 1}, {"m.ply", 1},
                 {"m.stl", 1}, {"m.off", 1},  {"m.gltf", 1}, {"m.ele", 2}, {"m.bin", 2}, {"n.csv", 3}, {"n.pgm", 3}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        bool beside = files[i].part == 2;
        if (files[i].part < parts->count && (beside || strstr(text, files[i].name)))
            fuzz_store(files[i].name, parts->bytes[files[i].part], parts->sizes[files[i].part]);
        else
            unlink(fuzz_in_scratch(files[i].name).text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mesh_entry_parts parts;
    mesh_entry_split((const char *)data, size, &parts);
    char *text = malloc(parts.sizes[0] + 1);
    if (!text)
        return 0;
    if (parts.sizes[0])
        memcpy(text, parts.bytes[0], parts.sizes[0]);
    text[parts.sizes[0]] = '\0';
    store_named(text, &parts);
    size_t left;
    sinew_error error = {SINEW_OK, ""};
    sinew_scene_def def = sinew_default_scene_def();
    fuzz_path path = fuzz_in_scratch("scene.json");
    def.allocator = fuzz_memory(&left);
    def.path = path.text;
    def.text = text;
    def.text_size = parts.sizes[0];
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if ((scene != NULL) == (error.text[0] != '\0'))
        abort();
    if (strpbrk(error.text, "\n\r\033"))
        abort();
    if (scene && sinew_world_particle_count(sinew_scene_world(scene)) < 200)
        sinew_world_step(sinew_scene_world(scene), NULL);
    sinew_scene_destroy(scene);
    free(text);
    return 0;
}
