/* SPDX-License-Identifier: MIT
 *
 * body.c: reads a body of a scene: mesh, mass, initial state, energies, pins and forces.
 */
#include <math.h>
#include <string.h>

#include "io/scene/reader.h"
#include "io/scene/units.h"
#include "sinew/material.h"

/* ---- Mass and density of a body ------------------------------------------------------------------ */

static sinew_dimension density_dimension(const sinew_mesh *mesh)
{
    if (sinew_mesh_tet_count(mesh) > 0)
        return SINEW_DIMENSION_VOLUME_DENSITY;
    return sinew_mesh_triangle_count(mesh) > 0 ? SINEW_DIMENSION_AREA_DENSITY : SINEW_DIMENSION_LINE_DENSITY;
}

/* Checks the unit of a density: its dimension must match the cells of the mesh (volume, area or length). */
static bool check_density_unit(sinew_reader *reader, const sinew_node *density, const sinew_mesh *mesh)
{
    const char *name = density->unit;
    sinew_dimension wanted = density_dimension(mesh);
    if (!name || sinew_unit_dimension(name) == wanted)
        return true;
    char list[64];
    sinew_dimension_units(wanted, list, sizeof list);
    return sinew_tree_fail(&reader->tree, density, "unit \"%s\" is %s, but this mesh needs %s (%s)", name,
                           sinew_dimension_name(sinew_unit_dimension(name)), sinew_dimension_name(wanted), list);
}

static bool density_of_mass(sinew_reader *reader, const sinew_node *mass, const sinew_mesh *mesh, sinew_real *density)
{
    sinew_mesh_report report;
    if (sinew_mesh_check(mesh, &report, NULL, 0, reader->error) < 0)
        return sinew_tree_blame(&reader->tree, mass);
    sinew_dimension dimension = density_dimension(mesh);
    double measure = dimension == SINEW_DIMENSION_VOLUME_DENSITY ? report.volume
                     : dimension == SINEW_DIMENSION_AREA_DENSITY ? report.area
                                                                 : report.length;
    double result = sinew_node_number(mass) / measure;
    if (!(measure > 0) || !isfinite((sinew_real)result))
        return sinew_tree_fail(&reader->tree, mass, "cannot be spread: the mesh measures %g in all", measure);
    *density = (sinew_real)result;
    return true;
}

/* Sets the density of a named material; fails for a sheet material on a mesh with tets or without triangles, and for a
 * volume material on a mesh without tets. */
static bool take_material_density(sinew_reader *reader, const sinew_node *material, sinew_body_def *def)
{
    const char *name = sinew_node_text(material);
    const sinew_material *sheet = sinew_material_by_name(name);
    const sinew_volume_material *volume = sinew_volume_material_by_name(name);
    if (sheet && density_dimension(def->mesh) != SINEW_DIMENSION_AREA_DENSITY)
        return sinew_tree_fail(&reader->tree, material, "%s is a sheet, and this mesh has %s", name,
                               sinew_mesh_tet_count(def->mesh) > 0 ? "tets" : "no triangles");
    if (volume && sinew_mesh_tet_count(def->mesh) == 0)
        return sinew_tree_fail(&reader->tree, material,
                               "%s fills a volume, and this mesh has no tets; the key \"fill\" of a mesh makes them",
                               name);
    def->density = (sinew_real)(sheet ? sheet->density : volume->density);
    return true;
}

/* Reads the density or the masses of a body into the def; the caller releases *masses. */
static bool read_mass(sinew_reader *reader, const sinew_node *node, sinew_body_def *def, sinew_real **masses)
{
    const sinew_node *density = sinew_node_get(node, "density"), *mass = sinew_node_get(node, "mass");
    const sinew_node *file = sinew_node_get(node, "masses"), *material = sinew_node_get(node, "material");
    if (material && !take_material_density(reader, material, def))
        return false;
    if (!material && !density && !mass && !file && sinew_mesh_tet_count(def->mesh) == 0)
        return sinew_tree_fail(&reader->tree, node,
                               "needs the key \"density\" (%s), \"mass\" (kg) or \"masses\", as its mesh has no tets; "
                               "the key \"fill\" of a mesh, or sinew mesh fill, makes them of a surface",
                               sinew_mesh_triangle_count(def->mesh) > 0 ? "kg/m2" : "kg/m");
    if (file) {
        *masses = sinew_reader_values(reader, file, sinew_mesh_vertex_count(def->mesh), 1);
        def->masses = *masses;
        return *masses != NULL;
    }
    if (mass)
        return density_of_mass(reader, mass, def->mesh, &def->density);
    if (density)
        def->density = (sinew_real)sinew_node_number(density);
    return !density || check_density_unit(reader, density, def->mesh);
}

