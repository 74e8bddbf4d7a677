/* SPDX-License-Identifier: MIT
 *
 * balloons.c: closed surfaces under pressure with known shapes and pressures.
 *
 * The Mylar balloon: two discs of radius a, joined at the rim, of a foil that does not stretch and gives way to
 * compression by wrinkles (Paulsen 1994: radius 0.762760 a, thickness 0.913893 a, volume 1.218524 a^3). Here the foil
 * is a net of meridians and rings of edges that resist stretch alone. The rubber balloon: a sphere of incompressible
 * neo-Hookean rubber has p R / (2 mu h) = 1/s - 1/s^7 at the stretch s, with the greatest value 0.619731 at s =
 * 7^(1/6).
 *
 * Both balloons reach equilibrium in dynamic worlds, with steps so long that implicit Euler damps all motion.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell_mesh.h"

static void balloons_fail(outcome *o, const char *why)
{
    snprintf(o->failure, sizeof o->failure, "%.255s", why);
}

/* ---- Worlds of the balloons -------------------------------------------------------------------- */

/* Creates a dynamic world without gravity in which the closed shell is the only body. */
static sinew_world *shell_world(const shell *s, double h, double density, sinew_body *body, sinew_error *error)
{
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.vertex_count = s->vertex_count;
    mesh_def.positions = s->points;
    mesh_def.triangle_count = s->triangle_count;
    mesh_def.triangles = s->triangles;
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    memset(def.gravity, 0, sizeof def.gravity);
    def.solver.iterations = 60;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, error);
    sinew_world *world = mesh ? sinew_world_create(&def, error) : NULL;
    if (world) {
        sinew_body_def body_def = sinew_default_body_def();
        body_def.mesh = mesh;
        body_def.density = (sinew_real)density;
        *body = sinew_world_add_body(world, &body_def, error);
        if (body->index < 0) {
            sinew_world_destroy(world);
            world = NULL;
        }
    }
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_energy balloons_add(sinew_world *world, sinew_body body, const char *name, const char *first, double a,
                                 const char *second, double b, sinew_error *error)
{
    sinew_energy_def def = sinew_default_energy_def(sinew_energy_by_name(name));
    def.body = body;
    sinew_energy_def_set(&def, first, a, error);
    if (second)
        sinew_energy_def_set(&def, second, b, error);
    return sinew_world_add_energy(world, &def, error);
}

/* ---- The Mylar balloon ------------------------------------------------------------------------ */

typedef struct mylar {
    double radius, thickness, volume;
} mylar;

static bool bad_step(sinew_world *world)
{
    return sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED);
}

static bool blow_mylar(int32_t meridians, int32_t rings, int32_t steps, mylar *found, figure *f, outcome *o)
{
    sinew_error error = {0};
    sinew_body body;
    shell s;
    if (!shell_discs(meridians, rings, &s)) {
        balloons_fail(o, "out of memory");
        return false;
    }
    sinew_world *world = shell_world(&s, 0.05, 0.1, &body, &error);
    sinew_real *q = malloc(3 * (size_t)s.vertex_count * sizeof *q);
    bool good = world && q &&
                balloons_add(world, body, "edge_strain", "stiffness", 2e4, "minimum", 0, &error).index >= 0 &&
                balloons_add(world, body, "pressure", "pressure", 100, NULL, 0, &error).index >= 0;
    /* Separates the two discs of the Mylar balloon slightly, so that they enclose a volume for the pressure to act
     * on. */
    if (good) {
        memcpy(q, s.points, 3 * (size_t)s.vertex_count * sizeof *q);
        for (int32_t side = 0; side < 2; side++)
            for (int32_t j = 0; j < rings; j++)
                for (int32_t i = 0; i < (j ? meridians : 1); i++)
                    q[3 * shell_disc_vertex(meridians, rings, side, j, i) + 2] =
                        (sinew_real)((side ? -0.05 : 0.05) * (1 - (double)j / rings));
        sinew_world_set_positions(world, 0, s.vertex_count, q);
    }
    for (int32_t i = 0; good && i < steps; i++)
        good = !bad_step(world);
    if (good) {
        sinew_world_get_positions(world, 0, s.vertex_count, q);
        found->thickness = (double)q[2] - (double)q[5];
        found->volume = shell_volume(&s, q);
        found->radius = 0;
        for (int32_t i = 0; i < meridians; i++) {
            const sinew_real *x = q + 3 * (size_t)shell_disc_vertex(meridians, rings, 0, rings, i);
            found->radius += hypot((double)x[0], (double)x[1]) / meridians;
        }
        figure_shape(f, "Mylar", SINEW_SOLVER_NEWTON, q, s.vertex_count);
        figure_surface(f, s.triangles, s.triangle_count);
    } else {
        balloons_fail(o, *error.text ? error.text : "the Mylar balloon could not be stepped");
    }
    free(q);
    sinew_world_destroy(world);
    shell_free(&s);
    return good;
}

