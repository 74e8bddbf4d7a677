/* SPDX-License-Identifier: MIT
 *
 * run.h: declarations that the files of `sinew run` share. run.c takes the steps, run_formats.c selects cache formats
 * and fields, run_files.c manages the folder, run_summary.c keeps statistics.
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
    SINEW_RUN_TETS = 20,    /* maximum number of inverted tets that the statistics list */
    SINEW_RUN_DECADES = 64, /* number of intervals of position errors from 1e-15 m on, four in each decade */
};

/* Largest value so far of a statistic, and its step; step 0: there is no value. */
typedef struct sinew_run_worst {
    double value;
    int64_t step;
} sinew_run_worst;

/* Sizes of the record of where a status bit comes from (run_places.c). */
enum {
    SINEW_RUN_PLACE_BODIES = 4,
    SINEW_RUN_PLACE_NAME = 40
};

typedef struct sinew_run_place {
    int32_t body_count;
    /* [body_count] names of the first bodies that set the status bit. */
    char bodies[SINEW_RUN_PLACE_BODIES][SINEW_RUN_PLACE_NAME];
    int64_t step;                    /* step with the worst value of the status bit; 0: unknown */
    char body[SINEW_RUN_PLACE_NAME]; /* name of the body with the worst value of the status bit */
    int32_t vertex, energy, element; /* vertex, energy and element with the worst value, as in sinew_step_place */
    double value;
} sinew_run_place;

/* Updates the records places [SINEW_RUN_BITS] for the status bits of a step. */
void sinew_run_count_places(sinew_run_place *places, const sinew_world *world, int64_t step, uint32_t bits);
/* Returns a remedy of a status bit that measurements support, or "". */
const char *sinew_run_remedy(uint32_t bit);
/* Formats where a status bit comes from: "of jelly; worst in step 12, vertex 3 of jelly: 0.2 N; raise ..."; "" if
 * nothing is known. */
void sinew_run_place_text(const sinew_run_place *place, uint32_t bit, char *text, size_t size);
/* Writes where a status bit comes from as JSON; returns NULL if memory is short. */
json_t *sinew_run_place_json(const sinew_run_place *place, uint32_t bit);
/* Reads a record from summary.json; json NULL: an old summary without such records. */
bool sinew_run_place_read(sinew_run_place *place, const json_t *json);

/* Counts over all steps of the run, including those before a checkpoint. The counts do not depend on machine or clock,
 * because the state stores them, and the state must not depend on interruptions. */
typedef struct sinew_run_statistics {
    int64_t first_step; /* number of steps before the first step of this folder's run */
    int64_t steps, iterations;
    struct {
        int64_t first, count; /* first step that set the status bit, and number of such steps */
    } bits[SINEW_RUN_BITS];
    sinew_run_place places[SINEW_RUN_BITS]; /* bodies, vertices and elements from which each status bit comes */
    /* Worst residuals, in N and relative; worst optimality gaps in J, of SINEW_GAP_ESTIMATE and of SINEW_GAP_BELOW. */
    sinew_run_worst residual, relative, gap, gap_below;
    /* Worst position errors in m: estimates, and bounds of SINEW_GAP_BELOW. */
    sinew_run_worst position, position_below;
    char position_body[64]; /* name of the body with the largest position error, in its worst step; "": none */
    int64_t position_counts
        /* [SINEW_RUN_DECADES] number of steps with a position error in each interval, four per decade from 1e-15 m
         * on */
        [SINEW_RUN_DECADES];
    int64_t gap_counts[4]; /* number of steps of the run with each sinew_gap_kind */
    int64_t gap_unknown_first;
    char gap_reason[128]; /* reason of the first step whose optimality gap is unknown */
    /* Worst violation and complementarity of hard constraints that a solver handled as a system. */
    sinew_run_worst violation, complementarity;
    int64_t constraints_first;
    char constraints[256];    /* first message about redundant, violated or contradictory hard constraints */
    sinew_run_worst inverted; /* largest number of inverted tets in a step */
    int64_t inverted_first;   /* first step of the run with inverted tets; 0: none */
    int32_t tet_count;        /* number of inverted tets that are listed */
    /* [tet_count] inverted tets of the worst step: indices of their energies, and their element numbers in these
     * energies */
    int32_t energies[SINEW_RUN_TETS], tets[SINEW_RUN_TETS];
} sinew_run_statistics;

