/* SPDX-License-Identifier: MIT
 *
 * run.h: what the files of `sinew run` share: run.c takes the steps, run_formats.c knows what is written, run_files.c
 * keeps the folder, run_summary.c counts.
 */
#ifndef SINEW_RUN_H
#define SINEW_RUN_H

#include <jansson.h>

#include "app.h"
#include "output.h"
#include "settings.h"

/* ---- What happened in the steps (run_summary.c) --------------------------------------------- */

enum {
    SINEW_RUN_BITS = 32,
    SINEW_RUN_TETS = 20 /* inverted ones that are named */
};

/* The largest value so far and the step of it; step 0: there was none. */
typedef struct sinew_run_worst {
    double value;
    int64_t step;
} sinew_run_worst;

/* Counts over all steps of the run, those before a checkpoint included. Holds nothing that depends on the machine or
 * the clock: it travels in the state, which is the same however often a run was killed. */
typedef struct sinew_run_statistics {
    int64_t first_step; /* steps that lie before this folder's run */
    int64_t steps, iterations;
    struct {
        int64_t first, count; /* steps that set the bit */
    } bits[SINEW_RUN_BITS];
    sinew_run_worst residual, relative, gap, gap_below;
    int64_t gap_counts[4]; /* of each sinew_gap_kind */
    int64_t gap_unknown_first;
    char gap_reason[128];                       /* of the first step whose gap is unknown */
    sinew_run_worst violation, complementarity; /* of hard constraints, where a solver met them as a system */
    int64_t constraints_first;
    char constraints[256]; /* what the first step that had something to say about them said */
    sinew_run_worst inverted;
    int64_t inverted_first;
    int32_t tet_count;
    int32_t energies[SINEW_RUN_TETS], tets[SINEW_RUN_TETS]; /* [tet_count] in the worst step */
} sinew_run_statistics;

void sinew_run_count(sinew_run_statistics *statistics, const sinew_world *world, int64_t step,
                     const sinew_step_result *result);
uint32_t sinew_run_bits(const sinew_run_statistics *statistics);           /* of all steps together */
json_t *sinew_run_statistics_json(const sinew_run_statistics *statistics); /* NULL: out of memory */
bool sinew_run_statistics_read(sinew_run_statistics *statistics, const json_t *json);
/* "gap about 3.1e-7 J in the worst step", "gap unknown in 3 of 10 steps: ..." */
void sinew_run_gap_text(const sinew_run_statistics *statistics, char *text, size_t size);
/* "hard constraints violated by at most 2.1e-12"; "": there are none */
void sinew_run_constraint_text(const sinew_run_statistics *statistics, char *text, size_t size);
void sinew_run_residual_text(const sinew_run_statistics *statistics, char *text, size_t size);

/* ---- The run -------------------------------------------------------------------------------- */

typedef struct sinew_run {
    sinew_arguments arguments;
    const char *command_line;
    sinew_settings settings; /* of the scene, in the order in which they hold */
    char *scene_file;        /* absolute path, NULL: not known */
    sinew_scene *scene;
    sinew_world *world;
    bool record; /* one row an iteration, else one a step */
    int64_t frames, per_frame;
    sinew_error error;

    char directory[2048];
    int folder; /* the locked folder, -1 */
    bool wanted[SINEW_CACHE_COUNT];
    uint32_t fields, fields_if_any; /* of caches, as sinew_cache_def has them */
    int32_t morph_frames;
    bool balance;                           /* fields need the balance of each step */
    sinew_cache *caches[SINEW_CACHE_COUNT]; /* NULL: not wanted */
    sinew_output metrics;
    sinew_output contact; /* contact.csv, where the world has contact */
    int64_t first_frame;  /* of this folder */
    bool goes_on;         /* with the files that are in the folder */
    bool kept;            /* there is a checkpoint: files stay, whatever happens */

    sinew_run_statistics statistics;
    int64_t steps_now;                           /* taken by this process */
    double seconds, solver_seconds, gap_seconds; /* of the processes before this one, and of finished steps */
    double began;                                /* s on the clock */
} sinew_run;

double sinew_run_clock(void); /* s, monotonic */

/* ---- What is written (run_formats.c) ---------------------------------------------------------- */

bool sinew_run_read_formats(sinew_run *r);       /* from the command line */
bool sinew_run_check_fields(const sinew_run *r); /* refuses fields that no format would hold */
/* The note of a state carries the formats and fields of its run, as one that goes on must write the same ones:
 * sinew_run_take_note refuses options that say otherwise. */
bool sinew_run_add_to_note(const sinew_run *r, json_t *note);
bool sinew_run_take_note(sinew_run *r, const json_t *note, const char *path);
void sinew_run_print_formats(const sinew_run *r); /* the files and what opens them, each with a comma behind */

/* ---- summary.json (run_summary.c) ------------------------------------------------------------ */

/* NULL when there is none or it is not a run's; *foreign says which. */
json_t *sinew_run_summary_read(const char *directory, bool *foreign);
const char *sinew_run_summary_text(const json_t *summary, const char *key); /* "" when missing */
bool sinew_run_summary_write(sinew_run *r, const char *status);

/* ---- The folder (run_files.c) ---------------------------------------------------------------- */

/* The files that the run writes, for summary.json. */
json_t *sinew_run_manifest(const sinew_run *r);
/* Refuses a folder that holds other files of these names, unless --overwrite. Touches nothing. */
bool sinew_run_check_folder(const sinew_run *r);
/* Makes and locks the folder, removes what --overwrite replaces, opens or reopens all files. */
bool sinew_run_open_files(sinew_run *r);
bool sinew_run_write_frame(sinew_run *r);
void sinew_run_write_metrics(const sinew_run *r, int64_t step);
void sinew_run_write_contact(const sinew_run *r, int64_t step); /* of a step that was taken; without contact nothing */
bool sinew_run_has_contact(const sinew_run *r);
/* All frames and rows, then state.bin, on the disk; then summary.json. */
bool sinew_run_checkpoint(sinew_run *r);
bool sinew_run_close_files(sinew_run *r);
void sinew_run_free_files(sinew_run *r); /* after a failure: leaves a run that can go on, or nothing */

#endif
