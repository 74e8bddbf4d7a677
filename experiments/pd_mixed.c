/* SPDX-License-Identifier: MIT
 *
 * pd_mixed.c: PD fig 1 and section 8: solids, cloth, ropes and grass in one world of about 49 000 degrees of freedom
 * and 43 000 constraints; the cost of an iteration, the number of iterations needed, and locking by heavy weights
 * (section 9).
 *
 * Set-up: garden.h, h = 1/60 s, wind of 1.1 m/s. Times are processor time of one thread, the fastest of three runs of a
 * frame, a whole step of 10 iterations divided by 10. Distances are root mean square, relative to the displacement from
 * rest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "garden.h"

enum {
    FEW = 5,
    USUAL = 10,
    MANY = 300, /* number of iterations of the reference run */
    QUICK = 60, /* number of iterations of the reference in a quick run */
    WEIGHTS = 4
};

static double mixed_fastest(sinew_world *world, int32_t runs)
{
    double best = HUGE_VAL;
    for (int32_t i = 0; i < runs; i++) {
        const clock_t began = clock();
        sinew_world_step(world, NULL);
        best = fmin(best, (double)(clock() - began) / CLOCKS_PER_SEC);
    }
    return best;
}

static bool mixed_step(sinew_world *world, int32_t steps)
{
    for (int32_t i = 0; i < steps; i++)
        if (sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
            return false;
    return true;
}

/* Returns the positions of the first cloth, or of the whole garden, after `steps` steps, to be freed; NULL on
 * failure. */
static sinew_real *mixed_run(const garden_def *def, int32_t steps, bool cloth_only, int32_t *count, garden *kept,
                             outcome *o)
{
    sinew_error error = {SINEW_OK, "out of memory"};
    garden g;
    sinew_real *q = NULL;
    bool good = garden_make(&g, def, &error) && sinew_world_prepare(g.world, &error) == SINEW_OK;
    if (good && !mixed_step(g.world, steps)) {
        snprintf(error.text, sizeof error.text, "%.200s", sinew_world_error(g.world));
        good = false;
    }
    if (good) {
        const int32_t first = cloth_only ? sinew_body_first_particle(g.world, g.cloth) : 0;
        *count = cloth_only ? sinew_mesh_vertex_count(sinew_body_mesh(g.world, g.cloth))
                            : sinew_world_particle_count(g.world);
        q = malloc(3 * (size_t)*count * sizeof *q);
        good = q && sinew_world_get_positions(g.world, first, *count, q) == SINEW_OK;
    }
    if (!good)
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
    if (kept)
        *kept = g;
    else
        garden_release(&g);
    return q;
}

static double mixed_apart(const sinew_real *a, const sinew_real *b, int32_t count)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum / count);
}

/* ---- Cost of an iteration --------------------------------------------------------------------- */

static void name_counts(const garden *g, char *text, size_t size, outcome *o)
{
    size_t used = 0;
    text[0] = '\0';
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        if (g->counts[kind] > 0 && used < size) {
            const char *name = sinew_get_energy_info((sinew_energy_kind)kind)->name;
            used += (size_t)snprintf(text + used, size - used, "%s%d %s", used ? ", " : "", g->counts[kind], name);
            outcome_number(o, g->counts[kind], "count_%s", name);
        }
}

static void mixed_draw(figure *f, const garden *g, const sinew_real *q)
{
    sinew_error error = {0};
    sinew_surface surface = {0};
    sinew_world_surface(g->world, &surface, &error);
    surface.triangles = malloc(3 * (size_t)surface.triangle_count * sizeof *surface.triangles);
    surface.edges = malloc((2 * (size_t)surface.edge_count + 1) * sizeof *surface.edges);
    if (surface.triangles && surface.edges && sinew_world_surface(g->world, &surface, &error) == SINEW_OK) {
        figure_shape(f, "after a second", SINEW_SOLVER_PD, q, sinew_world_particle_count(g->world));
        figure_surface(f, surface.triangles, surface.triangle_count);
    }
    free(surface.triangles);
    free(surface.edges);
}

