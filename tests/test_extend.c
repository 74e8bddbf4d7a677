/* SPDX-License-Identifier: MIT
 *
 * test_extend.c: energies and solvers registered through sinew/extend.h. A copy of the library's spring with every
 * optional operation takes the same steps as the original in every solver. The examples agree with the library's own
 * where they should. Data passed to a solver agree with finite differences. Every refusal names its operation and
 * reason.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../examples/extend/extend_energy.c"
#include "../examples/extend/extend_solver.c"

#ifdef SINEW_SINGLE
#define NEAR  2e-3 /* fraction of the size */
#define EXACT 2e-3 /* tolerance of derivatives in single precision */
#define SOLVED                                                                                                         \
    (SINEW_STEP_ROUND_OFF | SINEW_STEP_UNMEASURED) /* a solved step of the single build may have these bits */
#else
#define NEAR   1e-7
#define EXACT  1e-6
#define SOLVED 0
#endif

/* ---- A registered spring ------------------------------------------------------------------------- */

static const sinew_parameter thread_parameters[] = {{.name = "stiffness",
                                                     .unit = "N/m",
                                                     .maximum = INFINITY,
                                                     .preset = 1000,
                                                     .open_minimum = true,
                                                     .open_maximum = true,
                                                     .meaning = "k"}};

/* Length and unit vector from the first end to the second. */
static double thread_length(const double *x, double u[3])
{
    double length = 0;
    for (int c = 0; c < 3; c++) {
        u[c] = x[3 + c] - x[c];
        length += u[c] * u[c];
    }
    length = sqrt(length);
    for (int c = 0; c < 3; c++)
        u[c] /= length;
    return length;
}

static const char *thread_prepare(void *context, const sinew_extension_element *element, double *data)
{
    double u[3];
    assert_ptr_equal(context, thread_parameters);
    data[0] = element->parameters[0];
    data[1] = thread_length(element->rest, u);
    if (data[1] > 0)
        return NULL;
    snprintf(element->reason, SINEW_EXTENSION_REASON_MAX, "its length is %g m", data[1]);
    return element->reason;
}

static double thread_value(void *context, const double *data, const double *x)
{
    (void)context;
    double u[3];
    const double C = thread_length(x, u) - data[1];
    return 0.5 * data[0] * C * C;
}

static void thread_constraint(void *context, const double *data, const double *x, double *C, double *gradient,
                              double *alpha)
{
    (void)context;
    double u[3];
    C[0] = thread_length(x, u) - data[1];
    alpha[0] = 1 / data[0];
    for (int i = 0; i < 6; i++)
        gradient[i] = i < 3 ? -u[i] : u[i - 3];
}

static void thread_gradient(void *context, const double *data, const double *x, double *gradient)
{
    double C, alpha;
    thread_constraint(context, data, x, &C, gradient, &alpha);
    for (int i = 0; i < 6; i++)
        gradient[i] *= C / alpha;
}

static void thread_hessian(void *context, const double *data, const double *x, double *hessian)
{
    (void)context;
    double u[3];
    const double length = thread_length(x, u), slack = 1 - data[1] / length;
    for (int i = 0; i < 36; i++) {
        const int a = i / 6, b = i % 6;
        const double block = slack * (a % 3 == b % 3) + (1 - slack) * u[a % 3] * u[b % 3];
        hessian[i] = (a / 3 == b / 3 ? 1 : -1) * data[0] * block;
    }
}

static void thread_reduce(void *context, const double *data, double *D)
{
    (void)context;
    (void)data;
    D[0] = -1;
    D[1] = 1;
}

static double thread_stiffness(void *context, const double *data, double low, double high)
{
    (void)context;
    (void)low;
    (void)high;
    return data[0];
}

static void thread_project(void *context, const double *data, const double *z, double *nearest)
{
    (void)context;
    const double length = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    for (int c = 0; c < 3; c++)
        nearest[c] = z[c] * data[1] / length;
}

static sinew_energy_extension thread_energy(void)
{
    sinew_energy_extension e = sinew_default_energy_extension();
    e.name = "thread";
    e.summary = "k/2 (|x1 - x0| - L)^2";
    e.context = (void *)(uintptr_t)thread_parameters;
    e.stencil = SINEW_STENCIL_EDGE;
    e.parameters = thread_parameters;
    e.parameter_count = 1;
    e.data_count = 2;
    e.prepare = thread_prepare;
    e.value = thread_value;
    e.gradient = thread_gradient;
    e.hessian = thread_hessian;
    e.constraint_count = 1;
    e.constraint = thread_constraint;
    e.reduced_count = 1;
    e.reduce = thread_reduce;
    e.stiffness = thread_stiffness;
    e.project = thread_project;
    return e;
}

/* ---- Registered solvers -------------------------------------------------------------------------- */

/* Results of `probe`: errors of derivatives of a step against finite differences. */
static struct {
    double product, diagonal, value;
    int32_t steps, created, destroyed, pinned;
    bool quasistatic;
    double h, scale;
} probed;

typedef struct probe {
    sinew_real *p, *product, *moved, *up, *down; /* [particle_count][4] */
    double *blocks;
} probe;

