/* SPDX-License-Identifier: MIT
 *
 * contact_hertz.c: a soft ball is pressed on a rigid plane: F = 4/3 E/(1 - nu^2) sqrt(R) d^(3/2) (Hertz 1881).
 *
 * The body is a quarter of the lower half of a ball: a graded grid of cells, six tets each, put into the ball by the
 * map of the cube,
 *
 *     x = u sqrt(1 - v^2/2 - w^2/2 + v^2 w^2/3),   y and z by permutation,
 *
 * fine at the contact, coarse elsewhere. The equator is pressed down by d. Both cuts are planes of symmetry: stiff weak
 * constraints to pinned points. Quasistatic, small strains (`linear`), no friction; the force is the plane's.
 *
 * Hertz's solution is that of a half-space; a finite ball is a little stiffer, and more so at larger d. Linear tets are
 * too stiff. The three meshes do not show one order of convergence (the coarsest has two cells in the radius of the
 * contact), so no limit is extrapolated: the claim judges the finest mesh.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_scene.h"

#define YOUNG              1e6
#define POISSON            0.0 /* Poisson's ratio; linear tets are least stiff with this value */
#define THICKNESS          1e-4
#define SYMMETRY_STIFFNESS 1e9 /* stiffness of the constraints at the planes of symmetry, in N/m */
/* Distance from the pole in m (R = 1 m) within which cells are smallest and all contacts lie. */
#define REACH  0.0295
#define GROWTH 4.0 /* growth of cells beyond REACH: GROWTH / fine times their distance from it */

enum {
    PRESSES = 3,
    LADDER = 3,
    CELLS_MAX = 64,
    SUBSTEPS = 2 /* number of steps for each indentation */
};
static const double presses[PRESSES] = {4e-4, 6e-4, 8e-4}; /* indentations of the ball in m; its radius R is 1 m */

typedef struct ball {
    int32_t fine; /* number of grid cells within REACH */
    int32_t n;    /* number of grid cells along each side */
    int32_t vertex_count, tet_count;
    /* Grid lines from the pole, across the ball's axis (u) and along it (w). */
    double u[CELLS_MAX + 1], w[CELLS_MAX + 1];
    sinew_real *x;         /* [3 * vertex_count] positions of the ball's vertices, in m */
    int32_t *tets;         /* [4 * tet_count] vertices of the ball's tets */
    double force[PRESSES]; /* contact force for each indentation, extended by symmetry to the whole ball, in N */
} ball;

static double hertz(double d)
{
    return 4.0 / 3 * YOUNG / (1 - POISSON * POISSON) * pow(d, 1.5);
}

/* ---- Mesh of the ball ------------------------------------------------------------------------- */

/* Places the grid lines of the mesh from 0 to 1: `fine` equal cells up to `reach`, then growing cells. Returns the
 * number of cells. */
static int32_t grade(double reach, int32_t fine, double growth, double *line)
{
    int32_t n = 0;
    line[0] = 0;
    while (n < CELLS_MAX && line[n] < 1 - 1e-9) {
        line[n + 1] = line[n] + reach / fine + (n >= fine ? growth / fine * (line[n] - reach) : 0);
        n++;
    }
    /* Rescales the grid lines beyond `reach` so that the last line is at 1. */
    const double end = line[n];
    for (int32_t i = fine + 1; i <= n; i++)
        line[i] = reach + (line[i] - reach) * (1 - reach) / (end - reach);
    return n;
}

/* Finds, by bisection, the growth factor of cells that gives as many cells along the ball's axis as across. */
static void grade_axis(ball *b)
{
    double low = 0.5 * GROWTH, high = 2 * GROWTH;
    for (int s = 0; s < 60; s++) {
        const double growth = 0.5 * (low + high);
        *(grade(REACH, b->fine, growth, b->w) > b->n ? &low : &high) = growth;
    }
    grade(REACH, b->fine, high, b->w);
}

static void place_vertex(const ball *b, int32_t i, int32_t j, int32_t k, sinew_real x[3])
{
    const double u = b->u[i], v = b->u[j], w = b->w[k] - 1;
    x[0] = (sinew_real)(u * sqrt(1 - v * v / 2 - w * w / 2 + v * v * w * w / 3));
    x[1] = (sinew_real)(w * sqrt(1 - u * u / 2 - v * v / 2 + u * u * v * v / 3));
    x[2] = (sinew_real)(v * sqrt(1 - u * u / 2 - w * w / 2 + u * u * w * w / 3));
}

