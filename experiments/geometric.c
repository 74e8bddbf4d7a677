/* SPDX-License-Identifier: MIT
 *
 * geometric.c: a taut pendulum and a taut chain by stable constrained dynamics, with and without geometric stiffness
 * (Tournier, Nesme, Gilles, Faure 2015; slides, "Geometric Stiffness").
 *
 * Hard rods hang down; a force F pulls at the end. Sideways motion y is small and obeys M y'' = -K y, K made of the
 * tensions over the lengths. A step of scd on the mode of frequency omega, x = h omega:
 *
 *     without   v' = v - h omega^2 y,   y' = y + h v'     rods pull along their directions at the start of the step
 *     with      v' = v - h omega^2 y',  y' = y + h v'     rods pull along their directions at its end
 *
 * which are symplectic and implicit Euler (taut.h). So the fastest mode determines the growth rate without geometric
 * stiffness, the slowest mode with it. The geometric stiffness needs the multipliers of the last step, so chains take
 * one step before the knock. A chain that starts crooked has no multipliers, and scd solves one more system to find
 * them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "taut.h"

#define STEP    1e-2 /* time step of the runs, in s */
#define GRAVITY 9.81
/* Initial sideways speed of unstable runs in m/s, small enough to leave steps for the fit before the motion is
 * large. */
#define FAINT      (sizeof(sinew_real) == 4 ? 1e-20 : 1e-120)
#define ENERGY_MIN (sizeof(sinew_real) == 4 ? 1e-60 : 1e-280) /* least energy above underflow, in J */
#define RATIO      1e4 /* force at the chain's end over the weight of the chain */

enum {
    LINKS = 100,
    CURVE = 12,  /* number of steps of the drawn energy curves */
    LINE = 81,   /* number of points of a theoretical curve */
    FIT = 400,   /* number of steps whose energies are kept for the fit */
    SWEEP = 7,   /* number of tension ratios that are swept */
    HIGHEST = 0, /* excitation of neighbours in opposite directions: the fastest mode */
    LOWEST = 1   /* excitation of all particles to the same side: the slowest mode */
};

/* One run of the pendulum or the chain. Energies are those of sideways motion in J: m v^2 / 2 plus the work of tension
 * against slopes. */
typedef struct taut {
    int32_t links;
    double ratio; /* force at the chain's end over the weight of the chain */
    bool geometric;
    double knock;   /* initial sideways speed, in m/s */
    double crooked; /* initial sideways offset of every second particle, in m */
    int32_t steps;
    double slowest, fastest; /* angular frequencies of the slowest and the fastest mode, in 1/s */
    double theory, measured; /* growth factor of the amplitude per step, predicted and measured */
    /* Energies in J before the first and after the last step, and the largest one after a step. */
    double first, last, max;
    double worst;       /* largest energy ratio of successive steps, above ENERGY_MIN */
    double violation;   /* largest constraint violation of the run, in m */
    int64_t systems;    /* number of linear systems solved in the run */
    int32_t indefinite; /* number of steps with an indefinite matrix */
    double energy[FIT + 1];
} taut;

static double mass_of(const taut *t, int32_t i)
{
    /* Mass of particle i in kg: chain.h halves the mass of the last particle. */
    return (t->links > 1 && i == t->links ? 0.5 : 1) / t->links;
}

static double geometric_weight_of(const taut *t, int32_t from)
{
    double sum = 0;
    for (int32_t i = from; i <= t->links; i++)
        sum += GRAVITY * mass_of(t, i);
    return sum;
}

/* Tension in N of the rod that ends at particle i; 0 past the last particle. */
static double tension_of(const taut *t, int32_t i)
{
    return i > t->links ? 0 : t->ratio * geometric_weight_of(t, 1) + geometric_weight_of(t, i);
}

/* ---- Predicted growth rates ------------------------------------------------------------------- */

static void geometric_foretell(taut *t)
{
    double K[LINKS], K_1[LINKS], M[LINKS], M_1[LINKS] = {0};
    for (int32_t i = 0; i < t->links; i++) {
        K[i] = (tension_of(t, i + 1) + tension_of(t, i + 2)) * t->links;
        K_1[i] = -tension_of(t, i + 2) * t->links;
        M[i] = mass_of(t, i + 1);
    }
    const taut_system system = {t->links, K, K_1, M, M_1};
    t->slowest = taut_mode(&system, 0);
    t->fastest = taut_mode(&system, t->links - 1);
    t->theory = taut_factor(STEP * (t->geometric ? t->slowest : t->fastest), t->geometric);
}

/* ---- Runs of pendulum and chain --------------------------------------------------------------- */