static sinew_status probe_create(void *context, sinew_problem *problem, void **memory, sinew_error *error)
{
    (void)context;
    (void)error;
    const size_t size = 4 * (size_t)sinew_problem_particle_count(problem);
    probe *n = *memory = sinew_problem_allocate(problem, 1, sizeof *n);
    sinew_real **arrays[] = {&n->p, &n->product, &n->moved, &n->up, &n->down};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        *arrays[i] = sinew_problem_allocate(problem, size, sizeof **arrays[i]);
    n->blocks = sinew_problem_allocate(problem, 3 * size, sizeof *n->blocks);
    probed.created++;
    return SINEW_OK;
}

static void probe_destroy(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    probe *n = memory;
    void *arrays[] = {n->p, n->product, n->moved, n->up, n->down, n->blocks, n};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_problem_release(problem, arrays[i]);
    probed.destroyed++;
}

static void probe_begin(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    (void)memory;
    probed.steps++;
    probed.h = sinew_problem_time_step(problem);
    probed.quasistatic = sinew_problem_quasistatic(problem);
    probed.scale = sinew_problem_parameter(problem, 0);
    sinew_problem_start(problem, false);
}

/* Compares differences of gradients along p with the product, and differences of the value with the gradient. */
static void probe_direction(sinew_problem *problem, probe *n)
{
    const sinew_real *q = sinew_problem_positions(problem);
    const int32_t size = 4 * sinew_problem_particle_count(problem);
    /* Single precision: above 2e-4 the third derivative dominates the error, below it round-off. */
    const double step = sizeof(sinew_real) == 4 ? 2e-4 : 1e-6;
    double error = 0, largest = 0;
    for (int32_t i = 0; i < size; i++)
        n->moved[i] = (sinew_real)((double)q[i] + step * (double)n->p[i]);
    const double above = sinew_problem_evaluate_at(problem, n->moved, n->up);
    for (int32_t i = 0; i < size; i++)
        n->moved[i] = (sinew_real)((double)q[i] - step * (double)n->p[i]);
    const double below = sinew_problem_evaluate_at(problem, n->moved, n->down);
    assert_true(below == sinew_problem_evaluate_at(problem, n->moved, NULL));
    for (int32_t i = 0; i < size; i++) {
        error = fmax(error, fabs(((double)n->up[i] - (double)n->down[i]) / (2 * step) - (double)n->product[i]));
        largest = fmax(largest, fabs((double)n->product[i]));
    }
    const double slope = sinew_problem_dot(problem, sinew_problem_gradient(problem), n->p);
    probed.product = fmax(probed.product, error / largest);
    probed.value = fmax(probed.value, fabs((above - below) / (2 * step) - slope) / fmax(fabs(slope), 1e-3));
}

/* The diagonal block of one particle against products with its unit vectors. */
static void probe_diagonal(sinew_problem *problem, probe *n, int32_t particle)
{
    const int32_t size = 4 * sinew_problem_particle_count(problem);
    sinew_problem_diagonal(problem, sinew_problem_positions(problem), false, n->blocks);
    for (int c = 0; c < 3; c++) {
        memset(n->p, 0, (size_t)size * sizeof *n->p);
        n->p[4 * particle + c] = 1;
        sinew_problem_product(problem, n->p, n->product);
        for (int r = 0; r < 3; r++)
            probed.diagonal =
                fmax(probed.diagonal, fabs((double)n->product[4 * particle + r] - n->blocks[9 * particle + 3 * r + c]) /
                                          fabs(n->blocks[9 * particle]));
    }
}

static uint32_t probe_iterate(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    probe *n = memory;
    const int32_t count = sinew_problem_particle_count(problem);
    const uint8_t *pinned = sinew_problem_pinned(problem);
    probed.pinned = 0;
    for (int32_t i = 0; i < 4 * count; i++) {
        n->p[i] = pinned[i / 4] || i % 4 == 3 ? 0 : (sinew_real)sin(1.0 + i);
        assert_true(sinew_problem_masses(problem)[i / 4] > 0);
        probed.pinned += pinned[i / 4] && i % 4 == 0;
    }
    sinew_problem_linearise(problem, sinew_problem_positions(problem), false);
    sinew_problem_product(problem, n->p, n->product);
    probe_direction(problem, n);
    for (int32_t i = 0; i < count; i++)
        if (!pinned[i])
            probe_diagonal(problem, n, i);
    /* The solver writes its own step to the iterate. */
    sinew_real *q = sinew_problem_positions(problem);
    const sinew_real *g = sinew_problem_gradient(problem);
    const double before = sinew_problem_evaluate(problem);
    for (int32_t i = 0; i < 4 * count; i++)
        q[i] -= (sinew_real)(1e-8 * (double)g[i]);
    sinew_problem_moved(problem);
    assert_true(sinew_problem_evaluate(problem) <= before);
    return 0;
}

static const sinew_parameter probe_parameters[] = {
    {.name = "scale", .unit = "", .maximum = 10, .preset = 2.5, .meaning = "a number"}};

static sinew_solver_extension probe_solver(void)
{
    sinew_solver_extension s = sinew_default_solver_extension();
    s.name = "probe";
    s.summary = "looks at a step";
    s.parameters = probe_parameters;
    s.parameter_count = 1;
    s.default_iterations = 2;
    s.products = true;
    s.create = probe_create;
    s.begin = probe_begin;
    s.iterate = probe_iterate;
    s.destroy = probe_destroy;
    return s;
}

