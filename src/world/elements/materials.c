/* SPDX-License-Identifier: MIT
 *
 * materials.c: the table of sheet materials, and values of sheets and volumes as parameters of energies.
 *
 * Woven cloth: typical areal density, tensile and shear stiffness and bending rigidity of such cloth
 * (in textile units 1 gf cm2/cm is 98.07e-6 N m, 1 gf/(cm deg) 56.19 N/m a radian); bending rigidity gives the
 * typical drape coefficient of the cloth in Cusick's test (docs/reference/materials.md). Plates: E, nu and
 * thickness, D = E h^3 / (12 (1 - nu^2)).
 */
#include <math.h>
#include <string.h>

#include "sinew/material.h"
#include "world/world.h"

static const sinew_material table[] = {
    {"cotton",
     "plain-woven sheeting, 150 g/m2",
     0.15,
     0.30e-3,
     {3.3e7, 1.7e7},
     2.8e5,
     0.2,
     {20e-6, 12e-6},
     "typical of sheeting, not one measured cloth; bending by its drape coefficient"},
    {"wool",
     "worsted suiting, 200 g/m2",
     0.20,
     0.45e-3,
     {6.7e6, 3.3e6},
     9e4,
     0.2,
     {14e-6, 9e-6},
     "typical of suiting, not one measured cloth; bending by its drape coefficient"},
    {"silk",
     "habotai of 12 momme, 52 g/m2",
     0.052,
     0.12e-3,
     {6.7e7, 4.2e7},
     1.8e5,
     0.2,
     {1.2e-6, 0.9e-6},
     "typical of thin silk, not one measured cloth; bending by its drape coefficient"},
    {"denim",
     "cotton twill of 11 oz with 1 % elastane, 324 g/m2",
     0.324,
     0.65e-3,
     {3.1e6, 3.1e6},
     3.5e5,
     0.2,
     {74e-6, 55e-6},
     "Wang, O'Brien, Ramamoorthi 2011, as listed by others: 324 g/m2, 2.0 kN/m, 64e-6 N m"},
    {"canvas",
     "cotton duck of 10 oz, 340 g/m2",
     0.34,
     0.60e-3,
     {6.7e7, 4.2e7},
     5.7e5,
     0.2,
     {220e-6, 150e-6},
     "typical of cotton duck, not one measured cloth"},
    {"leather",
     "garment leather of 0.8 mm, 550 g/m2",
     0.55,
     0.80e-3,
     {1.0e7, 1.0e7},
     3.6e6,
     0.4,
     {40e-6, 40e-6},
     "typical modulus of soft leather; bending by Cusick's drape of 47 to 70 %"},
    {"rubber_sheet",
     "natural rubber, unfilled, 1 mm",
     0.93,
     1.0e-3,
     {1.5e6, 1.5e6},
     0.5e6,
     0.49,
     {1.645e-4, 1.645e-4},
     "typical of unfilled natural rubber: E = 1.5 MPa, 930 kg/m3"},
    {"paper",
     "office paper, 80 g/m2",
     0.08,
     0.10e-3,
     {6.0e9, 3.0e9},
     1.6e9,
     0.25,
     {5.3e-4, 2.6e-4},
     "typical of machine-made paper: 6 and 3 GPa along and across the machine"},
    {"steel_foil",
     "steel, 0.05 mm",
     0.3925,
     0.05e-3,
     {2.0e11, 2.0e11},
     7.69e10,
     0.3,
     {2.289e-3, 2.289e-3},
     "standard values: 200 GPa, 0.3, 7850 kg/m3"},
};

enum {
    MATERIALS = sizeof table / sizeof table[0]
};

int32_t sinew_material_count(void)
{
    return MATERIALS;
}

const sinew_material *sinew_material_at(int32_t index)
{
    return index >= 0 && index < MATERIALS ? &table[index] : NULL;
}