static double geometric_sideways_energy(const taut *t, const sinew_world *world)
{
    sinew_real q[3 * (LINKS + 1)], v[3 * (LINKS + 1)];
    double sum = 0;
    sinew_world_get_positions(world, 0, t->links + 1, q);
    sinew_world_get_velocities(world, 0, t->links + 1, v);
    for (int32_t i = 1; i <= t->links; i++)
        for (int c = 0; c < 3; c += 2) {
            const double slope = ((double)q[3 * i + c] - (double)q[3 * i - 3 + c]) * t->links;
            sum += 0.5 * mass_of(t, i) * (double)v[3 * i + c] * (double)v[3 * i + c];
            sum += 0.5 * tension_of(t, i) * slope * slope / t->links;
        }
    return sum;
}

static void geometric_knock(const taut *t, sinew_world *world, int shape)
{
    sinew_real v[3 * (LINKS + 1)] = {0};
    for (int32_t i = 1; i <= t->links; i++)
        v[3 * i] = (sinew_real)(shape == HIGHEST && i % 2 == 0 ? -t->knock : t->knock);
    sinew_world_set_velocities(world, 0, t->links + 1, v);
}

/* Offsets every second particle of the chain sideways and keeps the length of the rods. */
static void make_crooked(const taut *t, sinew_world *world)
{
    const double rod = 1.0 / t->links;
    sinew_real q[3 * (LINKS + 1)] = {0};
    for (int32_t i = 1; i <= t->links; i++) {
        q[3 * i] = (sinew_real)(i % 2 ? t->crooked : 0);
        q[3 * i + 1] = (sinew_real)(-i * sqrt(rod * rod - t->crooked * t->crooked));
    }
    sinew_world_set_positions(world, 0, t->links + 1, q);
}

/* Creates a world with the chain and the force at its end. A straight chain takes one step here, which computes its
 * multipliers. */
static sinew_world *make_taut(const taut *t, sinew_error *error)
{
    chain_def def = chain_default();
    def.vertices = t->links + 1;
    def.to[0] = 0;
    def.to[1] = -1;
    def.mass = 1.0 / t->links;
    def.hard = true;
    def.gravity = GRAVITY;
    def.h = STEP;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_SCD);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    if (sinew_solver_def_set_keyword(&def.solver, "geometric", t->geometric ? "on" : "off", error) != SINEW_OK)
        return NULL;
    sinew_world *world = chain_make(&def, error);
    const sinew_real pull[3] = {0, (sinew_real)(-t->ratio * geometric_weight_of(t, 1)), 0};
    if (world) {
        sinew_world_set_forces(world, t->links, 1, pull);
        if (t->crooked > 0)
            make_crooked(t, world);
        else
            sinew_world_step(world, NULL);
    }
    return world;
}

static void record_energy(taut *t, int32_t i, double E, double before)
{
    t->last = E;
    t->max = i == 1 ? E : fmax(t->max, E);
    if (before > ENERGY_MIN)
        t->worst = fmax(t->worst, E / before);
    if (i <= FIT)
        t->energy[i] = E;
}

static bool taut_run(taut *t, int shape, outcome *o)
{
    sinew_error error = {0};
    sinew_step_result result;
    sinew_world *world = make_taut(t, &error);
    if (!world)
        return chain_fail(o, &error);
    geometric_foretell(t);
    geometric_knock(t, world, shape);
    t->first = t->energy[0] = t->last = geometric_sideways_energy(t, world);
    for (int32_t i = 1; i <= t->steps; i++) {
        const uint32_t bits = sinew_world_step(world, &result);
        if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
            break;
        t->systems += result.linear_iterations;
        t->indefinite += (bits & SINEW_STEP_INDEFINITE) != 0;
        t->violation = fmax(t->violation, result.violation);
        record_energy(t, i, geometric_sideways_energy(t, world), t->last);
    }
    t->measured = taut_fit(t->energy, t->steps < FIT ? t->steps : FIT, ENERGY_MIN, 1e-6 * tension_of(t, 1));
    sinew_world_destroy(world);
    return true;
}

/* ---- Claims about pendulum and chain ----------------------------------------------------------- */

static const char *name_of(const taut *t)
{
    return t->links > 1 ? "chain of 100 links" : "pendulum";
}

static void claim_calm(outcome *o, const taut *t)
{
    char what[120], published[120];
    snprintf(what, sizeof what, "%s, with geometric stiffness: sideways energy over %d steps", name_of(t), t->steps);
    snprintf(published, sizeof published, "calm; amplitude falls by 1/sqrt(1 + (h w)^2) = %.5f a step", t->theory);
    claim *c = outcome_claim(o, what, published);
    claim_measured(
        c, "never grows (at most x %.4f in a step): %.2e J, at the end %.2e J; slowest part x %.5f a step (%.0f /s)",
        t->worst, t->first, t->last, t->measured, log(t->measured) / STEP);
    claim_holds(c, t->worst < 1 && fabs(t->measured / t->theory - 1) < 0.01 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, t->worst, "worst_%d", t->links);
    outcome_number(o, t->measured, "with_%d", t->links);
    outcome_number(o, t->theory, "with_%d_theory", t->links);
}

