/* SPDX-License-Identifier: MIT
 *
 * run.h: declarations that the files of `sinew run` share. run.c takes the steps, run_formats.c selects formats and
 * fields, run_files.c manages the folder, run_summary.c counts events.
 */
#ifndef SINEW_RUN_H
#define SINEW_RUN_H

#include <jansson.h>

#include "app.h"
#include "output.h"
#include "settings.h"

/* ---- Statistics of the steps (run_summary.c) ------------------------------------------------ */

enum {
    SINEW_RUN_GROWING = 19, /* number of kinds of cache files that grow (run_checksums.c) */
    SINEW_RUN_BITS = 32,
    SINEW_RUN_TETS = 20,    /* number of inverted tets that are listed */
    SINEW_RUN_DECADES = 64, /* intervals of position errors from 1e-15 m, four in each decade */
};

/* The largest value so far and its step; step 0: there is no value. */
typedef struct sinew_run_worst {
    double value;
    int64_t step;
} sinew_run_worst;

/* Where a status bit comes from (run_places.c). */
enum {
    SINEW_RUN_PLACE_BODIES = 4,
    SINEW_RUN_PLACE_NAME = 40
};

typedef struct sinew_run_place {
    int32_t body_count;
    char bodies[SINEW_RUN_PLACE_BODIES][SINEW_RUN_PLACE_NAME]; /* [body_count] names of the first bodies concerned */
    int64_t step;                                              /* step with the worst value of the bit; 0: unknown */
    char body[SINEW_RUN_PLACE_NAME];                           /* name of the body with the worst value */
    int32_t vertex, energy, element;                           /* where the worst value is, as in sinew_step_place */
    double value;
} sinew_run_place;

/* Updates the places [SINEW_RUN_BITS] of the bits of a step. */
void sinew_run_count_places(sinew_run_place *places, const sinew_world *world, int64_t step, uint32_t bits);
/* A remedy of a status bit that measurements support, or "". */
const char *sinew_run_remedy(uint32_t bit);
/* Formats "of jelly; worst in step 12, vertex 3 of jelly: 0.2 N; raise ..."; "" if nothing is known. */
void sinew_run_place_text(const sinew_run_place *place, uint32_t bit, char *text, size_t size);
json_t *sinew_run_place_json(const sinew_run_place *place, uint32_t bit); /* returns NULL if memory is short */
bool sinew_run_place_read(sinew_run_place *place, const json_t *json);    /* json NULL: an old summary without places */

/* Counts over all steps of the run, including those before a checkpoint. The counts do not depend on machine or clock,
 * because the state stores them, and the state must not depend on interruptions. */
typedef struct sinew_run_statistics {
    int64_t first_step; /* number of steps before the first one of this folder's run */
    int64_t steps, iterations;
    struct {
        int64_t first, count; /* first step that set the bit, and number of such steps */
    } bits[SINEW_RUN_BITS];
    sinew_run_place places[SINEW_RUN_BITS]; /* where each status bit comes from */
    /* worst residual in N and relative; worst gap in J of SINEW_GAP_ESTIMATE and of SINEW_GAP_BELOW */
    sinew_run_worst residual, relative, gap, gap_below;
    sinew_run_worst position, position_below; /* position errors in m: estimates, and those of SINEW_GAP_BELOW */
    char position_body[64]; /* name of the body with the largest position error, in its worst step; "": none */
    int64_t position_counts
        [SINEW_RUN_DECADES]; /* number of steps by position error, four intervals a decade from 1e-15 m */
    int64_t gap_counts[4];   /* number of steps for each sinew_gap_kind */
    int64_t gap_unknown_first;
    char gap_reason[128];                       /* reason of the first step whose gap is unknown */
    sinew_run_worst violation, complementarity; /* worst values of hard constraints that a solver handled as a system */
    int64_t constraints_first;
    char constraints[256];    /* the first message about these constraints */
    sinew_run_worst inverted; /* worst number of inverted tets in a step */
    int64_t inverted_first;   /* first step with inverted tets; 0: none */
    int32_t tet_count;        /* number of inverted tets that are listed */
    /* [tet_count] inverted tets of the worst step: indices of their energies, and their element numbers there */
    int32_t energies[SINEW_RUN_TETS], tets[SINEW_RUN_TETS];
} sinew_run_statistics;

