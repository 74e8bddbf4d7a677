/* SPDX-License-Identifier: MIT
 *
 * bending_plate.h: the plate that hinges represent on a flat periodic mesh: its rigidity in cylindrical bending,
 * minimised over all other displacements of its vertices; and a sheet to bend. For test_bending.c and
 * test_bending_limits.c.
 */
#ifndef SINEW_BENDING_PLATE_H
#define SINEW_BENDING_PLATE_H

#include "bending_meshes.h"
#include "energy_batch.h"

static inline const sinew_simd_variant *best_lanes(void)
{
    return sinew_simd();
}

static inline const sinew_energy_ops *ops_of(sinew_energy_kind kind)
{
    return best_lanes()->energies[kind];
}

static inline void set_parameter(const sinew_energy_ops *ops, sample *s, const char *name, double value)
{
    for (int i = 0; i < ops->info.parameter_count; i++)
        if (strcmp(ops->info.parameters[i].name, name) == 0) {
            s->parameters[i] = value;
            return;
        }
    fail_msg("%s has no parameter %s", ops->info.name, name);
}

/* Default parameters with rigidity 1. */
static inline sample plain_sample(const sinew_energy_ops *ops)
{
    sample s = {0};
    for (int i = 0; i < ops->info.parameter_count; i++)
        s.parameters[i] = ops->info.parameters[i].preset;
    set_parameter(ops, &s, "rigidity", 1);
    return s;
}

/* Angles of one period are B u + t: k[m], with four entries of periodic vertices per row of B. */
typedef struct plate {
    int count;
    double k[4 * PERIOD * PERIOD], row[4 * PERIOD * PERIOD][4], theta[4 * PERIOD * PERIOD], area;
    int vertex[4 * PERIOD * PERIOD][4];
} plate;

/* w = (d . x)^2 / 2 is a cylinder of curvature 1 along d. */
static inline void make_plate(const sinew_mesh *mesh, const double d[2], const patch *p, plate *out)
{
    const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_HINGE);
    cells hinges = find(mesh, SINEW_STENCIL_HINGE, 4);
    out->count = 0;
    out->area = PERIOD * PERIOD * p->height;
    for (int32_t h = 0; h < hinges.count; h++) {
        const int32_t *v = hinges.vertices + 4 * h;
        const int i = v[0] % ACROSS, j = v[0] / ACROSS; /* the end with the lower number decides */
        if (i < PERIOD || i >= 2 * PERIOD || j < PERIOD || j >= 2 * PERIOD)
            continue;
        sample s = plain_sample(ops);
        for (int k = 0; k < 12; k++)
            s.rest[k] = (double)mesh->positions[3 * v[k / 3] + k % 3];
        batch b = batch_make(best_lanes(), ops, &s, 1);
        _Alignas(64) sinew_real D[4 * 16], weights[16];
        const sinew_reduced_kernel kernel = {
            .groups = {.count = 1, .vertex = b.vertex, .data = b.data}, .x = b.x, .D = D, .weights = weights};
        ops->reduce(&kernel);
        ops->stiffness(&kernel);
        const int m = out->count++;
        assert_true(m < 4 * PERIOD * PERIOD);
        out->k[m] = (double)weights[0];
        out->theta[m] = 0;
        out->row[m][0] = 0; /* in single, row sums of D are round-off, which would give translations an energy */
        for (int a = 0; a < 4; a++) {
            out->row[m][a] = a == 0 ? 0 : (double)D[a * b.width];
            out->row[m][0] -= out->row[m][a];
            out->vertex[m][a] = v[a] % ACROSS % PERIOD + PERIOD * (v[a] / ACROSS % PERIOD);
        }
        for (int a = 0; a < 4; a++) {
            const double x = s.rest[3 * a] - s.rest[0], y = s.rest[3 * a + 1] - s.rest[1], along = d[0] * x + d[1] * y;
            out->theta[m] += out->row[m][a] * 0.5 * along * along;
        }
        batch_free(&b);
    }
    cells_free(&hinges);
}

/* g = B^T k (B u + t); returns the energy */
static inline double plate_gradient(const plate *p, const double *u, bool load, double *g)
{
    double energy = 0;
    memset(g, 0, sizeof *g * PERIOD * PERIOD);
    for (int m = 0; m < p->count; m++) {
        double theta = load ? p->theta[m] : 0;
        for (int a = 0; a < 4; a++)
            theta += p->row[m][a] * u[p->vertex[m][a]];
        energy += 0.5 * p->k[m] * theta * theta;
        for (int a = 0; a < 4; a++)
            g[p->vertex[m][a]] += p->k[m] * theta * p->row[m][a];
    }
    return energy;
}

/* Rigidity in cylindrical bending over D: the minimal energy of a period over displacements of its vertices from the
 * cylinder, by conjugate gradients. */
static inline double effective_rigidity(const patch *p, double degrees, random_cases *r)
{
    enum {
        N = PERIOD * PERIOD
    };
    static plate plate_now;
    const double angle = degrees * MAKE_PI / 180, d[2] = {cos(angle), sin(angle)};
    double u[N] = {0}, g[N], s[N], Hs[N];
    sinew_mesh *mesh = make_patch(p, r);
    make_plate(mesh, d, p, &plate_now);
    double energy = plate_gradient(&plate_now, u, true, g), square = 0;
    for (int i = 0; i < N; i++) {
        s[i] = -g[i];
        square += g[i] * g[i];
    }
    const double begin = square;
    for (int step = 0; step < 4 * N && square > 1e-20 * begin && square > 1e-20; step++) {
        double bottom = 0, next = 0;
        plate_gradient(&plate_now, s, false, Hs);
        for (int i = 0; i < N; i++)
            bottom += s[i] * Hs[i];
        for (int i = 0; i < N; i++) {
            u[i] += square / bottom * s[i];
            g[i] += square / bottom * Hs[i];
            next += g[i] * g[i];
        }
        for (int i = 0; i < N; i++)
            s[i] = next / square * s[i] - g[i];
        square = next;
    }
    energy = plate_gradient(&plate_now, u, true, g);
    sinew_mesh_destroy(mesh);
    return 2 * energy / plate_now.area;
}

/* A level cloth of side x side vertices on springs, held along one side, that bends under its weight; the caller adds
 * the bending energy. */
static inline sinew_world *make_sheet(int32_t side, sinew_solver_kind solver, int32_t iterations, sinew_body *sheet)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = side;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.05;
    def.gravity[2] = -5;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = iterations;
    def.solver.tolerance = 0;
    sinew_world *world = make_world(&def);
    *sheet = add_mesh(world, mesh, 0.2, NULL, NULL);
    add_springs(world, *sheet, 20);
    int32_t held[64];
    assert_true(side <= 64);
    for (int32_t i = 0; i < side; i++)
        held[i] = side * i;
    add_pins(world, *sheet, held, side, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

#endif