static sinew_status poor_create(void *context, sinew_problem *problem, void **memory, sinew_error *error)
{
    (void)context;
    (void)problem;
    (void)memory;
    *error = (sinew_error){SINEW_ERROR_MEMORY, "poor: nothing left"};
    return SINEW_ERROR_MEMORY;
}

static sinew_status silent_create(void *context, sinew_problem *problem, void **memory, sinew_error *error)
{
    (void)context;
    (void)problem;
    (void)memory;
    assert_string_equal(error->text, "");
    return SINEW_ERROR_MEMORY;
}

static void poor_destroy(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    (void)problem;
    assert_null(memory);
}

/* ---- Bend: listed elements of three vertices ----------------------------------------------------- */

static const double bend_d[3] = {1, -2, 1}; /* psi = k/2 |sum d_a x_a|^2 */

static const char *bend_prepare(void *context, const sinew_extension_element *element, double *data)
{
    (void)context;
    assert_int_equal(element->vertex_count, 3);
    data[0] = 50;
    return NULL;
}

static void bend_gradient(void *context, const double *data, const double *x, double *gradient)
{
    (void)context;
    for (int i = 0; i < 9; i++)
        gradient[i] = data[0] * bend_d[i / 3] * (x[i % 3] - 2 * x[3 + i % 3] + x[6 + i % 3]);
}

static double bend_value(void *context, const double *data, const double *x)
{
    double gradient[9];
    bend_gradient(context, data, x, gradient);
    return 0.5 * (gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]) / data[0];
}

static void bend_hessian(void *context, const double *data, const double *x, double *hessian)
{
    (void)context;
    (void)x;
    for (int i = 0; i < 81; i++)
        hessian[i] = i / 9 % 3 == i % 9 % 3 ? data[0] * bend_d[i / 27] * bend_d[i % 9 / 3] : 0;
}

static sinew_energy_extension bend_energy(void)
{
    sinew_energy_extension e = sinew_default_energy_extension();
    e.name = "bend_listed";
    e.summary = "k/2 |x0 - 2 x1 + x2|^2";
    e.stencil = SINEW_STENCIL_COUNT;
    e.vertex_count = 3;
    e.data_count = 1;
    e.prepare = bend_prepare;
    e.value = bend_value;
    e.gradient = bend_gradient;
    e.hessian = bend_hessian;
    return e;
}

/* ---- Registration -------------------------------------------------------------------------------- */

static sinew_energy_kind fibre, own_thread, own_bend;
static sinew_solver_kind descending, probing, poor, silent, picky;

static void must(const sinew_error *error)
{
    if (error->status != SINEW_OK)
        fail_msg("%s", error->text);
}

static sinew_energy_kind add_energy(sinew_energy_extension e)
{
    sinew_error error = {SINEW_OK, ""};
    const sinew_energy_kind kind = sinew_register_energy(&e, &error);
    must(&error);
    assert_true(kind > SINEW_ENERGY_COUNT && sinew_energy_by_name(e.name) == kind);
    assert_string_equal(sinew_get_energy_info(kind)->name, e.name);
    return kind;
}

static sinew_solver_kind add_solver(sinew_solver_extension s)
{
    sinew_error error = {SINEW_OK, ""};
    const sinew_solver_kind kind = sinew_register_solver(&s, &error);
    must(&error);
    assert_true(kind > SINEW_SOLVER_COUNT && sinew_solver_by_name(s.name) == kind);
    return kind;
}

static void refuse_energy(const sinew_energy_extension *e, const char *text)
{
    sinew_error error = {SINEW_OK, ""};
    assert_int_equal(sinew_register_energy(e, &error), SINEW_ENERGY_COUNT);
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    assert_string_equal(error.text, text);
}

static void refuse_solver(const sinew_solver_extension *s, const char *text)
{
    sinew_error error = {SINEW_OK, ""};
    assert_int_equal(sinew_register_solver(s, &error), SINEW_SOLVER_COUNT);
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    assert_string_equal(error.text, text);
}

/* Checks that a copy of `thread` with one changed assignment is refused. */
#define REFUSE_ENERGY(change, text)                                                                                    \
    do {                                                                                                               \
        sinew_energy_extension e = thread_energy();                                                                    \
        e.name = "yeoh";                                                                                               \
        change;                                                                                                        \
        refuse_energy(&e, text);                                                                                       \
    } while (0)
#define REFUSE_SOLVER(change, text)                                                                                    \
    do {                                                                                                               \
        sinew_solver_extension s = probe_solver();                                                                     \
        s.name = "ball";                                                                                               \
        change;                                                                                                        \
        refuse_solver(&s, text);                                                                                       \
    } while (0)