void sinew_run_count(sinew_run_statistics *statistics, const sinew_world *world, int64_t step,
                     const sinew_step_result *result);
uint32_t sinew_run_bits(const sinew_run_statistics *statistics);           /* union of the status bits of all steps */
json_t *sinew_run_statistics_json(const sinew_run_statistics *statistics); /* returns NULL if memory is short */
bool sinew_run_statistics_read(sinew_run_statistics *statistics, const json_t *json);
/* Formats "gap about 3.1e-7 J in the worst step", "gap unknown in 3 of 10 steps: ...". */
void sinew_run_gap_text(const sinew_run_statistics *statistics, char *text, size_t size);
/* Formats "cape within 0.03 mm in 126 of 140 measured steps, 0.4 mm in the worst (step 31)"; "" if no step has a
 * position error. */
void sinew_run_position_text(const sinew_run_statistics *statistics, char *text, size_t size);
/* Formats "hard constraints violated by at most 2.1e-12"; "" if there are none. */
void sinew_run_constraint_text(const sinew_run_statistics *statistics, char *text, size_t size);
void sinew_run_residual_text(const sinew_run_statistics *statistics, char *text, size_t size);

/* Size and CRC-32 of the first bytes of a file; size 0: there is none. */
typedef struct sinew_run_check {
    int64_t size;
    uint32_t crc;
} sinew_run_check;

/* ---- The run -------------------------------------------------------------------------------- */

typedef struct sinew_run {
    sinew_arguments arguments;
    const char *command_line;
    sinew_settings settings; /* settings of the scene, in the order of application */
    char *scene_file;        /* absolute path of the scene file; NULL: unknown */
    sinew_scene *scene;
    sinew_world *world;
    bool record; /* metrics.csv has one row per iteration; false: one row per step */
    int64_t frames, per_frame;
    sinew_error error;

    char directory[2048];
    int folder;                     /* descriptor of the locked folder, -1: none */
    bool wanted[SINEW_CACHE_COUNT]; /* true for each cache format to write */
    uint32_t fields, fields_if_any; /* bits of cache fields, as in sinew_cache_def */
    int32_t morph_frames;
    bool balance; /* true: steps compute their energy balance, for fields (residual, reaction) or a continued run */
    sinew_cache *caches[SINEW_CACHE_COUNT]; /* open cache of each format; NULL: not requested */
    sinew_output metrics;
    sinew_output contact;                      /* contact.csv, open if the world has contact */
    sinew_output checksums;                    /* checksums.csv, open if a format has one file per frame */
    sinew_run_check checks[SINEW_RUN_GROWING]; /* checksums of growing cache files at the last checkpoint */
    json_t *closed;                            /* "closed" of summary.json; NULL: no cache was closed yet */
    int64_t first_frame;                       /* number of the first frame of this folder */
    bool goes_on;                              /* true: the run continues the files in the folder */
    bool nothing_left;                         /* the folder's run is finished and ends with the last requested frame */
    bool kept;                                 /* true: a checkpoint exists, so a failure does not remove the files */

    sinew_run_statistics statistics;
    int64_t steps_now; /* number of steps of this process */
    /* in s: wall-clock time of earlier processes; time in the solver and on gaps in all processes */
    double seconds, solver_seconds, gap_seconds;
    double began; /* start of this process on sinew_run_clock(), in s */
} sinew_run;

double sinew_run_clock(void); /* time of a monotonic clock, in s */

/* ---- Formats and fields (run_formats.c) ------------------------------------------------------- */

bool sinew_run_read_formats(sinew_run *r);       /* reads formats and fields from the command line */
bool sinew_run_check_fields(const sinew_run *r); /* refuses fields that no chosen format can store */
/* The comment of a state stores the formats and fields of its run, because a continued run must write the same ones.
 * sinew_run_match_formats sets them from the comment of the state at `path`. It returns false, with a message, if the
 * command line gives others. */
