/* SPDX-License-Identifier: MIT
 *
 * solver_table.c: the table of solvers and its queries. A new solver is one line here.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "energy/parameter.h"
#include "energy/registry.h"
#include "sinew/extend.h"
#include "solve/driver/solver_registry.h"
#include "solve/solver.h"

#define SOLVERS(X)                                                                                                     \
    X(SINEW_SOLVER_NEWTON, newton)                                                                                     \
    X(SINEW_SOLVER_PD, pd)                                                                                             \
    X(SINEW_SOLVER_QN, qn)                                                                                             \
    X(SINEW_SOLVER_ADMM, admm)                                                                                         \
    X(SINEW_SOLVER_XPBD, xpbd)                                                                                         \
    X(SINEW_SOLVER_PBD, pbd)                                                                                           \
    X(SINEW_SOLVER_XPBD_QS, xpbd_qs)                                                                                   \
    X(SINEW_SOLVER_PBNG, pbng)                                                                                         \
    X(SINEW_SOLVER_MPBNG, mpbng)                                                                                       \
    X(SINEW_SOLVER_EXPLICIT_EULER, explicit_euler)                                                                     \
    X(SINEW_SOLVER_SYMPLECTIC_EULER, symplectic_euler)                                                                 \
    X(SINEW_SOLVER_LINEAR_IMPLICIT, linear_implicit)                                                                   \
    X(SINEW_SOLVER_SAP, sap)                                                                                           \
    X(SINEW_SOLVER_PRIMAL_DUAL, primal_dual)                                                                           \
    X(SINEW_SOLVER_KKT, kkt)                                                                                           \
    X(SINEW_SOLVER_SCD, scd)                                                                                           \
    X(SINEW_SOLVER_DAE, dae)

#define DECLARE(kind, name) extern const sinew_solver_ops sinew_solver_##name;
#define ENTRY(kind, name)   [kind] = &sinew_solver_##name,

SOLVERS(DECLARE)

static const sinew_solver_ops *const table[SINEW_SOLVER_COUNT] = {SOLVERS(ENTRY)};

/* Solvers that the program registers. Their kinds start at SINEW_SOLVER_COUNT + 1, as the count itself means "no
 * solver". An entry is set once, under the lock of registrations, and never changes again, so readers need no lock. */
static _Atomic(const sinew_solver_ops *) registered[SINEW_REGISTERED_SOLVER_MAX];

const sinew_solver_ops *sinew_solver_get_ops(sinew_solver_kind kind)
{
    if ((unsigned)kind < SINEW_SOLVER_COUNT)
        return table[kind];
    const unsigned index = (unsigned)kind - SINEW_SOLVER_COUNT - 1;
    return index < SINEW_REGISTERED_SOLVER_MAX ? atomic_load(&registered[index]) : NULL;
}

sinew_solver_kind sinew_solver_add(const sinew_solver_ops *ops)
{
    for (int index = 0; index < SINEW_REGISTERED_SOLVER_MAX; index++) {
        const sinew_solver_ops *none = NULL;
        if (atomic_compare_exchange_strong(&registered[index], &none, ops))
            return (sinew_solver_kind)(SINEW_SOLVER_COUNT + 1 + index);
    }
    return SINEW_SOLVER_COUNT;
}

int32_t sinew_solver_kind_end(void)
{
    int32_t end = SINEW_SOLVER_COUNT;
    for (int32_t kind = end; kind <= SINEW_SOLVER_COUNT + SINEW_REGISTERED_SOLVER_MAX; kind++)
        if (sinew_solver_get_ops((sinew_solver_kind)kind))
            end = kind + 1;
    return end;
}

const sinew_solver_info *sinew_get_solver_info(sinew_solver_kind kind)
{
    const sinew_solver_ops *ops = sinew_solver_get_ops(kind);
    return ops ? &ops->info : NULL;
}

sinew_solver_kind sinew_solver_by_name(const char *name)
{
    for (int32_t kind = 0, end = sinew_solver_kind_end(); name && kind < end; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info && strcmp(info->name, name) == 0)
            return (sinew_solver_kind)kind;
    }
    return SINEW_SOLVER_COUNT;
}

