/* SPDX-License-Identifier: MIT
 *
 * registry.c: see registry.h.
 */
#include "energy/registry.h"

#include <stdatomic.h>
#include <string.h>

/* Energies of the program's own. Beside the stencils (mesh/topology/stencil.c) the one table that grows while the process runs:
 * a place is filled once, by whoever finds it empty, and never changes again, so readers need no lock. */
static _Atomic(const sinew_foreign_energy *) foreign[SINEW_ENERGIES_FOREIGN];

static const sinew_foreign_energy *foreign_at(int kind)
{
    const unsigned place = (unsigned)kind - SINEW_ENERGY_COUNT - 1;
    return place < SINEW_ENERGIES_FOREIGN ? atomic_load(&foreign[place]) : NULL;
}

const sinew_energy_ops *sinew_energy_get_ops(sinew_energy_kind kind)
{
    if ((unsigned)kind < SINEW_ENERGY_COUNT)
        return sinew_lanes()->energies[kind];
    const sinew_foreign_energy *energy = foreign_at((int)kind);
    return energy ? energy->ops : NULL;
}

const sinew_energy_info *sinew_get_energy_info(sinew_energy_kind kind)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(kind);
    return ops ? &ops->info : NULL;
}

sinew_energy_kind sinew_energy_by_name(const char *name)
{
    for (int kind = 0; name && kind <= SINEW_ENERGY_COUNT + SINEW_ENERGIES_FOREIGN; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        if (info && strcmp(info->name, name) == 0)
            return (sinew_energy_kind)kind;
    }
    return SINEW_ENERGY_COUNT;
}