bool sinew_run_add_to_state_comment(const sinew_run *r, json_t *comment);
bool sinew_run_match_formats(sinew_run *r, const json_t *comment, const char *path);
/* Prints the files and the programs that open them, each with a comma behind it. */
void sinew_run_print_formats(const sinew_run *r);

/* ---- summary.json (run_summary.c) ------------------------------------------------------------ */

/* Reads summary.json. NULL: there is none, or it is not of a run (*foreign is then true). */
json_t *sinew_run_summary_read(const char *directory, bool *foreign);
const char *sinew_run_summary_text(const json_t *summary, const char *key); /* text of a key; "" when missing */
bool sinew_run_summary_write(sinew_run *r, const char *status);
/* Prints "running, step 12 of 200", or "killed, ..." if no process of this machine writes there, for a summary whose
 * status is "running". The function only reads: it takes no lock that could stop a run. */
void sinew_run_progress_text(const char *directory, const json_t *summary, char *text, size_t size);

/* ---- The folder (run_files.c) ---------------------------------------------------------------- */

/* The files that the run writes, for summary.json; `existing` omits single files of caches that are not there. */
json_t *sinew_run_manifest(const sinew_run *r, bool existing);
/* Refuses a folder that has other files of these names, unless --overwrite is given. The function changes no file. */
bool sinew_run_check_folder(const sinew_run *r);
/* Creates and locks the folder, removes files that --overwrite replaces, and opens or reopens all files. */
bool sinew_run_open_files(sinew_run *r);
/* Verifies the frames of a continued run (run_checksums.c). */
bool sinew_run_verify_frames(sinew_run *r);
bool sinew_run_write_frame(sinew_run *r);
void sinew_run_write_metrics(const sinew_run *r, int64_t step, const sinew_step_result *result);
void sinew_run_write_contact(const sinew_run *r, int64_t step); /* writes a completed step; no effect without contact */
bool sinew_run_has_contact(const sinew_run *r);
/* Sets formats, fields, first frame and statistics of a continued run from the comment of the state at `path`. Returns
 * false, with a message, if data are missing or if formats, --record or contact differ from those of the run before. */
bool sinew_run_read_state_comment(sinew_run *r, const json_t *comment, const char *path);
/* Prints why --resume cannot continue the files beside the state at `path`. Returns false. */
bool sinew_run_refuse_resume(const char *path, const char *text);
/* Flushes all frames and rows, then state.bin, to the disk; then writes summary.json. */
bool sinew_run_checkpoint(sinew_run *r);
bool sinew_run_close_files(sinew_run *r); /* gives caches and tables their final names */
/* Releases the folder's lock. Without a checkpoint (r->kept) also removes all files of the run; after a failure with a
 * checkpoint, unfinished files stay for --resume. */
void sinew_run_free_files(sinew_run *r);

/* ---- Checksums (run_checksums.c) -------------------------------------------------------------- */

bool sinew_run_has_sequence(const sinew_run *r); /* true if a format has one file per frame */
void sinew_run_checksums_head(FILE *stream);
bool sinew_run_checksum_frame(sinew_run *r);  /* appends the files of the current frame to checksums.csv */
bool sinew_run_checksum_growth(sinew_run *r); /* updates r->checks by the bytes since the last checkpoint */
json_t *sinew_run_checks_json(const sinew_run *r);
bool sinew_run_checks_read(sinew_run *r, const json_t *checks); /* returns false if the checks are damaged */
/* Checksums of the files that the caches wrote when they were closed; NULL: out of memory. */
json_t *sinew_run_closed_json(sinew_run *r);
/* Verifies the files of all frames of the state. Prints the first file that is missing or was changed and returns
 * false. `any_frame` is false if the state is before the first frame of the folder. */
bool sinew_run_verify(sinew_run *r, bool any_frame);

#endif