/* ---- Initial state of a body --------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* Reads initial positions from a file of numbers or from another mesh with the same number of vertices. */
static bool read_positions(sinew_reader *reader, const sinew_node *file, int32_t count, sinew_real *positions)
{
    size_t bytes = 3 * (size_t)count * sizeof *positions;
    const char *name = sinew_node_text(file);
    if (ends_with(name, ".csv") || ends_with(name, ".txt")) {
        sinew_real *values = sinew_reader_values(reader, file, count, 3);
        if (values)
            memcpy(positions, values, bytes);
        sinew_release(&reader->allocator, values);
        return values != NULL;
    }
    char path[1024];
    if (!sinew_reader_path(reader, file, path, sizeof path))
        return false;
    sinew_mesh *mesh = sinew_mesh_read(path, &reader->allocator, reader->error);
    if (!mesh)
        return sinew_tree_blame(&reader->tree, file);
    int32_t found = sinew_mesh_vertex_count(mesh);
    if (found == count)
        memcpy(positions, sinew_mesh_positions(mesh), bytes);
    sinew_mesh_destroy(mesh);
    return found == count ||
           sinew_tree_fail(&reader->tree, file, "%s has %d vertices, the body has %d", path, found, count);
}

/* Twists the initial positions: rotates each point about the axis through the centre of the bounds by an angle that
 * grows linearly along the axis. */
static bool twist_points(sinew_reader *reader, const sinew_node *node, sinew_real *points, int32_t count)
{
    sinew_real axis[3];
    if (!sinew_reader_axis(reader, sinew_node_get(node, "axis"), axis))
        return false;
    double angle = sinew_node_number(sinew_node_get(node, "angle"));
    double low[3], high[3], first = INFINITY, last = -INFINITY;
    for (int i = 0; i < 3; i++)
        low[i] = INFINITY, high[i] = -INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const sinew_real *x = points + 3 * (size_t)i;
        double s = (double)x[0] * axis[0] + (double)x[1] * axis[1] + (double)x[2] * axis[2];
        first = fmin(first, s);
        last = fmax(last, s);
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], x[k]);
            high[k] = fmax(high[k], x[k]);
        }
    }
    if (!(last > first))
        return sinew_tree_fail(&reader->tree, node, "the body has no extent along the axis");
    sinew_real middle[3];
    for (int i = 0; i < 3; i++)
        middle[i] = (sinew_real)(0.5 * (low[i] + high[i]));
    for (int32_t i = 0; i < count; i++) {
        sinew_real *x = points + 3 * (size_t)i, turn[3];
        double s = (double)x[0] * axis[0] + (double)x[1] * axis[1] + (double)x[2] * axis[2];
        for (int k = 0; k < 3; k++)
            turn[k] = (sinew_real)(axis[k] * angle * (s - first) / (last - first));
        sinew_rotate_point(turn, middle, x);
    }
    return true;
}

/* Reads the initial positions of a body, which the caller releases; *positions stays NULL for a start in the rest
 * shape. */
static bool read_initial_positions(sinew_reader *reader, const sinew_node *initial, const sinew_mesh *mesh,
                                   sinew_real **positions)
{
    const sinew_node *file = sinew_node_get(initial, "positions"), *twist = sinew_node_get(initial, "twist");
    const sinew_node *transform = sinew_node_get(initial, "transform");
    if (!file && !twist && !transform)
        return true;
    int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *q = sinew_reader_allocate(reader, 3 * (size_t)count, sizeof *q, "starting positions");
    if (!q)
        return false;
    *positions = q;
    memcpy(q, sinew_mesh_positions(mesh), 3 * (size_t)count * sizeof *q);
    return (!file || read_positions(reader, file, count, q)) && (!twist || twist_points(reader, twist, q, count)) &&
           sinew_reader_transform(reader, transform, q, count);
}

