/* SPDX-License-Identifier: MIT
 *
 * garden.c: creates the world of garden.h. Sizes in m; y is up, the ground at 0.
 */
#include "garden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"
#include "sinew/load.h"

enum {
    CLOTHS = 3,
    LEVELS = 4,             /* number of levels of a blade of grass */
    BLADE = 2 * LEVELS + 1, /* number of vertices of a blade of grass */
    LEAF = 2 * LEVELS - 1   /* number of triangles of a blade of grass */
};
#define LINE_HEIGHT 1.1
#define LINE_Z      (-0.2)
#define JOINT       5e3 /* stiffness of attachments between bodies, in N/m */

/* The garden under construction. After a failure (`good` false) all further calls do nothing. */
typedef struct maker {
    garden *g;
    const garden_def *def;
    sinew_error *error;
    bool good;
} maker;

static int32_t sized(const maker *m, int32_t count)
{
    const int32_t n = (int32_t)lround(m->def->size * count);
    return n > 2 ? n : 2;
}

static void count_energy(maker *m, sinew_energy energy)
{
    m->good = energy.index >= 0;
    if (!m->good)
        return;
    const int32_t count = sinew_energy_element_count(m->g->world, energy);
    m->g->counts[sinew_energy_kind_of(m->g->world, energy)] += count;
    m->g->constraints += count;
}

static void garden_add_energy(maker *m, sinew_body body, sinew_energy_def energy)
{
    energy.body = body;
    if (m->good)
        count_energy(m, sinew_world_add_energy(m->g->world, &energy, m->error));
}

/* Adds the mesh as a body and destroys the mesh. `stands` rotates the mesh's z axis upwards; then `move` translates the
 * mesh. */
static sinew_body garden_add_body(maker *m, sinew_mesh *mesh, bool stands, const double move[3], double density)
{
    const int32_t count = mesh ? sinew_mesh_vertex_count(mesh) : 0;
    sinew_real *x = malloc((3 * (size_t)count + 1) * sizeof *x);
    for (int32_t i = 0; mesh && x && i < count; i++) {
        const sinew_real *p = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        x[3 * (size_t)i] = p[0] + (sinew_real)move[0];
        x[3 * (size_t)i + 1] = (stands ? p[2] : p[1]) + (sinew_real)move[1];
        x[3 * (size_t)i + 2] = (stands ? -p[1] : p[2]) + (sinew_real)move[2];
    }
    sinew_mesh *moved = m->good && mesh && x ? sinew_mesh_moved(mesh, x, m->error) : NULL;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = moved;
    def.density = (sinew_real)density;
    const sinew_body body = moved ? sinew_world_add_body(m->g->world, &def, m->error) : (sinew_body){.index = -1};
    m->good = body.index >= 0;
    sinew_mesh_destroy(moved);
    sinew_mesh_destroy(mesh);
    free(x);
    return body;
}

/* Lists the vertices of a body for which `chosen` returns true, to be freed; NULL: out of memory. */
static int32_t *garden_choose(const maker *m, sinew_body body, bool (*chosen)(const sinew_real *x), int32_t *count)
{
    const sinew_mesh *mesh = sinew_body_mesh(m->g->world, body);
    int32_t *list = malloc((size_t)sinew_mesh_vertex_count(mesh) * sizeof *list);
    *count = 0;
    for (int32_t i = 0; list && i < sinew_mesh_vertex_count(mesh); i++)
        if (chosen(sinew_mesh_positions(mesh) + 3 * (size_t)i))
            list[(*count)++] = i;
    return list;
}

static bool on_ground(const sinew_real *x)
{
    return (double)x[1] < 1e-3;
}

/* Attaches the vertices of a body at the ground to it by soft position constraints, as in the paper. */
static void root(maker *m, sinew_body body, double stiffness)
{
    int32_t count = 0, *list = m->good ? garden_choose(m, body, on_ground, &count) : NULL;
    sinew_energy_def held = sheet_energy(SINEW_ENERGY_POSITION, "stiffness", stiffness, (char *)NULL);
    held.elements = list;
    held.element_count = count;
    m->good = m->good && list && count > 0;
    garden_add_energy(m, body, held);
    free(list);
}

static bool everything(const sinew_real *x)
{
    (void)x;
    return true;
}

/* Attaches the chosen vertices of body `from` that lie within `distance` of body `to`, by weak constraints. */
static void garden_join(maker *m, sinew_body from, sinew_body to, bool (*chosen)(const sinew_real *x), double distance,
                        double stiffness)
{
    int32_t count = 0, *list = m->good ? garden_choose(m, from, chosen, &count) : NULL;
    sinew_attach_def def = sinew_default_attach_def();
    const double k = stiffness * m->def->couplings;
    def.from = from;
    def.to = to;
    def.vertices = list;
    def.vertex_count = count;
    def.distance = distance;
    def.energy = sheet_energy(SINEW_ENERGY_WEAK, "normal_stiffness", k, "tangent_stiffness", k, (char *)NULL);
    def.energy.transient = false;
    m->good = m->good && list;
    if (m->good)
        count_energy(m, sinew_world_attach_within(m->g->world, &def, m->error));
    free(list);
}

