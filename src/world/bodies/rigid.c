/* SPDX-License-Identifier: MIT
 *
 * rigid.c: a rigid body: four particles with the mass, centre and inertia of its shape (mesh/inertia_frame.c), and the
 * shape's surface embedded. The shape is a mesh, or an exact sphere or capsule (solid.h). A rigid body has no material: six degrees of freedom in twelve coordinates. Joints
 * (energy/joint/joint.h) use the four particles as a frame.
 *
 * Solvers with hard constraints keep the six distances between the particles. Solvers that go by the energy (newton,
 * pbng) have an affine body (Lan et al. 2022, Affine Body Dynamics): the particles are its affine map F, and
 *
 *     psi = mu V/4 |F^T F - 1|^2,      mu V = k^2 m r^2 / (2 h^2),      m r^2 = sum_a m_a |x_a - c|^2
 *
 * resists every F that is not orthogonal. Without other forces F oscillates with the angular frequency k/h. So a force
 * f on the body strains it by about f h^2 / (k^2 m r) for any size, mass and time step: gravity by g h^2 / (k^2 r).
 *
 * Known limit: the mirror image satisfies the same distances and has the same psi. Only steps that rotate the body by
 * about half a turn can reach it.
 */
#include <math.h>

#include "sinew/skin.h"
#include "mesh/mesh.h"
#include "world/bodies/solid.h"

/* k^2 of the affine body. A larger value strains less and is rounded more: forces are known to about k^2 m / h^2 times
 * the rounding of positions. docs/evidence/rigid.md has the strains of the scenes. */
#define AFFINE_STIFFNESS (sizeof(sinew_real) == 4 ? 1e3 : 1e6)
/* Value of h, in s, in a quasistatic world, which has no time step. */
#define AFFINE_STATIC_STEP 1e-2

static sinew_status check_rigid(const sinew_body_def *def, sinew_error *error)
{
    if (def->positions || def->velocities || def->masses)
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a rigid body takes density alone; set positions and velocities of its four particles");
    if (!(def->density > 0) || !isfinite((double)def->density))
        return sinew_fail(error, SINEW_ERROR_DATA, "the density of a rigid body is %g, must be greater than 0",
                          (double)def->density);
    return sinew_solid_check(&def->solid, error);
}

/* Young's modulus of the affine body, in Pa. With Poisson's ratio 0 it is 2 mu, and psi is that of
 * st_venant_kirchhoff. */
static double affine_young(const sinew_world *world, const sinew_body_record *body)
{
    const sinew_real *x = body->mesh->positions;
    const double h = world->def.quasistatic ? AFFINE_STATIC_STEP : (double)world->def.time_step;
    double mass = 0, centre[3] = {0, 0, 0}, second = 0;
    for (size_t a = 0; a < 4; a++) {
        const double m = (double)world->mass[world->inside[body->first + (int32_t)a]];
        mass += m;
        for (size_t i = 0; i < 3; i++)
            centre[i] += m * (double)x[3 * a + i];
    }
    for (size_t a = 0; a < 4; a++)
        for (size_t i = 0; i < 3; i++)
            second += (double)world->mass[world->inside[body->first + (int32_t)a]] *
                      pow((double)x[3 * a + i] - centre[i] / mass, 2);
    return AFFINE_STIFFNESS * second / (h * h) / fabs(sinew_tet_volume(x, body->mesh->tets));
}

/* The energy that keeps a body rigid with the solver of the world. */
static sinew_energy_def rigid_energy(const sinew_world *world, sinew_body body)
{
    const bool affine = sinew_solver_get_ops(world->def.solver.kind)->affine_bodies;
    sinew_energy_def def = sinew_default_energy_def(affine ? SINEW_ENERGY_ST_VENANT_KIRCHHOFF : SINEW_ENERGY_SPRING);
    def.body = body;
    def.hard = !affine;
    if (affine) {
        def.parameters[0] = (sinew_real)affine_young(world, &world->bodies[body.index]);
        def.parameters[1] = 0;
    }
    return def;
}