static void balloons_judge(outcome *o, const char *what, double published, double measured, double bound)
{
    char text[120];
    snprintf(text, sizeof text, "%.6f", published);
    claim *c = outcome_claim(o, what, text);
    const double error = fabs(measured / published - 1);
    claim_measured(c, "%.6f, %.2f %% off", measured, 100 * error);
    claim_holds(c,
                error <= bound       ? HOLDS_YES
                : error <= 3 * bound ? HOLDS_PARTLY
                                     : HOLDS_NO,
                "%s", error <= bound ? "" : "the mesh is too coarse for the bound");
}

static bool show_mylar(const setting *s, figure *f, outcome *o)
{
    mylar m = {0};
    if (!blow_mylar(s->quick ? 32 : 48, s->quick ? 16 : 24, s->quick ? 80 : 200, &m, f, o))
        return false;
    balloons_judge(o, "Mylar balloon: radius / a", 0.762760, m.radius, 0.01);
    balloons_judge(o, "Mylar balloon: thickness / a", 0.913893, m.thickness, 0.01);
    balloons_judge(o, "Mylar balloon: volume / a^3", 1.218524, m.volume, 0.01);
    outcome_number(o, m.radius, "mylar_radius");
    outcome_number(o, m.thickness, "mylar_thickness");
    outcome_number(o, m.volume, "mylar_volume");
    return true;
}

/* ---- The rubber balloon ------------------------------------------------------------------------ */

enum {
    STRETCHES = 41
};
static const double scale = 2 * 1e5 * 1e-3; /* unit of pressure 2 mu h / R in Pa: mu = 1e5 Pa, h = 1 mm, R = 1 m */

/* Creates the world of a rubber sphere under a constant pressure (Pa); 0: no pressure energy. */
static sinew_world *rubber_world(const shell *s, double pressure, sinew_error *error)
{
    sinew_body body;
    sinew_world *world = shell_world(s, 1, 1, &body, error);
    if (world &&
        (balloons_add(world, body, "membrane_neo_hookean", "young", 3e5, "thickness", 1e-3, error).index < 0 ||
         (pressure > 0 && balloons_add(world, body, "pressure", "pressure", pressure, NULL, 0, error).index < 0))) {
        sinew_world_destroy(world);
        return NULL;
    }
    return world;
}

/* Stretch of the rubber balloon below the peak with 1/s - 1/s^7 = p, by bisection. */
static double balloons_stretch_of(double p)
{
    double low = 1, high = pow(7, 1.0 / 6);
    for (int i = 0; i < 60; i++) {
        const double s = (low + high) / 2;
        *(1 / s - pow(s, -7) < p ? &low : &high) = s;
    }
    return low;
}

static void stretch_to(sinew_world *world, const shell *s, double stretch, sinew_real *q)
{
    for (int32_t i = 0; i < 3 * s->vertex_count; i++)
        q[i] = (sinew_real)(stretch * (double)s->points[i]);
    sinew_world_set_positions(world, 0, s->vertex_count, q);
}

/* Dimensionless pressure p R / (2 mu h) = dE/dV of the rubber balloon at a given stretch, by central differences of the
 * elastic energy. */
static double pressure_at(sinew_world *world, const shell *s, double stretch, sinew_real *q)
{
    const double step = sizeof(sinew_real) == 4 ? 0.02 : 1e-4;
    double E[2], V[2];
    for (int k = 0; k < 2; k++) {
        sinew_measures m;
        stretch_to(world, s, stretch + (k ? step : -step), q);
        sinew_world_measure(world, &m);
        E[k] = m.elastic;
        V[k] = shell_volume(s, q);
    }
    return (E[1] - E[0]) / (V[1] - V[0]) / scale;
}

/* True if the rubber balloon, released at stretch 1.3, comes to rest before the stretch 1.7; *stretch is its last
 * stretch. */
