/* SPDX-License-Identifier: MIT
 *
 * find.c: where scenes are: a path as given, or a name in one of the scene folders.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

bool sinew_program_folder(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

bool sinew_scene_folder(int32_t index, char *path, size_t size)
{
    const char *chosen = getenv("SINEW_SCENES");
    char folder[4000];
    if (chosen && index-- == 0)
        return snprintf(path, size, "%s", chosen) < (int)size;
    if (index == 0)
        return snprintf(path, size, "scenes") < (int)size;
    if (index == 1 && sinew_program_folder(folder, sizeof folder))
        return snprintf(path, size, "%s/../share/sinew/scenes", folder) < (int)size;
    return false;
}

bool sinew_find_scene(const char *scene, char *path, size_t size)
{
    if (access(scene, F_OK) == 0)
        return snprintf(path, size, "%s", scene) < (int)size;
    /* A path that is not there stays a path: only plain names are looked for. */
    if (strchr(scene, '/'))
        return false;
    char folder[4096];
    const char *ending = strstr(scene, ".json") ? "" : ".json";
    for (int32_t i = 0; sinew_scene_folder(i, folder, sizeof folder); i++)
        if (snprintf(path, size, "%s/%s%s", folder, scene, ending) < (int)size && access(path, F_OK) == 0)
            return true;
    return false;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static const char scene_ending[] = ".json";

/* Length of a file's name without the ending of scenes, the whole of it where it has none. */
static size_t bare_length(const char *file)
{
    const size_t length = strlen(file), ending = sizeof scene_ending - 1;
    return length > ending && strcmp(file + length - ending, scene_ending) == 0 ? length - ending : length;
}

static int is_scene(const struct dirent *entry)
{
    return entry->d_name[bare_length(entry->d_name)] != '\0';
}

int32_t sinew_scene_names(const char *folder, char ***names)
{
    struct dirent **entries = NULL;
    const int found = scandir(folder, &entries, is_scene, alphasort);
    int32_t count = 0;
    *names = found > 0 ? calloc((size_t)found, sizeof **names) : NULL;
    for (int i = 0; i < found; i++) {
        char *name = *names ? strndup(entries[i]->d_name, bare_length(entries[i]->d_name)) : NULL;
        if (name)
            (*names)[count++] = name;
        free(entries[i]);
    }
    free(entries);
    return count;
}

void sinew_scene_names_free(char **names, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

bool sinew_nearest_scene(const char *scene, char *name, size_t size)
{
    char folder[4096], bare[256];
    bool near = false;
    if (snprintf(bare, sizeof bare, "%.*s", (int)bare_length(scene), scene) >= (int)sizeof bare)
        return false;
    for (int32_t i = 0; !near && sinew_scene_folder(i, folder, sizeof folder); i++) {
        char **names;
        const int32_t count = sinew_scene_names(folder, &names);
        const char *nearest = sinew_nearest_name(bare, (const char *const *)names, count);
        near = nearest && snprintf(name, size, "%s", nearest) < (int)size;
        sinew_scene_names_free(names, count);
    }
    return near;
}
