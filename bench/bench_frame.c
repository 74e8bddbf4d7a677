/* SPDX-License-Identifier: MIT
 *
 * bench_frame.c: frames of a game: a filled bean that falls on a moving platform, a flag, and balls that are added and
 * removed, by xpbd with 10 iterations, one step a frame, one thread. Printed for worlds without contact, with contact
 * far from everything, with contact, and with time budgets: processor time of a step (median, 95th percentile, worst),
 * allocations in steps that follow no change of the world, the part of steps within the budget and within 1.2 times
 * the budget; then the cost of adding a ball, of the step after it, and of a ray.
 *
 * Usage: bench_frame [FRAMES [WORLD]], from the source folder; 300 frames and all worlds without arguments.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "sinew/contact.h"
#include "sinew/load.h"
#include "tally.h"
#include "world/world.h"

enum {
    FRAMES_MAX = 6000,
    WARM = 60,  /* first frame of which allocations count, and first frame with a ball */
    EVERY = 40, /* frames between two balls */
    BALLS = 8,  /* largest number of balls */
    FLAG_WIDE = 20,
    FLAG_HIGH = 14
};

typedef struct frame_case {
    const char *name;
    bool contact, colliders, balls;
    double budget;
} frame_case;

static const frame_case cases[] = {
    {"no contact", false, false, false, 0},  {"nothing near", true, false, false, 0},
    {"contact", true, true, true, 0},        {"budget 8 ms", true, true, true, 8e-3},
    {"budget 4 ms", true, true, true, 4e-3}, {"budget 2 ms", true, true, true, 2e-3},
};

typedef struct game {
    tally tally;
    sinew_world *world;
    sinew_mesh *bean, *ball, *flag;
    sinew_body first, balls[BALLS];
    sinew_collider platform;
    int ball_count;
} game;

typedef struct frame_figures {
    double *steps, *rays, *spawns, *after; /* processor times in s, of each kind of work */
    int step_count, ray_count, spawn_count, after_count;
    int64_t allocations, spawn_allocations;
    int calm, allocating, within, nearly;
} frame_figures;

static sinew_error error;

static void must(bool good)
{
    if (good)
        return;
    fprintf(stderr, "bench_frame: %s\n", error.text);
    exit(1);
}

/* ---- The world ------------------------------------------------------------------------------- */

static sinew_body add_soft(game *g, const sinew_mesh *mesh, const double at[3], double young)
{
    static sinew_real q[3 * 4096];
    const int32_t n = sinew_mesh_vertex_count(mesh);
    must(n <= 4096);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)at[i % 3];
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.positions = q;
    def.density = 300;
    const sinew_body body = sinew_world_add_body(g->world, &def, &error);
    must(body.index >= 0);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STABLE_NEO_HOOKEAN);
    energy.body = body;
    must(sinew_energy_def_set(&energy, "young", (sinew_real)young, &error) == SINEW_OK);
    must(sinew_energy_def_set(&energy, "poisson", (sinew_real)0.4, &error) == SINEW_OK);
    must(sinew_world_add_energy(g->world, &energy, &error).index >= 0);
    return body;
}

static void add_flag(game *g)
{
    sinew_body_def def = sinew_default_body_def();
    def.mesh = g->flag;
    def.density = (sinew_real)0.2;
    const sinew_body body = sinew_world_add_body(g->world, &def, &error);
    must(body.index >= 0);
    const sinew_energy_kind kinds[] = {SINEW_ENERGY_SPRING, SINEW_ENERGY_HINGE};
    for (int k = 0; k < 2; k++) {
        sinew_energy_def energy = sinew_default_energy_def(kinds[k]);
        energy.body = body;
        must(sinew_world_add_energy(g->world, &energy, &error).index >= 0);
    }
    int32_t held[FLAG_HIGH];
    for (int32_t i = 0; i < FLAG_HIGH; i++)
        held[i] = FLAG_WIDE * i;
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = body;
    pins.vertices = held;
    pins.vertex_count = FLAG_HIGH;
    must(sinew_world_add_pins(g->world, &pins, &error).index >= 0);
    sinew_load_def wind = sinew_default_load_def(SINEW_LOAD_WIND);
    wind.body = body;
    wind.vector[0] = 6;
    wind.vector[2] = 2;
    must(sinew_world_add_load(g->world, &wind, &error).index >= 0);
}

