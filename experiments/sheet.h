/* SPDX-License-Identifier: MIT
 *
 * sheet.h: bodies of triangles (and a bar of tets beside them) for the experiments of Bouaziz et al., "Projective
 * Dynamics" (2014): how they are made, how they run, and what is read off them.
 */
#ifndef SINEW_EXPERIMENTS_SHEET_H
#define SINEW_EXPERIMENTS_SHEET_H

#include "experiments.h"

enum {
    SHEET_ENERGIES = 4
};

typedef struct sheet sheet;
/* Where the pinned vertices are at a part of the time in [0, 1]; `rest` and `to` are points. */
typedef void sheet_mover(const sheet *s, double fraction, const sinew_real *rest, sinew_real *to);

/* One body and its run. The caller fills the first part; everything is released by sheet_release. */
struct sheet {
    sinew_mesh *mesh;
    sinew_energy_def energies[SHEET_ENERGIES]; /* bodies are filled in */
    int32_t energy_count;
    int32_t *pinned, pinned_count;  /* malloc'ed */
    sheet_mover *mover;             /* NULL: pins stay where they are */
    double amount;                  /* a number for the mover */
    bool (*enough)(const sheet *s); /* NULL, or called with q after each step: true ends the run */
    sinew_real *start;              /* NULL, or malloc'ed: where vertices start */
    double density, gravity, h;     /* kg/m2 or kg/m3, m/s2 downwards (-y), s */
    double damping;                 /* 1/s */
    int32_t steps, moving;          /* steps, and how many of the first of them the pins move */
    sinew_solver_def solver;
    /* ---- results ---- */
    char error[256];
    double seconds, residual; /* processor time of the steps; relative residual of the last */
    int32_t taken;            /* steps until it was enough */
    sinew_real *q;
};

/* An energy with parameters by name: pairs of name and value, NULL at the end. */
sinew_energy_def sheet_energy(sinew_energy_kind kind, ...);
/* Pins the vertices that are held at rest; false when out of memory. */
bool sheet_pin(sheet *s, bool (*held)(const sinew_real *x));

/* A rectangle in the plane z = 0 of nx x ny cells, its upper left corner at the origin, hanging down. Unstructured:
 * vertices inside moved at random by up to 0.3 of a cell, each cell cut along the diagonal that Delaunay would take. */
sinew_mesh *sheet_rectangle(int32_t nx, int32_t ny, double width, double height, bool unstructured, sinew_error *error);
/* A bar along x of n x m x m cells; unstructured: vertices inside moved at random. */
sinew_mesh *sheet_bar(int32_t n, int32_t m, double length, double side, bool unstructured, sinew_error *error);

/* Runs all cases; returns false, with the error in the outcome, if a case fails. */
bool sheets_take(const setting *s, sheet *sheets, int32_t count, const char *label, outcome *o);
void sheets_release(sheet *sheets, int32_t count);

int32_t sheet_vertex_count(const sheet *s);
/* The principal stretches of a triangle now, larger first. */
void sheet_stretch(const sheet *s, int32_t triangle, double stretch[2]);
/* Root mean square distance from the plane z = mean, m. */
double sheet_depth(const sheet *s);
/* A picture of it where it is now. */
void sheet_shape(figure *f, const sheet *s, const char *name);

#endif