static void mixed_claim_cost(const setting *s, outcome *o, const garden_def *def)
{
    garden g;
    int32_t count = 0;
    char counts[200];
    sinew_real *q = mixed_run(def, s->quick ? 5 : 60, false, &count, &g, o);
    if (q) {
        const double seconds = mixed_fastest(g.world, 3) / def->iterations;
        name_counts(&g, counts, sizeof counts, o);
        claim *size = outcome_claim(o, "solids, cloth, ropes, grass in one world", "49k DoF, 43k constraints");
        claim_measured(size, "%d DoF, %d constraints: %s", 3 * count, g.constraints, counts);
        /* A quick run has a small garden with the same kinds of bodies, whose size is not judged. */
        const bool large = fabs(3 * count / 49e3 - 1) < 0.1 && fabs(g.constraints / 43e3 - 1) < 0.1;
        claim_holds(size, large || s->quick ? HOLDS_YES : HOLDS_NO, "%s",
                    s->quick ? "the same kinds in a small garden" : "");
        claim *time = outcome_claim(o, "ms an iteration, 10 iterations a frame", "3.1 ms (4 cores, 2.7 GHz)");
        claim_measured(time, "%.2f ms of one thread's processor time, %.0f ms a frame", 1e3 * seconds,
                       1e3 * seconds * def->iterations);
        claim_timed(time, "");
        outcome_number(o, 3 * count, "degrees_of_freedom");
        outcome_number(o, g.constraints, "constraints");
        outcome_number(o, 1e3 * seconds, "ms_per_iteration");
        figure *f = outcome_figure(o, "garden", "Solids, cloth, ropes and grass after a second (fig 1)", "", "");
        f->span = 4;
        mixed_draw(f, &g, q);
    }
    garden_release(&g);
    free(q);
}

/* ---- Number of iterations of PD --------------------------------------------------------------- */

/* Distances of runs with few and with the usual iterations from the reference run, relative to its displacement. */
typedef struct lag {
    /* Distances with few and with the usual iterations; processor time per iteration in s. */
    double few, usual, seconds;
    int32_t constraints;
} lag;

static bool measure_lag(const setting *s, garden_def def, int32_t steps, lag *l, outcome *o)
{
    /* Iteration counts of the runs; the last run takes no step and gives the start positions. */
    const int32_t iterations[4] = {FEW, USUAL, s->quick ? QUICK : MANY, 1};
    sinew_real *q[4] = {0};
    int32_t count = 0;
    bool good = true;
    for (int i = 0; good && i < 4; i++) {
        garden g;
        def.iterations = iterations[i];
        q[i] = mixed_run(&def, i < 3 ? steps : 0, false, &count, &g, o);
        good = q[i] != NULL;
        if (good && i == 1)
            l->seconds = mixed_fastest(g.world, 3) / USUAL;
        l->constraints = g.constraints;
        garden_release(&g);
    }
    if (good) {
        const double way = mixed_apart(q[2], q[3], count);
        l->few = mixed_apart(q[0], q[2], count) / way;
        l->usual = mixed_apart(q[1], q[2], count) / way;
    }
    for (int i = 0; i < 4; i++)
        free(q[i]);
    return good;
}

