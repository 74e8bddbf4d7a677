/* SPDX-License-Identifier: MIT
 *
 * camera.c: explicit cameras (eye and target) and fitted cameras.
 *
 * Fitting has a closed form. Let e be the eye, f the viewing direction, r the direction to the right and t the tangent
 * of half the angle of the frame. A point p is between the left and the right edge when
 *
 *      r . (p - e) <= t f . (p - e),    -r . (p - e) <= t f . (p - e)
 *
 * With A = max (r - t f) . p and B = max (-r - t f) . p the nearest eye has f . e = -(A + B) / (2 t) and r . e = (A -
 * B) / 2. The vertical direction has the same equations; the camera uses the larger of the two distances.
 */
#include "camera.h"

#include <math.h>

#include "fail.h"

sinew_camera sinew_default_camera(void)
{
    return (sinew_camera){.azimuth = 0.6, .elevation = 0.3, .distance = 1.15, .angle = 0.6};
}

static double camera_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool normalise(double *a)
{
    const double length = sqrt(camera_dot(a, a));
    for (int c = 0; c < 3 && length > 0; c++)
        a[c] /= length;
    return length > 0 && isfinite(length);
}

/* Computes the axes right and up of a camera from forward; y is up. A camera that looks straight down has -z up in
 * the picture; one that looks straight up has z up. */
static void complete(lens *l)
{
    const double *f = l->forward;
    const bool steep = fabs(f[1]) > 0.99999;
    const double up[3] = {0, steep ? 0 : 1, steep ? (f[1] < 0 ? -1 : 1) : 0};
    for (int c = 0; c < 3; c++)
        l->right[c] = f[(c + 1) % 3] * up[(c + 2) % 3] - f[(c + 2) % 3] * up[(c + 1) % 3];
    normalise(l->right);
    for (int c = 0; c < 3; c++)
        l->up[c] = l->right[(c + 1) % 3] * f[(c + 2) % 3] - l->right[(c + 2) % 3] * f[(c + 1) % 3];
}

/* Computes the eye's coordinate along `side` and its distance back along forward such that all extreme points of the
 * survey are within +-t. */
static void fit_axis(const lens *l, const sinew_survey *survey, const double *side, double t, double *across,
                     double *depth)
{
    double max[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < SINEW_SURVEY_EXTREMES; k++) {
        const double s = camera_dot(side, survey->extremes[k]), f = camera_dot(l->forward, survey->extremes[k]);
        max[0] = fmax(max[0], s - t * f);
        max[1] = fmax(max[1], -s - t * f);
    }
    *across = (max[0] - max[1]) / 2;
    *depth = -(max[0] + max[1]) / (2 * t);
}

static void fit(const sinew_camera *camera, const sinew_survey *survey, const picture_frame *frame, lens *l)
{
    const double a = camera->azimuth, e = camera->elevation;
    l->forward[0] = -sin(a) * cos(e);
    l->forward[1] = -sin(e);
    l->forward[2] = -cos(a) * cos(e);
    complete(l);
    double x, y, depth[2], middle = 0;
    fit_axis(l, survey, l->right, frame->width / 2 / l->scale, &x, &depth[0]);
    fit_axis(l, survey, l->up, frame->height / 2 / l->scale, &y, &depth[1]);
    double z = fmin(depth[0], depth[1]), size = 0;
    for (int c = 0; c < 3; c++) {
        middle += l->forward[c] * (survey->bounds[c] + survey->bounds[3 + c]) / 2;
        size = fmax(size, survey->bounds[3 + c] - survey->bounds[c]);
    }
    /* A survey of a single point has no size: the camera is one metre away from it. */
    const double away = size > 0 ? fmax(middle - z, 1e-3 * size) : 1;
    z = middle - camera->distance * away;
    for (int c = 0; c < 3; c++)
        l->eye[c] = x * l->right[c] + y * l->up[c] + z * l->forward[c];
}

static bool is_sound(const sinew_camera *camera)
{
    double sum = camera->azimuth + camera->elevation + camera->distance + camera->angle;
    /* Limits the distance of the camera: rays are traced in 32-bit floats, which hold squares of this distance but not
     * of much larger ones. */
    double farthest = 0;
    for (int c = 0; c < 3 && camera->given; c++) {
        sum += camera->eye[c] + camera->target[c];
        farthest = fmax(farthest, fmax(fabs(camera->eye[c]), fabs(camera->target[c])));
    }
    return isfinite(sum) && farthest <= 1e9 && camera->angle > 0.001 && camera->angle < 3.1 && camera->distance > 0 &&
           camera->distance <= 1e6;
}

sinew_status lens_make(const sinew_camera *camera, const sinew_survey *survey, const picture_frame *frame, lens *made,
                       sinew_error *error)
{
    lens *l = made;
    *l = (lens){.centre = {frame->x + frame->width / 2, frame->y + frame->height / 2}};
    if (!is_sound(camera))
        return picture_fail(error, SINEW_ERROR_DATA,
                            "camera: its numbers must be finite, eye and target within 1e9 m, the angle between 0.001 "
                            "and 3.1 radians (is %g) and the distance greater than 0 and at most 1e6 (is %g)",
                            camera->angle, camera->distance);
    l->scale = frame->height / 2 / tan(camera->angle / 2);
    if (!camera->given) {
        fit(camera, survey, frame, l);
        return SINEW_OK;
    }
    for (int c = 0; c < 3; c++) {
        l->eye[c] = camera->eye[c];
        l->forward[c] = camera->target[c] - camera->eye[c];
    }
    if (!normalise(l->forward))
        return picture_fail(error, SINEW_ERROR_DATA,
                            "camera: eye %g %g %g and target are the same point: move one of them", camera->eye[0],
                            camera->eye[1], camera->eye[2]);
    complete(l);
    return SINEW_OK;
}

void lens_direction(const lens *l, double x, double y, double direction[3])
{
    const double u = (x - l->centre[0]) / l->scale, v = (l->centre[1] - y) / l->scale;
    for (int c = 0; c < 3; c++)
        direction[c] = l->forward[c] + u * l->right[c] + v * l->up[c];
}

bool lens_sees(const lens *l, const double *points, int64_t count, int32_t width, int32_t height)
{
    for (int64_t i = 0; i < count; i++) {
        const double *p = points + 3 * i, offset[3] = {p[0] - l->eye[0], p[1] - l->eye[1], p[2] - l->eye[2]};
        const double depth = camera_dot(offset, l->forward);
        const double x = l->centre[0] + l->scale * camera_dot(offset, l->right) / depth,
                     y = l->centre[1] - l->scale * camera_dot(offset, l->up) / depth;
        if (depth > 0 && x >= 0 && x < width && y >= 0 && y < height)
            return true;
    }
    return false;
}