void sinew_run_count(sinew_run_statistics *statistics, const sinew_world *world, int64_t step,
                     const sinew_step_result *result);
uint32_t sinew_run_bits(const sinew_run_statistics *statistics); /* union of the status bits of all steps of the run */
/* Writes the statistics of a run as JSON; returns NULL if memory is short. */
json_t *sinew_run_statistics_json(const sinew_run_statistics *statistics);
bool sinew_run_statistics_read(sinew_run_statistics *statistics, const json_t *json);
/* Formats the optimality gap of a run: "gap about 3.1e-7 J in the worst step", "gap unknown in 3 of 10 steps: ...". */
void sinew_run_gap_text(const sinew_run_statistics *statistics, char *text, size_t size);
/* Formats the position errors of a run: "cape within 0.03 mm in 126 of 140 measured steps, 0.4 mm in the worst (step
 * 31)"; "" if no step has a position error. */
void sinew_run_position_text(const sinew_run_statistics *statistics, char *text, size_t size);
/* Formats the violation of hard constraints: "hard constraints violated by at most 2.1e-12"; "" if there are none. */
void sinew_run_constraint_text(const sinew_run_statistics *statistics, char *text, size_t size);
void sinew_run_residual_text(const sinew_run_statistics *statistics, char *text, size_t size);

/* Size and CRC-32 checksum of the first bytes of a file; size 0: there is none. */
typedef struct sinew_run_check {
    int64_t size;
    uint32_t crc;
} sinew_run_check;

/* ---- The run as a struct --------------------------------------------------------------------- */

typedef struct sinew_run {
    sinew_arguments arguments;
    const char *command_line;
    sinew_settings settings; /* settings of the scene from the command line, in the order of application */
    char *scene_file;        /* absolute path of the run's scene file; NULL: unknown */
    sinew_scene *scene;
    sinew_world *world;
    bool record; /* true: metrics.csv has one row per iteration; false: one row per step */
    int64_t frames, per_frame;
    sinew_error error;

    char directory[2048];
    int folder;                     /* file descriptor of the locked run folder; -1: none */
    bool wanted[SINEW_CACHE_COUNT]; /* true for each cache format to write */
    uint32_t fields, fields_if_any; /* bits of required and of optional cache fields, as in sinew_cache_def */
    int32_t morph_frames;
    bool balance; /* true: steps compute their energy balance, for fields (residual, reaction) or a continued run */
    sinew_cache *caches[SINEW_CACHE_COUNT]; /* open cache of each format; NULL: not requested */
    sinew_output metrics;
    sinew_output contact;   /* output file contact.csv, open if the world has contact */
    sinew_output checksums; /* output file checksums.csv, open if a cache format has one file per frame */
    sinew_run_check checks[SINEW_RUN_GROWING]; /* checksums of growing cache files at the last checkpoint */
    /* Object "closed" of summary.json, with files written when caches were closed; NULL: no cache was closed yet. */
    json_t *closed;
    int64_t first_frame; /* number of the first frame in this run's folder */
    bool goes_on;        /* true: the run continues existing files in its folder */
    bool nothing_left;   /* true: the folder's run is finished and ends with the last requested frame */
    bool kept;           /* true: a checkpoint exists, so that a failure does not remove the files */

    sinew_run_statistics statistics;
    int64_t steps_now; /* number of steps that this process has taken */
    /* Times in s: wall-clock time of earlier processes; time in the solver, and on optimality gaps, in all
     * processes. */
    double seconds, solver_seconds, gap_seconds;
    double began; /* start time of this process on sinew_run_clock(), in s */
} sinew_run;

double sinew_run_clock(void); /* time of a monotonic clock, in s */

/* ---- Cache formats and fields (run_formats.c) --------------------------------------------------- */

bool sinew_run_read_formats(sinew_run *r);       /* reads cache formats and fields from the command line */
bool sinew_run_check_fields(const sinew_run *r); /* refuses cache fields that no chosen format can store */
/* The comment of a state stores the cache formats and fields of its run, because a continued run must write the same
 * ones. sinew_run_match_formats sets them from the comment of the state at `path`. It returns false, with a message,
 * if the command line gives others. */