/* Adds the initial velocity of a rotation about the centre of mass with the angular velocity of `node` to v. */
static bool add_angular_velocity(sinew_reader *reader, const sinew_node *node, sinew_body body, int32_t count,
                                 sinew_real *v)
{
    sinew_world *world = reader->scene->world;
    int32_t first = sinew_body_first_particle(world, body);
    sinew_real *q = sinew_reader_allocate(reader, 4 * (size_t)count, sizeof *q, "velocities");
    if (!q)
        return false;
    sinew_real *m = q + 3 * (size_t)count, w[3];
    sinew_world_get_positions(world, first, count, q);
    sinew_world_get_masses(world, first, count, m);
    sinew_node_vector(node, w);
    double centre[3] = {0}, mass = 0;
    for (int32_t i = 0; i < count; i++) {
        mass += m[i];
        for (int k = 0; k < 3; k++)
            centre[k] += (double)m[i] * q[3 * i + k];
    }
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            double along = w[a] * (q[3 * i + b] - centre[b] / mass) - w[b] * (q[3 * i + a] - centre[a] / mass);
            v[3 * i + k] += (sinew_real)along;
        }
    sinew_release(&reader->allocator, q);
    return true;
}

static bool read_velocities(sinew_reader *reader, const sinew_node *initial, sinew_body body, int32_t count)
{
    const sinew_node *uniform = sinew_node_get(initial, "velocity"), *file = sinew_node_get(initial, "velocities");
    const sinew_node *spin = sinew_node_get(initial, "angular_velocity");
    if (!uniform && !file && !spin)
        return true;
    size_t size = 3 * (size_t)count;
    sinew_real *v = file ? sinew_reader_values(reader, file, count, 3)
                         : sinew_reader_allocate(reader, size, sizeof *v, "velocities");
    if (!v)
        return false;
    sinew_real shared[3] = {0};
    if (uniform)
        sinew_node_vector(uniform, shared);
    for (size_t i = 0; i < size; i++)
        v[i] = (file ? v[i] : 0) + shared[i % 3];
    bool good = !spin || add_angular_velocity(reader, spin, body, count, v);
    sinew_world *world = reader->scene->world;
    if (good && sinew_world_set_velocities(world, sinew_body_first_particle(world, body), count, v) != SINEW_OK)
        good = sinew_tree_fail(&reader->tree, initial, "its velocities are not finite");
    sinew_release(&reader->allocator, v);
    return good;
}

/* ---- Pins and external forces of a body ---------------------------------------------------------- */

/* Reads one to three directions, rows of three numbers; *count receives the number of rows. */
static bool read_directions(const sinew_reader *reader, const sinew_node *rows, sinew_real directions[9],
                            int32_t *count)
{
    *count = 0;
    for (const sinew_node *row = rows ? rows->child : NULL; row; row = row->next) {
        if (*count == 3 || sinew_node_count(row) != 3)
            return sinew_tree_fail(&reader->tree, row, "one to three directions of three numbers each are expected");
        int32_t at = 3 * *count;
        for (const sinew_node *entry = row->child; entry; entry = entry->next)
            directions[at++] = (sinew_real)sinew_node_number(entry);
        (*count)++;
    }
    return true;
}

