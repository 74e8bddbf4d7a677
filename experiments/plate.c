/* SPDX-License-Identifier: MIT
 *
 * plate.c: plates as worlds. See plate.h.
 */
#include "plate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const plate_model_names[PLATE_MODELS] = {"shell_bending", "hinge", "isometric"};

sinew_world *plate_world(double gravity, int32_t load_steps, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.time_step = 1;
    def.gravity[1] = (sinew_real)-gravity;
    def.load_steps = load_steps;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.iterations = 200;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    return sinew_world_create(&def, error);
}

static void set(sinew_energy_def *def, const char *name, double value)
{
    const int32_t at = sinew_energy_parameter(def->kind, name);
    if (at >= 0)
        def->parameters[at] = (sinew_real)value;
}

static bool add_energies(plate *p, const plate_def *def, sinew_error *error)
{
    const double h = def->thickness, E = 12 * (1 - def->poisson * def->poisson) * def->rigidity / (h * h * h);
    sinew_energy_def sheet = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_STVK);
    sinew_energy_def bend = sinew_default_energy_def(sinew_energy_by_name(plate_model_names[def->model]));
    p->stretch = E * h;
    sheet.body = bend.body = p->body;
    set(&sheet, "young", E);
    set(&sheet, "poisson", def->poisson);
    set(&sheet, "thickness", h);
    set(&bend, "rigidity", def->rigidity);
    set(&bend, "poisson", def->poisson);
    if (def->hold > 0)
        set(&bend, "hold", def->hold);
    return sinew_world_add_energy(p->world, &sheet, error).index >= 0 &&
           sinew_world_add_energy(p->world, &bend, error).index >= 0;
}

bool plate_add(sinew_world *world, const sinew_mesh *mesh, const plate_def *def, plate *p, sinew_error *error)
{
    sinew_mesh *own = def->model == PLATE_SHELL ? sinew_mesh_with_directors(mesh, def->offset, NULL, error) : NULL;
    *p = (plate){.world = world,
                 .body = {.index = -1},
                 .vertex_count = sinew_mesh_vertex_count(mesh),
                 .triangle_count = sinew_mesh_triangle_count(mesh)};
    if (def->model == PLATE_SHELL && !own)
        return false;
    sinew_body_def body = sinew_default_body_def();
    body.mesh = own ? own : mesh;
    body.density = (sinew_real)def->density;
    p->body = sinew_world_add_body(world, &body, error);
    sinew_mesh_destroy(own);
    return p->body.index >= 0 && add_energies(p, def, error);
}

/* Writes the marked vertices, and the director points of edges between two of them if wanted; returns how many. */
static int32_t list_marked(const plate *p, const uint8_t *marked, bool directors, int32_t *list)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    int32_t count = 0;
    for (int32_t i = 0; i < p->vertex_count; i++)
        if (marked[i])
            list[count++] = i;
    for (int32_t i = 0; directors && i < sinew_mesh_director_count(mesh); i++) {
        const int32_t *d = sinew_mesh_directors(mesh) + 3 * i;
        if (marked[d[0]] && marked[d[1]])
            list[count++] = d[2];
    }
    return count;
}

static int32_t *new_list(const plate *p)
{
    return malloc((size_t)sinew_mesh_vertex_count(sinew_body_mesh(p->world, p->body)) * sizeof(int32_t));
}

bool plate_pin(const plate *p, const uint8_t *marked, bool clamp, sinew_error *error)
{
    int32_t *list = new_list(p);
    if (!list)
        return false;
    sinew_pin_def def = sinew_default_pin_def();
    def.body = p->body;
    def.vertices = list;
    def.vertex_count = list_marked(p, marked, clamp, list);
    const bool good = sinew_world_add_pins(p->world, &def, error).index >= 0;
    free(list);
    return good;
}