static void geometric_claim_growth(outcome *o, const taut *t)
{
    char what[120], published[120];
    snprintf(what, sizeof what, "%s, without: sideways energy grows", name_of(t));
    snprintf(published, sizeof published,
             "explodes; as symplectic Euler at h w = %.4g the amplitude grows %.5g x a step", STEP * t->fastest,
             t->theory);
    claim *c = outcome_claim(o, what, published);
    claim_measured(
        c, "%.5g x a step (%.0f /s) while it is small; %.1e J at the knock, up to %.1e J and rods off by up to %.1e m",
        t->measured, log(t->measured) / STEP, t->first, t->max, t->violation);
    claim_holds(c, fabs(t->measured / t->theory - 1) < 0.01 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, t->measured, "without_%d", t->links);
    outcome_number(o, t->theory, "without_%d_theory", t->links);
}

static void geometric_claim_systems(outcome *o, const taut *runs)
{
    claim *c = outcome_claim(o, "one linear solve a step", "one");
    claim_measured(c, "%lld and %lld systems in %d steps with, %lld and %lld without; shifted in %d steps",
                   (long long)runs[0].systems, (long long)runs[2].systems, runs[0].steps, (long long)runs[1].systems,
                   (long long)runs[3].systems,
                   runs[0].indefinite + runs[1].indefinite + runs[2].indefinite + runs[3].indefinite);
    bool one = true;
    for (int k = 0; k < 4; k++)
        one = one && runs[k].systems == runs[k].steps && runs[k].indefinite == 0;
    claim_holds(c, one ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, (double)runs[2].systems / runs[2].steps, "systems_a_step");
}

static const char *const names[4] = {"pendulum, with", "pendulum, without", "chain, with", "chain, without"};

/* Draws the energies of all four runs after the same excitation: up to 1e4 J, clamped below at 1e-9 J. */
static bool draw_energy(outcome *o)
{
    figure *f =
        outcome_figure(o, "energy", "Sideways energy after a knock of 1 mm/s, pull 1e4 times the weight", "step", "J");
    f->log_y = f->distinct = true;
    for (int k = 0; k < 4; k++) {
        taut t = {.links = k < 2 ? 1 : LINKS, .ratio = RATIO, .geometric = k % 2 == 0, .knock = 1e-3, .steps = CURVE};
        if (!taut_run(&t, HIGHEST, o))
            return false;
        int32_t count = 1;
        while (count <= CURVE && t.energy[count] < 1e4)
            count++;
        if (!figure_series(f, names[k], SINEW_SOLVER_SCD, k, count))
            continue;
        series *s = &f->series[f->series_count - 1];
        for (int i = 0; i < count; i++) {
            s->x[i] = i;
            s->y[i] = fmax(t.energy[i], 1e-9);
        }
    }
    return true;
}

/* Judges chains that start crooked, and therefore without multipliers. */
static bool claim_start(outcome *o)
{
    taut of[3];
    for (int k = 0; k < 3; k++) {
        of[k] = (taut){.links = LINKS, .ratio = RATIO, .geometric = true, .steps = 20, .crooked = pow(10, -k - 3)};
        if (!taut_run(&of[k], HIGHEST, o))
            return false;
    }
    claim *c =
        outcome_claim(o, "the first step, which knows no multipliers: a chain begins crooked by 1e-5, 1e-4, 1e-3 m",
                      "calm (one more system in that step finds them)");
    claim_measured(
        c, "%.1e, %.1e, %.1e J at first, at most %.1e, %.1e, %.1e J, after 20 steps %.1e, %.1e, %.1e J; %lld systems",
        of[2].first, of[1].first, of[0].first, of[2].max, of[1].max, of[0].max, of[2].last, of[1].last, of[0].last,
        (long long)of[2].systems);
    const bool calm[2] = {of[2].max < of[2].first && of[1].last < of[1].first, of[0].last < of[0].first};
    claim_holds(c,
                calm[0] && calm[1] ? HOLDS_YES
                : calm[0]          ? HOLDS_PARTLY
                                   : HOLDS_NO,
                "rods that begin with slopes of 0.1 are straightened within the step: multipliers found from the "
                "directions at its start are not those at its end");
    for (int k = 0; k < 3; k++)
        outcome_number(o, of[k].last / of[k].first, "crooked_%d", k + 3);
    return true;
}