sinew_status sinew_world_fit_rigid(sinew_world *world, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t e = 0; status == SINEW_OK && e < world->energy_count; e++) {
        sinew_energy_record *record = &world->energies[e];
        if (!record->batch || !record->rigid)
            continue;
        const sinew_energy_def def = rigid_energy(world, record->store.body);
        if (def.kind != record->kind || def.parameters[0] != record->store.parameters[0])
            status = sinew_energy_replace_rigid(world, record, &def, error);
    }
    return status;
}

static sinew_status rigid_add_energy(sinew_world *world, sinew_body body, sinew_error *error)
{
    const sinew_energy_def def = rigid_energy(world, body);
    const sinew_energy distances = sinew_world_add_energy(world, &def, error);
    if (distances.index < 0)
        return SINEW_ERROR_UNSUPPORTED;
    world->energies[distances.index].rigid = true;
    return SINEW_OK;
}

static sinew_status embed_shape_surface(sinew_world *world, sinew_body body, const sinew_mesh *mesh, sinew_error *error)
{
    sinew_skin *skin = sinew_skin_of_mesh(mesh, error);
    if (!skin)
        return SINEW_ERROR_MEMORY;
    sinew_embedding_def embedding = sinew_default_embedding_def();
    embedding.skin = skin;
    const sinew_status status = sinew_body_set_skin(world, body, &embedding, error);
    sinew_skin_destroy(skin);
    return status;
}

/* Inertia of the shape of a rigid body: that of its solid, or of its mesh. */
static sinew_status rigid_inertia(const sinew_body_def *def, sinew_inertia *inertia, sinew_error *error)
{
    if (!(def->solid.radius > 0))
        return sinew_mesh_inertia(def->mesh, inertia, error);
    sinew_solid_inertia(&def->solid, inertia);
    return SINEW_OK;
}

/* Adds the four particles of a rigid body; index -1 on failure. */
static sinew_body add_particles(sinew_world *world, const sinew_body_def *def, const sinew_inertia *inertia,
                                sinew_error *error)
{
    sinew_mesh *frame = sinew_inertia_frame(inertia, &world->allocator, error);
    sinew_body_def particles = *def;
    sinew_real masses[4];
    if (!frame)
        return (sinew_body){.index = -1};
    for (int a = 0; a < 4; a++)
        masses[a] = (sinew_real)((double)def->density * inertia->volume / 4);
    particles.mesh = frame;
    particles.masses = masses;
    particles.solid = (sinew_solid){0};
    const sinew_body body = sinew_world_add_body(world, &particles, error);
    sinew_mesh_destroy(frame);
    return body;
}

sinew_body sinew_world_add_rigid(sinew_world *world, const sinew_body_def *def, sinew_error *error)
{
    const sinew_body none = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return none;
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_BODY)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "the world is NULL, or the def was not made by sinew_default_body_def()");
        return none;
    }
    sinew_inertia inertia;
    if (check_rigid(def, error) != SINEW_OK || rigid_inertia(def, &inertia, error) != SINEW_OK)
        return none;
    sinew_mesh *tessellation = def->mesh ? NULL : sinew_solid_tessellate(&def->solid, &world->allocator, error);
    if (!def->mesh && !tessellation)
        return none;
    const sinew_body body = add_particles(world, def, &inertia, error);
    const bool good = body.index >= 0 && rigid_add_energy(world, body, error) == SINEW_OK &&
                      embed_shape_surface(world, body, def->mesh ? def->mesh : tessellation, error) == SINEW_OK;
    sinew_mesh_destroy(tessellation);
    if (body.index >= 0 && !good)
        sinew_world_remove_body(world, body, NULL);
    if (!good)
        return none;
    world->bodies[body.index].rigid = true;
    sinew_body_set_solid(&world->bodies[body.index], &def->solid);
    return body;
}