static void make_meshes(game *g)
{
    sinew_fill_def fill = sinew_default_fill_def();
    sinew_mesh *surface = sinew_mesh_read("scenes/meshes/bean.obj", NULL, &error);
    must(surface != NULL);
    fill.surface = surface;
    fill.cells = 8;
    fill.thread_count = 1;
    g->bean = sinew_mesh_fill(&fill, NULL, &error);
    must(g->bean != NULL);
    sinew_mesh_destroy(surface);
    sinew_round_def round = sinew_default_round_def();
    round.radius = (sinew_real)0.12;
    round.segments = 4;
    g->ball = sinew_mesh_ball(&round, &error);
    must(g->ball != NULL);
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = FLAG_WIDE;
    cloth.vertices[1] = FLAG_HIGH;
    cloth.size[0] = (sinew_real)1.2;
    cloth.size[1] = (sinew_real)0.8;
    cloth.origin[0] = (sinew_real)1.5;
    cloth.origin[1] = 1;
    g->flag = sinew_mesh_cloth(&cloth, &error);
    must(g->flag != NULL);
}

static void add_contact(game *g, bool colliders)
{
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)4e-3;
    contact.friction = (sinew_real)0.5;
    must(sinew_world_set_contact(g->world, &contact, &error) == SINEW_OK);
    sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    floor.position[1] = colliders ? -1 : -1000;
    must(sinew_world_add_collider(g->world, &floor, &error).index >= 0);
    if (!colliders)
        return;
    sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
    box.size[0] = box.size[2] = 3;
    box.size[1] = (sinew_real)0.2;
    g->platform = sinew_world_add_collider(g->world, &box, &error);
    must(g->platform.index >= 0);
}

static double processor_clock(void *context)
{
    (void)context;
    return bench_processor_seconds();
}

static void make_world(game *g, const frame_case *c)
{
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){tally_allocate, tally_release, &g->tally};
    def.time_step = (sinew_real)(1.0 / 60);
    def.thread_count = 1;
    def.damping = (sinew_real)0.1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    def.solver.iterations = 10;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    def.solver.time_budget = c->budget;
    g->world = sinew_world_create(&def, &error);
    must(g->world != NULL);
    /* Budgets count processor time: the machine is shared. */
    g->world->solve.budget.clock = processor_clock;
    const double at[3] = {0, 1.2, 0};
    g->first = add_soft(g, g->bean, at, 1e5);
    add_flag(g);
    if (c->contact)
        add_contact(g, c->colliders);
    must(sinew_world_prepare(g->world, &error) == SINEW_OK);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void pose_platform(game *g, int frame)
{
    const double t = frame / 60.0;
    const sinew_real p[3] = {(sinew_real)(0.3 * sin(2 * t)), (sinew_real)(0.1 * sin(3 * t)), 0};
    const sinew_real r[3] = {0, 0, (sinew_real)(0.05 * sin(t))};
    must(sinew_collider_set_pose(g->world, g->platform, p, r, &error) == SINEW_OK);
}

/* Adds a ball; removes the oldest first if there are BALLS. The time is that of the addition alone. */
static void spawn(game *g, int frame, frame_figures *f)
{
    if (g->ball_count == BALLS) {
        must(sinew_world_remove_body(g->world, g->balls[0], &error) == SINEW_OK);
        memmove(g->balls, g->balls + 1, (BALLS - 1) * sizeof g->balls[0]);
        g->ball_count--;
    }
    const double at[3] = {0.3 * sin(frame), 2, 0.3 * cos(frame)};
    const int64_t calls = g->tally.calls;
    const double began = bench_processor_seconds();
    g->balls[g->ball_count++] = add_soft(g, g->ball, at, 3e5);
    f->spawns[f->spawn_count++] = bench_processor_seconds() - began;
    f->spawn_allocations += g->tally.calls - calls;
}

