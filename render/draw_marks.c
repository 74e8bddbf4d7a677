/* SPDX-License-Identifier: MIT
 *
 * draw_marks.c: draws supports and joints of bodies. Small balls mark pins and vertices with position energies; thin
 * tubes mark pairs and edges between bodies. On a body with a skin the balls lie on the skin.
 */
#include "draw_world.h"

#include <stdlib.h>

#include "fail.h"
#include "sinew/skin.h"

/* Paints of marks: pins are dark, vertices with position energies are paler, joints between bodies are dark red. */
static const shape_paint pin_paint = {{0.06f, 0.065f, 0.075f}, {0.06f, 0.065f, 0.075f}, false, false};
static const shape_paint hold_paint = {{0.30f, 0.34f, 0.40f}, {0.30f, 0.34f, 0.40f}, false, false};
static const shape_paint joint_paint = {{0.28f, 0.05f, 0.04f}, {0.28f, 0.05f, 0.04f}, false, false};

/* Radius in m of the ball that marks a vertex of the body. */
static double ball_radius(const drawn_body *body)
{
    const double by_size = fmin(fmax(0.14 * body->edge, 0.004 * body->size), 0.012 * body->size);
    return fmax(by_size, 1.6 * body->tube);
}

/* Draws a ball at a particle. Particles under a skin are invisible and get no ball. */
static void draw_ball(drawing *d, int32_t particle, double scale, int32_t detail, int32_t paint)
{
    if (d->body_of[particle] < 0 || drawing_has_skin(d, &d->bodies[d->body_of[particle]]))
        return;
    if (!d->fine[particle]) {
        d->left_out++;
        return;
    }
    const double *at = drawing_point(d, particle), centre[3] = {at[0], at[1], at[2]};
    if (!drawing_cuts(d, centre))
        shape_add_ball(d->shape, centre, scale * ball_radius(&d->bodies[d->body_of[particle]]), NAN, detail, paint);
}

/* Draws balls at skin vertices that depend on pinned particles only. */
static void pin_skin(drawing *d, const drawn_body *body, const uint8_t *pinned, int32_t paint)
{
    const int32_t *follows = sinew_body_skin_vertices(d->world, body->id);
    const sinew_real *weights = sinew_body_skin_weights(d->world, body->id);
    const int32_t count = sinew_skin_vertex_count(sinew_body_skin(d->world, body->id)), detail = shape_detail(count);
    for (size_t i = 0; i < (size_t)count; i++) {
        double at[3] = {0, 0, 0};
        bool held = true;
        for (size_t k = 4 * i; k < 4 * i + 4; k++) {
            const int32_t particle = body->first + follows[k];
            held = held && (weights[k] == 0 || (pinned[particle] && d->fine[particle]));
            for (int c = 0; c < 3 && weights[k] != 0; c++)
                at[c] += (double)weights[k] * drawing_point(d, particle)[c];
        }
        if (held && !drawing_cuts(d, at))
            shape_add_ball(d->shape, at, ball_radius(body), NAN, detail, paint);
    }
}

static sinew_status pin_skins(drawing *d, const int32_t *particles, int32_t count, int32_t paint)
{
    uint8_t *pinned = calloc((size_t)d->particle_count + 1, 1);
    if (!pinned)
        return picture_fail_memory(d->error, "the pins of a snapshot");
    for (int32_t i = 0; i < count; i++)
        pinned[particles[i]] = 1;
    for (int32_t i = 0; i < d->body_count; i++)
        if (drawing_has_skin(d, &d->bodies[i]))
            pin_skin(d, &d->bodies[i], pinned, paint);
    free(pinned);
    return SINEW_OK;
}

static sinew_status draw_pins(drawing *d)
{
    const int32_t count = sinew_world_pinned(d->world, 0, NULL);
    int32_t *particles = malloc((size_t)count * sizeof *particles + 1);
    if (!particles)
        return picture_fail_memory(d->error, "the pins of a snapshot");
    sinew_world_pinned(d->world, count, particles);
    const int32_t paint = count > 0 ? shape_add_paint(d->shape, pin_paint) : 0, detail = shape_detail(count);
    for (int32_t i = 0; i < count; i++)
        draw_ball(d, particles[i], 1, detail, paint);
    const sinew_status status = count > 0 ? pin_skins(d, particles, count, paint) : SINEW_OK;
    free(particles);
    return status;
}

/* ---- Marks that show elements of energies ----------------------------------------------------- */

typedef struct mark_elements {
    sinew_energy energy;
    int32_t count;
    int32_t *particles;  /* [count * vertices per element] particles of each element */
    sinew_real *weights; /* [8 * count] interpolation weights of the particles, for pairs only */
    int32_t paint, detail;
} mark_elements;

