/* SPDX-License-Identifier: MIT
 *
 * solver_extension.c: solvers of sinew/extend.h as entries of the solver table, and the functions of a step that such a
 * solver may call. g and its derivatives are those of objective/objective.h; the driver stops and measures these
 * solvers like all others.
 */

#include "base/reduce.h"
#include "base/registration.h"
#include "energy/extension.h"
#include "sinew/extend.h"
#include "solve/driver/solver_registry.h"
#include "solve/line_search.h"

/* One registered solver. `ops` is the first member, so that a pointer to the solver's operations is a pointer to its
 * slot. */
typedef struct solver_slot {
    sinew_solver_ops ops;
    sinew_solver_extension of;
} solver_slot;

/* All registered solvers. A slot is filled before its solver enters the solver table, and never changes afterwards. */
static solver_slot slots[SINEW_REGISTERED_SOLVER_MAX];
static int slot_count;

/* Memory of one prepared solver that an extension registered. */
typedef struct extension_memory {
    void *own; /* data that the extension's own `create` returned */
    /* [particle_count][4] work space of line searches: trial positions and their gradient */
    sinew_real *trial, *trial_gradient;
} extension_memory;

static const sinew_solver_extension *extension_of(const sinew_solve *s)
{
    return &((const solver_slot *)(const void *)s->ops)->of;
}

/* ---- Solver operations that call an extension ---------------------------------------------------- */

/* Calls the extension's `create`. An error without a text gets one that names the solver. */
static sinew_status extension_create(sinew_solve *s, void **own, sinew_error *error)
{
    const sinew_solver_extension *of = extension_of(s);
    sinew_error local = {SINEW_OK, ""};
    const sinew_status status = of->create(of->context, s, own, &local);
    if (status == SINEW_OK)
        return SINEW_OK;
    if (!local.text[0])
        return sinew_fail(error, status, "solver '%s': its create failed (%s) without a text", of->name,
                          sinew_status_name(status));
    return sinew_fail(error, status, "%s", local.text);
}

static sinew_status extension_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_solver_extension *of = extension_of(s);
    const sinew_allocator *allocator = &s->objective->allocator;
    const size_t size = 4 * (size_t)s->objective->particle_count;
    extension_memory *m = s->memory = sinew_allocate_zero(allocator, 1, sizeof *m);
    if (!m)
        return sinew_fail_memory(error, of->name);
    m->trial = sinew_allocate_zero(allocator, size, sizeof *m->trial);
    m->trial_gradient = sinew_allocate_zero(allocator, size, sizeof *m->trial_gradient);
    if (!m->trial || !m->trial_gradient)
        return sinew_fail_memory(error, of->name);
    const sinew_status status = of->products ? sinew_objective_need_tangents(s->objective, error) : SINEW_OK;
    return status == SINEW_OK ? extension_create(s, &m->own, error) : status;
}

static void extension_release(sinew_solve *s)
{
    const sinew_solver_extension *of = extension_of(s);
    const sinew_allocator *allocator = &s->objective->allocator;
    extension_memory *m = s->memory;
    if (!m)
        return;
    of->destroy(of->context, s, m->own);
    sinew_release(allocator, m->trial);
    sinew_release(allocator, m->trial_gradient);
    sinew_release(allocator, m);
    s->memory = NULL;
}

static void extension_begin(sinew_solve *s)
{
    const sinew_solver_extension *of = extension_of(s);
    of->begin(of->context, s, ((extension_memory *)s->memory)->own);
}

static uint32_t extension_iterate(sinew_solve *s)
{
    const sinew_solver_extension *of = extension_of(s);
    return of->iterate(of->context, s, ((extension_memory *)s->memory)->own);
}

/* ---- Registration of a solver extension ---------------------------------------------------------- */

static const char *operation_flaw(const sinew_solver_extension *of)
{
    if (!of->create)
        return "operation create is missing";
    if (!of->begin)
        return "operation begin is missing";
    if (!of->iterate)
        return "operation iterate is missing";
    return of->destroy ? NULL : "operation destroy is missing";
}

/* Keys that every solver has in a scene file (io/scene/keys.c); parameters of registered solvers must not have these
 * names. */
static const char solver_keys[] = "|name|iterations|tolerance|accuracy|time_budget|measure|gap_every|";

static const char *solver_flaw(const sinew_solver_extension *of, char *text)
{
    if (!of || of->cookie != SINEW_EXTENSION_COOKIE)
        return "it was not made by sinew_default_solver_extension()";
    if (of->size != sizeof *of)
        return "it was compiled with another version of sinew/extend.h than the library";
    const char *flaw = sinew_extension_name_flaw(of->name, true);
    if (!flaw && !of->summary)
        flaw = "its summary is missing";
    if (!flaw)
        flaw = sinew_extension_parameter_flaw(of->parameters, of->parameter_count, solver_keys, text);
    if (!flaw && of->default_iterations < 1)
        flaw = "default_iterations must be at least 1";
    if (!flaw && of->needs & ~(uint32_t)(2 * SINEW_CAN_JACOBIAN - 1))
        flaw = "needs has bits that are no capability";
    return flaw ? flaw : operation_flaw(of);
}

static const char *solver_refusal(const sinew_solver_extension *of, char *text)
{
    const char *flaw = solver_flaw(of, text);
    if (flaw)
        return flaw;
    if (sinew_registration_closed())
        return "register it before the first world is created";
    if (sinew_solver_by_name(of->name) != SINEW_SOLVER_COUNT)
        return "there is a solver of that name";
    return slot_count == SINEW_REGISTERED_SOLVER_MAX ? "as many are registered as may be" : NULL;
}

