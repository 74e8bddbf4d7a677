/* SPDX-License-Identifier: MIT
 *
 * idle_scenes.h: scenes with contact in which nothing comes near anything: a flag in the wind, a filled bean that
 * falls, and fifty boxes that fall. Contact must change neither their motion nor, much, their cost.
 */
#ifndef SINEW_IDLE_SCENES_H
#define SINEW_IDLE_SCENES_H

#include <stdio.h>
#include <string.h>

#include "sinew/contact.h"
#include "sinew/scene.h"

enum {
    IDLE_FLAG,
    IDLE_BEAN,
    IDLE_BOXES,
    IDLE_SCENES
};

static const char *const idle_names[IDLE_SCENES] = {"flag", "bean", "boxes"};

static const char idle_head[] = "{\"sinew\": 1, \"time_step\": \"10 ms\", \"threads\": 1,"
                                "\"contact\": {\"thickness\": \"4 mm\", \"friction\": 0.4}, ";

/* A flag of 20 x 14 vertices in a wind of 6 m/s. Bending keeps its parts apart. */
static const char idle_flag[] =
    "\"bodies\": [{\"mesh\": {\"generator\": \"cloth\", \"vertices\": [20, 14], \"width\": 1.2, \"length\": 0.8},"
    "\"density\": 0.2, \"energies\": [{\"energy\": \"spring\", \"stiffness\": 1000}, {\"energy\": \"hinge\"}],"
    "\"pins\": [{\"select\": {\"box\": [[-0.001, -1, -1], [0.001, 1, 1]]}}],"
    "\"loads\": [{\"load\": \"wind\", \"velocity\": [6, 0, 2]}]}]}";

static const char idle_bean[] =
    "\"bodies\": [{\"mesh\": {\"file\": \"bean.obj\", \"fill\": {\"cells\": 8}}, \"density\": 1000,"
    "\"energies\": [{\"energy\": \"strain\", \"stiffness\": 60000}]}],"
    "\"colliders\": [{\"shape\": \"plane\", \"position\": [0, -50, 0]}]}";

/* Writes 5 x 2 x 5 boxes of 0.1 m with 0.2 m between them, at two heights, above a distant floor. */
static inline void idle_write_boxes(char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size,
                                 "\"colliders\": [{\"shape\": \"plane\", \"position\": [0, -50, 0]}], \"bodies\": [");
    for (int k = 0; k < 50; k++)
        at += (size_t)snprintf(
            text + at, size - at,
            "%s{\"mesh\": {\"generator\": \"box\", \"vertices\": [3, 3, 3], \"size\": [0.1, 0.1, 0.1]}, \"density\": "
            "500, \"transform\": {\"translate\": [%g, %g, %g]}, \"energies\": [{\"energy\": \"strain\", \"stiffness\": "
            "60000}]}",
            k ? ", " : "", 0.3 * (k % 5), 0.3 * (k / 25), 0.3 * (k / 5 % 5));
    snprintf(text + at, size - at, "]}");
}

/* Reads a scene; `folder`: the folder of bean.obj. Its contact is on. NULL: see *error. */
static inline sinew_scene *idle_scene(int which, const char *folder, const char *solver, sinew_error *error)
{
    static char text[1 << 15];
    char path[1024], setting[64];
    const size_t head = sizeof idle_head - 1;
    memcpy(text, idle_head, head);
    if (which == IDLE_BOXES)
        idle_write_boxes(text + head, sizeof text - head);
    else
        snprintf(text + head, sizeof text - head, "%s", which == IDLE_FLAG ? idle_flag : idle_bean);
    snprintf(path, sizeof path, "%s/idle.json", folder);
    snprintf(setting, sizeof setting, "solver.name=%s", solver);
    const char *settings[] = {setting, "solver.measure=nothing"};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    def.text = text;
    def.text_size = strlen(text);
    def.settings = settings;
    def.setting_count = 2;
    return sinew_scene_read(&def, error);
}

#endif
