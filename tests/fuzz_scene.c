/* SPDX-License-Identifier: MIT
 *
 * fuzz_scene.c: libFuzzer feeds scene text, with a setting from the first line if that line begins with '#'. Memory is
 * capped, so that a large mesh is an error instead of a long wait. A small world that loads also takes a step.
 *
 *     tests/fuzz_scene -max_len=4096 CORPUS scenes
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_memory.h"
#include "sinew/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t left;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *body = text, *newline = text[0] == '#' ? strchr(text, '\n') : NULL;
    const char *settings[1] = {text + 1};
    sinew_scene_def def = sinew_default_scene_def();
    def.allocator = fuzz_memory(&left);
    /* The folder has no files, so every file that a scene names is missing. */
    def.path = "/nonexistent/fuzz.json";
    if (newline) {
        *newline = '\0';
        body = newline + 1;
        def.settings = settings;
        def.setting_count = 1;
    }
    sinew_error error;
    def.text = body;
    def.text_size = size - (size_t)(body - text);
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (scene && sinew_world_particle_count(sinew_scene_world(scene)) < 200)
        sinew_world_step(sinew_scene_world(scene), NULL);
    sinew_scene_destroy(scene);
    free(text);
    return 0;
}