static void broken_energies_are_refused(void **unused)
{
    (void)unused;
    static const sinew_parameter twice[2] = {{.name = "k", .unit = "", .maximum = 1, .meaning = "k"},
                                             {.name = "k", .unit = "", .maximum = 1, .meaning = "k"}},
                                 outside = {.name = "k", .unit = "m", .maximum = 1, .preset = 2, .meaning = "k"},
                                 nameless = {.name = "", .unit = "", .maximum = 1, .meaning = "k"},
                                 bare = {.name = "k", .maximum = 1, .meaning = "k"},
                                 mute = {.name = "k", .unit = "", .maximum = 1},
                                 taken = {.name = "hard", .unit = "", .maximum = 1, .meaning = "k"};
    refuse_energy(NULL, "energy '': it was not made by sinew_default_energy_extension()");
    REFUSE_ENERGY(e.cookie = 0, "energy '': it was not made by sinew_default_energy_extension()");
    REFUSE_ENERGY(e.size -= 8,
                  "energy 'yeoh': it was compiled with another version of sinew/extend.h than the library");
    REFUSE_ENERGY(e.name = NULL, "energy '': its name is missing");
    REFUSE_ENERGY(e.name = "", "energy '': its name is missing");
    REFUSE_ENERGY(e.name = "Yeoh",
                  "energy 'Yeoh': its name has other characters than lower-case letters, digits and '_'");
    REFUSE_ENERGY(e.name = "a_name_that_is_far_too_long_to_be_read_by_anybody",
                  "energy 'a_name_that_is_far_too_long_to_be_read_by_anybody': its name is longer than 40 characters");
    REFUSE_ENERGY(e.summary = NULL, "energy 'yeoh': its summary is missing");
    REFUSE_ENERGY(e.prepare = NULL, "energy 'yeoh': operation prepare is missing");
    REFUSE_ENERGY(e.value = NULL, "energy 'yeoh': operation value is missing");
    REFUSE_ENERGY(e.gradient = NULL, "energy 'yeoh': operation gradient is missing");
    REFUSE_ENERGY(e.hessian = NULL, "energy 'yeoh': operation hessian is missing");
    REFUSE_ENERGY(e.constraint_count = 0, "energy 'yeoh': constraint_count is 0, must be in [1, 16]");
    REFUSE_ENERGY(e.constraint_count = 17, "energy 'yeoh': constraint_count is 17, must be in [1, 16]");
    REFUSE_ENERGY(e.constraint = NULL, "energy 'yeoh': operation constraint is missing, and constraint_count is not 0");
    REFUSE_ENERGY(e.stiffness = NULL, "energy 'yeoh': operation stiffness is missing, which reduce needs");
    REFUSE_ENERGY(e.reduce = NULL, "energy 'yeoh': operation reduce is missing, which stiffness needs");
    REFUSE_ENERGY(e.reduce = NULL; e.stiffness = NULL,
                                   "energy 'yeoh': operations reduce and stiffness are missing, which project needs");
    REFUSE_ENERGY(e.reduce = NULL; e.stiffness = NULL;
                  e.project = NULL, "energy 'yeoh': operation reduce is missing, and reduced_count is not 0");
    REFUSE_ENERGY(e.reduced_count = 0, "energy 'yeoh': reduced_count is 0, must be in [1, 16]");
    REFUSE_ENERGY(e.data_count = 30, "energy 'yeoh': data_count is 30, must be in [0, 29]");
    REFUSE_ENERGY(e.parameter_count = 17, "energy 'yeoh': parameter_count is 17, must be in [0, 16]");
    REFUSE_ENERGY(e.parameters = NULL, "energy 'yeoh': its parameters are missing");
    REFUSE_ENERGY(e.parameters = &nameless, "energy 'yeoh': parameter 0 has no name");
    static const char *const names[] = {"|", "|energy", "energy|", "|energy|", "two words", "k.", "k=1", "\"k\""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const sinew_parameter odd = {.name = names[i], .unit = "", .maximum = 1, .meaning = "k"};
        char text[160];
        snprintf(text, sizeof text,
                 "energy 'yeoh': parameter '%s' has other characters in its name than letters, digits, '_' and '-'",
                 names[i]);
        REFUSE_ENERGY(e.parameters = &odd, text);
    }
    REFUSE_ENERGY(e.parameters = &mute, "energy 'yeoh': parameter 'k' has no meaning");
    REFUSE_ENERGY(e.parameters = &bare, "energy 'yeoh': parameter 'k' has no unit");
    REFUSE_ENERGY(e.parameters = &outside, "energy 'yeoh': default value: k is 2 m, must be in [0, 1]");
    REFUSE_ENERGY(e.parameters = twice; e.parameter_count = 2, "energy 'yeoh': parameters 0 and 1 are both named 'k'");
    REFUSE_ENERGY(e.parameters = &taken,
                  "energy 'yeoh': parameter 'hard' has the name of a key that scene files have for other purposes");
    REFUSE_ENERGY(e.vertex_count = 3, "energy 'yeoh': vertex_count is 3, must be 0 or that of its stencil, 2");
    REFUSE_ENERGY(e.stencil = SINEW_STENCIL_COUNT, "energy 'yeoh': vertex_count is 0, must be in [1, 16]");
    REFUSE_ENERGY(e.stencil = SINEW_STENCIL_WHEEL,
                  "energy 'yeoh': cells of its stencil differ in size; list elements with SINEW_STENCIL_COUNT");
    REFUSE_ENERGY(e.stencil = (sinew_stencil)-1, "energy 'yeoh': its stencil is not known");
    REFUSE_ENERGY(e.name = "spring", "energy 'spring': there is an energy of that name");
    REFUSE_ENERGY(e.name = "thread", "energy 'thread': there is an energy of that name");
}

