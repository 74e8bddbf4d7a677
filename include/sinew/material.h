/* SPDX-License-Identifier: MIT
 *
 * sinew/material.h: sheets by name: cloth, leather, rubber, paper, steel, each with the source of its numbers.
 *
 * Numbers are typical of their kind, not of one roll: fabrics of one name differ by a factor of two and more in
 * stiffness. Moduli are those of small strain. Bending rigidity is a number of its own: yarns and fibres slide past
 * each other, so that cloth and leather bend far more easily than Young's modulus and thickness would say.
 * docs/reference/materials.md has the table.
 */
#ifndef SINEW_MATERIAL_H
#define SINEW_MATERIAL_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of all materials, by '|', as scene files have them. */
#define SINEW_MATERIAL_NAMES "cotton|wool|silk|denim|canvas|leather|rubber_sheet|paper|steel_foil"

typedef struct sinew_material {
    const char *name;
    const char *about;  /* one line of description */
    double density;     /* kg/m2 */
    double thickness;   /* m */
    double young[2];    /* Pa along warp and weft (grain; rolling), small strain */
    double shear;       /* Pa */
    double poisson;     /* Poisson's ratio of a strip pulled along the warp */
    double rigidity[2]; /* N m: bending moment per width and curvature, along warp and weft */
    const char *source;
} sinew_material;

SINEW_API int32_t sinew_material_count(void);
SINEW_API const sinew_material *sinew_material_at(int32_t index);         /* NULL out of range */
SINEW_API const sinew_material *sinew_material_by_name(const char *name); /* NULL when unknown */
/* Sets the parameters of an energy of sheets that the material defines, by their names: young (without warp and weft:
 * their geometric mean), warp_young, weft_young, shear, poisson, thickness, rigidity, weft_ratio, and stiffnesses in
 * N/m (modulus times thickness). An energy that has none of them, or acts on tets, is SINEW_ERROR_DATA and stays
 * unchanged. */
SINEW_API sinew_status sinew_energy_def_set_material(sinew_energy_def *def, const char *material, sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