static int32_t vertex_at(const ball *b, int32_t i, int32_t j, int32_t k)
{
    return i + (b->n + 1) * (j + (b->n + 1) * k);
}

/* Adds six tets around the diagonal of a grid cell: one for each order of the three steps along its sides. */
static void fill_cell(ball *b, int32_t i, int32_t j, int32_t k)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int t = 0; t < 6; t++) {
        int32_t at[3] = {i, j, k}, *tet = b->tets + 4 * (size_t)b->tet_count++;
        tet[0] = vertex_at(b, at[0], at[1], at[2]);
        for (int s = 0; s < 3; s++) {
            at[orders[t][s]]++;
            tet[s + 1] = vertex_at(b, at[0], at[1], at[2]);
        }
        /* The map (u, v, w) to (x, z, y) is a reflection, so the even permutations, the first three, are inverted
         * here. */
        if (t < 3) {
            const int32_t swap = tet[2];
            tet[2] = tet[3];
            tet[3] = swap;
        }
    }
}

static sinew_mesh *hertz_make_mesh(ball *b, sinew_error *error)
{
    const double near_pole = sqrt(0.5); /* ratio x / u of the map from cube to ball near the pole */
    b->n = grade(REACH / near_pole, b->fine, GROWTH, b->u);
    grade_axis(b);
    const size_t side = (size_t)b->n + 1, cells = (size_t)b->n * (size_t)b->n * (size_t)b->n;
    b->vertex_count = (int32_t)(side * side * side);
    b->x = malloc(3 * side * side * side * sizeof *b->x);
    b->tets = malloc(24 * cells * sizeof *b->tets);
    if (!b->x || !b->tets)
        return NULL;
    for (int32_t k = 0; k <= b->n; k++)
        for (int32_t j = 0; j <= b->n; j++)
            for (int32_t i = 0; i <= b->n; i++)
                place_vertex(b, i, j, k, b->x + 3 * (size_t)vertex_at(b, i, j, k));
    for (int32_t k = 0; k < b->n; k++)
        for (int32_t j = 0; j < b->n; j++)
            for (int32_t i = 0; i < b->n; i++)
                fill_cell(b, i, j, k);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = b->vertex_count;
    def.positions = b->x;
    def.tet_count = b->tet_count;
    def.tets = b->tets;
    return sinew_mesh_create(&def, error);
}

/* ---- World of the pressed ball ---------------------------------------------------------------- */

/* Lists the vertices with grid index `at` along an axis (0, 1: across, 2: along the ball's axis). The sides exclude the
 * equator, which is prescribed. Returns the number of listed vertices. */
static int32_t list_side(const ball *b, int axis, int32_t at, int32_t *list)
{
    int32_t count = 0;
    for (int32_t k = 0; k <= b->n; k++)
        for (int32_t j = 0; j <= b->n; j++)
            for (int32_t i = 0; i <= b->n; i++) {
                const int32_t grid[3] = {i, j, k};
                if (grid[axis] == at && (axis == 2 || k < b->n))
                    list[count++] = vertex_at(b, i, j, k);
            }
    return count;
}

/* Adds a body of pinned points at the positions of the listed vertices. */
static sinew_body hertz_add_anchors(const ball *b, sinew_world *world, const int32_t *list, int32_t count,
                                    sinew_error *error)
{
    sinew_body body = {.index = -1};
    sinew_real *x = malloc(4 * (size_t)count * sizeof *x);
    int32_t *all = malloc((size_t)count * sizeof *all);
    sinew_mesh_def def = sinew_default_mesh_def();
    for (int32_t i = 0; x && all && i < count; i++) {
        for (size_t c = 0; c < 3; c++)
            x[3 * (size_t)i + c] = b->x[3 * (size_t)list[i] + c];
        x[3 * (size_t)count + (size_t)i] = 1;
        all[i] = i;
    }
    def.vertex_count = count;
    def.positions = x;
    sinew_mesh *mesh = x && all ? sinew_mesh_create(&def, error) : NULL;
    if (mesh) {
        sinew_body_def anchors = sinew_default_body_def();
        anchors.mesh = mesh;
        anchors.masses = x + 3 * (size_t)count;
        body = sinew_world_add_body(world, &anchors, error);
        sinew_body_contact none = sinew_default_body_contact();
        none.surface = SINEW_CONTACT_NONE;
        sinew_pin_def pin = sinew_default_pin_def();
        pin.body = body;
        pin.vertices = all;
        pin.vertex_count = count;
        if (body.index >= 0 && (sinew_body_set_contact(world, body, &none, error) != SINEW_OK ||
                                sinew_world_add_pins(world, &pin, error).index < 0))
            body.index = -1;
    }
    sinew_mesh_destroy(mesh);
    free(x);
    free(all);
    return body;
}