static void claim_enough(const setting *s, outcome *o, garden_def def)
{
    const int32_t steps = s->quick ? 4 : 15;
    lag l[3] = {{0}};
    bool good = true;
    for (int i = 0; good && i < 3; i++) {
        def.sets = pow(10, -i);
        good = measure_lag(s, def, steps, &l[i], o);
        outcome_number(o, l[i].few, "off_with_5_weights_%d", i);
        outcome_number(o, l[i].usual, "off_with_10_weights_%d", i);
        if (s->progress)
            s->progress(s->context, i, 3, "pd/mixed");
    }
    if (!good)
        return;
    claim *c = outcome_claim(o, "5 to 10 iterations are enough below 30k constraints", "5-10 iterations, 1-6 ms each");
    claim_measured(
        c,
        "%d constraints, %.2f ms each; after %d frames off the motion with %d iterations, over its way, with 5 | 10: "
        "%.2f | %.2f; weights of sets / 10: %.2f | %.2f; / 100: %.2f | %.2f",
        l[0].constraints, 1e3 * l[0].seconds, steps, s->quick ? QUICK : MANY, l[0].few, l[0].usual, l[1].few,
        l[1].usual, l[2].few, l[2].usual);
    const double best = fmin(l[1].usual, l[2].usual);
    claim_holds(c,
                l[0].usual < 0.05 ? HOLDS_YES
                : best < 0.1      ? HOLDS_PARTLY
                                  : HOLDS_NO,
                "%s",
                l[0].usual < 0.05 ? "" : "light bodies with heavy weights turn too slowly; lighter weights need fewer");
    outcome_number(o, l[0].constraints, "constraints_small");
    outcome_number(o, 1e3 * l[0].seconds, "ms_per_iteration_small");
}

/* ---- Locking by heavy weights ----------------------------------------------------------------- */

/* Judges locking: displacement of the first cloth within some frames, relative to that with the usual weights. */
static void claim_locking(const setting *s, outcome *o, garden_def def)
{
    const int32_t steps = s->quick ? 4 : 15;
    int32_t count = 0;
    double way[2][WEIGHTS] = {{0}};
    def.iterations = USUAL;
    sinew_real *rest = mixed_run(&def, 0, true, &count, NULL, o);
    bool good = rest != NULL;
    for (int what = 0; what < 2; what++)
        for (int i = 0; good && i < WEIGHTS; i++) {
            garden_def heavy = def;
            *(what == 0 ? &heavy.couplings : &heavy.sets) = pow(100, i);
            sinew_real *q = mixed_run(&heavy, steps, true, &count, NULL, o);
            good = q != NULL;
            if (good)
                way[what][i] = mixed_apart(q, rest, count);
            outcome_number(o, way[what][i], "way_%s_%d", what == 0 ? "couplings" : "sets", i);
            free(q);
        }
    free(rest);
    if (!good)
        return;
    const double joints = way[0][WEIGHTS - 1] / way[0][0], cloth = way[1][WEIGHTS - 1] / way[1][0];
    claim *c = outcome_claim(o, "heavy weights lock the motion (section 9)", "locking when weights are high");
    claim_measured(c,
                   "way of a cloth in %d frames with weights times 1e2, 1e4, 1e6, over that with 1: of the couplings "
                   "%.2f, %.2f, %.2f; of all sets %.2f, %.2f, %.2f",
                   steps, way[0][1] / way[0][0], way[0][2] / way[0][0], joints, way[1][1] / way[1][0],
                   way[1][2] / way[1][0], cloth);
    claim_holds(c,
                joints < 0.5  ? HOLDS_YES
                : cloth < 0.5 ? HOLDS_PARTLY
                              : HOLDS_NO,
                "%s",
                joints < 0.5 ? ""
                             : "couplings are linear: the global step alone solves them; sets that turn with the body "
                               "lag behind by their weight");
}

void experiment_pd_mixed(const setting *s, outcome *o)
{
    const garden_def all = {s->quick ? 0.35 : 1, s->quick ? 60 : 1030, USUAL, 1, 1};
    const garden_def small = {s->quick ? 0.3 : 0.85, s->quick ? 30 : 600, USUAL, 1, 1};
    snprintf(o->setup, sizeof o->setup,
             "A shed and a tree of tets, a line, three cloths, %d blades of grass; h = 1/60 s.", all.blades);
    mixed_claim_cost(s, o, &all);
    if (!o->failure[0])
        claim_enough(s, o, small);
    if (!o->failure[0])
        claim_locking(s, o, small);
}