static bool rests_at(const shell *s, double pressure, sinew_real *q, double *stretch)
{
    sinew_error error = {0};
    sinew_world *world = rubber_world(s, pressure * scale, &error);
    bool good = world != NULL;
    double last = 0;
    *stretch = 1.3;
    if (good)
        stretch_to(world, s, *stretch, q);
    for (int i = 0; good && i < 400 && *stretch < 1.7 && fabs(*stretch - last) > 1e-5; i++) {
        good = !bad_step(world);
        sinew_world_get_positions(world, 0, s->vertex_count, q);
        last = *stretch;
        *stretch = cbrt(shell_volume(s, q) / shell_volume(s, s->points));
    }
    sinew_world_destroy(world);
    return good && *stretch < 1.7;
}

/* Finds the greatest pressure at which the rubber balloon has an equilibrium, by bisection, in units of `scale`;
 * *stretch is the stretch there. */
static double bear(const shell *s, int32_t halvings, sinew_real *q, double *stretch)
{
    double low = 0.60, high = 0.64;
    for (int32_t i = 0; i < halvings; i++) {
        double at;
        const double trial = (low + high) / 2;
        if (rests_at(s, trial, q, &at)) {
            low = trial;
            *stretch = at;
        } else {
            high = trial;
        }
    }
    return (low + high) / 2;
}

static void show_curve(const shell *s, sinew_world *world, sinew_real *q, outcome *o)
{
    figure *f = outcome_figure(o, "rubber", "Rubber balloon: pressure over stretch", "stretch", "p R / (2 mu h)");
    const bool capacity = figure_series(f, "measured", SINEW_SOLVER_NEWTON, 0, STRETCHES) &&
                          figure_series(f, "1/s - 1/s^7", SINEW_SOLVER_PD, 1, STRETCHES);
    double best = 0, at = 1;
    for (int i = 0; i < 20 * (STRETCHES - 1); i++) {
        const double stretch = 1 + 2.0 * i / (20 * (STRETCHES - 1)),
                     p = i % 20 && fabs(stretch - 1.38) > 0.1 ? 0 : pressure_at(world, s, stretch, q);
        if (p > best) {
            best = p;
            at = stretch;
        }
        if (!capacity || i % 20)
            continue;
        for (int k = 0; k < 2; k++)
            f->series[k].x[i / 20] = stretch;
        f->series[0].y[i / 20] = p;
        f->series[1].y[i / 20] = 1 / stretch - pow(stretch, -7);
    }
    for (int k = 0; capacity && k < 2; k++)
        f->series[k].count = STRETCHES - 1;
    balloons_judge(o, "rubber balloon: greatest p R / (2 mu h), by stretch", 0.619731, best, 0.01);
    balloons_judge(o, "rubber balloon: stretch there, 7^(1/6)", pow(7, 1.0 / 6), at, 0.01);
    outcome_number(o, best, "rubber_peak");
    outcome_number(o, at, "rubber_stretch");
}

static bool show_rubber(const setting *s, figure *f, outcome *o)
{
    sinew_error error = {0};
    shell ball;
    bool good = shell_sphere(s->quick ? 3 : 4, &ball);
    sinew_real *q = good ? malloc(3 * (size_t)ball.vertex_count * sizeof *q) : NULL;
    sinew_world *world = q ? rubber_world(&ball, 0, &error) : NULL;
    if (world) {
        double stretch = 1;
        show_curve(&ball, world, q, o);
        const double borne = bear(&ball, s->quick ? 3 : 7, q, &stretch);
        balloons_judge(o, "rubber balloon: greatest pressure it rests at, by Newton", 0.619731, borne, 0.01);
        outcome_number(o, borne, "rubber_borne");
        double at;
        rests_at(&ball, 0.6, q, &at);
        figure_shape(f, "rubber at 0.6", SINEW_SOLVER_NEWTON, q, ball.vertex_count);
        figure_surface(f, ball.triangles, ball.triangle_count);
        balloons_judge(o, "rubber balloon: stretch at p R / (2 mu h) = 0.6", balloons_stretch_of(0.6), at, 0.01);
        outcome_number(o, at, "rubber_rest");
    } else {
        balloons_fail(o, *error.text ? error.text : "out of memory");
    }
    good = world != NULL;
    sinew_world_destroy(world);
    free(q);
    shell_free(&ball);
    return good;
}

void experiment_balloons(const setting *s, outcome *o)
{
    figure *f = outcome_figure(o, "shapes", "Balloons at rest", "", "");
    f->shapes = true;
    f->span = 3;
    snprintf(o->setup, sizeof o->setup,
             "Mylar: two discs of %d meridians and %d rings; rubber: a sphere of %d triangles.", s->quick ? 32 : 48,
             s->quick ? 16 : 24, s->quick ? 1280 : 5120);
    if (show_mylar(s, f, o))
        show_rubber(s, f, o);
}