static void cast_ray(game *g, frame_figures *f)
{
    sinew_real q[3];
    sinew_world_hit hit;
    must(sinew_world_get_positions(g->world, sinew_body_first_particle(g->world, g->first), 1, q) == SINEW_OK);
    const sinew_real from[3] = {q[0], q[1], 5}, along[3] = {0, 0, -1};
    const double began = bench_processor_seconds();
    sinew_world_ray(g->world, from, along, 100, &hit, &error);
    f->rays[f->ray_count++] = bench_processor_seconds() - began;
}

static void run_frame(game *g, const frame_case *c, int frame, frame_figures *f)
{
    const bool spawns = c->balls && frame >= WARM && frame % EVERY == 0;
    if (c->colliders)
        pose_platform(g, frame);
    if (spawns)
        spawn(g, frame, f);
    const int64_t calls = g->tally.calls;
    const double began = bench_processor_seconds();
    if (sinew_world_step(g->world, NULL) & SINEW_STEP_UNPREPARED) {
        fprintf(stderr, "bench_frame: %s\n", sinew_world_error(g->world));
        exit(1);
    }
    const double seconds = bench_processor_seconds() - began;
    f->steps[f->step_count++] = seconds;
    f->within += seconds <= c->budget;
    f->nearly += seconds <= 1.2 * c->budget;
    if (spawns)
        f->after[f->after_count++] = seconds;
    if (!spawns && frame >= WARM) {
        f->calm++;
        f->allocating += g->tally.calls != calls;
        f->allocations += g->tally.calls - calls;
    }
    if (frame % 10 == 5)
        cast_ray(g, f);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* Milliseconds of the sorted time at a fraction of the list; NaN without times. */
static double percentile(double *seconds, int count, double fraction)
{
    if (count == 0)
        return NAN;
    bench_middle(seconds, count);
    const int at = (int)(fraction * count);
    return 1e3 * seconds[at < count ? at : count - 1];
}

static void print_figures(const frame_case *c, frame_figures *f)
{
    printf("| %s | %.2f | %.2f | %.2f | %.2f | %d of %d |", c->name, percentile(f->steps, f->step_count, 0.5),
           percentile(f->steps, f->step_count, 0.95), percentile(f->steps, f->step_count, 1),
           (double)f->allocations / (f->calm > 0 ? f->calm : 1), f->allocating, f->calm);
    if (c->budget > 0)
        printf(" %.1f %% | %.1f %% |", 100.0 * f->within / f->step_count, 100.0 * f->nearly / f->step_count);
    else
        printf(" | |");
    if (f->spawn_count > 0)
        printf(" %.3f | %.0f | %.2f |", percentile(f->spawns, f->spawn_count, 0.5),
               (double)f->spawn_allocations / f->spawn_count, percentile(f->after, f->after_count, 0.5));
    else
        printf(" | | |");
    printf(" %.3f | %.3f |\n", percentile(f->rays, f->ray_count, 0.5), percentile(f->rays, f->ray_count, 1));
    fflush(stdout);
}

static void run_case(const frame_case *c, int frames)
{
    static double steps[FRAMES_MAX], rays[FRAMES_MAX], spawns[FRAMES_MAX], after[FRAMES_MAX];
    frame_figures f = {.steps = steps, .rays = rays, .spawns = spawns, .after = after};
    game g = {.ball_count = 0};
    make_meshes(&g);
    make_world(&g, c);
    for (int frame = 1; frame <= frames; frame++)
        run_frame(&g, c, frame, &f);
    print_figures(c, &f);
    sinew_world_destroy(g.world);
    sinew_mesh_destroy(g.bean);
    sinew_mesh_destroy(g.ball);
    sinew_mesh_destroy(g.flag);
}

int main(int argc, char **argv)
{
    const int frames = argc > 1 ? atoi(argv[1]) : 300;
    must(frames > 0 && frames <= FRAMES_MAX);
    printf("| world | median ms | 95 %% | worst | allocations a step | steps with any | within budget | within 1.2 | "
           "ms to add a ball | allocations | ms of its step | ms of a ray | worst |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        if (argc < 3 || strcmp(argv[2], cases[k].name) == 0)
            run_case(&cases[k], frames);
    return 0;
}