/* A particle that stands still at `point`. */
static int32_t add_anchor(sinew_world *world, const double point[3], sinew_error *error)
{
    const sinew_real x[3] = {(sinew_real)point[0], (sinew_real)point[1], (sinew_real)point[2]}, mass = 1;
    const int32_t vertex = 0;
    sinew_mesh_def mesh = sinew_default_mesh_def();
    mesh.vertex_count = 1;
    mesh.positions = x;
    sinew_mesh *dot = sinew_mesh_create(&mesh, error);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = dot;
    def.masses = &mass;
    const sinew_body body = dot ? sinew_world_add_body(world, &def, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(dot);
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = &vertex;
    pin.vertex_count = 1;
    if (body.index < 0 || sinew_world_add_pins(world, &pin, error).index < 0)
        return -1;
    return sinew_body_first_particle(world, body);
}

/* Binds each particle of the list to the anchor, along the normal alone. */
static bool bind_plane(const plate *p, const int32_t *list, int32_t count, int32_t anchor, const double normal[3],
                       sinew_error *error)
{
    const int32_t first = sinew_body_first_particle(p->world, p->body);
    int32_t *pairs = malloc(8 * (size_t)count * sizeof *pairs);
    sinew_real *weights = calloc(8 * (size_t)count, sizeof *weights),
               *normals = malloc(3 * (size_t)count * sizeof *normals);
    bool good = pairs && weights && normals;
    for (int32_t i = 0; good && i < count; i++) {
        for (int k = 0; k < 8; k++)
            pairs[8 * i + k] = k < 4 ? first + list[i] : anchor;
        weights[8 * i] = weights[8 * i + 4] = 1;
        for (int k = 0; k < 3; k++)
            normals[3 * i + k] = (sinew_real)normal[k];
    }
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = pairs;
    weak.element_count = count;
    weak.weights = weights;
    weak.normals = normals;
    weak.transient = false;
    set(&weak, "normal_stiffness", 10 * p->stretch);
    set(&weak, "tangent_stiffness", 0);
    good = good && sinew_world_add_energy(p->world, &weak, error).index >= 0;
    free(pairs);
    free(weights);
    free(normals);
    return good;
}

bool plate_slide(const plate *p, const uint8_t *marked, const double point[3], const double normal[3], bool directors,
                 sinew_error *error)
{
    int32_t *list = new_list(p);
    const int32_t count = list ? list_marked(p, marked, directors, list) : 0,
                  anchor = add_anchor(p->world, point, error);
    const bool good = anchor >= 0 && count > 0 && bind_plane(p, list, count, anchor, normal, error);
    free(list);
    return good;
}

/* The farthest that a coordinate has gone; *before becomes the positions now. */
static double moved(const sinew_world *world, int32_t count, sinew_real *before, sinew_real *now)
{
    double most = 0;
    sinew_world_get_positions(world, 0, count, now);
    for (int32_t i = 0; i < 3 * count; i++)
        most = fmax(most, fabs((double)now[i] - (double)before[i]));
    memcpy(before, now, 3 * (size_t)count * sizeof *now);
    return most;
}

int32_t plate_settle(sinew_world *world, int32_t steps, int32_t most, double still)
{
    const int32_t count = sinew_world_particle_count(world);
    sinew_real *before = malloc(6 * (size_t)count * sizeof *before);
    int32_t iterations = 0;
    bool settled = false;
    if (before)
        sinew_world_get_positions(world, 0, count, before);
    for (int32_t i = 0; before && i < most && !settled; i++) {
        sinew_step_result result;
        const uint32_t bits = sinew_world_step(world, &result) & ~(uint32_t)SINEW_STEP_INDEFINITE;
        iterations += result.iterations;
        const double change = moved(world, count, before, before + 3 * (size_t)count);
        settled = i + 1 >= steps && (bits & ~(uint32_t)SINEW_STEP_ROUND_OFF) == 0 && (still == 0 || change < still);
    }
    free(before);
    return settled ? iterations : -1;
}
