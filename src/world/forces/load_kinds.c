/* SPDX-License-Identifier: MIT
 *
 * load_kinds.c: the kinds of loads: forces on the corners of triangles, or on vertices, from the state at the beginning
 * of a step. docs/guides/loads.md has the formulas with their reasons.
 *
 * Wind. A triangle has the mass m = m_0 + m_1 + m_2, the fractions of its corners' masses that belong to it (in
 * proportion to rest areas), and moves with v = sum m_c v_c / m. With the velocity w and density rho of the air, the
 * unit normal n and area A of the triangle, drag coefficients C, r = w - v and b = 1/2 rho A |r|, it gets
 *
 *     F = m/h (k_n (r . n) n + k_t (r - (r . n) n))
 *
 * of which corner c gets the fraction m_c / m. With x = h C b / m, E = 1 - exp(-x) and the triangle's acceleration a by
 * all forces other than wind, each part p of r (normal, tangential) has the impulse of drag within h, b and a constant,
 *
 *     k = E - (1 - E / x) h (a . r_p) / |r_p|^2,  limited to 0 .. K = 3/2
 *
 * a is that of the last step, 0 before the first one. As h goes to zero this is the plain drag k = x. A steady state
 * has m a = -F, which gives k = x too: terminal velocities and forces on pinned cloth are those of the plain drag if x
 * <= K. The limit holds where a changes within the step, as when cloth comes loose: drag alone leaves at most |r_p| / 2
 * of a reversed r_p. Corners get fractions in proportion to mass, so that for the whole cloth, with P the projections
 * times k and s_c = m_c / m,
 *
 *     sum_i m_i |v_i + h f_i / m_i - w|^2  <=  sum_i m_i |v_i - w|^2        for every h, rho, C and w
 *
 * because f = G (w - v) / h, G = sum over triangles of m s P s^T, and x^T G x <= K sum m |s^T x|^2 <= K sum m_i
 * |x_i|^2.
 *
 * Couple. With r_i from the centre of mass of the vertices and J their tensor of inertia, f_i = m_i (J^-1 M) x r_i have
 * the sum zero and the moment M.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/small/decompose_batch.h"
#include "math/vec3.h"
#include "world/inertia.h"
#include "world/forces/loads.h"

/* ---- Triangles of a load --------------------------------------------------------------------- */

int32_t sinew_load_particle(const sinew_world *world, const sinew_load_record *record, int32_t vertex)
{
    return world->inside[world->bodies[record->body.index].first + vertex];
}

void sinew_load_normal(const sinew_real *points, const int32_t particles[3], double normal[3])
{
    double e[2][3];
    for (int a = 0; a < 2; a++)
        for (size_t c = 0; c < 3; c++)
            e[a][c] = (double)points[4 * (size_t)particles[a + 1] + c] - (double)points[4 * (size_t)particles[0] + c];
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        normal[c] = (e[0][a] * e[1][b] - e[0][b] * e[1][a]) / 2;
    }
}

static void load_corners_of(const sinew_world *world, const sinew_load_record *record, int32_t triangle,
                            int32_t particles[3])
{
    for (int c = 0; c < 3; c++)
        particles[c] = sinew_load_particle(world, record, record->layout.elements[3 * (size_t)triangle + (size_t)c]);
}

static double rest_area(const sinew_world *world, const sinew_load_record *record, const int32_t *triangle)
{
    int32_t particles[3];
    double normal[3];
    for (int c = 0; c < 3; c++)
        particles[c] = sinew_load_particle(world, record, triangle[c]);
    sinew_load_normal(world->rest, particles, normal);
    return vec3_norm(normal);
}

static void add_force(sinew_real *f, int32_t particle, double factor, const double force[3])
{
    for (size_t c = 0; c < 3; c++)
        f[4 * (size_t)particle + c] += (sinew_real)(factor * force[c]);
}

/* ---- Wind loads ------------------------------------------------------------------------------- */

enum {
    WIND_DENSITY,
    WIND_NORMAL,
    WIND_TANGENTIAL,
    WIND_GUST,
    WIND_GUST_PERIOD,
    WIND_SEED,
    WIND_PARAMETERS
};