static void broken_solvers_are_refused(void **unused)
{
    (void)unused;
    refuse_solver(NULL, "solver '': it was not made by sinew_default_solver_extension()");
    REFUSE_SOLVER(s.cookie = 1, "solver '': it was not made by sinew_default_solver_extension()");
    REFUSE_SOLVER(s.size++, "solver 'ball': it was compiled with another version of sinew/extend.h than the library");
    REFUSE_SOLVER(s.name = NULL, "solver '': its name is missing");
    REFUSE_SOLVER(s.name = "l bfgs",
                  "solver 'l bfgs': its name has other characters than lower-case letters, digits, '_' and '-'");
    REFUSE_SOLVER(s.summary = NULL, "solver 'ball': its summary is missing");
    REFUSE_SOLVER(s.create = NULL, "solver 'ball': operation create is missing");
    REFUSE_SOLVER(s.begin = NULL, "solver 'ball': operation begin is missing");
    REFUSE_SOLVER(s.iterate = NULL, "solver 'ball': operation iterate is missing");
    REFUSE_SOLVER(s.destroy = NULL, "solver 'ball': operation destroy is missing");
    REFUSE_SOLVER(s.parameter_count = -1, "solver 'ball': parameter_count is -1, must be in [0, 16]");
    static const sinew_parameter taken = {.name = "measure", .unit = "", .maximum = 1, .meaning = "k"};
    REFUSE_SOLVER(s.parameters = &taken,
                  "solver 'ball': parameter 'measure' has the name of a key that scene files have for other purposes");
    REFUSE_SOLVER(s.default_iterations = 0, "solver 'ball': default_iterations must be at least 1");
    REFUSE_SOLVER(s.needs = 1 << 20, "solver 'ball': needs has bits that are no capability");
    REFUSE_SOLVER(s.name = "newton", "solver 'newton': there is a solver of that name");
    REFUSE_SOLVER(s.name = "probe", "solver 'probe': there is a solver of that name");
}

static int register_all(void **unused)
{
    (void)unused;
    fibre = add_energy(fibre_energy());
    own_thread = add_energy(thread_energy());
    own_bend = add_energy(bend_energy());
    descending = add_solver(descent_solver());
    probing = add_solver(probe_solver());
    sinew_solver_extension s = probe_solver();
    s.name = "poor";
    s.create = poor_create;
    s.destroy = poor_destroy;
    poor = add_solver(s);
    s.name = "silent-one";
    s.create = silent_create;
    silent = add_solver(s);
    s = descent_solver();
    s.name = "picky";
    s.needs = SINEW_CAN_PROJECT;
    s.quasistatic = false;
    picky = add_solver(s);
    return 0;
}

/* Lists contain the library's own entries and the registered ones; the count between them is not a valid kind. */
static void they_are_listed(void **unused)
{
    (void)unused;
    assert_int_equal(sinew_energy_kind_end(), (int)own_bend + 1);
    assert_int_equal(sinew_solver_kind_end(), (int)picky + 1);
    assert_null(sinew_get_energy_info(SINEW_ENERGY_COUNT));
    assert_null(sinew_get_solver_info(SINEW_SOLVER_COUNT));
    assert_int_equal(sinew_get_energy_info(own_thread)->capabilities, SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT |
                                                                          SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                                                                          SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN);
    assert_int_equal(sinew_get_energy_info(fibre)->capabilities, SINEW_CAN_VERTEX | SINEW_CAN_REDUCE);
    assert_int_equal(sinew_solver_parameter(probing, "scale"), 0);
    assert_true((double)sinew_default_solver_def(probing).parameters[0] == 2.5);
    char why[512];
    assert_false(sinew_solver_accepts(SINEW_SOLVER_PD, fibre, why, sizeof why));
    assert_non_null(strstr(why, "pd cannot take fibre: it is not a distance to a constraint set; use newton"));
    assert_non_null(strstr(why, "descent"));
    assert_false(sinew_solver_accepts(picky, fibre, why, sizeof why));
    assert_non_null(strstr(why, "picky cannot take fibre"));
    assert_true(sinew_solver_accepts(picky, own_thread, NULL, 0));
}

/* ---- Derivatives --------------------------------------------------------------------------------- */

static void derivatives_agree(void **unused)
{
    (void)unused;
    static const double rest[12] = {0, 0, 0, 1, 0, 0, 0.2, 1.1, 0, 0.1, 0.3, 0.9};
    static const double x[12] = {0.1, 0, -0.2, 0.4, 1.2, 0.1, -0.9, 0.5, 0.3, 0.2, 0.1, 1.3};
    const sinew_energy_extension all[3] = {fibre_energy(), thread_energy(), bend_energy()};
    for (int i = 0; i < 3; i++) {
        sinew_extension_report r;
        sinew_error error = {SINEW_OK, ""};
        assert_int_equal(sinew_check_energy_extension(&all[i], NULL, rest, x, &r, &error), SINEW_OK);
        assert_true(r.gradient < 1e-8 && r.hessian < 1e-8 && r.symmetry < 1e-12);
        assert_true(r.translation < 1e-12 && (i == 2 || r.rotation < 1e-12));
        assert_true(r.constraint < 1e-12 && r.jacobian < 1e-9);
        assert_true(i == 2 || r.rest_gradient < 1e-12);
    }
}

static void thread_gradient_wrong(void *context, const double *data, const double *x, double *gradient)
{
    thread_gradient(context, data, x, gradient);
    gradient[4] *= 1.01;
}