/* Makes the plane through the listed vertices a plane of symmetry, normal to an axis of the world. */
static bool add_symmetry_plane(const ball *b, sinew_world *world, sinew_body body, const int32_t *list, int32_t count,
                               int axis, sinew_error *error)
{
    const sinew_body anchors = hertz_add_anchors(b, world, list, count, error);
    int32_t *pairs = malloc(8 * (size_t)count * sizeof *pairs);
    sinew_real *weights = calloc(11 * (size_t)count, sizeof *weights), *normals = weights ? weights + 8 * count : NULL;
    bool good = anchors.index >= 0 && pairs && weights;
    for (int32_t i = 0; good && i < count; i++) {
        for (int k = 0; k < 8; k++)
            pairs[8 * i + k] = k < 4 ? sinew_body_first_particle(world, body) + list[i]
                                     : sinew_body_first_particle(world, anchors) + i;
        weights[8 * i] = weights[8 * i + 4] = 1;
        normals[3 * i + axis] = 1;
    }
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = pairs;
    weak.element_count = count;
    weak.weights = weights;
    weak.normals = normals;
    weak.transient = false;
    weak.parameters[0] = (sinew_real)SYMMETRY_STIFFNESS;
    weak.parameters[1] = 0;
    good = good && sinew_world_add_energy(world, &weak, error).index >= 0;
    free(pairs);
    free(weights);
    return good;
}

/* Prescribes the motion of the ball's equator down to each indentation; a substep lasts a second. */
static bool press_equator(sinew_world *world, sinew_body body, const int32_t *list, int32_t count, sinew_error *error)
{
    sinew_key keys[PRESSES + 1] = {{.time = 0}};
    for (int i = 0; i < PRESSES; i++) {
        keys[i + 1].time = (sinew_real)(SUBSTEPS * (i + 1));
        keys[i + 1].translation[1] = (sinew_real)-presses[i];
    }
    const sinew_motion motion = {.key_count = PRESSES + 1, .keys = keys};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = list;
    pin.vertex_count = count;
    pin.motion = &motion;
    return sinew_world_add_pins(world, &pin, error).index >= 0;
}

static bool hold_ball(const ball *b, sinew_world *world, sinew_body body, sinew_error *error)
{
    const size_t side = (size_t)b->n + 1;
    int32_t *list = malloc(side * side * sizeof *list);
    bool good = list && press_equator(world, body, list, list_side(b, 2, b->n, list), error);
    good = good && add_symmetry_plane(b, world, body, list, list_side(b, 0, 0, list), 0, error);
    good = good && add_symmetry_plane(b, world, body, list, list_side(b, 1, 0, list), 2, error);
    free(list);
    return good;
}

static bool add_ball(const ball *b, sinew_world *world, const sinew_mesh *mesh, sinew_error *error)
{
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    const sinew_body body = sinew_world_add_body(world, &def, error);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_LINEAR);
    energy.body = body;
    return body.index >= 0 && sinew_energy_def_set(&energy, "young", YOUNG, error) == SINEW_OK &&
           sinew_energy_def_set(&energy, "poisson", POISSON, error) == SINEW_OK &&
           sinew_world_add_energy(world, &energy, error).index >= 0 && hold_ball(b, world, body, error);
}

static bool press_all(ball *b, sinew_world *world, sinew_collider plane, sinew_error *error)
{
    for (int i = 0; i < PRESSES * SUBSTEPS; i++) {
        double force[3], torque[3];
        if (!contact_step(world, NULL, error) || sinew_collider_force(world, plane, force, torque, error) != SINEW_OK)
            return false;
        b->force[i / SUBSTEPS] = -4 * force[1];
    }
    return true;
}

