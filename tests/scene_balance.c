/* SPDX-License-Identifier: MIT
 *
 * scene_balance.c: takes the first steps of a scene file and prints the energy balance of each, for
 * tools/random-scenes. Usage: scene_balance SCENE STEPS. Exit codes: 0 done, 2 refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sinew/scene.h"

#define BROKEN (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_CONTRADICTORY)

static int refuse(const char *what)
{
    fprintf(stderr, "scene_balance: %s\n", what);
    return 2;
}

/* Sum of the absolute values of all terms of the balance, J. */
static double terms_of(const sinew_balance *b)
{
    return fabs(b->kinetic[0]) + fabs(b->kinetic[1]) + fabs(b->elastic[0]) + fabs(b->elastic[1]) + fabs(b->gravity[0]) +
           fabs(b->gravity[1]) + fabs(b->pins) + fabs(b->forces) + fabs(b->targets) + fabs(b->constraints) +
           fabs(b->contacts) + fabs(b->restitution) + fabs(b->lost_integrator) + fabs(b->lost_damping) +
           fabs(b->lost_solver);
}

/* Sum of |force times displacement| over the particles, J: internal forces cancel in the balance and leave round-off of
 * their own size. NAN where forces are unknown. */
static double gross_of(sinew_world *world, int32_t count, const sinew_real *before, sinew_real *buffer)
{
    double sum = 0;
    sinew_real *q = buffer, *f = buffer + 3 * (size_t)count;
    if (sinew_world_get_positions(world, 0, count, q) != SINEW_OK ||
        sinew_world_field(world, SINEW_FIELD_FORCE, 0, count, f, NULL) != SINEW_OK)
        return NAN;
    for (int32_t i = 0; i < 3 * count; i++)
        sum += fabs((double)f[i] * ((double)q[i] - (double)before[i]));
    return sum;
}

/* Steps the world and prints one line a step; false without memory. A body that tears gets more particles. */
static bool print_steps(sinew_world *world, int steps)
{
    printf("step,status,unaccounted,size\n");
    for (int i = 1; i <= steps; i++) {
        const int32_t count = sinew_world_particle_count(world);
        sinew_balance balance;
        sinew_real *numbers = calloc(9 * (size_t)count, sizeof *numbers);
        if (!numbers)
            return false;
        sinew_world_get_positions(world, 0, count, numbers);
        const uint32_t bits = sinew_world_step(world, NULL);
        const bool known = !(bits & BROKEN) && sinew_world_balance(world, &balance, NULL) == SINEW_OK;
        const double gross = known ? gross_of(world, count, numbers, numbers + 3 * (size_t)count) : 0;
        free(numbers);
        if (!known)
            break;
        printf("%d,%u,%.17g,%.17g\n", i, (unsigned)bits, balance.unaccounted, terms_of(&balance) + gross);
    }
    return true;
}

int main(int argc, char **argv)
{
    static const char *const settings[] = {"balance=true", "threads=1"};
    sinew_error error = {0};
    if (argc != 3)
        return refuse("usage: scene_balance SCENE STEPS");
    sinew_scene_def def = sinew_default_scene_def();
    def.path = argv[1];
    def.settings = settings;
    def.setting_count = 2;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        return refuse(error.text);
    const bool done = print_steps(sinew_scene_world(scene), atoi(argv[2]));
    sinew_scene_destroy(scene);
    return done ? 0 : refuse("no memory");
}