static void mark_vertices(drawing *d, const mark_elements *m)
{
    for (int32_t e = 0; e < m->count; e++)
        if (sinew_energy_is_on(d->world, m->energy, e))
            draw_ball(d, m->particles[e], 0.8, m->detail, m->paint);
}

/* Draws a thin tube between two points with balls at its ends. The body of `particle` sets the thickness. */
static void draw_joint(drawing *d, const mark_elements *m, double (*ends)[3], int32_t particle)
{
    if (d->body_of[particle] < 0 || drawing_cuts(d, ends[0]))
        return;
    const double radius = 0.45 * ball_radius(&d->bodies[d->body_of[particle]]);
    shape_add_tube(d->shape, ends[0], ends[1], radius, NAN, NAN, m->detail, m->paint);
    for (int end = 0; end < 2; end++)
        shape_add_ball(d->shape, ends[end], 1.5 * radius, NAN, m->detail, m->paint);
}

static void mark_pairs(drawing *d, const mark_elements *m)
{
    for (int32_t e = 0; e < m->count; e++) {
        double ends[2][3] = {{0}};
        bool fine = true;
        for (size_t i = 0; i < 8; i++) {
            const int32_t particle = m->particles[8 * (size_t)e + i];
            const double weight = (double)m->weights[8 * (size_t)e + i];
            fine = fine && (d->fine[particle] || weight == 0);
            for (int c = 0; c < 3 && weight != 0; c++)
                ends[i / 4][c] += weight * drawing_point(d, particle)[c];
        }
        if (!fine)
            d->left_out++;
        else if (sinew_energy_is_on(d->world, m->energy, e))
            draw_joint(d, m, ends, m->particles[8 * (size_t)e]);
    }
}

static void mark_edges(drawing *d, const mark_elements *m)
{
    for (int32_t e = 0; e < m->count; e++) {
        const int32_t a = m->particles[2 * (size_t)e], b = m->particles[2 * (size_t)e + 1];
        if (d->body_of[a] == d->body_of[b] || !sinew_energy_is_on(d->world, m->energy, e))
            continue;
        double ends[2][3];
        for (int c = 0; c < 3; c++) {
            ends[0][c] = drawing_point(d, a)[c];
            ends[1][c] = drawing_point(d, b)[c];
        }
        if (d->fine[a] && d->fine[b])
            draw_joint(d, m, ends, a);
        else
            d->left_out++;
    }
}

/* Marks of the elements of each stencil; stencils without an entry have no marks. */
static const struct {
    void (*mark)(drawing *d, const mark_elements *m);
    const shape_paint *paint;
    bool pins; /* true: `pins` of the snapshot's def shows the marks; false: `springs` does */
} marks[SINEW_STENCIL_COUNT] = {
    [SINEW_STENCIL_VERTEX] = {mark_vertices, &hold_paint, true},
    [SINEW_STENCIL_PAIR] = {mark_pairs, &joint_paint, false},
    [SINEW_STENCIL_EDGE] = {mark_edges, &joint_paint, false},
};

static sinew_status mark_energy(drawing *d, sinew_energy energy, const sinew_energy_info *info)
{
    mark_elements m = {.energy = energy, .count = sinew_energy_element_count(d->world, energy)};
    const size_t total = (size_t)m.count * (size_t)info->vertex_count;
    const bool weighted = info->stencil == SINEW_STENCIL_PAIR;
    m.particles = malloc(total * sizeof *m.particles + 1);
    m.weights = weighted ? malloc(total * sizeof *m.weights + 1) : NULL;
    m.detail = shape_detail(3 * (int64_t)m.count);
    sinew_status status =
        m.particles && (m.weights || !weighted)
            ? sinew_energy_get_elements(d->world, energy, 0, m.count, m.particles, m.weights, d->error)
            : picture_fail_memory(d->error, "the springs of a snapshot");
    if (status == SINEW_OK) {
        m.paint = shape_add_paint(d->shape, *marks[info->stencil].paint);
        marks[info->stencil].mark(d, &m);
    }
    free(m.particles);
    free(m.weights);
    return status;
}

sinew_status draw_marks(drawing *d)
{
    sinew_status status = d->def->pins ? draw_pins(d) : SINEW_OK;
    for (int32_t index = 0; index < sinew_world_energy_count(d->world) && status == SINEW_OK; index++) {
        const sinew_energy energy = sinew_world_energy_at(d->world, index);
        const sinew_energy_info *info =
            energy.index >= 0 ? sinew_get_energy_info(sinew_energy_kind_of(d->world, energy)) : NULL;
        if (info && (unsigned)info->stencil < SINEW_STENCIL_COUNT && marks[info->stencil].mark &&
            (marks[info->stencil].pins ? d->def->pins : d->def->springs))
            status = mark_energy(d, energy, info);
    }
    return status;
}