static bool read_pin(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    const sinew_selectable points = sinew_body_points(reader->scene->world, body);
    const sinew_node *select = sinew_node_get(node, "select"), *moves = sinew_node_get(node, "motion");
    const sinew_node *rows = sinew_node_get(node, "directions"), *follows = sinew_node_get(node, "follow");
    sinew_motion motion = {0};
    sinew_follow follow;
    sinew_selected held;
    sinew_real directions[9];
    int32_t direction_count;
    if (!read_directions(reader, rows, directions, &direction_count))
        return false;
    if (!sinew_reader_select(reader, select, node, &points, &held))
        return false;
    bool good = sinew_reader_follow(reader, follows, held.indices, held.count, &follow) &&
                (!moves || sinew_reader_motion(reader, moves, &motion));
    if (good) {
        sinew_pin_def def = sinew_default_pin_def();
        def.body = body;
        def.vertices = held.indices;
        def.vertex_count = held.count;
        def.motion = moves ? &motion : NULL;
        def.follow = follows ? &follow : NULL;
        def.directions = rows ? directions : NULL;
        def.direction_count = direction_count;
        if (sinew_world_add_pins(reader->scene->world, &def, reader->error).index < 0)
            good = sinew_tree_blame(&reader->tree, node);
    }
    sinew_reader_release_follow(reader, &follow);
    sinew_release(&reader->allocator, (void *)motion.keys);
    sinew_release(&reader->allocator, held.indices);
    return good;
}

static bool read_clamp(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    const sinew_selectable points = sinew_body_points(reader->scene->world, body);
    const sinew_node *moves = sinew_node_get(node, "motion"), *along = sinew_node_get(node, "tangent");
    sinew_clamp_def def = sinew_default_clamp_def();
    sinew_motion motion = {0};
    sinew_selected held;
    sinew_real tangent[3];
    if (!sinew_reader_select(reader, sinew_node_get(node, "select"), node, &points, &held))
        return false;
    bool good = !moves || sinew_reader_motion(reader, moves, &motion);
    if (along)
        sinew_node_vector(along, tangent);
    def.body = body;
    def.vertices = held.indices;
    def.vertex_count = held.count;
    def.tangent = along ? tangent : NULL;
    def.motion = moves ? &motion : NULL;
    if (good && sinew_world_add_clamp(reader->scene->world, &def, reader->error).index < 0)
        good = sinew_tree_blame(&reader->tree, node);
    sinew_release(&reader->allocator, (void *)motion.keys);
    sinew_release(&reader->allocator, held.indices);
    return good;
}

/* Distributes an external force on a vertex of the embedded surface to the body's vertices by its barycentric weights,
 * which preserves force and torque. */
static void distribute_force(const sinew_world *world, sinew_body body, int32_t vertex, const sinew_real force[3],
                             sinew_real *f)
{
    const int32_t *embeddings = sinew_body_skin_vertices(world, body) + 4 * (size_t)vertex;
    const sinew_real *weights = sinew_body_skin_weights(world, body) + 4 * (size_t)vertex;
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++)
            f[3 * (size_t)embeddings[i] + k] += weights[i] * force[k];
}

static bool scene_body_add_force(sinew_reader *reader, const sinew_node *node, sinew_body body, sinew_real *f)
{
    const sinew_world *world = reader->scene->world;
    const sinew_node *each = sinew_node_get(node, "force"), *total = sinew_node_get(node, "total");
    const sinew_node *select = sinew_node_get(node, "select"), *surface = sinew_reader_surface_selection(select);
    const sinew_skin *skin = surface ? sinew_reader_skin(reader, surface, body) : NULL;
    if (surface && !skin)
        return false;
    const sinew_selectable points = skin ? sinew_skin_points(skin, body) : sinew_body_points(world, body);
    sinew_selected pushed;
    if (!sinew_reader_select(reader, surface ? surface : select, node, &points, &pushed))
        return false;
    sinew_real force[3];
    sinew_node_vector(each ? each : total, force);
    for (int k = 0; k < 3; k++)
        force[k] = each ? force[k] : force[k] / (sinew_real)pushed.count;
    for (int32_t i = 0; i < pushed.count; i++) {
        if (skin)
            distribute_force(world, body, pushed.indices[i], force, f);
        for (size_t k = 0; k < 3 && !skin; k++)
            f[3 * (size_t)pushed.indices[i] + k] += force[k];
    }
    sinew_release(&reader->allocator, pushed.indices);
    return true;
}