static void thread_constraint_wrong(void *context, const double *data, const double *x, double *C, double *gradient,
                                    double *alpha)
{
    thread_constraint(context, data, x, C, gradient, alpha);
    alpha[0] *= 2;
    gradient[0] += 0.1;
}

/* The derivative checker finds mistakes, and reports why it cannot check. */
static void mistakes_are_found(void **unused)
{
    (void)unused;
    static const double rest[6] = {0, 0, 0, 1, 0, 0}, x[6] = {0.1, 0, -0.2, 0.4, 1.2, 0.1}, point[6] = {0};
    sinew_energy_extension e = thread_energy();
    sinew_extension_report r;
    sinew_error error = {SINEW_OK, ""};
    e.gradient = thread_gradient_wrong;
    e.constraint = thread_constraint_wrong;
    assert_int_equal(sinew_check_energy_extension(&e, NULL, rest, x, &r, &error), SINEW_OK);
    assert_true(r.gradient > 1e-3 && r.hessian > 1e-3 && r.constraint > 0.1 && r.jacobian > 1e-2);
    assert_true(r.translation > 1e-3 && r.rotation > 1e-4);
    e = thread_energy();
    assert_int_equal(sinew_check_energy_extension(&e, NULL, point, x, &r, &error), SINEW_ERROR_DATA);
    assert_string_equal(error.text, "energy 'thread': the element is refused: its length is 0 m");
    assert_int_equal(sinew_check_energy_extension(&e, NULL, rest, point, &r, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "is not finite near x"));
    static const double slack = 0;
    assert_int_equal(sinew_check_energy_extension(&e, &slack, rest, x, &r, &error), SINEW_ERROR_DATA);
    assert_string_equal(error.text, "energy 'thread': stiffness is 0 N/m, must be in (0, inf)");
    e.value = NULL;
    assert_int_equal(sinew_check_energy_extension(&e, NULL, rest, x, &r, &error), SINEW_ERROR_USAGE);
    assert_string_equal(error.text, "energy 'thread': operation value is missing");
}

/* ---- Steps --------------------------------------------------------------------------------------- */

enum {
    POSITION_MAX = 3 * 256
};

typedef struct case_of {
    sinew_energy_kind energy;
    sinew_solver_kind solver;
    double parameters[4]; /* the first parameters of the energy; 0: default */
    bool solid;           /* a beam of tets; else a cloth of edges */
    bool quasistatic;
    int32_t iterations, steps, threads;
} case_of;

static sinew_world *make_world(const case_of *c, sinew_error *error)
{
    sinew_beam_def beam = sinew_default_beam_def();
    sinew_cloth_def cloth = sinew_default_cloth_def();
    beam.cells[0] = 4;
    beam.cells[1] = beam.cells[2] = 1;
    cloth.vertices[0] = cloth.vertices[1] = 5;
    sinew_mesh *mesh = c->solid ? sinew_mesh_beam(&beam, error) : sinew_mesh_cloth(&cloth, error);
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = c->quasistatic;
    def.thread_count = c->threads;
    def.solver = sinew_default_solver_def(c->solver);
    def.solver.measure = SINEW_MEASURE_GAP;
    if (c->iterations)
        def.solver.iterations = c->iterations;
    sinew_world *world = sinew_world_create(&def, error);
    must(error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.density = c->solid ? 1000 : (sinew_real)0.2;
    sinew_pin_def pin = sinew_default_pin_def();
    static const int32_t corners[2] = {20, 24};
    int32_t held[16];
    const sinew_region end = {SINEW_REGION_HALF_SPACE, {(sinew_real)-1.5, 0, 0}, {-1, 0, 0}, 0};
    pin.body = sinew_world_add_body(world, &body, error);
    pin.vertices = c->solid ? held : corners;
    pin.vertex_count =
        c->solid ? sinew_region_select(&end, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh), held, 16) : 2;
    sinew_world_add_pins(world, &pin, error);
    must(error);
    sinew_energy_def energy = sinew_default_energy_def(c->energy);
    energy.body = pin.body;
    for (int i = 0; i < 4; i++)
        if (c->parameters[i] != 0)
            energy.parameters[i] = (sinew_real)c->parameters[i];
    sinew_world_add_energy(world, &energy, error);
    must(error);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Positions q [POSITION_MAX] after the steps of a case; returns the bits. */
static uint32_t take_steps(const case_of *c, sinew_real *q)
{
    sinew_error error = {SINEW_OK, ""};
    uint32_t bits = 0;
    sinew_world *world = make_world(c, &error);
    for (int32_t i = 0; i < c->steps; i++)
        bits |= sinew_world_step(world, NULL);
    memset(q, 0, POSITION_MAX * sizeof *q);
    assert_true(3 * sinew_world_particle_count(world) <= POSITION_MAX);
    sinew_world_get_positions(world, 0, sinew_world_particle_count(world), q);
    sinew_world_destroy(world);
    return bits;
}

static double distance(const sinew_real *a, const sinew_real *b)
{
    double largest = 0;
    for (int i = 0; i < POSITION_MAX; i++)
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    return largest;
}

/* A copy of the library's spring takes the same steps in every solver that supports springs. Explicit integrators are
 * unstable at this time step: differences are relative to the particles' displacements. */
static void a_copy_of_spring_steps_as_spring(void **unused)
{
    (void)unused;
    int solvers = 0;
    for (int kind = 0; kind < sinew_solver_kind_end(); kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        sinew_real ours[POSITION_MAX], theirs[POSITION_MAX];
        if (!info || kind == (int)poor || kind == (int)silent || kind == (int)probing ||
            strncmp(info->name, "extra", 5) == 0 ||
            !sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_SPRING, NULL, 0))
            continue;
        case_of c = {.energy = SINEW_ENERGY_SPRING,
                     .solver = (sinew_solver_kind)kind,
                     .parameters = {300},
                     .quasistatic = info->static_only,
                     /* Coarse levels of mpbng use cheap vertex blocks of the library; these iterations suffice for both
                      * to converge. */
                     .iterations = kind == SINEW_SOLVER_MPBNG ? 1000 : 0,
                     .steps = 4};
        const uint32_t bits = take_steps(&c, theirs);
        c.energy = own_thread;
        assert_true(sinew_solver_accepts((sinew_solver_kind)kind, own_thread, NULL, 0));
        assert_int_equal(take_steps(&c, ours) & SINEW_STEP_NOT_FINITE, bits & SINEW_STEP_NOT_FINITE);
        const double size = fmax(1, distance(theirs, (const sinew_real[POSITION_MAX]){0}));
        if (!(distance(ours, theirs) < NEAR * size))
            fail_msg("%s: steps of the copy differ by %g m of %g m", info->name, distance(ours, theirs), size);
        solvers++;
    }
    assert_true(solvers >= 15);
}