static const sinew_parameter wind_parameters[WIND_PARAMETERS] = {
    [WIND_DENSITY] = {.name = "density",
                      .unit = "kg/m3",
                      .maximum = 1e6,
                      .preset = 1.225,
                      .meaning = "of the air; raising it strengthens the wind, and the drag in still air"},
    [WIND_NORMAL] = {.name = "normal",
                     .unit = "",
                     .maximum = 1e6,
                     .preset = 1,
                     .meaning = "drag coefficient of a triangle whose normal points along the wind"},
    [WIND_TANGENTIAL] = {.name = "tangential",
                         .unit = "",
                         .maximum = 1e6,
                         .preset = 0.05,
                         .meaning = "drag coefficient of a triangle that lies along the wind"},
    [WIND_GUST] = {.name = "gust",
                   .unit = "m/s",
                   .maximum = 1e6,
                   .preset = 0,
                   .meaning = "root mean square of each component of the gusts; 0: a steady wind"},
    [WIND_GUST_PERIOD] = {.name = "gust_period",
                          .unit = "s",
                          .maximum = 1e9,
                          .preset = 1,
                          .open_minimum = true,
                          .meaning = "of the slowest part of the gusts"},
    [WIND_SEED] = {.name = "seed",
                   .unit = "",
                   .maximum = 1e6,
                   .preset = 1,
                   .meaning = "other numbers give other gusts; the same number gives the same"},
};

/* Divides the mass of each vertex among its triangles, in proportion to their rest areas, for wind. */
static void measure_wind(const sinew_world *world, const sinew_load_record *record, double *scratch,
                         sinew_load_layout *layout)
{
    memset(scratch, 0, (size_t)world->bodies[record->body.index].count * sizeof *scratch);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t t = 0; t < layout->count; t++) {
            const int32_t *triangle = layout->elements + 3 * (size_t)t;
            const double area = rest_area(world, record, triangle);
            for (size_t c = 0; c < 3; c++) {
                double *sum = &scratch[triangle[c]];
                const double mass = (double)world->mass[sinew_load_particle(world, record, triangle[c])];
                if (pass == 0)
                    *sum += area;
                else
                    layout->numbers[3 * (size_t)t + c] = *sum > 0 ? mass * area / *sum : 0;
            }
        }
}

enum {
    GUST_WAVES = 4
};

/* Amplitudes (m/s), frequencies and phases of the waves whose sum is the gust of a wind. */
typedef struct gusts {
    double amplitude[GUST_WAVES], frequency[GUST_WAVES], phase[3][GUST_WAVES];
} gusts;

/* Pseudo-random number in [0, 1) from two integers (the finaliser of SplitMix64, Steele et al. 2014). */
static double random_fraction(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u + index * 0xd1b54a32d192ed03u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Creates the waves of a gust. Each frequency f is the previous one times the squared golden ratio, so that the sum has
 * no period; squared amplitudes follow the energy spectrum of turbulence, f^(-5/3). */
static gusts make_gusts(const sinew_load_record *record)
{
    const double golden = 1.618033988749895, pi = 3.14159265358979323846;
    gusts g;
    double sum = 0;
    for (int k = 0; k < GUST_WAVES; k++) {
        g.frequency[k] = 2 * pi * pow(golden, 2 * k) / (double)record->parameters[WIND_GUST_PERIOD];
        g.amplitude[k] = pow(golden, -5.0 / 3 * k);
        sum += g.amplitude[k] * g.amplitude[k] / 2;
        for (int c = 0; c < 3; c++)
            g.phase[c][k] = 2 * pi * random_fraction((uint64_t)record->parameters[WIND_SEED], (uint64_t)(3 * k + c));
    }
    for (int k = 0; k < GUST_WAVES; k++)
        g.amplitude[k] *= (double)record->parameters[WIND_GUST] / sqrt(sum);
    return g;
}

/* Adds the gust at the point x (m) to the wind w (m/s). Gusts move with the mean wind: a point has the value that the
 * origin had when the same air passed it (Taylor 1938). */
static void add_gust(const gusts *g, const double mean[3], double time, const double x[3], double w[3])
{
    const double speed2 = vec3_dot(mean, mean), since = speed2 > 0 ? time - vec3_dot(mean, x) / speed2 : time;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < GUST_WAVES; k++)
            w[c] += g->amplitude[k] * sin(g->frequency[k] * since + g->phase[c][k]);
}

