/* SPDX-License-Identifier: MIT
 *
 * camera.c: reads the keys `camera` and `picture` of a scene. They do not affect the simulation.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/scene/reader.h"
#include "math/vec3.h"

static double number_or(const sinew_node *object, const char *key, double otherwise)
{
    const sinew_node *node = sinew_node_get(object, key);
    return node ? sinew_node_number(node) : otherwise;
}

static void scene_camera_read_vector(const sinew_node *node, double vector[3])
{
    sinew_real read[3];
    sinew_node_vector(node, read);
    for (int axis = 0; axis < 3; axis++)
        vector[axis] = (double)read[axis];
}

static bool scene_camera_read_camera(sinew_reader *reader, const sinew_node *camera)
{
    sinew_scene_view *view = &reader->scene->view;
    const sinew_node *eye = sinew_node_get(camera, "eye"), *target = sinew_node_get(camera, "target");
    view->azimuth = number_or(camera, "azimuth", NAN);
    view->elevation = number_or(camera, "elevation", NAN);
    view->distance = number_or(camera, "distance", NAN);
    view->angle = number_or(camera, "angle", NAN);
    view->orbit = number_or(camera, "orbit", 0);
    if (!eye && !target)
        return true;
    if (!eye || !target)
        return sinew_tree_fail(&reader->tree, eye ? eye : target, "eye and target go together; give %s too",
                               eye ? "target" : "eye");
    if (sinew_node_get(camera, "elevation") || sinew_node_get(camera, "distance"))
        return sinew_tree_fail(&reader->tree, eye,
                               "elevation and distance are of a fitted camera; leave them out, or eye and target");
    view->placed = true;
    scene_camera_read_vector(eye, view->eye);
    scene_camera_read_vector(target, view->target);
    if (!(vec3_distance(view->eye, view->target) > 0))
        return sinew_tree_fail(&reader->tree, eye, "is the same point as target; move one of them");
    return true;
}

static bool scene_camera_read_cut(sinew_reader *reader, const sinew_node *cut)
{
    static const double zero[3];
    sinew_scene_view *view = &reader->scene->view;
    if (!cut)
        return true;
    const sinew_node *normal = sinew_node_get(cut, "normal");
    view->cut = true;
    scene_camera_read_vector(sinew_node_get(cut, "point"), view->cut_point);
    scene_camera_read_vector(normal, view->cut_normal);
    if (!(vec3_distance(view->cut_normal, zero) > 0))
        return sinew_tree_fail(&reader->tree, normal, "is zero; give a direction");
    return true;
}

bool sinew_reader_view(sinew_reader *reader)
{
    const sinew_node *root = reader->tree.root, *picture = sinew_node_get(root, "picture");
    const char *colour = sinew_node_text(sinew_node_get(picture, "colour"));
    const sinew_node *ground = sinew_node_get(picture, "ground");
    sinew_scene *scene = reader->scene;
    scene->view = (sinew_scene_view){.ground = true, .ground_height = NAN};
    snprintf(scene->colour, sizeof scene->colour, "%s", colour ? colour : "");
    if (ground && !(json_is_string(ground->value) && !ground->unit))
        scene->view.ground_height = sinew_node_number(ground);
    else if (ground)
        scene->view.ground = strcmp(sinew_node_text(ground), "none") != 0;
    return scene_camera_read_camera(reader, sinew_node_get(root, "camera")) &&
           scene_camera_read_cut(reader, sinew_node_get(picture, "cut"));
}

sinew_scene_view sinew_scene_get_view(const sinew_scene *scene)
{
    if (!SINEW_ASSERT(scene != NULL))
        return (sinew_scene_view){.azimuth = NAN, .elevation = NAN, .distance = NAN, .angle = NAN, .colour = ""};
    sinew_scene_view view = scene->view;
    view.colour = scene->colour;
    return view;
}