/* ---- Growth rates at other tensions ----------------------------------------------------------- */

static const double ratios[SWEEP] = {0, 10, 1e2, 1e3, 4e3, 4.2e3, 1e5};

/* Adds a curve of growth rates over tension ratios from 10 to 1e5: theory, or the measured points. */
static void draw_ratios(figure *f, int k, const taut *measured)
{
    const int32_t count = measured ? SWEEP - 1 : LINE;
    char name[56];
    snprintf(name, sizeof name, "%s%s", names[k], measured ? "" : ", theory");
    if (!figure_series(f, name, SINEW_SOLVER_SCD, k, count))
        return;
    series *s = &f->series[f->series_count - 1];
    for (int i = 0; i < count; i++) {
        taut t = {.links = k < 2 ? 1 : LINKS, .geometric = k % 2 == 0};
        t.ratio = measured ? measured[i + 1].ratio : pow(10, 1 + 4.0 * i / (LINE - 1));
        if (!measured)
            geometric_foretell(&t);
        s->x[i] = t.ratio;
        s->y[i] = measured ? measured[i + 1].measured : t.theory;
    }
}

static void draw_sweep(outcome *o, const taut *of)
{
    figure *f = outcome_figure(o, "growth", "Amplitude sideways after a step over that before", "pull / weight",
                               "factor a step");
    f->log_x = f->log_y = f->distinct = true;
    for (int k = 0; k < 4; k++) {
        draw_ratios(f, k, &of[k * SWEEP]);
        draw_ratios(f, k, NULL);
    }
}

/* Measures the growth rates at other tensions; the pendulum's threshold lies at F / (m g) = 4 l / (g h^2) = 4077. */
static bool run_sweep(outcome *o)
{
    taut *of = calloc(4 * SWEEP, sizeof *of);
    bool good = of != NULL;
    double off = 0;
    for (int k = 0; k < 4 * SWEEP && good; k++) {
        of[k] = (taut){.links = k / SWEEP < 2 ? 1 : LINKS,
                       .ratio = ratios[k % SWEEP],
                       .geometric = k / SWEEP % 2 == 0,
                       .steps = FIT};
        of[k].knock = of[k].geometric ? 1e-3 : FAINT;
        good = taut_run(&of[k], of[k].geometric ? LOWEST : HIGHEST, o);
        off = fmax(off, fabs(of[k].measured / of[k].theory - 1));
    }
    if (good) {
        const taut *p = &of[SWEEP], *c = &of[3 * SWEEP];
        claim *a = outcome_claim(o, "without, at other tensions (0, 10, 100, 1e3, 4e3, 4.2e3, 1e5 times the weight)",
                                 "grows where h w > 2: the pendulum from 4077 times its weight on, the chain always");
        claim_measured(
            a, "pendulum %.3f %.3f %.3f %.3f %.3f %.3f %.4g x a step, chain %.4g %.4g %.4g %.4g %.4g %.4g %.4g",
            p[0].measured, p[1].measured, p[2].measured, p[3].measured, p[4].measured, p[5].measured, p[6].measured,
            c[0].measured, c[1].measured, c[2].measured, c[3].measured, c[4].measured, c[5].measured, c[6].measured);
        claim_holds(a, off < (sizeof(sinew_real) == 4 ? 0.05 : 0.01) ? HOLDS_YES : HOLDS_NO,
                    "all 28 rates, with and without, are within %.2g %% of theory", 100 * off);
        outcome_number(o, off, "sweep_off");
        draw_sweep(o, of);
    }
    free(of);
    return good;
}

void experiment_geometric(const setting *s, outcome *o)
{
    taut *runs = calloc(4, sizeof *runs);
    bool good = runs != NULL;
    const int32_t steps = s->quick ? 1000 : 10000;
    snprintf(o->setup, sizeof o->setup,
             "1 kg on hard rods of 1 m in all, pulled down with 1e4 times its weight, h = 10 ms, knocked sideways");
    for (int k = 0; k < 4 && good; k++) {
        runs[k] = (taut){.links = k < 2 ? 1 : LINKS, .ratio = RATIO, .geometric = k % 2 == 0, .steps = steps};
        runs[k].knock = runs[k].geometric ? 1 : FAINT;
        good = taut_run(&runs[k], HIGHEST, o);
        if (s->progress)
            s->progress(s->context, k + 1, 5, "geometric-stiffness");
    }
    if (good) {
        for (int k = 0; k < 4; k++)
            (k % 2 == 0 ? claim_calm : geometric_claim_growth)(o, &runs[k]);
        geometric_claim_systems(o, runs);
        good = claim_start(o) && draw_energy(o) && run_sweep(o);
    }
    free(runs);
}
