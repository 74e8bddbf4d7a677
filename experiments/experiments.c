/* SPDX-License-Identifier: MIT
 *
 * experiments.c: the table of published experiments.
 */
#include "experiments.h"

static const experiment experiments[] = {
    {"thesis/pbd-stiffness", "thesis fig 5.2", "PBD untwists to rest whatever the time step", experiment_pbd_stiffness,
     true},
    {"thesis/admm-weights", "thesis fig 5.3", "the best ADMM weight depends on the time step", experiment_admm_weights,
     true},
    {"thesis/untwist", "thesis figs 5.4-5.7, table 5.1", "who is how near after how many iterations",
     experiment_untwist, true},
    {"thesis/untwist-stiff", "thesis figs 5.8-5.11", "large steps and stiffness: objective and momenta",
     experiment_untwist_stiff, true},
    {"thesis/twist", "thesis figs 5.12, 5.13, tables 5.2, 5.3", "constraints that contradict each other",
     experiment_twist, true},
    {"thesis/twist-admm", "thesis figs 5.14-5.17, table 5.4", "ADMM finds the other way round", experiment_twist_admm,
     true},
    {"thesis/neo-hookean", "thesis figs 5.18-5.21, tables 5.5, 5.6", "a nonlinear material", experiment_neo_hookean,
     true},
    {"pd/infeasible", "PD fig 3", "sets that have no point in common", experiment_infeasible, false},
    {"pd/cloth-iterations", "PD fig 4", "a cloth with few and many iterations", experiment_cloth_iterations, false},
    {"pd/resolution", "PD fig 5", "the same curtain and bar in other meshes", experiment_pd_resolution, false},
    {"pd/strain-limit", "PD fig 6", "a curtain whose strain is limited", experiment_pd_strain_limit, false},
    {"pd/volume", "PD fig 7", "strain against volume weights on a solid", experiment_pd_volume, false},
    {"pd/coordinates", "PD 3.3, 4.2", "choices of A and B, warm start, Jacobi with momentum", experiment_coordinates,
     false},
    {"pd/buckling", "PD fig 9", "a can pressed from above", experiment_pd_buckling, false},
    {"pd/mixed", "PD fig 1, section 8", "solids, cloth, ropes and grass in one world", experiment_pd_mixed, false},
    {"pd/flag", "PD fig 10, section 8", "a flag in extreme wind, and one that tears", experiment_pd_flag, false},
    {"pd/newton", "PD figs 11, 12", "local and global steps against Newton's method", experiment_newton, false},
    {"pbng/xpbd-residual", "PBNG fig 3", "a falling block: who reduces the residual of a step",
     experiment_xpbd_residual, false},
    {"pbng/stretch", "PBNG fig 7, table 2", "a block is stretched and twisted, at equal time", experiment_stretch,
     false},
    {"pbng/resolution", "PBNG fig 8, tables 1, 3", "the block at n = 32, 64, 128", experiment_resolution, false},
    {"pbng/materials", "PBNG fig 9, table 3", "three materials", experiment_materials, false},
    {"pbng/linear-gs", "PBNG fig 10, table 4", "against Newton with linear Gauss-Seidel", experiment_linear_gs, false},
    {"pbng/hessian", "PBNG fig 11", "exact Hessians without line search", experiment_hessian, false},
    {"pbng/acceleration", "PBNG fig 12", "plain, Chebyshev, over-relaxed", experiment_acceleration, false},
    {"pbng/colours", "PBNG table 1, section 10", "colours of nodes and of constraints", experiment_colours, false},
    {"pbng/muscles", "PBNG figs 1, 2, table 2", "muscles bound by weak constraints", experiment_muscles, false},
    {"pbng/hanging", "PBNG fig 17", "two blocks bound by stiff springs, in two orders", experiment_hanging, false},
    {"pbng/gravity-bar", "PBNG fig 18", "a bar under gravity", experiment_gravity_bar, false},
    {"pbng/multiresolution", "PBNG figs 4, 19, section 8.2", "a cloth in layers, at equal time",
     experiment_multiresolution, false},
    {"pbng/two-blocks", "PBNG fig 13", "two blocks are driven against each other", experiment_two_blocks, false},
    {"pbng/dropping", "PBNG fig 14, tables 1, 3", "objects of simple shapes are dropped into a glass box",
     experiment_dropping, false},
    {"thin/balloons", "Paulsen 1994; textbook", "foil and rubber under pressure: shapes and the greatest pressure",
     experiment_balloons, false},
    {"thin/cantilever", "elastica", "a strip under its own weight on three meshes, three ways to bend",
     experiment_cantilever, false},
    {"thin/strip", "elastica", "a load at the tip, and a couple that rolls it up", experiment_strip, false},
    {"thin/roof", "Scordelis and Lo 1964", "a cylindrical roof under its own weight", experiment_roof, false},
    {"thin/drape", "Cusick 1965", "three fabrics over a disc", experiment_drape, false},
    {"thin/rods", "elastica, textbooks", "rods: cantilever, buckling, ring, coil, catenary", experiment_rods, false},
    {"contact/slope", "Coulomb", "a soft block holds below and slides above the angle of friction", experiment_slope,
     false},
    {"contact/rebound", "textbook", "rebounds to e^2 of the height, momenta of two bodies", experiment_rebound, false},
    {"contact/tower", "rest", "a tower of soft boxes comes to rest and stays", experiment_tower, false},
    {"contact/belt", "Euler 1769", "tensions of a rope that slips over half of a cylinder", experiment_belt, false},
};

const experiment *experiment_at(int32_t index)
{
    return index >= 0 && index < (int32_t)(sizeof experiments / sizeof experiments[0]) ? &experiments[index] : NULL;
}