int32_t sinew_energy_parameter(sinew_energy_kind kind, const char *name)
{
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    for (int32_t i = 0; info && name && i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return i;
    return -1;
}

const sinew_energy_ops *sinew_energy_scalar(const sinew_energy_ops *ops)
{
    int32_t count;
    const sinew_lane_variant *const *variants = sinew_lane_variants(&count);
    const sinew_lane_variant *one = variants[0];
    for (int32_t v = 0; v < count; v++)
        one = variants[v]->width == 1 ? variants[v] : one;
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
            if (variants[v]->energies[kind] == ops)
                return one->energies[kind];
    for (int place = 0; place < SINEW_ENERGIES_FOREIGN; place++) {
        const sinew_foreign_energy *energy = atomic_load(&foreign[place]);
        if (energy && (energy->ops == ops || energy->scalar == ops))
            return energy->scalar;
    }
    return NULL;
}

/* ---- The contract ------------------------------------------------------------------------------ */

uint32_t sinew_energy_capabilities(const sinew_energy_ops *ops)
{
    const bool constraints = ops->constraint_count > 0;
    uint32_t bits = 0;
    if ((ops->constrain || (ops->whole_row && ops->jacobian)) && constraints)
        bits |= SINEW_CAN_CONSTRAINT;
    if (ops->local_project)
        bits |= SINEW_CAN_PROJECT;
    if (ops->local_prox)
        bits |= SINEW_CAN_PROX;
    if (ops->visit && ops->vertex && ops->vertex_change)
        bits |= SINEW_CAN_VERTEX;
    if (ops->reduce && ops->stiffness && ops->row_count > 0)
        bits |= SINEW_CAN_REDUCE;
    if (ops->jacobian && constraints)
        bits |= SINEW_CAN_JACOBIAN;
    return bits;
}

/* Slots that make sense together only. */
static const char *find_half(const sinew_energy_ops *ops)
{
    if ((ops->constraint_count > 0) != (ops->constrain || ops->jacobian))
        return "constraint_count does not match constrain and jacobian";
    if (ops->curvature && !ops->jacobian)
        return "curvature needs jacobian";
    if ((ops->row_count > 0) != (ops->reduce != NULL) || !ops->reduce != !ops->stiffness)
        return "row_count, reduce and stiffness go together";
    if ((ops->local_project || ops->local_prox) && !ops->reduce)
        return "local_project and local_prox need reduce and stiffness";
    if (!ops->visit != !ops->vertex || !ops->visit != !ops->vertex_change)
        return "visit, vertex and vertex_change go together";
    if (ops->visit && (ops->visit_data_count < 1 || ops->visit_data_count > SINEW_DATA_MAX))
        return "visit_data_count is out of range";
    if (ops->visit && ops->other_count != ops->info.vertex_count - 1)
        return "other_count must be one less than vertex_count";
    if (ops->step_limit && !ops->barrier)
        return "step_limit is for energies with a barrier";
    return NULL;
}

const char *sinew_energy_flaw(const sinew_energy_ops *ops)
{
    const sinew_energy_info *info = &ops->info;
    const sinew_stencil_row *row = sinew_get_stencil(info->stencil);
    if (!info->name || !info->summary)
        return "name or summary is missing";
    if (!row)
        return "its stencil is not known";
    if (info->vertex_count != row->vertex_count &&
        !(row->padded && info->vertex_count >= 2 && info->vertex_count < row->vertex_count))
        return "vertex_count is not its stencil's";
    if (info->parameter_count < 0 || info->parameter_count > SINEW_PARAMETER_MAX ||
        (info->parameter_count > 0 && !info->parameters))
        return "parameters are missing or too many";
    if (!ops->prepare || !ops->value || !ops->gradient || !ops->linearise || !ops->product || !ops->hessian)
        return "prepare, value, gradient, linearise, product and hessian are required";
    if (ops->data_count < 1 || ops->data_count > SINEW_DATA_MAX || ops->tangent_count < 1)
        return "data_count or tangent_count is out of range";
    if (ops->target_slot >= 0 && (!(row->takes & SINEW_TAKES_TARGET) || ops->target_slot + 3 > ops->data_count))
        return "target_slot is not in its data, or its stencil takes no targets";
    const char *half = find_half(ops);
    if (half)
        return half;
    return info->capabilities == sinew_energy_capabilities(ops) ? NULL : "capabilities do not match the slots";
}

/* ---- Register ---------------------------------------------------------------------------------- */

static const char *find_flaw(const sinew_foreign_energy *energy)
{
    if (!energy || !energy->ops || !energy->scalar)
        return "the operations, or those of width one, are missing";
    const char *flaw = sinew_energy_flaw(energy->ops);
    if (!flaw)
        flaw = sinew_energy_flaw(energy->scalar);
    if (!flaw && energy->scalar->data_count != energy->ops->data_count)
        flaw = "the operations of width one have other data";
    return flaw;
}

sinew_energy_kind sinew_energy_register(const sinew_foreign_energy *energy, sinew_error *error)
{
    sinew_error_clear(error);
    const char *flaw = find_flaw(energy);
    const char *name = energy && energy->ops && energy->ops->info.name ? energy->ops->info.name : "an energy";
    if (flaw) {
        sinew_fail(error, SINEW_ERROR_USAGE, "%s cannot be registered: %s", name, flaw);
        return SINEW_ENERGY_COUNT;
    }
    const sinew_energy_kind known = sinew_energy_by_name(name);
    if (known != SINEW_ENERGY_COUNT && foreign_at((int)known) != energy) {
        sinew_fail(error, SINEW_ERROR_USAGE, "%s cannot be registered: there is an energy of that name", name);
        return SINEW_ENERGY_COUNT;
    }
    for (int place = 0; place < SINEW_ENERGIES_FOREIGN; place++) {
        const sinew_foreign_energy *found = NULL;
        if (atomic_compare_exchange_strong(&foreign[place], &found, energy) || found == energy)
            return (sinew_energy_kind)(SINEW_ENERGY_COUNT + 1 + place);
    }
    sinew_fail(error, SINEW_ERROR_USAGE, "%s cannot be registered: there are %d already, and no more may be", name,
               SINEW_ENERGIES_FOREIGN);
    return SINEW_ENERGY_COUNT;
}
