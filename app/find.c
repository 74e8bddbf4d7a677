/* SPDX-License-Identifier: MIT
 *
 * find.c: finds scenes by path, or by name in one of the scene folders. A missing path below "scenes/" is also searched
 * in these folders, so that the commands of the documents work in every folder.
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
    /* Scene folders relative to the program's folder: a build tree has the first, an installed program the second. */
    static const char *const shared[] = {"share/sinew/scenes", "../share/sinew/scenes"};
    const char *chosen = getenv("SINEW_SCENES");
    char folder[4000];
    if (chosen && index-- == 0)
        return snprintf(path, size, "%s", chosen) < (int)size;
    if (index == 0)
        return snprintf(path, size, "scenes") < (int)size;
    if (index <= 2 && sinew_program_folder(folder, sizeof folder))
        return snprintf(path, size, "%s/%s", folder, shared[index - 1]) < (int)size;
    return false;
}

/* Finds a file in the first scene folder that contains it. */
static bool find_in_folders(const char *file, char *path, size_t size)
{
    char folder[4096];
    for (int32_t i = 0; sinew_scene_folder(i, folder, sizeof folder); i++)
        if (snprintf(path, size, "%s/%s", folder, file) < (int)size && access(path, F_OK) == 0)
            return true;
    return false;
}

bool sinew_find_example(const char *file, char *path, size_t size)
{
    static const char prefix[] = "scenes/";
    if (access(file, F_OK) == 0)
        return snprintf(path, size, "%s", file) < (int)size;
    return strncmp(file, prefix, sizeof prefix - 1) == 0 && find_in_folders(file + sizeof prefix - 1, path, size);
}

bool sinew_find_scene(const char *scene, char *path, size_t size)
{
    char name[4096];
    if (sinew_find_example(scene, path, size))
        return true;
    /* Only scene names without a slash are searched in the scene folders. */
    if (strchr(scene, '/'))
        return false;
    const char *ending = strstr(scene, ".json") ? "" : ".json";
    return snprintf(name, sizeof name, "%s%s", scene, ending) < (int)sizeof name && find_in_folders(name, path, size);
}

void sinew_scene_folders_text(char *text, size_t size)
{
    char folder[4096];
    size_t length = 0;
    text[0] = '\0';
    for (int32_t i = 0; length < size && sinew_scene_folder(i, folder, sizeof folder); i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "", folder);
}

/* ---- Names of scenes and the nearest name ----------------------------------------------------- */

static const char scene_ending[] = ".json";

/* Length of a file's name without the ending of scenes, or of the whole name if it has another ending. */
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
