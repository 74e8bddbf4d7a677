/* SPDX-License-Identifier: MIT
 *
 * view_filter.c: removes noise from the light of the pixels.
 *
 * The filter applies a 5 x 5 kernel with taps 1, 2, 4 and 8 pixels apart (à-trous wavelets: H. Dammertz et al., 2010),
 * guided by variances (C. Schied et al., Spatiotemporal Variance-Guided Filtering, 2017). A neighbour's weight
 * decreases with the difference of normals, the distance from the tangent plane and the difference of light in standard
 * deviations. Pixels whose sun and other light have no variance are unchanged, bit for bit. The filter runs before
 * light is multiplied by colours and cosines, so neither is blurred.
 */
#include "view.h"

/* Smooth filter weight of a normalised difference x: 1 at 0, falling to 0 at 1. */
static float bump(float x)
{
    const float rest = 1 - x * x;
    return rest > 0 ? rest * rest : 0;
}

/* Filter weight by similarity of the surfaces of two pixels. plane: inverse of the distance (m) from the tangent plane
 * at which the weight is zero. */
static float surface_weight(const view_pixel *p, const view_pixel *q, float plane)
{
    if ((p->paint < 0) != (q->paint < 0) || q->paint == STAGE_SKY)
        return 0;
    const float facing = vec_dot(p->normal, q->normal);
    return facing > 0.8f ? bump((1 - facing) * 5) * bump(plane * vec_dot(p->normal, vec_sub(q->point, p->point))) : 0;
}

typedef struct filter_sums {
    float sun, sun_weight, sun_variance;
    vec3 other;
    float other_weight, other_variance;
} filter_sums;

/* Adds the light of a neighbouring pixel with the kernel's weight. scales: inverses of the differences of sun and
 * other light at which the weight is zero. */
static void add_tap(filter_sums *f, const view_light *p, const view_light *q, float weight, const float scales[2])
{
    const float sun = weight * bump((q->sun - p->sun) * scales[0]);
    const float other = weight * bump((vec_luminance(q->other) - vec_luminance(p->other)) * scales[1]);
    f->sun += sun * q->sun;
    f->sun_weight += sun;
    f->sun_variance += sun * sun * q->sun_variance;
    f->other = vec_along(f->other, other, q->other);
    f->other_weight += other;
    f->other_variance += other * other * q->other_variance;
}

static void filter_pixel(const view *v, int32_t x, int32_t y, view_light *out)
{
    static const float kernel[3] = {0.375f, 0.25f, 0.0625f};
    const size_t at = (size_t)y * (size_t)v->width + (size_t)x;
    const view_pixel *own = &v->centres[at];
    const view_light *p = &v->light[at];
    const float plane = 1 / (4 * (float)v->step * view_footprint(v, own->point));
    /* Sky and bounced light have no sharp edges. The first pass therefore ignores their differences, so that single
     * noisy pixels do not count as edges. */
    const float scales[2] = {1 / (4 * sqrtf(p->sun_variance) + 1e-6f),
                             v->step == 1 ? 0 : 1 / (4 * sqrtf(p->other_variance) + 0.002f)};
    filter_sums f = {0};
    for (int32_t j = -2; j <= 2; j++)
        for (int32_t i = -2; i <= 2; i++) {
            const int32_t qx = x + i * v->step, qy = y + j * v->step;
            if (qx < 0 || qy < 0 || qx >= v->width || qy >= v->height)
                continue;
            const size_t q = (size_t)qy * (size_t)v->width + (size_t)qx;
            const float weight = i == 0 && j == 0 ? 1 : surface_weight(own, &v->centres[q], plane);
            if (weight > 0)
                add_tap(&f, p, &v->light[q], weight * kernel[i < 0 ? -i : i] * kernel[j < 0 ? -j : j], scales);
        }
    *out = (view_light){.sun = f.sun / f.sun_weight,
                        .other = vec_scale(f.other, 1 / f.other_weight),
                        .sun_variance = f.sun_variance / (f.sun_weight * f.sun_weight),
                        .other_variance = f.other_variance / (f.other_weight * f.other_weight)};
}

void view_filter_span(const view *v, int32_t y, int32_t first, int32_t last)
{
    for (int32_t x = first; x < last; x++) {
        const size_t at = (size_t)y * (size_t)v->width + (size_t)x;
        const view_light *p = &v->light[at];
        if (p->sun_variance == 0 && p->other_variance == 0)
            v->spare[at] = *p;
        else
            filter_pixel(v, x, y, &v->spare[at]);
    }
}
