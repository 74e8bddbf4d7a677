/* SPDX-License-Identifier: MIT
 *
 * sheet.h: bodies of triangles (and a bar of tets) for the experiments of Bouaziz et al., "Projective Dynamics" (2014):
 * meshes, runs and measures.
 */
#ifndef SINEW_EXPERIMENTS_SHEET_H
#define SINEW_EXPERIMENTS_SHEET_H

#include "experiments.h"

enum {
    SHEET_ENERGIES = 4
};

typedef struct sheet sheet;
/* Function that sets the target `to` of a pinned vertex at a fraction in [0, 1] of the motion; `rest` is its rest
 * position. */
typedef void sheet_mover(const sheet *s, double fraction, const sinew_real *rest, sinew_real *to);

/* One body of triangles or tets and its run. The caller fills the fields above the results; sheets_release() frees all
 * of them. */
struct sheet {
    sinew_mesh *mesh;
    sinew_energy_def energies[SHEET_ENERGIES]; /* energies of the body; the run fills in their body ids */
    int32_t energy_count;
    int32_t *pinned, pinned_count; /* [pinned_count] pinned vertices, allocated by malloc */
    sheet_mover *mover;            /* function that moves the pins; NULL: pins do not move */
    double amount;                 /* parameter of the function `mover` */
    /* NULL, or called with q after each step: true ends the run. */
    bool (*enough)(const sheet *s);
    sinew_real *start; /* initial positions in m, allocated by malloc; NULL: the mesh's */
    /* Density in kg/m2 or kg/m3; gravity in m/s2 downwards (-y); time step in s. */
    double density, gravity, h;
    double damping;        /* damping rate of the world, in 1/s */
    int32_t steps, moving; /* number of steps; number of initial steps in which the pins move */
    sinew_solver_def solver;
    /* ---- results of a run of the sheet ---- */
    char error[256];
    /* Processor time of the steps in s; relative residual of the last step. */
    double seconds, residual;
    int32_t taken; /* number of steps taken until `enough` returned true */
    sinew_real *q;
};

/* Returns an energy definition with parameters by name: pairs of name and value, NULL at the end. */
sinew_energy_def sheet_energy(sinew_energy_kind kind, ...);
/* Pins the vertices of a body for which `held` returns true at their rest position; returns false if out of memory. */
bool sheet_pin(sheet *s, bool (*held)(const sinew_real *x));

/* Creates a rectangle in the plane z = 0 of nx x ny cells, its upper left corner at the origin, extending down.
 * Unstructured: inner vertices move at random by up to 0.3 of a cell, and cells are cut along the Delaunay diagonal. */
sinew_mesh *sheet_rectangle(int32_t nx, int32_t ny, double width, double height, bool unstructured, sinew_error *error);
/* Creates a bar along x of n x m x m cells; unstructured: inner vertices move at random. */
sinew_mesh *sheet_bar(int32_t n, int32_t m, double length, double side, bool unstructured, sinew_error *error);

/* Runs all cases of sheets; returns false, with the error in the outcome, if a case fails. */
bool sheets_take(const setting *s, sheet *sheets, int32_t count, const char *label, outcome *o);
void sheets_release(sheet *sheets, int32_t count);

int32_t sheet_vertex_count(const sheet *s);
/* Computes the current principal stretches of a triangle, larger first. */
void sheet_stretch(const sheet *s, int32_t triangle, double stretch[2]);
/* Depth of a sheet in m: root mean square distance of its vertices from the plane z = mean. */
double sheet_depth(const sheet *s);
/* Adds the current shape of a sheet to a figure. */
void sheet_shape(figure *f, const sheet *s, const char *name);

#endif
