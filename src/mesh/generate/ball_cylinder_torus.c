/* SPDX-License-Identifier: MIT
 *
 * ball_cylinder_torus.c: balls, cylinders, tori and tubes of six tetrahedra per cell (grid.h). Outer vertices lie on
 * the true surface, so the volume converges from below, with an error proportional to the square of the cell size.
 *
 * Exact counts, with n = segments, l = layers, r = rings; "even" means rounded up to an even number, because the centre
 * of a disc or ball is a vertex between two halves:
 *     ball      n even           vertices (n + 1)^3           tets 6 n^3
 *     cylinder  n even           vertices (n + 1)^2 (l + 1)   tets 6 n^2 l
 *     torus     l even           vertices (l + 1)^2 n         tets 6 l^2 n
 *     tube      any              vertices n (r + 1)(l + 1)    tets 6 n r l
 *
 * Square to disc: the square rings of a grid become circles, with equal angles between the vertices of a ring. Cube to
 * ball: the cubic shells become spheres, with equal angles between the vertices of a shell's edge, seen from the centre
 * (the equiangular cubed sphere of C. Ronchi, R. Iacono, P. S. Paolucci, J. Comput. Phys. 124, 1996).
 *
 * Limits: quality (1 for a regular tetrahedron) is above 0.3 if cells are about as long as wide. It is lower for
 * stretched cells and for a torus whose pipe radius is close to its ring radius.
 */
#include "mesh/generate/grid.h"

#include <math.h>
#include <stdlib.h>

#define QUARTER (0.78539816339744830962) /* pi / 4: a quarter of a half turn */

/* ---- Positions of the vertices of each shape ----------------------------------------------------- */

/* Maps (i, j), in steps from the centre of a square of half width `half`, to the disc of the given radius. */
static void square_to_disc(int32_t i, int32_t j, int32_t half, double radius, double point[2])
{
    int32_t ring = abs(i) > abs(j) ? abs(i) : abs(j);
    double r = radius * ((double)ring / half);
    if (ring == 0) {
        point[0] = point[1] = 0;
    } else if (abs(i) == ring) {
        double angle = QUARTER * j / i;
        double sign = i > 0 ? 1 : -1;
        point[0] = sign * r * cos(angle);
        point[1] = sign * r * sin(angle);
    } else {
        double angle = QUARTER * i / j;
        double sign = j > 0 ? 1 : -1;
        point[0] = sign * r * sin(angle);
        point[1] = sign * r * cos(angle);
    }
}

static void place_ball(const void *context, const int32_t index[3], double position[3])
{
    const sinew_round_def *def = context;
    int32_t half = def->segments / 2, shell = 0;
    double length = 0;
    for (int k = 0; k < 3; k++)
        shell = abs(index[k] - half) > shell ? abs(index[k] - half) : shell;
    for (int k = 0; k < 3; k++) {
        position[k] = shell ? tan(QUARTER * (index[k] - half) / shell) : 0;
        length += position[k] * position[k];
    }
    double scale = shell ? (double)def->radius * ((double)shell / half) / sqrt(length) : 0;
    for (int k = 0; k < 3; k++)
        position[k] *= scale;
}

static void place_cylinder(const void *context, const int32_t index[3], double position[3])
{
    const sinew_round_def *def = context;
    int32_t half = def->segments / 2;
    square_to_disc(index[0] - half, index[1] - half, half, (double)def->radius, position);
    position[2] = (double)def->height * ((double)index[2] / def->layers - 0.5);
}

/* Vertex position of a torus: grid axis 0 is the radial direction, axis 1 the angle around z, axis 2 the height. */
static void place_torus(const void *context, const int32_t index[3], double position[3])
{
    const sinew_round_def *def = context;
    int32_t half = def->layers / 2;
    double pipe[2], angle = 8 * QUARTER * index[1] / def->segments;
    square_to_disc(index[0] - half, index[2] - half, half, (double)def->inner_radius, pipe);
    position[0] = ((double)def->radius + pipe[0]) * cos(angle);
    position[1] = ((double)def->radius + pipe[0]) * sin(angle);
    position[2] = pipe[1];
}

static void place_tube(const void *context, const int32_t index[3], double position[3])
{
    const sinew_round_def *def = context;
    double inner = (double)def->inner_radius, fraction = (double)index[0] / def->rings;
    double r = inner * (1 - fraction) + (double)def->radius * fraction;
    double angle = 8 * QUARTER * index[1] / def->segments;
    position[0] = r * cos(angle);
    position[1] = r * sin(angle);
    position[2] = (double)def->height * ((double)index[2] / def->layers - 0.5);
}

/* ---- Checks of the shape's definition ------------------------------------------------------------ */

/* The functions check_round_...() return false, and set the error, if a field of the definition is out of range. */
static bool check_round_length(const char *what, const char *name, sinew_real length, sinew_error *error)
{
    bool fits = isfinite(length) && length > 0;
    if (!fits)
        sinew_fail(error, SINEW_ERROR_DATA, "%s: %s is %g m; it must be finite and greater than 0", what, name,
                   (double)length);
    return fits;
}

static bool check_round_cells(const char *what, const char *name, int32_t count, int32_t minimum, sinew_error *error)
{
    /* Counts of cells are below INT32_MAX, so that rounding up to an even number does not overflow. */
    bool fits = count >= minimum && count < INT32_MAX;
    if (!fits)
        sinew_fail(error, SINEW_ERROR_DATA, "%s: %s is %d; it must be at least %d and less than %d", what, name, count,
                   minimum, INT32_MAX);
    return fits;
}