static bool read_forces(sinew_reader *reader, const sinew_node *list, sinew_body body)
{
    sinew_world *world = reader->scene->world;
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *f = sinew_reader_allocate(reader, 3 * (size_t)count, sizeof *f, "forces");
    if (!f)
        return false;
    memset(f, 0, 3 * (size_t)count * sizeof *f);
    bool good = true;
    for (const sinew_node *entry = list->child; entry && good; entry = entry->next)
        good = scene_body_add_force(reader, entry, body, f);
    if (good && sinew_world_set_forces(world, sinew_body_first_particle(world, body), count, f) != SINEW_OK)
        good = sinew_tree_fail(&reader->tree, list, "they add up to a force that is not finite");
    sinew_release(&reader->allocator, f);
    return good;
}

/* Reads the tearing criterion of a body, if the key exists. It must follow the energies, which the criterion depends
 * on. */
static bool read_tear(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    if (!node)
        return true;
    const sinew_node *strain = sinew_node_get(node, "strain"), *by = sinew_node_get(node, "by");
    const sinew_node *max = sinew_node_get(node, "most");
    sinew_tear_def def = sinew_default_tear_def();
    def.body = body;
    def.limit = strain ? (sinew_real)sinew_node_number(strain) : def.limit;
    def.split = !by || strcmp(sinew_node_text(by), "split") == 0;
    def.max = max ? sinew_node_integer(max) : def.max;
    return sinew_body_set_tear(reader->scene->world, &def, reader->error) == SINEW_OK ||
           sinew_tree_blame(&reader->tree, node);
}

/* ---- Creation of a body from its object ---------------------------------------------------------- */

static bool check_body_name(sinew_reader *reader, const sinew_node *name)
{
    const sinew_body other = sinew_world_body_by_name(reader->scene->world, sinew_node_text(name));
    return other.index < 0 || sinew_tree_fail(&reader->tree, name, "bodies[%d] has the same name", other.index);
}

static bool create_body(sinew_reader *reader, const sinew_node *node, const sinew_mesh *mesh, sinew_body *body)
{
    const sinew_node *name = sinew_node_get(node, "name");
    sinew_body_def def = sinew_default_body_def();
    if (name && !check_body_name(reader, name))
        return false;
    const sinew_node *damping = sinew_node_get(node, "damping"), *filter = sinew_node_get(node, "velocity_filter");
    def.mesh = mesh;
    def.name = sinew_node_text(name);
    def.damping = damping ? (sinew_real)sinew_node_number(damping) : 0;
    def.velocity_filter = filter ? (sinew_real)sinew_node_number(filter) : 0;
    sinew_real *masses = NULL, *positions = NULL;
    bool good = read_mass(reader, node, &def, &masses) &&
                read_initial_positions(reader, sinew_node_get(node, "initial"), mesh, &positions);
    if (good) {
        def.positions = positions;
        *body = sinew_world_add_body(reader->scene->world, &def, reader->error);
        if (body->index < 0)
            good = sinew_tree_blame(&reader->tree, node);
    }
    sinew_release(&reader->allocator, masses);
    sinew_release(&reader->allocator, positions);
    return good;
}

/* Reads the solid of a rigid body, moved by the body's transform; without the key its radius is 0. */
static bool read_solid(sinew_reader *reader, const sinew_node *node, sinew_solid *solid)
{
    const sinew_node *key = sinew_node_get(node, "solid"), *transform = sinew_node_get(node, "transform");
    const sinew_node *scale = sinew_node_get(transform, "scale"), *show = sinew_node_get(node, "show");
    sinew_real length = 0;
    *solid = (sinew_solid){0};
    if (!key)
        return true;
    if (scale)
        return sinew_tree_fail(&reader->tree, scale, "does not scale a solid: set its radius and its length");
    if (show && json_is_true(show->value))
        return sinew_tree_fail(&reader->tree, show, "a solid has no file to show");
    sinew_take_number(key, "radius", &solid->radius);
    sinew_take_number(key, "length", &length);
    solid->ends[0][1] = -length / 2;
    solid->ends[1][1] = length / 2;
    return sinew_reader_transform(reader, transform, solid->ends[0], 2);
}

