/* SPDX-License-Identifier: MIT
 *
 * levers.c: the point at which a rigid sphere or capsule touches.
 *
 * The axis of such a body keeps its distance, so that the normal force acts on the axis, exactly. Friction acts on the
 * surface, at the point p of the material that touches at the end of the step:
 *
 *     A p = -+ r n,    z = sum w x + P (A p - A_0 p),    P = 1 - n n^T
 *
 * A and A_0 are the affine maps of the body's frame at the end and at the start of the step, r its radius, n the normal,
 * and z the relative position whose tangential change is the slip. p is taken from the predicted A, and is scaled to
 * the length r at rest. A lever is p as weights d_k of the four frame vertices, with sum d_k = 0 and A p = sum d_k x_k.
 *
 * Error: the direction of p is wrong by the angle e between the predicted and the true turn of the body, and friction by
 * the fraction e^2/2; the slip of a turn by the angle a in the step is r sin a in place of r a.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "math/vec3.h"

/* Solves sum_k d_k (x_k - x_3) = a over k = 0 .. 2 for four points x [4][4]; d_3 = -d_0 - d_1 - d_2. False: the points
 * lie in a plane. */
static bool lever_weights(const sinew_real *x, const double a[3], double d[4])
{
    double e[3][3], cross[3];
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 3; i++)
            e[k][i] = (double)x[4 * k + i] - (double)x[12 + i];
    const double volume = vec3_triple(e[0], e[1], e[2]);
    if (!(fabs(volume) > DBL_MIN))
        return false;
    for (int k = 0; k < 3; k++) {
        vec3_cross(e[(k + 1) % 3], e[(k + 2) % 3], cross);
        d[k] = vec3_dot(cross, a) / volume;
    }
    d[3] = -d[0] - d[1] - d[2];
    return true;
}

/* sum += factor sum_k d_k x_k over four points x [4][4] */
static void add_lever(const sinew_real d[4], const sinew_real *x, double factor, double sum[3])
{
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < 3; i++)
            sum[i] += factor * (double)d[k] * (double)x[4 * k + i];
}

void sinew_contact_set_levers(const sinew_contact_work *c, sinew_contact_constraint *t)
{
    const sinew_collision_mesh *f = &c->mesh;
    memset(t->lever, 0, sizeof t->lever);
    for (int side = 0; side < 2; side++) {
        const sinew_collision_object *o = &f->objects[side == 0 ? t->first : t->second];
        const size_t frame = 4 * (size_t)o->first_vertex;
        double down[3], rest[3] = {0, 0, 0}, d[4];
        if (!o->rigid || !(o->radius > 0))
            continue;
        for (int i = 0; i < 3; i++)
            down[i] = (side == 0 ? -o->radius : o->radius) * t->n[i];
        if (!lever_weights(c->x_predicted + frame, down, d) && !lever_weights(c->x_step_start + frame, down, d))
            continue;
        for (int k = 0; k < 4; k++)
            t->lever[side][k] = (sinew_real)d[k];
        add_lever(t->lever[side], f->rest + frame, 1, rest);
        const double length = vec3_norm(rest);
        for (int k = 0; length > 0 && k < 4; k++)
            t->lever[side][k] = (sinew_real)(d[k] * o->radius / length);
    }
}

bool sinew_contact_has_levers(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    const sinew_collision_object *first = &c->mesh.objects[t->first], *second = &c->mesh.objects[t->second];
    return (first->rigid && first->radius > 0) || (second->rigid && second->radius > 0);
}

void sinew_contact_add_levers(const sinew_contact_work *c, const sinew_contact_constraint *t, const sinew_real *x,
                              double factor, double sum[3])
{
    for (int side = 0; side < 2; side++)
        sinew_contact_add_side_lever(c, t, side, x, side == 0 ? factor : -factor, sum);
}

void sinew_contact_add_side_lever(const sinew_contact_work *c, const sinew_contact_constraint *t, int side,
                                  const sinew_real *x, double factor, double sum[3])
{
    const sinew_collision_object *o = &c->mesh.objects[side == 0 ? t->first : t->second];
    if (o->rigid && o->radius > 0)
        add_lever(t->lever[side], x + 4 * (size_t)o->first_vertex, factor, sum);
}
