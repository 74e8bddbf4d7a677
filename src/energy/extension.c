/* SPDX-License-Identifier: MIT
 *
 * extension.c: registers the energies of a program (sinew/extend.h). See extension.h.
 */
#include "energy/extension.h"

#include "base/registration.h"
#include "energy/registry.h"

/* ---- Slots of registered energies ---------------------------------------------------------------- */

typedef struct extension_slot {
    sinew_energy_extension of;
    sinew_energy_ops wide, scalar;
    sinew_foreign_energy energy;
} extension_slot;

/* Registered energies. An entry is filled before its energy is registered, and never changes afterwards. */
static extension_slot slots[SINEW_REGISTERED_ENERGY_MAX];
static int slot_count;
/* Stencils, indexed by vertex count, of registered energies whose defs list their elements. */
static sinew_stencil_info listed[SINEW_EXTENSION_VERTEX_MAX + 1];

const sinew_energy_extension *sinew_extension_at(int slot, int32_t *vertex_count)
{
    *vertex_count = slots[slot].wide.info.vertex_count;
    return &slots[slot].of;
}

/* ---- The operation `prepare` of registered energies ---------------------------------------------- */

static void extension_to_double(const sinew_real *from, int count, double *to)
{
    for (int i = 0; i < count; i++)
        to[i] = (double)from[i];
}

/* 1 / det of the three rest edge vectors of a tet, in 1/m3; 0 for a flat tet. */
static double inverse_rest_determinant(const double *rest)
{
    double D[9];
    for (int i = 0; i < 9; i++)
        D[i] = rest[3 * (i / 3 + 1) + i % 3] - rest[i % 3];
    const double det =
        D[0] * (D[4] * D[8] - D[5] * D[7]) - D[1] * (D[3] * D[8] - D[5] * D[6]) + D[2] * (D[3] * D[7] - D[4] * D[6]);
    return det != 0 ? 1 / det : 0;
}

static const char *extension_prepare(int slot, const sinew_element *element, sinew_real *data)
{
    const sinew_energy_extension *of = &slots[slot].of;
    const int n = slots[slot].wide.info.vertex_count;
    double rest[3 * SINEW_EXTENSION_VERTEX_MAX], parameters[SINEW_PARAMETER_MAX], weights[8], normal[3];
    double own[SINEW_EXTENSION_DATA_MAX] = {0};
    char reason[SINEW_EXTENSION_REASON_MAX] = "";
    extension_to_double(element->rest, 3 * n, rest);
    extension_to_double(element->parameters, of->parameter_count, parameters);
    if (element->weights)
        extension_to_double(element->weights, 8, weights);
    if (element->normal)
        extension_to_double(element->normal, 3, normal);
    const sinew_extension_element view = {.vertex_count = n,
                                          .rest = rest,
                                          .parameters = parameters,
                                          .weights = element->weights ? weights : NULL,
                                          .normal = element->normal ? normal : NULL,
                                          .reason = element->reason ? element->reason : reason};
    const char *refusal = of->prepare(of->context, &view, own);
    if (refusal)
        return refusal == reason ? "its prepare refuses it" : refusal;
    data[EXTENSION_WEIGHT] = element->fraction ? *element->fraction : 1;
    data[EXTENSION_SLOT] = (sinew_real)slot;
    data[EXTENSION_SHAPE] = (sinew_real)(of->stencil == SINEW_STENCIL_TET ? inverse_rest_determinant(rest) : 0);
    for (int i = 0; i < of->data_count; i++)
        data[EXTENSION_HEAD + i] = (sinew_real)own[i];
    return NULL;
}

/* Defines one `prepare` function per slot, because the arguments of `prepare` do not identify the registered energy. */
#define PREPARE(slot)                                                                                                  \
    static const char *extension_prepare_##slot(const sinew_element *element, sinew_real *data)                        \
    {                                                                                                                  \
        return extension_prepare(slot, element, data);                                                                 \
    }
