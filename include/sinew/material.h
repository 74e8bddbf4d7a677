/* SPDX-License-Identifier: MIT
 *
 * sinew/material.h: materials by name: sheets (cloth, leather, rubber, paper, steel), and volumes (jelly, silicone,
 * rubber, foam, soft tissues, metals).
 *
 * Values are typical of their kind: fabrics of one name differ by a factor of two and more in stiffness. Moduli are
 * valid for small strain. Bending rigidity is a separate value: yarns and fibres slide past each other, so cloth and
 * leather bend far more easily than a plate of the same Young's modulus and thickness. docs/reference/materials.md
 * has the table with its sources.
 */
#ifndef SINEW_MATERIAL_H
#define SINEW_MATERIAL_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of all sheet materials in scene files, separated by '|'. */
#define SINEW_MATERIAL_NAMES "cotton|wool|silk|denim|canvas|leather|rubber_sheet|paper|steel_foil"

typedef struct sinew_material {
    const char *name;
    const char *about;  /* one line of description of the material */
    double density;     /* mass per area of the sheet, in kg/m2 */
    double thickness;   /* thickness of the sheet, in m */
    double young[2];    /* Young's moduli in Pa along warp and weft (grain; rolling direction), small strain */
    double shear;       /* in-plane shear modulus of the sheet, in Pa */
    double poisson;     /* Poisson's ratio of a strip pulled along the warp */
    double rigidity[2]; /* bending rigidity: moment per width and curvature in N m, along warp and weft */
    const char *source;
} sinew_material;

SINEW_API int32_t sinew_material_count(void);
/* Returns a sheet material by index; NULL: out of range. */
SINEW_API const sinew_material *sinew_material_at(int32_t index);
/* Returns a sheet material by name; NULL: unknown name. */
SINEW_API const sinew_material *sinew_material_by_name(const char *name);

/* Names of all volume materials in scene files, separated by '|'; no sheet material has one of them. */
#define SINEW_VOLUME_MATERIAL_NAMES                                                                                    \
    "jelly|silicone_soft|silicone|pdms|rubber|foam|brain|fat|liver|muscle|ice|aluminium|steel"

/* An isotropic material of a body of tets, at small strain. */
typedef struct sinew_volume_material {
    const char *name;
    const char *about; /* one line of description of the material */
    double density;    /* density of the material, in kg/m3 */
    double young;      /* Young's modulus of the material, in Pa */
    double poisson;    /* Poisson's ratio, at most 0.49: linear tets lock above it */
    const char *source;
} sinew_volume_material;

SINEW_API int32_t sinew_volume_material_count(void);
/* Returns a volume material by index; NULL: out of range. */
SINEW_API const sinew_volume_material *sinew_volume_material_at(int32_t index);
/* Returns a volume material by name; NULL: unknown name. */
SINEW_API const sinew_volume_material *sinew_volume_material_by_name(const char *name);

/* Sets parameters of an energy definition from a named material. Volumes: sets young and poisson of an energy over
 * tets. Sheets: sets the parameters of an energy that the material defines, by name: young (for energies without
 * warp and weft: the geometric mean), warp_young, weft_young, shear, poisson, thickness, rigidity, weft_ratio, and
 * stiffnesses in N/m (modulus times thickness). SINEW_ERROR_DATA: the energy has none of these, or acts on tets and
 * the material is a sheet, or the other way round; the def is unchanged. */
SINEW_API sinew_status sinew_energy_def_set_material(sinew_energy_def *def, const char *material, sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
