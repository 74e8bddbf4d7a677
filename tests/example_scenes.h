/* SPDX-License-Identifier: MIT
 *
 * example_scenes.h: a visit to every scene of the folder scenes, and step bits that none of them should have.
 */
#ifndef SINEW_EXAMPLE_SCENES_H
#define SINEW_EXAMPLE_SCENES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

/* In single precision round-off may keep a step from its tolerance. */
#ifdef SINEW_SINGLE
#define UNWANTED (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)
#else
#define UNWANTED (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_CONVERGED)
#endif

typedef void scene_visitor(const char *path, void *context);

static void each_scene(scene_visitor *visit, void *context)
{
    const char *folder = SINEW_SOURCE_DIR "/scenes";
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        visit(path, context);
        count++;
    }
    closedir(stream);
    assert_in_range(count, 9, 1000);
}

#endif