/* Computes position x and velocity v (times `kept`, after damping) of a triangle, weighted by the masses of its
 * corners; returns the sum of the masses. */
static double triangle_motion(const sinew_world *world, const int32_t particles[3], const double mass[3], double kept,
                              double x[3], double v[3])
{
    const double sum = mass[0] + mass[1] + mass[2];
    for (size_t c = 0; c < 3; c++) {
        x[c] = v[c] = 0;
        for (int a = 0; a < 3 && sum > 0; a++) {
            x[c] += mass[a] / sum * (double)world->q[4 * (size_t)particles[a] + c];
            v[c] += mass[a] / sum * kept * (double)world->v[4 * (size_t)particles[a] + c];
        }
    }
    return sum;
}

/* Largest impulse of drag on one component of the relative velocity, in units of mass times that component: K of the
 * file head. With the value 2, a step may reverse the component, and light cloth falls with velocities that
 * alternate. */
#define IMPULSE_MAX 1.5

/* Drag in N s/m, the force per m/s of a component r of the relative velocity: m k / h of the file head. `b` is the
 * product C b of the file head, a the acceleration by all forces other than wind, m/s^2. */
static double drag_coefficient(double b, double mass, double h, const double r[3], const double a[3])
{
    if (!(h > 0))
        return b;
    const double x = h * b / mass, E = -expm1(-x), square = vec3_dot(r, r);
    const double opposed = x > 0 && square > 0 ? (1 - E / x) * h * vec3_dot(a, r) / square : 0;
    return mass / h * fmin(fmax(E - opposed, 0), IMPULSE_MAX);
}

/* Acceleration of a triangle in the last step by all forces other than wind, m/s^2; 0 if it is unknown at a corner. */
static void triangle_acceleration(const sinew_world *world, const int32_t particles[3], const double mass[3],
                                  double sum, double a[3])
{
    bool known = world->acceleration != NULL;
    for (int k = 0; k < 3; k++)
        known = known && world->acceleration[4 * (size_t)particles[k] + 3] > 0;
    for (size_t c = 0; c < 3; c++) {
        a[c] = 0;
        for (int k = 0; known && k < 3; k++)
            a[c] += mass[k] / sum * (double)world->acceleration[4 * (size_t)particles[k] + c];
    }
}

static void apply_wind_to_triangle(const sinew_world *world, const sinew_load_record *record,
                                   const sinew_load_moment *moment, const gusts *g, int32_t triangle, sinew_real *f)
{
    const double *mass = record->layout.numbers + 3 * (size_t)triangle;
    int32_t particles[3];
    double normal[3], x[3], v[3], w[3], a[3], through[3], across[3], force[3];
    load_corners_of(world, record, triangle, particles);
    const double m = triangle_motion(world, particles, mass, moment->kept, x, v);
    sinew_load_normal(world->q, particles, normal);
    const double area = vec3_norm(normal);
    if (!(m > 0) || !(area > 0))
        return;
    for (int c = 0; c < 3; c++)
        w[c] = moment->vector[c];
    if (g)
        add_gust(g, moment->vector, moment->time, x, w);
    for (int c = 0; c < 3; c++)
        w[c] -= v[c];
    triangle_acceleration(world, particles, mass, m, a);
    const double b = (double)record->parameters[WIND_DENSITY] / 2 * area * vec3_norm(w);
    const double along = vec3_dot(w, normal) / (area * area);
    for (int c = 0; c < 3; c++) {
        through[c] = along * normal[c];
        across[c] = w[c] - through[c];
    }
    const double C_n = drag_coefficient((double)record->parameters[WIND_NORMAL] * b, m, moment->h, through, a);
    const double C_t = drag_coefficient((double)record->parameters[WIND_TANGENTIAL] * b, m, moment->h, across, a);
    for (int c = 0; c < 3; c++)
        force[c] = C_n * through[c] + C_t * across[c];
    for (int k = 0; k < 3; k++)
        add_force(f, particles[k], mass[k] / m, force);
}