static bool check_round_hole(const char *what, const sinew_round_def *def, sinew_error *error)
{
    bool fits = check_round_length(what, "inner_radius", def->inner_radius, error) && def->inner_radius < def->radius;
    if (!fits && def->inner_radius >= def->radius)
        sinew_fail(error, SINEW_ERROR_DATA, "%s: inner_radius %g m must be less than radius %g m", what,
                   (double)def->inner_radius, (double)def->radius);
    return fits;
}

static bool check_round_def(const char *what, const sinew_round_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_ROUND)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "%s: start from sinew_default_round_def()", what);
        return false;
    }
    return check_round_length(what, "radius", def->radius, error);
}

/* Inner radius of a shape, or `share` times the radius if it is 0: one set of defaults serves four shapes. */
static sinew_real inner_radius_or_default(const sinew_round_def *def, double share)
{
    return def->inner_radius == 0 ? (sinew_real)(share * (double)def->radius) : def->inner_radius;
}

static int32_t segments_or_default(const sinew_round_def *def, int32_t suitable)
{
    return def->segments == 0 ? suitable : def->segments;
}

static int32_t round_up_to_even(int32_t count)
{
    return count + (count & 1);
}

/* ---- Generation of the meshes -------------------------------------------------------------------- */

static sinew_mesh *make_round_mesh(const sinew_round_def *def, const sinew_grid *grid, sinew_grid_placer *place,
                                   sinew_error *error)
{
    int64_t cell_count = sinew_grid_cell_count(grid);
    int64_t tet_count = cell_count > INT64_MAX / 6 ? INT64_MAX : 6 * cell_count;
    sinew_mesh *mesh = sinew_mesh_allocate(&def->allocator, sinew_grid_vertex_count(grid), tet_count, 0, 0, error);
    if (!mesh)
        return NULL;
    sinew_grid_fill_positions(grid, place, def, mesh->positions);
    sinew_grid_cut_six(grid, mesh->tets);
    if (sinew_mesh_validate(mesh, error) != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}

sinew_round_def sinew_default_round_def(void)
{
    return (sinew_round_def){.cookie = SINEW_COOKIE_ROUND,
                             .radius = (sinew_real)0.5,
                             .inner_radius = 0,
                             .height = 1,
                             .segments = 0,
                             .layers = 4,
                             .rings = 2};
}

sinew_mesh *sinew_mesh_ball(const sinew_round_def *def, sinew_error *error)
{
    if (!check_round_def("ball", def, error))
        return NULL;
    sinew_round_def shape = *def;
    shape.segments = segments_or_default(def, 8);
    if (!check_round_cells("ball", "segments", shape.segments, 2, error))
        return NULL;
    shape.segments = round_up_to_even(shape.segments);
    sinew_grid grid = {.cells = {shape.segments, shape.segments, shape.segments}, .mirror = {true, true, true}};
    return make_round_mesh(&shape, &grid, place_ball, error);
}

sinew_mesh *sinew_mesh_cylinder(const sinew_round_def *def, sinew_error *error)
{
    if (!check_round_def("cylinder", def, error) || !check_round_length("cylinder", "height", def->height, error))
        return NULL;
    sinew_round_def shape = *def;
    shape.segments = segments_or_default(def, 8);
    if (!check_round_cells("cylinder", "segments", shape.segments, 2, error) ||
        !check_round_cells("cylinder", "layers", shape.layers, 1, error))
        return NULL;
    shape.segments = round_up_to_even(shape.segments);
    sinew_grid grid = {.cells = {shape.segments, shape.segments, shape.layers}, .mirror = {true, true, false}};
    return make_round_mesh(&shape, &grid, place_cylinder, error);
}

sinew_mesh *sinew_mesh_torus(const sinew_round_def *def, sinew_error *error)
{
    if (!check_round_def("torus", def, error))
        return NULL;
    sinew_round_def shape = *def;
    shape.inner_radius = inner_radius_or_default(def, 0.3);
    shape.segments = segments_or_default(def, 24);
    if (!check_round_hole("torus", &shape, error) ||
        !check_round_cells("torus", "segments", shape.segments, 3, error) ||
        !check_round_cells("torus", "layers", shape.layers, 1, error))
        return NULL;
    shape.layers = round_up_to_even(def->layers);
    sinew_grid grid = {.cells = {shape.layers, shape.segments, shape.layers},
                       .wraps = {false, true, false},
                       .mirror = {true, false, true}};
    return make_round_mesh(&shape, &grid, place_torus, error);
}

sinew_mesh *sinew_mesh_tube(const sinew_round_def *def, sinew_error *error)
{
    if (!check_round_def("tube", def, error))
        return NULL;
    sinew_round_def shape = *def;
    shape.inner_radius = inner_radius_or_default(def, 0.6);
    shape.segments = segments_or_default(def, 16);
    if (!check_round_hole("tube", &shape, error) || !check_round_length("tube", "height", def->height, error) ||
        !check_round_cells("tube", "segments", shape.segments, 3, error) ||
        !check_round_cells("tube", "layers", def->layers, 1, error) ||
        !check_round_cells("tube", "rings", def->rings, 1, error))
        return NULL;
    sinew_grid grid = {.cells = {shape.rings, shape.segments, shape.layers}, .wraps = {false, true, false}};
    return make_round_mesh(&shape, &grid, place_tube, error);
}