static void add_solid(maker *m, sinew_body body, double density_of_energy)
{
    const double stiffness = m->def->sets * density_of_energy;
    garden_add_energy(m, body, sheet_energy(SINEW_ENERGY_STRAIN, "stiffness", stiffness, (char *)NULL));
    garden_add_energy(m, body, sheet_energy(SINEW_ENERGY_VOLUME, "stiffness", stiffness / 2, (char *)NULL));
}

static void garden_blow(maker *m, sinew_body body)
{
    sinew_load_def air = sinew_default_load_def(SINEW_LOAD_WIND);
    air.body = body;
    air.vector[0] = (sinew_real)0.5;
    air.vector[2] = 1;
    m->good = m->good && sinew_world_add_load(m->g->world, &air, m->error).index >= 0;
}

/* ---- Bodies of the garden --------------------------------------------------------------------- */

static sinew_body add_shed(maker *m)
{
    sinew_box_def def = sinew_default_box_def();
    const double size[3] = {0.6, 1.25, 0.8};
    const int32_t vertices[3] = {5, 9, 6};
    for (int c = 0; c < 3; c++) {
        def.vertices[c] = sized(m, vertices[c]);
        def.size[c] = (sinew_real)size[c];
    }
    const sinew_body shed = garden_add_body(m, sinew_mesh_box(&def, m->error), false, (double[]){1.15, 0, -0.6}, 300);
    add_solid(m, shed, 2e6);
    root(m, shed, 1e5);
    return shed;
}

static sinew_body add_tree(maker *m)
{
    sinew_round_def trunk = sinew_default_round_def(), crown = sinew_default_round_def();
    trunk.radius = (sinew_real)0.09;
    trunk.height = (sinew_real)1.3;
    trunk.segments = sized(m, 4);
    trunk.layers = sized(m, 22);
    crown.radius = (sinew_real)0.45;
    crown.segments = sized(m, 7);
    const sinew_body below =
        garden_add_body(m, sinew_mesh_cylinder(&trunk, m->error), true, (double[]){-1.35, 0.65, LINE_Z}, 500);
    add_solid(m, below, 2e7);
    root(m, below, 1e5);
    const sinew_body above =
        garden_add_body(m, sinew_mesh_ball(&crown, m->error), false, (double[]){-1.35, 1.74, LINE_Z}, 15);
    add_solid(m, above, 8e3);
    garden_blow(m, above);
    garden_join(m, below, above, everything, 0.02, JOINT / 10);
    return below;
}

static sinew_body garden_add_line(maker *m)
{
    sinew_rope_def def = sinew_default_rope_def();
    const double from[3] = {-1.26, LINE_HEIGHT, LINE_Z}, to[3] = {1.15, LINE_HEIGHT, LINE_Z};
    def.vertices = sized(m, 121);
    for (int c = 0; c < 3; c++) {
        def.from[c] = (sinew_real)from[c];
        def.to[c] = (sinew_real)to[c];
    }
    const sinew_body line = garden_add_body(m, sinew_mesh_rope(&def, m->error), false, (double[]){0, 0, 0}, 0.03);
    garden_add_energy(m, line, sheet_energy(SINEW_ENERGY_EDGE_STRAIN, "stiffness", 2e4 * m->def->sets, (char *)NULL));
    return line;
}

static bool at_line(const sinew_real *x)
{
    return (double)x[1] > LINE_HEIGHT - 1e-3;
}