static void apply_wind(const sinew_world *world, const sinew_load_record *record, const sinew_load_moment *moment,
                       sinew_real *f)
{
    const bool gusty = record->parameters[WIND_GUST] > 0;
    const gusts g = gusty ? make_gusts(record) : (gusts){0};
    for (int32_t t = 0; t < record->layout.count; t++)
        apply_wind_to_triangle(world, record, moment, gusty ? &g : NULL, t, f);
}

/* ---- Traction loads --------------------------------------------------------------------------- */

static const sinew_parameter traction_parameters[] = {
    {.name = "pressure",
     .unit = "Pa",
     .minimum = -1e15,
     .maximum = 1e15,
     .preset = 0,
     .meaning = "force per area along the normal, as area and normal are when a step begins"},
};

static void measure_traction(const sinew_world *world, const sinew_load_record *record, double *scratch,
                             sinew_load_layout *layout)
{
    (void)scratch;
    for (int32_t t = 0; t < layout->count; t++)
        layout->numbers[t] = rest_area(world, record, layout->elements + 3 * (size_t)t);
}

static void apply_traction(const sinew_world *world, const sinew_load_record *record, const sinew_load_moment *moment,
                           sinew_real *f)
{
    const double pressure = moment->factor * (double)record->parameters[0];
    for (int32_t t = 0; t < record->layout.count; t++) {
        int32_t particles[3];
        double normal[3], force[3];
        load_corners_of(world, record, t, particles);
        sinew_load_normal(world->q, particles, normal);
        for (int c = 0; c < 3; c++)
            force[c] = record->layout.numbers[t] * moment->vector[c] + pressure * normal[c];
        for (int a = 0; a < 3; a++)
            add_force(f, particles[a], 1.0 / 3, force);
    }
}

/* ---- Couples (pure moments) -------------------------------------------------------------------- */

static const sinew_parameter couple_parameters[] = {
    {.name = "direction",
     .unit = "",
     .choices = "dead|follower",
     .maximum = 1,
     .preset = 0,
     .meaning = "dead: the moment keeps its axis; follower: it turns with the vertices from their rest shape on"},
};

static void measure_couple(const sinew_world *world, const sinew_load_record *record, double *scratch,
                           sinew_load_layout *layout)
{
    (void)scratch;
    for (int32_t i = 0; i < layout->count; i++)
        layout->numbers[i] = (double)world->mass[sinew_load_particle(world, record, layout->elements[i])];
}

/* Vertices under a couple: centre of mass c, spread = sum m (x - c)(x - c)^T, and turned = sum m (x - c)(X - C)^T with
 * rest positions X of centre C. */
typedef struct couple_view {
    double centre[3], rest_centre[3], spread[9], turned[9];
} couple_view;

static void offset_from_centre(const sinew_real *points, int32_t particle, const double centre[3], double r[3])
{
    for (size_t c = 0; c < 3; c++)
        r[c] = (double)points[4 * (size_t)particle + c] - centre[c];
}

static couple_view make_couple_view(const sinew_world *world, const sinew_load_record *record)
{
    const sinew_load_layout *l = &record->layout;
    const double none[3] = {0};
    couple_view view = {0};
    double mass = 0, r[3], s[3];
    for (int32_t i = 0; i < l->count; i++) {
        const int32_t particle = sinew_load_particle(world, record, l->elements[i]);
        offset_from_centre(world->q, particle, none, r);
        offset_from_centre(world->rest, particle, none, s);
        mass += l->numbers[i];
        for (int c = 0; c < 3; c++) {
            view.centre[c] += l->numbers[i] * r[c];
            view.rest_centre[c] += l->numbers[i] * s[c];
        }
    }
    for (int c = 0; c < 3; c++) {
        view.centre[c] /= mass;
        view.rest_centre[c] /= mass;
    }
    for (int32_t i = 0; i < l->count; i++) {
        const int32_t particle = sinew_load_particle(world, record, l->elements[i]);
        offset_from_centre(world->q, particle, view.centre, r);
        offset_from_centre(world->rest, particle, view.rest_centre, s);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                view.spread[3 * a + b] += l->numbers[i] * r[a] * r[b];
                view.turned[3 * a + b] += l->numbers[i] * r[a] * s[b];
            }
    }
    return view;
}

