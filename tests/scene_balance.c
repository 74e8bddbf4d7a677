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

/* Positions before and after a step, forces and masses of the particles. */
typedef struct particles {
    int32_t count;
    sinew_real *before, *after, *force, *mass; /* [3 * count] each, masses [count] */
} particles;

static double norm(const sinew_real *x, const sinew_real *y)
{
    double square = 0;
    for (int c = 0; c < 3; c++)
        square += pow((double)x[c] - (double)(y ? y[c] : 0), 2);
    return sqrt(square);
}

/* J: energies whose round-off the balance has. Internal forces cancel in it and leave the round-off of |force times
 * displacement|; velocities are differences of rounded positions, m |u| |q| / h. h: s, 0 in quasistatic scenes.
 * rounded: J, the sum of |force| |q|; a displacement is known to the round-off of q, so work to the round-off of
 * this. */
static double gross_of(sinew_world *world, const particles *p, double h, double *rounded)
{
    double sum = 0;
    *rounded = NAN;
    if (sinew_world_get_positions(world, 0, p->count, p->after) != SINEW_OK ||
        sinew_world_get_masses(world, 0, p->count, p->mass) != SINEW_OK ||
        sinew_world_field(world, SINEW_FIELD_FORCE, 0, p->count, p->force, NULL) != SINEW_OK)
        return NAN;
    *rounded = 0;
    for (size_t i = 0; i < (size_t)p->count; i++) {
        const double d = norm(p->after + 3 * i, p->before + 3 * i);
        const double force = norm(p->force + 3 * i, NULL);
        sum += d * force;
        *rounded += force * norm(p->after + 3 * i, NULL);
        sum += h > 0 ? (double)p->mass[i] * d * norm(p->after + 3 * i, NULL) / (h * h) : 0;
    }
    return sum;
}

/* Takes a step and prints its line. Returns false without memory and after a step without a balance. */
static bool print_step(sinew_world *world, int step, double h)
{
    const int32_t count = sinew_world_particle_count(world); /* bodies that tear get more particles */
    sinew_real *numbers = calloc(10 * (size_t)count + 1, sizeof *numbers);
    if (!numbers)
        return false;
    const size_t n = 3 * (size_t)count;
    const particles p = {count, numbers, numbers + n, numbers + 2 * n, numbers + 3 * n};
    sinew_balance balance;
    sinew_world_get_positions(world, 0, count, p.before);
    const uint32_t bits = sinew_world_step(world, NULL);
    const bool known = !(bits & BROKEN) && sinew_world_balance(world, &balance, NULL) == SINEW_OK;
    if (known) {
        double rounded;
        const double gross = gross_of(world, &p, h, &rounded);
        printf("%d,%u,%.17g,%.17g,%.17g\n", step, (unsigned)bits, balance.unaccounted, terms_of(&balance) + gross,
               rounded);
    }
    free(numbers);
    return known;
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
    sinew_world *world = sinew_scene_world(scene);
    const double h = sinew_world_quasistatic(world) ? 0 : (double)sinew_scene_time_step(scene);
    const int steps = atoi(argv[2]);
    printf("step,status,unaccounted,size,rounded\n");
    for (int i = 1; i <= steps && print_step(world, i, h); i++)
        continue;
    sinew_scene_destroy(scene);
    return 0;
}
