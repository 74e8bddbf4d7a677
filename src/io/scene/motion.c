/* SPDX-License-Identifier: MIT
 *
 * motion.c: reads rotations, transforms and key-framed motions of a scene.
 *
 * A rotation vector r rotates a point p by Rodrigues' formula, with u = r/|r|, a = |r|, cross product x:
 *     p -> p cos a + (u x p) sin a + u (u . p)(1 - cos a)
 */
#include <math.h>

#include "io/scene/reader.h"
#include "math/vec3.h"

void sinew_rotate_point(const sinew_real rotation[3], const sinew_real pivot[3], sinew_real point[3])
{
    double r[3] = {rotation[0], rotation[1], rotation[2]};
    double angle = vec3_norm(r);
    if (angle == 0)
        return;
    double u[3] = {r[0] / angle, r[1] / angle, r[2] / angle}, c = cos(angle), s = sin(angle);
    double x[3] = {point[0] - pivot[0], point[1] - pivot[1], point[2] - pivot[2]};
    double along = vec3_dot(u, x) * (1 - c);
    double cross[3];
    vec3_cross(u, x, cross);
    for (int axis = 0; axis < 3; axis++)
        point[axis] = (sinew_real)(pivot[axis] + x[axis] * c + cross[axis] * s + u[axis] * along);
}

bool sinew_reader_axis(sinew_reader *reader, const sinew_node *node, sinew_real axis[3])
{
    const char *word = sinew_node_text(node);
    if (word) {
        for (int i = 0; i < 3; i++)
            axis[i] = word[0] == "xyz"[i];
        return true;
    }
    sinew_node_vector(node, axis);
    double length = sqrt((double)axis[0] * axis[0] + (double)axis[1] * axis[1] + (double)axis[2] * axis[2]);
    if (!(length > 0) || !isfinite(length))
        return sinew_tree_fail(&reader->tree, node, "must be a direction, not [0, 0, 0]");
    for (int i = 0; i < 3; i++)
        axis[i] = (sinew_real)(axis[i] / length);
    return true;
}

bool sinew_reader_rotation(sinew_reader *reader, const sinew_node *node, sinew_real rotation[3])
{
    if (!node)
        return true;
    if (json_is_array(node->value)) {
        sinew_node_vector(node, rotation);
        return true;
    }
    if (!sinew_reader_axis(reader, sinew_node_get(node, "axis"), rotation))
        return false;
    double angle = sinew_node_number(sinew_node_get(node, "angle"));
    for (int i = 0; i < 3; i++)
        rotation[i] = (sinew_real)(rotation[i] * angle);
    return true;
}

static void scene_motion_read_vector(const sinew_node *node, sinew_real vector[3])
{
    if (node)
        sinew_node_vector(node, vector);
}

bool sinew_reader_transform(sinew_reader *reader, const sinew_node *transform, sinew_real *points, int32_t count)
{
    sinew_real pivot[3] = {0}, scale[3] = {1, 1, 1}, rotation[3] = {0}, translation[3] = {0};
    const sinew_node *factor = sinew_node_get(transform, "scale");
    if (factor && json_is_array(factor->value))
        sinew_node_vector(factor, scale);
    else if (factor)
        scale[0] = scale[1] = scale[2] = (sinew_real)sinew_node_number(factor);
    scene_motion_read_vector(sinew_node_get(transform, "pivot"), pivot);
    scene_motion_read_vector(sinew_node_get(transform, "translate"), translation);
    if (!sinew_reader_rotation(reader, sinew_node_get(transform, "rotate"), rotation))
        return false;
    for (int32_t i = 0; transform && i < count; i++) {
        sinew_real *x = points + 3 * (size_t)i;
        for (int axis = 0; axis < 3; axis++)
            x[axis] = pivot[axis] + scale[axis] * (x[axis] - pivot[axis]);
        sinew_rotate_point(rotation, pivot, x);
        for (int axis = 0; axis < 3; axis++)
            x[axis] += translation[axis];
    }
    return true;
}

bool sinew_reader_motion(sinew_reader *reader, const sinew_node *node, sinew_motion *motion)
{
    const sinew_node *list = sinew_node_get(node, "keys");
    int32_t count = sinew_node_count(list);
    sinew_key *keys = sinew_reader_allocate(reader, (size_t)count, sizeof *keys, "key frames");
    if (!keys)
        return false;
    *motion = (sinew_motion){.key_count = count, .keys = keys};
    scene_motion_read_vector(sinew_node_get(node, "pivot"), motion->pivot);
    int32_t i = 0;
    for (const sinew_node *entry = list->child; entry; entry = entry->next, i++) {
        keys[i] = (sinew_key){.time = (sinew_real)sinew_node_number(sinew_node_get(entry, "time"))};
        scene_motion_read_vector(sinew_node_get(entry, "translate"), keys[i].translation);
        bool good = sinew_reader_rotation(reader, sinew_node_get(entry, "rotate"), keys[i].rotation);
        if (good && i > 0 && keys[i].time <= keys[i - 1].time)
            good = sinew_tree_fail(&reader->tree, entry, "times must ascend: %g s comes after %g s",
                                   (double)keys[i].time, (double)keys[i - 1].time);
        if (!good) {
            sinew_release(&reader->allocator, keys);
            motion->keys = NULL;
            return false;
        }
    }
    return true;
}