/* Rotates the moment M by the rotation that best fits the rest positions of the vertices to their current positions. */
static void rotate_moment(const couple_view *view, double M[3])
{
    _Alignas(SINEW_ALIGNMENT) sinew_real A[9], U[9], sigma[3], V[9];
    double scale = DBL_MIN, out[3] = {0};
    for (int i = 0; i < 9; i++)
        scale = fmax(scale, fabs(view->turned[i]));
    for (int i = 0; i < 9; i++)
        A[i] = (sinew_real)(view->turned[i] / scale);
    sinew_decompose_batch_scalar.svd3(1, A, U, sigma, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                out[i] += (double)U[3 * i + k] * (double)V[3 * j + k] * M[j];
    memcpy(M, out, sizeof out);
}

static void apply_couple(const sinew_world *world, const sinew_load_record *record, const sinew_load_moment *moment,
                         sinew_real *f)
{
    const sinew_load_layout *l = &record->layout;
    const couple_view view = make_couple_view(world, record);
    double M[3] = {moment->vector[0], moment->vector[1], moment->vector[2]}, alpha[3], r[3], force[3];
    if (record->parameters[0] > 0)
        rotate_moment(&view, M);
    sinew_inertia_solve(view.spread, M, alpha);
    for (int32_t i = 0; i < l->count; i++) {
        const int32_t particle = sinew_load_particle(world, record, l->elements[i]);
        offset_from_centre(world->q, particle, view.centre, r);
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            force[c] = alpha[a] * r[b] - alpha[b] * r[a];
        }
        add_force(f, particle, l->numbers[i], force);
    }
}

static const char *check_couple(const sinew_world *world, const sinew_load_record *record, const sinew_real vector[3])
{
    const couple_view view = make_couple_view(world, record);
    const double M[3] = {(double)vector[0], (double)vector[1], (double)vector[2]};
    double line[3];
    if (!sinew_inertia_is_line(view.spread, line))
        return NULL;
    if (!(view.spread[0] + view.spread[4] + view.spread[8] > 0))
        return "its vertices lie in one place, where forces have no moment; select vertices that lie apart";
    if (fabs(vec3_dot(M, line)) > 1e-5 * vec3_norm(M))
        return "its vertices lie on a line, about which forces on them have no moment; select another row of vertices "
               "too";
    return NULL;
}

/* ---- Table of load kinds --------------------------------------------------------------------- */

static const sinew_load_ops table[SINEW_LOAD_COUNT] = {
    [SINEW_LOAD_WIND] = {.info = {.name = "wind",
                                  .summary = "1/2 rho C A |w - v| (w - v), along the normal and across, limited for "
                                             "stability in long steps",
                                  .stencil = SINEW_STENCIL_TRIANGLE,
                                  .vector = {.name = "velocity", .unit = "m/s", .meaning = "of the air"},
                                  .parameters = wind_parameters,
                                  .parameter_count = WIND_PARAMETERS},
                         .corners = 3,
                         .wind = true,
                         .measure = measure_wind,
                         .apply = apply_wind},
    [SINEW_LOAD_TRACTION] =
        {.info = {.name = "traction",
                  .summary = "t A_rest + p A n: a force that keeps its direction and one along the "
                             "normal",
                  .stencil = SINEW_STENCIL_TRIANGLE,
                  .vector = {.name = "traction", .unit = "Pa", .meaning = "force per rest area; keeps its direction"},
                  .parameters = traction_parameters,
                  .parameter_count = 1},
         .corners = 3,
         .measure = measure_traction,
         .apply = apply_traction},
    [SINEW_LOAD_COUPLE] = {.info = {.name = "couple",
                                    .summary = "f_i = m_i (J^-1 M) x r_i: forces with the moment M and the sum zero",
                                    .stencil = SINEW_STENCIL_VERTEX,
                                    .vector = {.name = "moment", .unit = "N m", .meaning = "about any point"},
                                    .parameters = couple_parameters,
                                    .parameter_count = 1},
                           .corners = 1,
                           .measure = measure_couple,
                           .apply = apply_couple,
                           .check = check_couple},
};

const sinew_load_ops *sinew_load_get_ops(sinew_load_kind kind)
{
    return (unsigned)kind < SINEW_LOAD_COUNT ? &table[kind] : NULL;
}