static bool take_ball(ball *b, outcome *o)
{
    sinew_error error = {0};
    const contact_world_def def = {.kind = SINEW_SOLVER_NEWTON,
                                   .iterations = 200,
                                   .h = 1,
                                   .thickness = THICKNESS,
                                   .weightless = true,
                                   .quasistatic = true};
    sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    floor.position[1] = (sinew_real)(-1 - THICKNESS);
    sinew_mesh *mesh = hertz_make_mesh(b, &error);
    sinew_world *world = mesh ? contact_world(&def, &error) : NULL;
    sinew_collider plane = {.index = -1};
    bool good = world && add_ball(b, world, mesh, &error);
    if (good)
        plane = sinew_world_add_collider(world, &floor, &error);
    good = good && plane.index >= 0 && press_all(b, world, plane, &error);
    if (!good)
        snprintf(o->failure, sizeof o->failure, "%.250s", error.text[0] ? error.text : "out of memory");
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    free(b->x);
    free(b->tets);
    return good;
}

/* ---- Claims about the contact force ------------------------------------------------------------ */

static void claim_press(outcome *o, const ball *balls, int count, int i)
{
    char what[120], published[120], text[120] = "";
    double off[LADDER];
    bool falls = true;
    const double exact = hertz(presses[i]);
    for (int l = 0; l < count; l++) {
        const size_t length = strlen(text);
        off[l] = 100 * (balls[l].force[i] / exact - 1);
        falls = falls && (l == 0 || fabs(off[l]) < fabs(off[l - 1]));
        snprintf(text + length, sizeof text - length, "%s%+.2f %% (%d tets)", l ? ", " : "", off[l],
                 (int)balls[l].tet_count);
        outcome_number(o, off[l], "press_%g_mesh_%d_percent", presses[i], l);
    }
    snprintf(what, sizeof what, "pressed by %g of the radius: force, within 3 %% on the finest mesh", presses[i]);
    snprintf(published, sizeof published, "%.4f N (Hertz)", exact);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%s", text);
    const bool near = fabs(off[count - 1]) < 3;
    claim_holds(c,
                near && falls ? HOLDS_YES
                : falls       ? HOLDS_PARTLY
                              : HOLDS_NO,
                "%s",
                near ? ""
                : falls
                    ? "the error falls, but linear tets are still too stiff, and a ball is stiffer than a half-space"
                    : "the error does not fall with the cells");
    outcome_number(o, off[count - 1], "press_%g_percent", presses[i]);
}

static void force_figure(outcome *o, const ball *balls, int count)
{
    figure *f = outcome_figure(o, "force", "Force on the plane over Hertz's", "indentation over radius", "ratio");
    f->log_x = f->distinct = true;
    for (int l = 0; l < count; l++) {
        char name[56];
        snprintf(name, sizeof name, "%d tets", (int)balls[l].tet_count);
        if (!figure_series(f, name, SINEW_SOLVER_NEWTON, l, PRESSES))
            return;
        for (int i = 0; i < PRESSES; i++) {
            f->series[l].x[i] = presses[i];
            f->series[l].y[i] = balls[l].force[i] / hertz(presses[i]);
        }
    }
}

void experiment_hertz(const setting *s, outcome *o)
{
    static const int32_t full_cells[LADDER] = {3, 6, 11}, quick_cells[LADDER - 1] = {3, 5};
    const int32_t *fine = s->quick ? quick_cells : full_cells;
    ball balls[LADDER];
    const int count = s->quick ? LADDER - 1 : LADDER;
    for (int l = 0; l < count; l++) {
        balls[l] = (ball){.fine = fine[l]};
        if (s->progress)
            s->progress(s->context, l, count, "balls");
        if (!take_ball(&balls[l], o))
            return;
    }
    snprintf(o->setup, sizeof o->setup,
             "a quarter of half a ball of 1 m, %g Pa, nu = %g, newton; cells of %g m where it touches", YOUNG, POISSON,
             REACH / fine[count - 1]);
    for (int i = 0; i < PRESSES; i++)
        claim_press(o, balls, count, i);
    force_figure(o, balls, count);
}