/* Without fibres the energy is the library's neo_hookean. */
static void rubber_without_fibres_is_neo_hookean(void **unused)
{
    (void)unused;
    static const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBNG};
    for (int i = 0; i < 2; i++) {
        sinew_real ours[POSITION_MAX], theirs[POSITION_MAX];
        case_of c = {.energy = SINEW_ENERGY_NEO_HOOKEAN,
                     .solver = solvers[i],
                     .parameters = {1e5, 0.4},
                     .solid = true,
                     .iterations = 300,
                     .steps = 10};
        take_steps(&c, theirs);
        c.energy = fibre;
        c.parameters[2] = 1e-9;
        take_steps(&c, ours);
        assert_true(distance(ours, theirs) < NEAR);
        c.parameters[2] = 1e6;
        take_steps(&c, ours);
        assert_true(distance(ours, theirs) > 0.01); /* fibres stiffen the beam */
    }
}

/* descent finds Newton's minimum, dynamic and quasistatic, with the same bits for any number of threads. */
static void descent_finds_the_minimum(void **unused)
{
    (void)unused;
    for (int quasistatic = 0; quasistatic < 2; quasistatic++) {
        sinew_real a[POSITION_MAX], b[POSITION_MAX];
        case_of c = {.energy = fibre,
                     .solver = SINEW_SOLVER_NEWTON,
                     .parameters = {1e6, 0.3},
                     .solid = true,
                     .quasistatic = quasistatic,
                     .steps = 2,
                     .iterations = 20000,
                     .threads = 1};
        assert_int_equal(take_steps(&c, a) & ~(uint32_t)SOLVED, 0);
        c.solver = descending;
        assert_int_equal(take_steps(&c, b) & ~(uint32_t)SOLVED, 0);
        assert_true(distance(a, b) < 100 * NEAR);
        c.threads = 3;
        take_steps(&c, a);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* Masses, pins, products and diagonal blocks of a step agree with differences of its value and gradient. */
static void steps_show_what_they_are(void **unused)
{
    (void)unused;
    sinew_real q[POSITION_MAX];
    case_of c = {.energy = own_thread, .solver = probing, .steps = 3};
    memset(&probed, 0, sizeof probed);
    take_steps(&c, q);
    assert_int_equal(probed.steps, 3);
    assert_int_equal(probed.pinned, 2);
    assert_true(probed.created == 1 && probed.destroyed == 1 && !probed.quasistatic);
    assert_true(fabs(probed.h - 1.0 / 60) < 1e-8 && probed.scale == 2.5);
    assert_true(probed.product < EXACT && probed.diagonal < EXACT && probed.value < 100 * EXACT);
}

static void failing_create_is_reported(void **unused)
{
    (void)unused;
    sinew_error error = {SINEW_OK, ""};
    const case_of c = {.energy = own_thread, .solver = poor};
    sinew_world *world = make_world(&c, &error);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_MEMORY);
    assert_string_equal(error.text, "poor: nothing left");
    assert_int_equal(sinew_world_step(world, NULL), SINEW_STEP_UNPREPARED);
    assert_string_equal(sinew_world_error(world), "poor: nothing left");
    assert_int_equal(sinew_world_prepare(world, NULL), SINEW_ERROR_MEMORY);
    sinew_world_destroy(world);
}

/* A create that fails without a text is named by the library. */
static void silent_create_is_named(void **unused)
{
    (void)unused;
    sinew_error error = {SINEW_OK, ""};
    const case_of c = {.energy = own_thread, .solver = silent};
    sinew_world *world = make_world(&c, &error);
    assert_int_equal(sinew_world_step(world, NULL), SINEW_STEP_UNPREPARED);
    assert_string_equal(sinew_world_error(world), "solver 'silent-one': its create failed (memory) without a text");
    sinew_world_destroy(world);
}

/* Refusals for want of a flag name the flag. */
static void missing_flags_are_named(void **unused)
{
    (void)unused;
    static const int32_t corner = 0;
    static const sinew_real up[3] = {0, 1, 0};
    sinew_error error = {SINEW_OK, ""};
    case_of c = {.energy = own_thread, .solver = descending};
    sinew_world *world = make_world(&c, &error);
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = sinew_world_body_at(world, 0);
    pin.vertices = &corner;
    pin.vertex_count = 1;
    pin.directions = up;
    pin.direction_count = 1;
    sinew_world_add_pins(world, &pin, &error);
    must(&error);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "as pins 1 do: it was registered without the flag `directions`; use one of "));
    sinew_world_destroy(world);
    c.solver = picky;
    c.quasistatic = true;
    world = make_world(&c, &error);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "picky cannot be quasistatic: it was registered without the flag "
                                       "`quasistatic`; use one of newton, "));
    sinew_world_destroy(world);
}