const sinew_material *sinew_material_by_name(const char *name)
{
    for (int32_t i = 0; name && i < MATERIALS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

/* ---- Energy parameters from a material ------------------------------------------------------- */

static double geometric_mean(const double pair[2])
{
    return sqrt(pair[0] * pair[1]);
}

/* Sets *value to a sheet material's value of an energy parameter, by name and unit; false: the material has none.
 * `directed`: the energy distinguishes warp and weft. */
static bool sheet_parameter_value(const sinew_material *m, const sinew_parameter *p, bool directed, double *value)
{
    const double per_width = strcmp(p->unit, "N/m") == 0 ? m->thickness : 1;
    const struct {
        const char *name;
        double value;
    } known[] = {
        {"young", geometric_mean(m->young)},
        {"warp_young", m->young[0]},
        {"weft_young", m->young[1]},
        {"stretch_warp", m->young[0] * per_width},
        {"stretch_weft", m->young[1] * per_width},
        {"shear", m->shear * per_width},
        {"poisson", m->poisson},
        {"thickness", m->thickness},
        {"rigidity", directed ? m->rigidity[0] : geometric_mean(m->rigidity)},
        {"weft_ratio", m->rigidity[1] / m->rigidity[0]},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, p->name) == 0) {
            *value = known[i].value;
            return true;
        }
    return false;
}

enum {
    /* Capacity of a list of material names: at least the number of sheet and volume materials; a test counts them. */
    NAMES_MAX = 64
};

static sinew_status fail_unknown_material(const char *name, sinew_error *error)
{
    const char *names[NAMES_MAX];
    int32_t count = 0;
    for (int i = 0; i < MATERIALS; i++)
        names[count++] = table[i].name;
    for (int32_t i = 0; i < sinew_volume_material_count() && count < NAMES_MAX; i++)
        names[count++] = sinew_volume_material_at(i)->name;
    const char *nearest = sinew_nearest_name(name, names, count);
    return sinew_fail(error, SINEW_ERROR_DATA, "there is no material \"%.60s\"; %s%s%s", name,
                      nearest ? "did you mean \"" : "known are ",
                      nearest ? nearest : SINEW_MATERIAL_NAMES "|" SINEW_VOLUME_MATERIAL_NAMES, nearest ? "\"?" : "");
}

/* Sets the parameters `young` and `poisson` of an energy over tets from a material; returns how many of them the energy
 * has. */
static int32_t set_volume_parameters(sinew_energy_def *def, const sinew_volume_material *material)
{
    const int32_t young = sinew_energy_parameter(def->kind, "young");
    const int32_t poisson = sinew_energy_parameter(def->kind, "poisson");
    if (young >= 0)
        def->parameters[young] = (sinew_real)material->young;
    if (poisson >= 0)
        def->parameters[poisson] = (sinew_real)material->poisson;
    return (young >= 0) + (poisson >= 0);
}

/* Sets the parameters of a sheet material in an energy definition; returns the number of set parameters. */
static int32_t set_sheet_parameters(sinew_energy_def *def, const sinew_material *material)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    const bool directed = sinew_energy_parameter(def->kind, "weft_ratio") >= 0;
    int32_t taken = 0;
    for (int32_t p = 0; p < info->parameter_count; p++) {
        double value;
        if (!sheet_parameter_value(material, &info->parameters[p], directed, &value))
            continue;
        def->parameters[p] = (sinew_real)value;
        taken++;
    }
    return taken;
}

sinew_status sinew_energy_def_set_material(sinew_energy_def *def, const char *material, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_energy_info *info = def ? sinew_get_energy_info(def->kind) : NULL;
    if (!SINEW_ASSERT(info && def->cookie == SINEW_COOKIE_ENERGY && material))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a material needs a def made by sinew_default_energy_def() and its name");
    const sinew_material *sheet = sinew_material_by_name(material);
    const sinew_volume_material *volume = sinew_volume_material_by_name(material);
    if (!sheet && !volume)
        return fail_unknown_material(material, error);
    const bool tets = info->stencil == SINEW_STENCIL_TET;
    const int32_t taken = volume && tets   ? set_volume_parameters(def, volume)
                          : sheet && !tets ? set_sheet_parameters(def, sheet)
                                           : 0;
    if (taken == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s takes nothing of %s, which is a %s: it acts on %s", info->name,
                          material, sheet ? "sheet" : "volume", sinew_stencil_name(info->stencil));
    return SINEW_OK;
}
