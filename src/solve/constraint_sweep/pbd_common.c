/* SPDX-License-Identifier: MIT
 *
 * pbd_common.c: the operations of PBD and XPBD for all kinds of substeps (substeps.c). See pbd_common.h.
 */
#include "solve/constraint_sweep/pbd_common.h"

static const sinew_pbd_time *time_of(const sinew_pbd_options *options)
{
    return options->sweeps > 0  ? &sinew_pbd_pseudo
           : options->count > 1 ? &sinew_pbd_substeps
                                : &sinew_pbd_without_substeps;
}

/* Stores the kernel settings and substep options, which depend on h and the solver's definition, and prepares the
 * substeps. */
static sinew_status store_settings(sinew_solve *s, const sinew_constrain_kernel *how, const sinew_pbd_options *options,
                                   sinew_error *error)
{
    sinew_pbd *w = s->memory;
    w->how = *how;
    w->options = *options;
    w->time = time_of(options);
    return w->time->prepare(s, w, error);
}

sinew_status sinew_pbd_prepare(sinew_solve *s, const sinew_constrain_kernel *how, const sinew_pbd_options *options,
                               const sinew_pbd_extras *extras, sinew_error *error)
{
    sinew_objective *o = s->objective;
    sinew_pbd *w = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *w);
    if (!w)
        return sinew_fail_memory(error, "the constraints");
    w->symmetric = sinew_solve_parameter(s, "symmetric") > 0;
    w->relaxation = (double)sinew_solve_parameter(s, "relaxation");
    if (extras)
        w->extras = *extras;
    const sinew_status status = store_settings(s, how, options, error);
    if (status != SINEW_OK)
        return status;
    sinew_sweep_rule rule = {.order = (sinew_sweep_order)sinew_solve_parameter(s, "order"),
                             .numbers = w->extras.residual || w->extras.guess};
    w->extras.chebyshev = w->extras.chebyshev && rule.order == SINEW_SWEEP_JACOBI;
    rule.extrapolates = w->extras.chebyshev;
    return sinew_sweep_create(&w->sweep, o, &rule, error);
}

sinew_status sinew_pbd_refresh(sinew_solve *s, const sinew_constrain_kernel *how, const sinew_pbd_options *options,
                               uint32_t changed, sinew_error *error)
{
    sinew_pbd *w = s->memory;
    const sinew_status status = store_settings(s, how, options, error);
    if (status != SINEW_OK)
        return status;
    return sinew_sweep_refresh(&w->sweep, changed & SINEW_CHANGED_TRANSIENT, changed & SINEW_CHANGED_PINS, error);
}

int32_t sinew_pbd_form(int choice)
{
    static const int32_t forms[] = {SINEW_FORM_COMBINED, SINEW_FORM_SPLIT, SINEW_FORM_INCOMPRESSIBLE, SINEW_FORM_ROOT};
    return forms[choice];
}

void sinew_pbd_release(sinew_solve *s)
{
    sinew_pbd *w = s->memory;
    if (!w)
        return;
    const sinew_allocator *allocator = &s->objective->allocator;
    sinew_sweep_destroy(&w->sweep);
    sinew_release(allocator, w->v);
    sinew_release(allocator, w->q_last);
    sinew_release(allocator, w);
    s->memory = NULL;
}

void sinew_pbd_begin(sinew_solve *s)
{
    sinew_pbd *w = s->memory;
    w->sweep_count = 0;
    w->moved = false;
    w->how.x_old = w->how.damping > 0 ? s->q_start : NULL;
    w->time->begin(s, w);
}

void sinew_pbd_start(const sinew_solve *s, sinew_pbd *w)
{
    sinew_sweep_begin(&w->sweep, s->q);
    w->streak = 0;
    if (w->extras.guess)
        sinew_sweep_guess(&w->sweep, &w->how);
}

static void sweep_once(sinew_pbd *w)
{
    sinew_sweep_run(&w->sweep, &w->how, false, w->relaxation);
    if (w->symmetric)
        sinew_sweep_run(&w->sweep, &w->how, true, w->relaxation);
}

/* Extrapolates positions and multipliers by Chebyshev's next weight; the first sweep has weight 1 and is not
 * extrapolated. */
static void extrapolate_sweep(sinew_pbd *w)
{
    const double square = w->extras.rho * w->extras.rho;
    w->weight = w->streak == 0 ? 1 : w->streak == 1 ? 2 / (2 - square) : 4 / (4 - square * w->weight);
    if (w->streak > 0)
        sinew_sweep_extrapolate(&w->sweep, w->weight - 1);
}

static void sweep_with_extras(sinew_pbd *w)
{
    const bool plain = sinew_sweep_has_contacts(&w->sweep);
    if (w->extras.residual && !plain)
        sinew_sweep_balance(&w->sweep, &w->how);
    if (w->extras.chebyshev)
        sinew_sweep_keep(&w->sweep);
    sweep_once(w);
    if (w->extras.chebyshev && !plain)
        extrapolate_sweep(w);
    w->streak = plain ? 0 : w->streak + 1;
}

uint32_t sinew_pbd_iterate(sinew_solve *s)
{
    sinew_pbd *w = s->memory;
    w->time->before_sweep(s, w);
    sweep_with_extras(w);
    w->moved = true;
    w->sweep_count++;
    w->time->after_sweep(s, w);
    s->gradient_known = false;
    return 0;
}

void sinew_pbd_flush(sinew_solve *s)
{
    sinew_pbd *w = s->memory;
    if (w->moved)
        sinew_sweep_positions(&w->sweep, s->q);
    w->moved = false;
}

/* The sweeps find the multipliers of contacts, as those of hard constraints. So only new contact elements matter; other
 * changes of contact data are ignored. */
void sinew_pbd_contacts_changed(sinew_solve *s, uint32_t what)
{
    sinew_pbd *w = s->memory;
    if (!(what & SINEW_UPDATE_ELEMENTS))
        return;
    sinew_sweep_contacts_changed(&w->sweep, w->substep_h * w->substep_h);
    w->streak = 0;
}

/* Returns the number of colours of constraints, summed over all batches. `colours` is not written: particles have no
 * colours. */
int32_t sinew_pbd_colours(const sinew_solve *s, const int32_t *outside, int32_t *colours)
{
    (void)outside;
    (void)colours;
    const sinew_sweep *sweep = &((const sinew_pbd *)s->memory)->sweep;
    int32_t count = 0;
    for (int32_t k = 0; k < sweep->batch_count; k++)
        count += sweep->batches[k].colour_count;
    return count;
}

/* Writes lambda / h^2 of each element of a batch: the factor of grad C in the constraint force. */
bool sinew_pbd_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values)
{
    const sinew_pbd *w = s->memory;
    const double h = w->substep_h;
    for (int32_t k = 0; k < w->sweep.batch_count; k++)
        if (w->sweep.batches[k].source == batch) {
            sinew_sweep_multipliers(&w->sweep.batches[k], 1 / (h * h), values);
            return true;
        }
    return false;
}
