/* SPDX-License-Identifier: MIT
 *
 * find.c: where scenes are: a path as given, or a name in one of the scene folders.
 */
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
