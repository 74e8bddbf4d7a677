/* SPDX-License-Identifier: MIT
 *
 * volume_materials.c: the table of materials for bodies of tets.
 *
 * Isotropic, small strain. Silicones are sold by the nominal stress P at stretch 2; an incompressible neo-Hookean solid
 * has P = G (2 - 1/4), E = 3 G. Gels, rubbers and soft tissues hardly change their volume (Poisson's ratio 0.499 and
 * more); the table has 0.49 for them, because linear tets lock above it.
 */
#include <string.h>

#include "sinew/material.h"

static const sinew_volume_material table[] = {
    {"jelly", "gelatin, 20 parts of water to one of powder", 1010, 4.34e3, 0.49,
     "Bonavia et al. 2025 (arXiv 2512.20502): 4.34 kPa; density of the mixture; incompressible: Nielsen et al. 2001"},
    {"silicone_soft", "platinum silicone, Shore 00-30", 1070, 1.18e5, 0.49,
     "data sheet of Smooth-On Ecoflex 00-30: 1.07, 10 psi at 100 %"},
    {"silicone", "platinum silicone, Shore A 30", 1080, 1.02e6, 0.49,
     "data sheet of Smooth-On Dragon Skin 30: 1.08, 86 psi at 100 %"},
    {"pdms", "Sylgard 184, 10:1, cured at 25 C", 1030, 1.32e6, 0.49,
     "Johnston et al. 2014: 1.32 MPa, up to 2.97 if cured at 200 C; density of its data sheet"},
    {"rubber", "natural rubber, unfilled", 930, 1.17e6, 0.49,
     "Treloar 1944: G = 0.39 MPa in the neo-Hookean fit, E = 3 G; density as rubber_sheet"},
    {"foam", "flexible polymer foam, very light", 25, 5e5, 0.27,
     "middle of the ranges in Ashby, Materials Selection: 16 to 35 kg/m3, 0.25 to 1 MPa, 0.23 to 0.33"},
    {"brain", "white matter", 1040, 1.9e3, 0.49, "Budday et al. 2015, indentation: 1.895 kPa; density of ICRU 44"},
    {"fat", "adipose tissue", 950, 3.25e3, 0.49, "Samani et al. 2007: 3.25 kPa; density of ICRU 44"},
    {"liver", "healthy liver", 1060, 5.5e3, 0.49,
     "Roulot et al. 2008, transient elastography: 5.5 kPa; density of ICRU 44"},
    {"muscle", "relaxed skeletal muscle, across its fibres", 1060, 1.2e4, 0.49,
     "Engler et al. 2004: 12 kPa; Mendez and Keys 1960: 1060 kg/m3"},
    {"ice", "polycrystalline ice at -16 C", 917, 9.33e9, 0.325, "Gammon et al. 1983: 9.33 GPa, 0.325"},
    {"aluminium", "alloy 6061", 2700, 6.89e10, 0.33, "standard values: 68.9 GPa, 0.33, 2700 kg/m3"},
    {"steel", "structural steel", 7850, 2.0e11, 0.3, "standard values: 200 GPa, 0.3, 7850 kg/m3"},
};

enum {
    VOLUME_MATERIALS = sizeof table / sizeof table[0]
};

int32_t sinew_volume_material_count(void)
{
    return VOLUME_MATERIALS;
}

const sinew_volume_material *sinew_volume_material_at(int32_t index)
{
    return index >= 0 && index < VOLUME_MATERIALS ? &table[index] : NULL;
}

const sinew_volume_material *sinew_volume_material_by_name(const char *name)
{
    for (int32_t i = 0; name && i < VOLUME_MATERIALS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