bool sinew_run_add_to_state_comment(const sinew_run *r, json_t *comment);
bool sinew_run_match_formats(sinew_run *r, const json_t *comment, const char *path);
/* Prints the cache files and the programs that open them, each with a comma behind it. */
void sinew_run_print_formats(const sinew_run *r);

/* ---- summary.json of a run (run_summary.c) ------------------------------------------------------ */

/* Reads summary.json of a folder. NULL: there is none, or it is not of a run (*foreign is then true). */
json_t *sinew_run_summary_read(const char *directory, bool *foreign);
/* Text of a key of summary.json; "" if the key is missing. */
const char *sinew_run_summary_text(const json_t *summary, const char *key);
bool sinew_run_summary_write(sinew_run *r, const char *status);
/* Writes the progress of a run: "running, step 12 of 200", or "killed, ..." if no process of this machine writes
 * there, for a summary whose status is "running". The function only reads: it takes no lock that could stop a run. */
void sinew_run_progress_text(const char *directory, const json_t *summary, char *text, size_t size);

/* ---- The folder of a run (run_files.c) --------------------------------------------------------- */

/* Lists the files that the run writes, for summary.json; `existing` omits single files of caches that are not there. */
json_t *sinew_run_manifest(const sinew_run *r, bool existing);
/* Refuses a run folder that has other files of the run's names, unless --overwrite is given. The function changes no
 * file. */
bool sinew_run_check_folder(const sinew_run *r);
/* Creates and locks the run folder, removes files that --overwrite replaces, and opens or reopens all files. */
bool sinew_run_open_files(sinew_run *r);
/* Verifies the checksums of the frames of a continued run (run_checksums.c). */
bool sinew_run_verify_frames(sinew_run *r);
bool sinew_run_write_frame(sinew_run *r);
void sinew_run_write_metrics(const sinew_run *r, int64_t step, const sinew_step_result *result);
/* Writes the contact row of a completed step; no effect without contact. */
void sinew_run_write_contact(const sinew_run *r, int64_t step);
bool sinew_run_has_contact(const sinew_run *r);
/* Sets formats, fields, first frame and statistics of a continued run from the comment of the state at `path`. Returns
 * false, with a message, if data are missing or if formats, --record or contact differ from those of the run before. */
bool sinew_run_read_state_comment(sinew_run *r, const json_t *comment, const char *path);
/* Prints why --resume cannot continue the files beside the state at `path`. Returns false. */
bool sinew_run_refuse_resume(const char *path, const char *text);
/* Writes a checkpoint: flushes all frames and rows, then state.bin, to the disk; then writes summary.json. */
bool sinew_run_checkpoint(sinew_run *r);
bool sinew_run_close_files(sinew_run *r); /* renames caches and tables to their final names */
/* Releases the lock of the run folder. Without a checkpoint (r->kept) also removes all files of the run; after a
 * failure with a checkpoint, unfinished files stay for --resume. */
void sinew_run_free_files(sinew_run *r);

/* ---- Checksums of a run's files (run_checksums.c) ----------------------------------------------- */

bool sinew_run_has_sequence(const sinew_run *r); /* true if a cache format of the run has one file per frame */
void sinew_run_checksums_head(FILE *stream);
bool sinew_run_checksum_frame(sinew_run *r); /* appends checksums of the files of the current frame to checksums.csv */
/* Updates r->checks by the bytes that cache files have gained since the last checkpoint. */
bool sinew_run_checksum_growth(sinew_run *r);
json_t *sinew_run_checks_json(const sinew_run *r);
/* Reads the checksums of growing cache files; returns false if they are damaged. */
bool sinew_run_checks_read(sinew_run *r, const json_t *checks);
/* Returns checksums of the files that were written when the caches were closed; NULL: out of memory. */
json_t *sinew_run_closed_json(sinew_run *r);
/* Verifies the files of all frames of the state. Prints the first file that is missing or was changed and returns
 * false. `any_frame` is false if the state is before the first frame of the folder. */
bool sinew_run_verify(sinew_run *r, bool any_frame);

#endif