static void fill_operations(solver_slot *slot)
{
    const sinew_solver_extension *of = &slot->of;
    slot->ops = (sinew_solver_ops){.info = {.name = of->name,
                                            .summary = of->summary,
                                            .parameters = of->parameters,
                                            .parameter_count = of->parameter_count,
                                            .default_iterations = of->default_iterations,
                                            .needs = of->needs,
                                            .quasistatic = of->quasistatic,
                                            .directions = of->directions},
                                   .prepare = extension_prepare,
                                   .release = extension_release,
                                   .needs_gradient = true,
                                   .coupled = true,
                                   .begin = extension_begin,
                                   .iterate = extension_iterate};
    /* Changes of the world after which the extension needs no new `create`: its `begin` reads the changed data. */
    if (!of->set_up_by_elements)
        slot->ops.refreshes = SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP |
                              SINEW_CHANGED_PINS | SINEW_CHANGED_TRANSIENT;
}

sinew_solver_kind sinew_register_solver(const sinew_solver_extension *extension, sinew_error *error)
{
    sinew_error_clear(error);
    sinew_registration_lock();
    char text[SINEW_EXTENSION_REASON_MAX];
    const char *refusal = solver_refusal(extension, text);
    sinew_solver_kind kind = SINEW_SOLVER_COUNT;
    if (refusal) {
        sinew_fail(error, SINEW_ERROR_USAGE, "solver '%s': %s",
                   extension && extension->cookie == SINEW_EXTENSION_COOKIE && extension->name ? extension->name : "",
                   refusal);
    } else {
        solver_slot *slot = &slots[slot_count++];
        slot->of = *extension;
        fill_operations(slot);
        kind = sinew_solver_add(&slot->ops);
    }
    sinew_registration_unlock();
    return kind;
}

/* ---- Functions of sinew/extend.h for the step's problem ------------------------------------------ */

int32_t sinew_problem_particle_count(const sinew_problem *problem)
{
    return problem->objective->particle_count;
}

const sinew_real *sinew_problem_masses(const sinew_problem *problem)
{
    return problem->objective->step.mass;
}

const uint8_t *sinew_problem_pinned(const sinew_problem *problem)
{
    return problem->objective->step.pinned;
}

double sinew_problem_time_step(const sinew_problem *problem)
{
    return problem->objective->step.h;
}

bool sinew_problem_quasistatic(const sinew_problem *problem)
{
    return problem->objective->step.quasistatic;
}

double sinew_problem_parameter(const sinew_problem *problem, int32_t parameter)
{
    if (!SINEW_ASSERT(parameter >= 0 && parameter < problem->ops->info.parameter_count))
        return 0;
    return (double)problem->def.parameters[parameter];
}

void *sinew_problem_allocate(sinew_problem *problem, size_t count, size_t size)
{
    return sinew_allocate_zero(&problem->objective->allocator, count, size);
}

void sinew_problem_release(sinew_problem *problem, void *memory)
{
    sinew_release(&problem->objective->allocator, memory);
}

sinew_real *sinew_problem_positions(sinew_problem *problem)
{
    return problem->q;
}

void sinew_problem_moved(sinew_problem *problem)
{
    problem->gradient_known = false;
}

const sinew_real *sinew_problem_inertial(const sinew_problem *problem)
{
    return problem->objective->step.q_tilde;
}

void sinew_problem_start(sinew_problem *problem, bool inertial)
{
    sinew_solve_start(problem, inertial ? 0 : 1);
}

double sinew_problem_evaluate(sinew_problem *problem)
{
    sinew_solve_evaluate(problem);
    return problem->terms.inertia + problem->terms.elastic;
}

const sinew_real *sinew_problem_gradient(sinew_problem *problem)
{
    sinew_solve_evaluate(problem);
    return problem->gradient;
}

double sinew_problem_residual(sinew_problem *problem)
{
    sinew_solve_evaluate(problem);
    return problem->residual;
}

double sinew_problem_evaluate_at(sinew_problem *problem, const sinew_real *q, sinew_real *gradient)
{
    sinew_terms terms;
    return gradient ? sinew_objective_gradient(problem->objective, q, gradient, &terms)
                    : sinew_objective_value(problem->objective, q, &terms);
}

void sinew_problem_linearise(sinew_problem *problem, const sinew_real *q, bool project)
{
    if (SINEW_ASSERT(extension_of(problem)->products))
        sinew_objective_linearise(problem->objective, q, project);
}

void sinew_problem_product(sinew_problem *problem, const sinew_real *p, sinew_real *out)
{
    if (SINEW_ASSERT(extension_of(problem)->products))
        sinew_objective_product(problem->objective, p, out);
}

void sinew_problem_diagonal(sinew_problem *problem, const sinew_real *q, bool project, double *blocks)
{
    sinew_objective_diagonal(problem->objective, q, project, blocks);
}

double sinew_problem_dot(const sinew_problem *problem, const sinew_real *a, const sinew_real *b)
{
    return sinew_dot(a, b, problem->objective->particle_count, problem->objective->thread_count);
}

double sinew_problem_line_search(sinew_problem *problem, const sinew_real *d)
{
    extension_memory *m = problem->memory;
    sinew_solve_evaluate(problem);
    return sinew_line_search(problem, d, m->trial, m->trial_gradient);
}