int32_t sinew_solver_parameter(sinew_solver_kind kind, const char *name)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    for (int32_t i = 0; info && name && i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return i;
    return -1;
}

sinew_solver_def sinew_default_solver_def(sinew_solver_kind kind)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    sinew_solver_def def = {.cookie = SINEW_COOKIE_SOLVER, .kind = kind, .measure = SINEW_MEASURE_AUTO, .gap_every = 1};
    def.tolerance = (sinew_real)SINEW_DEFAULT_TOLERANCE;
    def.accuracy = (sinew_real)1e-4;
    if (!info)
        return def;
    def.iterations = info->default_iterations;
    for (int32_t i = 0; i < info->parameter_count; i++)
        def.parameters[i] = (sinew_real)info->parameters[i].preset;
    return def;
}

/* Messages about capabilities that an energy lacks, in the order of the SINEW_CAN_ bits. */
static const char *const lacks[] = {"it has no constraint form C with psi = C^2 / (2 alpha)",
                                    "it is not a distance to a constraint set",
                                    "it has no proximal map",
                                    "it has no one-vertex form",
                                    "it has no reduced coordinates",
                                    "it has no Jacobian of its constraints"};

/* Message about the first capability that a solver needs and an energy lacks; NULL if none is missing. */
static const char *needs_flaw(uint32_t needs, sinew_energy_kind energy)
{
    const uint32_t missing = needs & ~sinew_energy_capabilities(sinew_energy_get_ops(energy));
    size_t bit = 0;
    while (missing && !(missing >> bit & 1))
        bit++;
    return missing ? lacks[bit] : NULL;
}

/* Message why a solver cannot keep an energy hard; NULL if it can. */
static const char *hard_flaw(sinew_solver_kind solver, sinew_energy_kind energy)
{
    const uint32_t wanted = sinew_solver_get_ops(solver)->hard;
    if (!wanted)
        return "it goes by the energy, and a hard one is infinite off its constraints";
    if ((sinew_get_energy_info(energy)->capabilities & wanted) != wanted)
        return wanted & SINEW_CAN_JACOBIAN ? "it has no Jacobian of its constraints"
                                           : "it is not a distance to a set that could be projected on";
    if (sinew_solver_get_ops(solver)->kkt && sinew_energy_get_ops(energy)->rooted)
        return "its constraint is a distance, which has no direction to pull in where it is met (pin what position "
               "holds; green_strain keeps tets)";
    return NULL;
}

/* Lists the names of other solvers that accept the energy, separated by commas: solvers that keep it hard if `hard`,
 * else all but explicit integrators. */
static void list_accepting_solvers(sinew_energy_kind energy, bool hard, sinew_solver_kind except, char *text,
                                   size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int32_t kind = 0, end = sinew_solver_kind_end(); kind < end && used < size; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info && kind != (int32_t)except && !needs_flaw(info->needs, energy) &&
            (hard ? !hard_flaw((sinew_solver_kind)kind, energy) : !info->explicit_step))
            used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", info->name,
                                     info->static_only ? " (equilibria only)" : "");
    }
}

static void write_refusal(sinew_solver_kind solver, sinew_energy_kind energy, bool hard, const char *flaw, char *why,
                          size_t size)
{
    char takers[256];
    list_accepting_solvers(energy, hard, solver, takers, sizeof takers);
    snprintf(why, size, "%s cannot take %s: %s; use %s", sinew_solver_get_ops(solver)->info.name,
             sinew_get_energy_info(energy)->name, flaw, takers);
}

bool sinew_solver_accepts(sinew_solver_kind solver, sinew_energy_kind energy, char *why, size_t size)
{
    if (!SINEW_ASSERT(sinew_get_solver_info(solver) && sinew_get_energy_info(energy)))
        return false;
    const char *flaw = needs_flaw(sinew_solver_get_ops(solver)->info.needs, energy);
    if (flaw && why && size)
        write_refusal(solver, energy, false, flaw, why, size);
    return !flaw;
}