/* Elements of a stencil that no mesh contains are listed by the def. */
static void listed_elements_act(void **unused)
{
    (void)unused;
    sinew_error error = {SINEW_OK, ""};
    const case_of c = {.energy = own_thread, .solver = SINEW_SOLVER_NEWTON, .parameters = {300}};
    sinew_world *world = make_world(&c, &error);
    static const int32_t elements[6] = {0, 1, 2, 2, 3, 4};
    sinew_energy_def def = sinew_default_energy_def(own_bend);
    def.body = sinew_world_body_at(world, 0);
    assert_true(sinew_world_add_energy(world, &def, &error).index < 0);
    def.elements = elements;
    def.element_count = 2;
    const sinew_energy energy = sinew_world_add_energy(world, &def, &error);
    must(&error);
    assert_int_equal(sinew_energy_element_count(world, energy), 2);
    assert_int_equal(sinew_world_step(world, NULL), 0);
    sinew_world_destroy(world);
}

/* A collapsed element sets the status bit, as the library's tets do. */
static void inverted_elements_are_seen(void **unused)
{
    (void)unused;
    sinew_error error = {SINEW_OK, ""};
    const case_of c = {.energy = fibre, .solver = SINEW_SOLVER_NEWTON, .solid = true};
    sinew_world *world = make_world(&c, &error);
    sinew_real q[POSITION_MAX];
    sinew_measures measures;
    const int32_t count = sinew_world_particle_count(world);
    sinew_world_measure(world, &measures);
    assert_true(fabs(measures.det_min - 1) < 1e-5 && fabs(measures.det_max - 1) < 1e-5);
    sinew_world_get_positions(world, 0, count, q);
    for (int32_t i = 0; i < count; i++)
        q[3 * i] = -q[3 * i];
    sinew_world_set_positions(world, 0, count, q);
    sinew_world_measure(world, &measures);
    assert_true(measures.inverted_count > 0 && fabs(measures.det_max + 1) < 1e-4);
    sinew_world_destroy(world);
}

/* Registration is refused once a world exists. */
static void worlds_close_the_tables(void **unused)
{
    (void)unused;
    REFUSE_ENERGY((void)e, "energy 'yeoh': register it before the first world is created");
    REFUSE_SOLVER((void)s, "solver 'ball': register it before the first world is created");
}

/* Tables hold exactly their declared number of entries. */
static void tables_are_bounded(void **unused)
{
    (void)unused;
    static char names[SINEW_REGISTERED_ENERGY_MAX][16];
    sinew_error error = {SINEW_OK, ""};
    int energies = 3, solvers = 5;
    for (int i = 0; i < SINEW_REGISTERED_ENERGY_MAX; i++) {
        sinew_energy_extension e = thread_energy();
        sinew_solver_extension s = probe_solver();
        snprintf(names[i], sizeof names[i], "extra%d", i);
        e.name = s.name = names[i];
        energies += sinew_register_energy(&e, &error) != SINEW_ENERGY_COUNT;
        solvers += sinew_register_solver(&s, &error) != SINEW_SOLVER_COUNT;
    }
    assert_int_equal(energies, SINEW_REGISTERED_ENERGY_MAX);
    assert_int_equal(solvers, SINEW_REGISTERED_SOLVER_MAX);
    REFUSE_ENERGY((void)e, "energy 'yeoh': as many are registered as may be");
    REFUSE_SOLVER((void)s, "solver 'ball': as many are registered as may be");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_energies_are_refused),
                                       cmocka_unit_test(broken_solvers_are_refused),
                                       cmocka_unit_test(they_are_listed),
                                       cmocka_unit_test(derivatives_agree),
                                       cmocka_unit_test(mistakes_are_found),
                                       cmocka_unit_test(tables_are_bounded), /* last test before worlds exist */
                                       cmocka_unit_test(a_copy_of_spring_steps_as_spring),
                                       cmocka_unit_test(rubber_without_fibres_is_neo_hookean),
                                       cmocka_unit_test(descent_finds_the_minimum),
                                       cmocka_unit_test(steps_show_what_they_are),
                                       cmocka_unit_test(failing_create_is_reported),
                                       cmocka_unit_test(silent_create_is_named),
                                       cmocka_unit_test(missing_flags_are_named),
                                       cmocka_unit_test(listed_elements_act),
                                       cmocka_unit_test(inverted_elements_are_seen),
                                       cmocka_unit_test(worlds_close_the_tables)};
    return cmocka_run_group_tests(tests, register_all, NULL);
}