#define ENTRY(slot) extension_prepare_##slot,
/* clang-format off */
#define SLOTS(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
    X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
/* clang-format on */

SLOTS(PREPARE)

static const char *(*const prepares[])(const sinew_element *, sinew_real *) = {SLOTS(ENTRY)};
_Static_assert(sizeof prepares / sizeof prepares[0] == SINEW_REGISTERED_ENERGY_MAX, "one for each slot");

/* ---- Registration of a program's energies -------------------------------------------------------- */

static void extension_fill_operations(extension_slot *slot, sinew_stencil stencil, sinew_energy_ops *ops, bool scalar)
{
    const sinew_energy_extension *of = &slot->of;
    const int32_t n = sinew_get_stencil(stencil)->vertex_count;
    *ops = (sinew_energy_ops){.info = {.name = of->name,
                                       .summary = of->summary,
                                       .stencil = stencil,
                                       .vertex_count = n,
                                       .parameters = of->parameters,
                                       .parameter_count = of->parameter_count},
                              .data_count = EXTENSION_HEAD + of->data_count,
                              .target_slot = -1,
                              .barrier = of->barrier,
                              .prepare = prepares[slot - slots]};
    ops->rigid_cost = (of->costs_translation ? (uint32_t)SINEW_COSTS_TRANSLATION : 0) |
                      (of->costs_rotation ? (uint32_t)SINEW_COSTS_ROTATION : 0);
    sinew_extension_operations(ops, of, n, scalar);
    ops->info.capabilities = sinew_energy_capabilities(ops);
}

static sinew_stencil extension_stencil(const sinew_energy_extension *of, sinew_error *error)
{
    if (of->stencil != SINEW_STENCIL_COUNT)
        return of->stencil;
    sinew_stencil_info *stencil = &listed[of->vertex_count];
    if (!stencil->noun)
        *stencil = (sinew_stencil_info){
            .noun = "listed element", .plural = "listed elements", .vertex_count = of->vertex_count};
    return sinew_stencil_register(stencil, error);
}

static const char *extension_refusal(const sinew_energy_extension *of, char *text)
{
    const char *flaw = sinew_extension_flaw(of, text);
    if (flaw)
        return flaw;
    if (sinew_registration_closed())
        return "register it before the first world is created";
    if (sinew_energy_by_name(of->name) != SINEW_ENERGY_COUNT)
        return "there is an energy of that name";
    return slot_count == SINEW_REGISTERED_ENERGY_MAX ? "as many are registered as may be" : NULL;
}

static sinew_energy_kind extension_register(const sinew_energy_extension *of, sinew_error *error)
{
    extension_slot *slot = &slots[slot_count];
    slot->of = *of;
    const sinew_stencil stencil = extension_stencil(of, error);
    if (stencil == SINEW_STENCIL_COUNT)
        return SINEW_ENERGY_COUNT;
    extension_fill_operations(slot, stencil, &slot->wide, false);
    extension_fill_operations(slot, stencil, &slot->scalar, true);
    slot->energy = (sinew_foreign_energy){&slot->wide, &slot->scalar};
    const sinew_energy_kind kind = sinew_energy_register(&slot->energy, error);
    slot_count += kind != SINEW_ENERGY_COUNT;
    return kind;
}

sinew_energy_kind sinew_register_energy(const sinew_energy_extension *extension, sinew_error *error)
{
    sinew_error_clear(error);
    sinew_registration_lock();
    char text[SINEW_EXTENSION_REASON_MAX];
    const char *refusal = extension_refusal(extension, text);
    sinew_energy_kind kind = SINEW_ENERGY_COUNT;
    if (refusal)
        sinew_fail(error, SINEW_ERROR_USAGE, "energy '%s': %s",
                   extension && extension->cookie == SINEW_EXTENSION_COOKIE && extension->name ? extension->name : "",
                   refusal);
    else
        kind = extension_register(extension, error);
    sinew_registration_unlock();
    return kind;
}
