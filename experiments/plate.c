/* SPDX-License-Identifier: MIT
 *
 * plate.c: plates as worlds. See plate.h.
 */
#include "plate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const plate_model_names[PLATE_MODELS] = {"shell_bending", "hinge", "isometric"};

sinew_world *plate_world(double gravity, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.time_step = 1;
    def.gravity[1] = (sinew_real)-gravity;
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

/* The penalty on jumps of curvature, which shell_bending needs under point loads. */
static bool plate_add_jump(plate *p, const plate_def *def, sinew_error *error)
{
    sinew_energy_def jump = sinew_default_energy_def(SINEW_ENERGY_SHELL_JUMP);
    jump.body = p->body;
    set(&jump, "rigidity", def->rigidity);
    if (def->weft_ratio > 0)
        set(&jump, "weft_ratio", def->weft_ratio);
    return sinew_world_add_energy(p->world, &jump, error).index >= 0;
}

static bool plate_add_energies(plate *p, const plate_def *def, sinew_error *error)
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
    if (def->weft_ratio > 0)
        set(&bend, "weft_ratio", def->weft_ratio);
    if (def->hold > 0)
        set(&bend, "hold", def->hold);
    return sinew_world_add_energy(p->world, &sheet, error).index >= 0 &&
           sinew_world_add_energy(p->world, &bend, error).index >= 0 && (!def->jump || plate_add_jump(p, def, error));
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
    return p->body.index >= 0 && plate_add_energies(p, def, error);
}

int32_t plate_list(const plate *p, const uint8_t *marked, bool directors, int32_t *list)
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
    def.vertex_count = plate_list(p, marked, clamp, list);
    const bool good = sinew_world_add_pins(p->world, &def, error).index >= 0;
    free(list);
    return good;
}

/* Adds a body of pinned particles at the rest positions of the plate's listed particles; index -1 on failure. */
static sinew_body plate_add_anchors(const plate *p, const int32_t *list, int32_t count, sinew_error *error)
{
    const sinew_real *x = sinew_mesh_positions(sinew_body_mesh(p->world, p->body));
    sinew_body body = {.index = -1};
    sinew_real *positions = malloc(4 * (size_t)count * sizeof *positions);
    int32_t *numbers = malloc((size_t)count * sizeof *numbers);
    for (int32_t i = 0; positions && numbers && i < count; i++) {
        memcpy(positions + 3 * i, x + 3 * list[i], 3 * sizeof *positions);
        positions[3 * count + i] = 1;
        numbers[i] = i;
    }
    sinew_mesh_def shape = sinew_default_mesh_def();
    shape.vertex_count = count;
    shape.positions = positions;
    sinew_mesh *mesh = positions && numbers ? sinew_mesh_create(&shape, error) : NULL;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.masses = positions ? positions + 3 * count : NULL;
    if (mesh)
        body = sinew_world_add_body(p->world, &def, error);
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = numbers;
    pin.vertex_count = count;
    if (body.index >= 0 && sinew_world_add_pins(p->world, &pin, error).index < 0)
        body.index = -1;
    sinew_mesh_destroy(mesh);
    free(positions);
    free(numbers);
    return body;
}

/* Binds each listed particle of the plate to its anchor: along the axis (PLATE_IN_PLANE) or across it
 * (PLATE_ON_LINE). */
static bool bind_list(const plate *p, const int32_t *list, int32_t count, int32_t anchor, const double axis[3],
                      plate_slide_kind kind, sinew_error *error)
{
    const int32_t first = sinew_body_first_particle(p->world, p->body);
    int32_t *pairs = malloc(8 * (size_t)count * sizeof *pairs);
    sinew_real *weights = calloc(8 * (size_t)count, sizeof *weights);
    sinew_real *normals = malloc(3 * (size_t)count * sizeof *normals);
    bool good = pairs && weights && normals;
    for (int32_t i = 0; good && i < count; i++) {
        for (int k = 0; k < 8; k++)
            pairs[8 * i + k] = k < 4 ? first + list[i] : anchor + i;
        weights[8 * i] = weights[8 * i + 4] = 1;
        for (int k = 0; k < 3; k++)
            normals[3 * i + k] = (sinew_real)axis[k];
    }
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = pairs;
    weak.element_count = count;
    weak.weights = weights;
    weak.normals = normals;
    weak.transient = false;
    set(&weak, "normal_stiffness", kind == PLATE_IN_PLANE ? 1000 * p->stretch : 0);
    set(&weak, "tangent_stiffness", kind == PLATE_IN_PLANE ? 0 : 1000 * p->stretch);
    good = good && sinew_world_add_energy(p->world, &weak, error).index >= 0;
    free(pairs);
    free(weights);
    free(normals);
    return good;
}

bool plate_slide(const plate *p, const uint8_t *marked, const double axis[3], plate_slide_kind kind, sinew_error *error)
{
    int32_t *list = new_list(p);
    const int32_t count = list ? plate_list(p, marked, kind == PLATE_IN_PLANE, list) : 0;
    const sinew_body anchors = count > 0 ? plate_add_anchors(p, list, count, error) : (sinew_body){.index = -1};
    const bool good = anchors.index >= 0 &&
                      bind_list(p, list, count, sinew_body_first_particle(p->world, anchors), axis, kind, error);
    free(list);
    return good;
}

int32_t plate_settle(sinew_world *world, int32_t max)
{
    int32_t iterations = 0;
    for (int32_t i = 0; i < max; i++) {
        sinew_step_result result;
        const uint32_t fine = SINEW_STEP_INDEFINITE | SINEW_STEP_ROUND_OFF;
        const bool solved = (sinew_world_step(world, &result) & ~fine) == 0;
        iterations += result.iterations;
        if (solved)
            return iterations;
    }
    return -1;
}
