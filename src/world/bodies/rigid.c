/* SPDX-License-Identifier: MIT
 *
 * rigid.c: a rigid body: four particles with the mass, centre and inertia of its shape (mesh/inertia_frame.c), hard
 * constraints on the six distances between them, and the shape's surface embedded. A rigid body has no material and
 * no stiffness: six degrees of freedom in twelve coordinates. Joints (energy/joint/joint.h) use the four particles
 * as a frame.
 *
 * Known limit: the mirror image satisfies the same distances. Only steps that rotate the body by about half a turn
 * can reach it.
 */
#include <math.h>

#include "sinew/skin.h"
#include "world/world.h"

static sinew_status check_rigid(const sinew_body_def *def, sinew_error *error)
{
    if (def->positions || def->velocities || def->masses)
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a rigid body takes density alone; set positions and velocities of its four particles");
    if (!(def->density > 0) || !isfinite((double)def->density))
        return sinew_fail(error, SINEW_ERROR_DATA, "the density of a rigid body is %g, must be greater than 0",
                          (double)def->density);
    return SINEW_OK;
}

static sinew_status rigid_hold(sinew_world *world, sinew_body body, sinew_error *error)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    def.body = body;
    def.hard = true;
    const sinew_energy distances = sinew_world_add_energy(world, &def, error);
    if (distances.index < 0)
        return SINEW_ERROR_UNSUPPORTED;
    world->energies[distances.index].rigid = true;
    return SINEW_OK;
}

static sinew_status show(sinew_world *world, sinew_body body, const sinew_mesh *mesh, sinew_error *error)
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

sinew_body sinew_world_add_rigid(sinew_world *world, const sinew_body_def *def, sinew_error *error)
{
    sinew_body none = {.index = -1}, body = none;
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return (sinew_body){.index = -1};
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_BODY)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "the world is NULL, or the def was not made by sinew_default_body_def()");
        return none;
    }
    sinew_inertia inertia;
    if (check_rigid(def, error) != SINEW_OK || sinew_mesh_inertia(def->mesh, &inertia, error) != SINEW_OK)
        return none;
    sinew_mesh *frame = sinew_mesh_frame(def->mesh, error);
    if (!frame)
        return none;
    sinew_body_def particles = *def;
    sinew_real masses[4];
    for (int a = 0; a < 4; a++)
        masses[a] = (sinew_real)((double)def->density * inertia.volume / 4);
    particles.mesh = frame;
    particles.masses = masses;
    body = sinew_world_add_body(world, &particles, error);
    sinew_mesh_destroy(frame);
    if (body.index >= 0 &&
        (rigid_hold(world, body, error) != SINEW_OK || show(world, body, def->mesh, error) != SINEW_OK)) {
        sinew_world_remove_body(world, body, NULL);
        return none;
    }
    if (body.index >= 0)
        world->bodies[body.index].rigid = true;
    return body;
}