/* Adds a rigid body to the world. Its initial transform moves the four particles, not the mesh. */
static bool create_rigid(sinew_reader *reader, const sinew_node *node, const sinew_mesh *mesh, sinew_body *body)
{
    const sinew_node *name = sinew_node_get(node, "name"), *mass = sinew_node_get(node, "mass");
    const sinew_node *density = sinew_node_get(node, "density"), *initial = sinew_node_get(node, "initial");
    static const char *const others[] = {"masses", "material", "tear", "velocity_filter"};
    sinew_body_def def = sinew_default_body_def();
    sinew_inertia inertia;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (sinew_node_get(node, others[i]))
            return sinew_tree_fail(&reader->tree, sinew_node_get(node, others[i]), "is not for rigid bodies");
    if ((name && !check_body_name(reader, name)) || !read_solid(reader, node, &def.solid))
        return false;
    if (def.solid.radius > 0)
        sinew_solid_inertia(&def.solid, &inertia);
    else if (sinew_mesh_inertia(mesh, &inertia, reader->error) != SINEW_OK)
        return sinew_tree_blame(&reader->tree, sinew_node_get(node, "mesh"));
    def.mesh = mesh;
    def.name = sinew_node_text(name);
    if (density || mass)
        def.density = (sinew_real)(density ? sinew_node_number(density) : sinew_node_number(mass) / inertia.volume);
    *body = sinew_world_add_rigid(reader->scene->world, &def, reader->error);
    if (body->index < 0)
        return sinew_tree_blame(&reader->tree, node);
    sinew_real q[12];
    const int32_t first = sinew_body_first_particle(reader->scene->world, *body);
    sinew_world_get_positions(reader->scene->world, first, 4, q);
    if (sinew_node_get(initial, "positions") || sinew_node_get(initial, "twist"))
        return sinew_tree_fail(&reader->tree, initial, "a rigid body starts with \"transform\" alone");
    return sinew_reader_transform(reader, sinew_node_get(initial, "transform"), q, 4) &&
           sinew_world_set_positions(reader->scene->world, first, 4, q) == SINEW_OK;
}

bool sinew_reader_body(sinew_reader *reader, const sinew_node *node)
{
    const sinew_node *rigid = sinew_node_get(node, "rigid"), *solid = sinew_node_get(node, "solid");
    const bool is_rigid = rigid && json_is_true(rigid->value);
    if (solid && !is_rigid)
        return sinew_tree_fail(&reader->tree, solid, "is the shape of a rigid body: add \"rigid\": true");
    sinew_mesh *mesh = solid ? NULL : sinew_reader_mesh(reader, node);
    sinew_body body = {.index = -1};
    bool good = (mesh || solid) && (is_rigid ? create_rigid : create_body)(reader, node, mesh, &body);
    sinew_mesh_destroy(mesh);
    if (!good)
        return false;
    const sinew_mesh *kept = sinew_body_mesh(reader->scene->world, body);
    const sinew_node *initial = sinew_node_get(node, "initial"), *energies = sinew_node_get(node, "energies");
    const sinew_node *pins = sinew_node_get(node, "pins"), *forces = sinew_node_get(node, "forces");
    const sinew_node *loads = sinew_node_get(node, "loads"), *clamps = sinew_node_get(node, "clamp");
    good =
        read_velocities(reader, initial, body, sinew_mesh_vertex_count(kept)) && sinew_reader_show(reader, node, body);
    for (const sinew_node *entry = energies ? energies->child : NULL; entry && good; entry = entry->next)
        good = sinew_reader_energy(reader, entry, body);
    for (const sinew_node *entry = pins ? pins->child : NULL; entry && good; entry = entry->next)
        good = read_pin(reader, entry, body);
    for (const sinew_node *entry = loads ? loads->child : NULL; entry && good; entry = entry->next)
        good = sinew_reader_load(reader, entry, body);
    good = good && (!forces || read_forces(reader, forces, body));
    /* Clamps add elements to energies and points to the body, so they are read after the energies and after the
     * selections of forces. */
    for (const sinew_node *entry = clamps ? clamps->child : NULL; entry && good; entry = entry->next)
        good = read_clamp(reader, entry, body);
    return good && read_tear(reader, sinew_node_get(node, "tear"), body) &&
           sinew_reader_body_contact(reader, sinew_node_get(node, "contact"), body);
}