sinew_status sinew_solver_check_energy(const sinew_solver_def *def, sinew_energy_kind energy, bool hard,
                                       sinew_error *error)
{
    char why[sizeof error->text], takers[256];
    const sinew_solver_kind solver = def->kind;
    const char *flaw = needs_flaw(sinew_solver_get_ops(solver)->needs ? sinew_solver_get_ops(solver)->needs(def)
                                                                      : sinew_solver_get_ops(solver)->info.needs,
                                  energy);
    if (flaw) {
        write_refusal(solver, energy, hard, flaw, why, sizeof why);
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s", why);
    }
    flaw = hard ? hard_flaw(solver, energy) : NULL;
    if (!flaw)
        return SINEW_OK;
    list_accepting_solvers(energy, true, solver, takers, sizeof takers);
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s cannot keep %s hard: %s; use %s%sor a large stiffness",
                      sinew_solver_get_ops(solver)->info.name, sinew_get_energy_info(energy)->name, flaw, takers,
                      takers[0] ? ", " : "");
}

sinew_status sinew_solver_check_coupled(const sinew_solver_def *def, sinew_energy_kind energy,
                                        const sinew_real *parameters, sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(energy);
    char takers[256] = "";
    size_t used = 0;
    if (!ops->couples || !ops->couples(parameters) || sinew_solver_get_ops(def->kind)->coupled)
        return SINEW_OK;
    for (int32_t kind = 0, end = sinew_solver_kind_end(); kind < end && used < sizeof takers; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info && sinew_solver_get_ops((sinew_solver_kind)kind)->coupled && !info->explicit_step)
            used += (size_t)snprintf(takers + used, sizeof takers - used, "%s%s", used ? ", " : "", info->name);
    }
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s cannot take %s with %s: that couples all its elements, and %s solves for elements apart; use "
                      "%s",
                      sinew_get_solver_info(def->kind)->name, ops->info.name, ops->coupled_with,
                      sinew_get_solver_info(def->kind)->name, takers);
}

/* Largest `iterations` of a def: iteration records, one more than iterations, are counted in 32 bits. */
static const int32_t iterations_max = 1000000000;

sinew_status sinew_solver_check(const sinew_solver_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def->cookie == SINEW_COOKIE_SOLVER))
        return sinew_fail(error, SINEW_ERROR_USAGE, "the solver def was not made by sinew_default_solver_def()");
    const sinew_solver_info *info = sinew_get_solver_info(def->kind);
    if (!info)
        return sinew_fail(error, SINEW_ERROR_USAGE, "there is no solver number %d", (int)def->kind);
    if (def->iterations < 0 || def->iterations > iterations_max)
        return sinew_fail(error, SINEW_ERROR_DATA, "solver %s: iterations is %d, must be in [0, %d]", info->name,
                          def->iterations, iterations_max);
    if (!(def->tolerance >= 0 && isfinite(def->tolerance)))
        return sinew_fail(error, SINEW_ERROR_DATA, "solver %s: tolerance is %g, must be finite and at least 0",
                          info->name, (double)def->tolerance);
    if (!(def->accuracy >= (sinew_real)1e-15 && def->accuracy <= 1))
        return sinew_fail(error, SINEW_ERROR_DATA, "solver %s: accuracy is %g, must be from 1e-15 to 1", info->name,
                          (double)def->accuracy);
    if (!(def->time_budget >= 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "solver %s: time_budget is %g s, must be at least 0", info->name,
                          def->time_budget);
    if ((unsigned)def->measure > SINEW_MEASURE_AUTO || (unsigned)def->record > SINEW_RECORD_STEP)
        return sinew_fail(error, SINEW_ERROR_USAGE, "solver %s: measure or record is no value of its enumeration",
                          info->name);
    if (def->gap_every < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "solver %s: gap_every is %d, must be at least 1", info->name,
                          def->gap_every);
    for (int32_t i = 0; i < info->parameter_count; i++) {
        sinew_status status =
            sinew_parameter_check(&info->parameters[i], (double)def->parameters[i], info->name, error);
        if (status != SINEW_OK)
            return status;
    }
    return SINEW_OK;
}

sinew_real sinew_solve_parameter(const sinew_solve *s, const char *name)
{
    return s->def.parameters[sinew_solver_parameter(s->def.kind, name)];
}
