/* SPDX-License-Identifier: MIT
 *
 * registry.c: lookup and registration of energies. See registry.h.
 */
#include "energy/registry.h"

#include <stdatomic.h>
#include <string.h>

#include "math/variant.h"
#include "sinew/extend.h"

SINEW_VARIANT_TABLE(sinew_simd_variant, sinew_simd_variant);

/* Energies that programs register. This table and the table of stencils (mesh/topology/stencil.c) may grow while the
 * process runs. An entry is filled once and never changes again, so readers need no lock. */
static _Atomic(const sinew_foreign_energy *) foreign[SINEW_ENERGIES_FOREIGN];

static const sinew_foreign_energy *foreign_at(int kind)
{
    const unsigned padded_index = (unsigned)kind - SINEW_ENERGY_COUNT - 1;
    return padded_index < SINEW_ENERGIES_FOREIGN ? atomic_load(&foreign[padded_index]) : NULL;
}

/* ---- SIMD variants of the kernels ---------------------------------------------------------------- */

const sinew_simd_variant *const *sinew_simd_variants(int32_t *count)
{
    const int32_t best = sinew_variant_best();
    *count = SINEW_VARIANT_COUNT - best;
    return sinew_simd_variant_table + best;
}

const sinew_simd_variant *sinew_simd(void)
{
    return sinew_simd_variant_table[sinew_variant_chosen()];
}

const char *sinew_simd_name(void)
{
    return sinew_simd()->name;
}

int32_t sinew_simd_width(void)
{
    return sinew_simd()->width;
}

/* ---- Lookup of energies by kind or name ---------------------------------------------------------- */

const sinew_energy_ops *sinew_energy_get_ops(sinew_energy_kind kind)
{
    if ((unsigned)kind < SINEW_ENERGY_COUNT)
        return sinew_simd()->energies[kind];
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

int32_t sinew_energy_kind_end(void)
{
    int32_t end = SINEW_ENERGY_COUNT;
    for (int32_t kind = end; kind <= SINEW_ENERGY_COUNT + SINEW_ENERGIES_FOREIGN; kind++)
        if (foreign_at(kind))
            end = kind + 1;
    return end;
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
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    const sinew_simd_variant *one = variants[0];
    for (int32_t v = 0; v < count; v++)
        one = variants[v]->width == 1 ? variants[v] : one;
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
            if (variants[v]->energies[kind] == ops)
                return one->energies[kind];
    for (int padded_index = 0; padded_index < SINEW_ENERGIES_FOREIGN; padded_index++) {
        const sinew_foreign_energy *energy = atomic_load(&foreign[padded_index]);
        if (energy && (energy->ops == ops || energy->scalar == ops))
            return energy->scalar;
    }
    return NULL;
}

/* ---- Consistency of an energy's table of operations ---------------------------------------------- */

uint32_t sinew_energy_capabilities(const sinew_energy_ops *ops)
{
    const bool constraints = ops->constraint_count > 0;
    uint32_t bits = 0;
    if ((ops->constrain || (ops->global_constraint && ops->jacobian)) && constraints)
        bits |= SINEW_CAN_CONSTRAINT;
    if (ops->local_project)
        bits |= SINEW_CAN_PROJECT;
    if (ops->local_prox)
        bits |= SINEW_CAN_PROX;
    if (ops->incidence && ops->vertex && ops->vertex_change)
        bits |= SINEW_CAN_VERTEX;
    if (ops->reduce && ops->stiffness && ops->reduced_count > 0)
        bits |= SINEW_CAN_REDUCE;
    if (ops->jacobian && constraints)
        bits |= SINEW_CAN_JACOBIAN;
    return bits;
}

/* Checks operations of an energy that must be set together; returns NULL or the error. */
static const char *dependent_operations_flaw(const sinew_energy_ops *ops)
{
    if ((ops->constraint_count > 0) != (ops->constrain || ops->jacobian))
        return "constraint_count does not match constrain and jacobian";
    if (ops->curvature && !ops->jacobian)
        return "curvature needs jacobian";
    if ((ops->reduced_count > 0) != (ops->reduce != NULL) || !ops->reduce != !ops->stiffness)
        return "reduced_count, reduce and stiffness go together";
    if ((ops->local_project || ops->local_prox) && !ops->reduce)
        return "local_project and local_prox need reduce and stiffness";
    if (!ops->incidence != !ops->vertex || !ops->incidence != !ops->vertex_change)
        return "incidence, vertex and vertex_change go together";
    if (ops->incidence && (ops->incidence_data_count < 1 || ops->incidence_data_count > SINEW_DATA_MAX))
        return "incidence_data_count is out of range";
    if (ops->incidence && ops->other_count != ops->info.vertex_count - 1)
        return "other_count must be one less than vertex_count";
    if (!ops->couples != !ops->potential || !ops->couples != !ops->coupled_with)
        return "couples, potential and coupled_with go together";
    if (ops->potential && (ops->global_constraint || ops->shared_count != ops->data_count))
        return "a potential is no global constraint, and its data are shared";
    if (ops->step_limit && !ops->barrier)
        return "step_limit is for energies with a barrier";
    return NULL;
}

const char *sinew_energy_flaw(const sinew_energy_ops *ops)
{
    const sinew_energy_info *info = &ops->info;
    const sinew_stencil_info *stencil_info = sinew_get_stencil(info->stencil);
    if (!info->name || !info->summary)
        return "name or summary is missing";
    if (!stencil_info)
        return "its stencil is not known";
    if (info->vertex_count != stencil_info->vertex_count &&
        !(stencil_info->padded && info->vertex_count >= 2 && info->vertex_count < stencil_info->vertex_count))
        return "vertex_count is not its stencil's";
    if (info->parameter_count < 0 || info->parameter_count > SINEW_PARAMETER_MAX ||
        (info->parameter_count > 0 && !info->parameters))
        return "parameters are missing or too many";
    if (!ops->prepare || !ops->value || !ops->gradient || !ops->linearise || !ops->product || !ops->hessian)
        return "prepare, value, gradient, linearise, product and hessian are required";
    if (ops->data_count < 1 || ops->data_count > SINEW_DATA_MAX || ops->tangent_count < 1)
        return "data_count or tangent_count is out of range";
    if (ops->target_slot >= 0 &&
        (!(stencil_info->takes & SINEW_TAKES_TARGET) || ops->target_slot + 3 > ops->data_count))
        return "target_slot is not in its data, or its stencil takes no targets";
    const char *half = dependent_operations_flaw(ops);
    if (half)
        return half;
    return info->capabilities == sinew_energy_capabilities(ops) ? NULL : "capabilities do not match the slots";
}

/* ---- Registration of energies -------------------------------------------------------------------- */

static const char *foreign_energy_flaw(const sinew_foreign_energy *energy)
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
    const char *flaw = foreign_energy_flaw(energy);
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
    for (int padded_index = 0; padded_index < SINEW_ENERGIES_FOREIGN; padded_index++) {
        const sinew_foreign_energy *found = NULL;
        if (atomic_compare_exchange_strong(&foreign[padded_index], &found, energy) || found == energy)
            return (sinew_energy_kind)(SINEW_ENERGY_COUNT + 1 + padded_index);
    }
    sinew_fail(error, SINEW_ERROR_USAGE, "%s cannot be registered: there are %d already, and no more may be", name,
               SINEW_ENERGIES_FOREIGN);
    return SINEW_ENERGY_COUNT;
}
