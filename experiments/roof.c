/* SPDX-License-Identifier: MIT
 *
 * roof.c: the roof of Scordelis and Lo. See roof.h.
 */
#include "roof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RADIUS    25.0
#define HALF      25.0 /* length of the simulated quarter of the roof */
#define ANGLE     (40 * 3.14159265358979323846 / 180)
#define THICKNESS 0.25
#define YOUNG     4.32e8
#define WEIGHT    90.0
#define SMALL     1e-3 /* fraction of the roof's load that is applied */

/* Bends a flat mesh (u, 0, -v) to a cylinder: u goes along the axis z, v along the arc from the crown. Destroys
 * `flat`. */
static sinew_mesh *bent(sinew_mesh *flat, sinew_error *error)
{
    const int32_t count = flat ? sinew_mesh_vertex_count(flat) : 0;
    sinew_real *x = flat ? malloc(3 * (size_t)count * sizeof *x) : NULL;
    for (int32_t i = 0; x && i < count; i++) {
        const sinew_real *from = sinew_mesh_positions(flat) + 3 * i;
        const double arc = -(double)from[2] / RADIUS;
        x[3 * i] = (sinew_real)(RADIUS * sin(arc));
        x[3 * i + 1] = (sinew_real)(RADIUS * cos(arc));
        x[3 * i + 2] = from[0];
    }
    sinew_mesh *mesh = x ? sinew_mesh_moved(flat, x, error) : NULL;
    free(x);
    sinew_mesh_destroy(flat);
    return mesh;
}

static void roof_mark(const sinew_mesh *mesh, int axis, double at, uint8_t *marked)
{
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++)
        marked[i] = fabs((double)sinew_mesh_positions(mesh)[3 * i + axis] - at) < 1e-4;
}

/* Supports the roof: planes of symmetry at the crown and half-way along it, the diaphragm at its end. */
static bool roof_hold(const plate *p, const sinew_mesh *mesh, uint8_t *marked, sinew_error *error)
{
    const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
    roof_mark(mesh, 0, 0, marked);
    bool good = plate_slide(p, marked, x, PLATE_IN_PLANE, error);
    roof_mark(mesh, 2, 0, marked);
    good = good && plate_slide(p, marked, z, PLATE_IN_PLANE, error);
    roof_mark(mesh, 2, HALF, marked);
    return good && plate_slide(p, marked, z, PLATE_ON_LINE, error);
}

/* Downward displacement of the middle of the roof's free side, scaled to the full load. */
static double roof_sag(const plate *p, const sinew_mesh *mesh)
{
    const sinew_region corner = {.kind = SINEW_REGION_NEAREST,
                                 .a = {(sinew_real)(RADIUS * sin(ANGLE)), (sinew_real)(RADIUS * cos(ANGLE)), 0}};
    int32_t at = 0;
    sinew_real q[3];
    sinew_region_select(&corner, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh), &at, 1);
    sinew_world_get_positions(p->world, sinew_body_first_particle(p->world, p->body) + at, 1, q);
    return ((double)sinew_mesh_positions(mesh)[3 * at + 1] - (double)q[1]) / SMALL;
}

bool roof_run(roof *r)
{
    const double low[2] = {0, 0}, high[2] = {HALF, RADIUS * ANGLE};
    const plate_def def = {
        .rigidity = YOUNG * THICKNESS * THICKNESS * THICKNESS / 12, .thickness = THICKNESS, .density = SMALL * WEIGHT};
    sinew_error error = {0};
    sinew_mesh *mesh = bent(plate_mesh(r->mesh, low, high, r->cells, false, r->seed, &error), &error);
    sinew_world *world = mesh ? plate_world(1, &error) : NULL;
    uint8_t *marked = mesh ? malloc((size_t)sinew_mesh_vertex_count(mesh)) : NULL;
    plate p;
    r->iterations = -1;
    if (world && marked && plate_add(world, mesh, &def, &p, &error) && roof_hold(&p, mesh, marked, &error)) {
        r->iterations = plate_settle(world, 10);
        r->sag = roof_sag(&p, mesh);
    }
    snprintf(r->error, sizeof r->error, "%.250s",
             r->iterations < 0 && !error.text[0] ? "does not converge" : error.text);
    free(marked);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return r->iterations >= 0;
}