/* Adds one of three cloths: triangle strain, triangle strain with limits, or edge strain. */
static void garden_add_cloth(maker *m, int32_t which, sinew_body line)
{
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = sized(m, 40);
    def.vertices[1] = sized(m, 44);
    def.size[0] = (sinew_real)0.6;
    def.size[1] = (sinew_real)0.66;
    const double move[3] = {-1.1 + 0.75 * which, LINE_HEIGHT - 0.66, LINE_Z}, k = 800 * m->def->sets;
    const sinew_body cloth = garden_add_body(m, sinew_mesh_cloth(&def, m->error), false, move, 0.15);
    if (which == 0) {
        m->g->cloth = cloth;
        garden_add_energy(m, cloth, sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", k, (char *)NULL));
        garden_add_energy(m, cloth,
                          sheet_energy(SINEW_ENERGY_MEAN_CURVATURE, "rigidity", 1e-4 * m->def->sets, (char *)NULL));
    } else if (which == 1) {
        garden_add_energy(
            m, cloth,
            sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", k, "minimum", 0.95, "maximum", 1.03, (char *)NULL));
        garden_add_energy(m, cloth,
                          sheet_energy(SINEW_ENERGY_MEAN_CURVATURE, "rigidity", 1e-4 * m->def->sets, (char *)NULL));
    } else {
        garden_add_energy(m, cloth,
                          sheet_energy(SINEW_ENERGY_EDGE_STRAIN, "stiffness", 10 * m->def->sets, (char *)NULL));
        garden_add_energy(m, cloth,
                          sheet_energy(SINEW_ENERGY_MEAN_CURVATURE, "rigidity", 1e-4 * m->def->sets, (char *)NULL));
    }
    garden_blow(m, cloth);
    garden_join(m, cloth, line, at_line, 0.02, JOINT / 50);
}

/* Returns a deterministic pseudo-random number in [0, 1) for scattering the grass. */
static double garden_scatter(int32_t i, int32_t k)
{
    const double s = sin(12.9898 * (i + 1) + 78.233 * k) * 43758.5453;
    return s - floor(s);
}

static void place_blade(int32_t blade, sinew_real *x, int32_t *triangles)
{
    const double turn = 6.2831853 * garden_scatter(blade, 2), height = 0.16 + 0.14 * garden_scatter(blade, 4);
    const double c = cos(turn), s = sin(turn),
                 at[2] = {3.6 * garden_scatter(blade, 0) - 1.8, 2.4 * garden_scatter(blade, 1) - 0.7};
    for (int32_t v = 0; v < BLADE; v++) {
        const double fraction = (double)(v / 2) / LEVELS, half = 0.02 * (1 - fraction) * (v % 2 ? 1 : -1);
        const double bow = 0.2 * height * fraction * fraction;
        x[3 * v] = (sinew_real)(at[0] + half * c - bow * s);
        x[3 * v + 1] = (sinew_real)(height * fraction);
        x[3 * v + 2] = (sinew_real)(at[1] + half * s + bow * c);
    }
    /* The triangles of a blade of grass form a strip: each vertex but the last two starts a triangle with the next
     * two. */
    for (int32_t t = 0; t < LEAF; t++)
        for (int32_t k = 0; k < 3; k++)
            triangles[3 * t + k] = BLADE * blade + t + (t % 2 && k > 0 ? 3 - k : k);
}

static void add_grass(maker *m)
{
    const int32_t blades = m->def->blades;
    sinew_real *x = malloc(3 * BLADE * (size_t)blades * sizeof *x);
    int32_t *triangles = malloc(3 * LEAF * (size_t)blades * sizeof *triangles);
    sinew_mesh_def def = sinew_default_mesh_def();
    for (int32_t i = 0; x && triangles && i < blades; i++)
        place_blade(i, x + 3 * BLADE * (size_t)i, triangles + 3 * LEAF * (size_t)i);
    def.vertex_count = BLADE * blades;
    def.positions = x;
    def.triangle_count = LEAF * blades;
    def.triangles = triangles;
    sinew_mesh *mesh = m->good && x && triangles ? sinew_mesh_create(&def, m->error) : NULL;
    const sinew_body grass = garden_add_body(m, mesh, false, (double[]){0, 0, 0}, 0.1);
    garden_add_energy(m, grass,
                      sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", 500 * m->def->sets, (char *)NULL));
    garden_add_energy(m, grass, sheet_energy(SINEW_ENERGY_ISOMETRIC, "rigidity", 5e-3 * m->def->sets, (char *)NULL));
    root(m, grass, 1e3);
    if (m->good)
        garden_blow(m, grass);
    free(x);
    free(triangles);
}

bool garden_make(garden *g, const garden_def *def, sinew_error *error)
{
    maker m = {g, def, error, true};
    *g = (garden){0};
    sinew_world_def world = sinew_default_world_def();
    world.time_step = (sinew_real)(1.0 / 60);
    world.thread_count = 1;
    world.damping = (sinew_real)0.5;
    world.solver = experiment_solver(SINEW_SOLVER_PD);
    world.solver.iterations = def->iterations;
    world.solver.tolerance = 0;
    world.solver.measure = SINEW_MEASURE_NOTHING;
    g->world = sinew_world_create(&world, error);
    m.good = g->world != NULL;
    if (!m.good)
        return false;
    const sinew_body shed = add_shed(&m), trunk = add_tree(&m), line = garden_add_line(&m);
    garden_join(&m, line, trunk, everything, 0.02, JOINT);
    garden_join(&m, line, shed, everything, 0.001, JOINT);
    for (int32_t i = 0; i < CLOTHS; i++)
        garden_add_cloth(&m, i, line);
    add_grass(&m);
    return m.good;
}

void garden_release(garden *g)
{
    sinew_world_destroy(g->world);
    g->world = NULL;
}
