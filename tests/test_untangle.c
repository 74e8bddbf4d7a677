/* SPDX-License-Identifier: MIT
 *
 * test_untangle.c: bodies that overlap when the world starts are freed within 100 steps, stay free, and gain no energy:
 * boxes in boxes, on planes, in colliders; cloth through boxes and through cloth; a sheet folded through itself. Deep
 * and nested starts are freed or reported. Crossings are counted by a search of the test's own (crossing_count.h).
 */
#include "crossing_count.h"
#include "random_cases.h"
#include "saved_state.h"

static const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN, SINEW_SOLVER_ADMM, SINEW_SOLVER_PBNG,
                                            SINEW_SOLVER_XPBD,   SINEW_SOLVER_PD, SINEW_SOLVER_PBD};

enum {
    SOLVERS = sizeof solvers / sizeof solvers[0],
    STEPS = 100,
    AFTER = 5 /* number of steps after the world is free, which must keep it free */
};

#define SIZE      0.1  /* side of the boxes, in m */
#define THICKNESS 1e-3 /* m */
#define STEP_TIME 0.01 /* s */

/* ---- Starts ------------------------------------------------------------------------------------- */

/* Rotates x about the axis n by an angle. */
static void rotate(const double n[3], double angle, double x[3])
{
    const double c = cos(angle), s = sin(angle), along = (1 - c) * (n[0] * x[0] + n[1] * x[1] + n[2] * x[2]);
    const double r[3] = {c * x[0] + s * (n[1] * x[2] - n[2] * x[1]) + along * n[0],
                         c * x[1] + s * (n[2] * x[0] - n[0] * x[2]) + along * n[1],
                         c * x[2] + s * (n[0] * x[1] - n[1] * x[0]) + along * n[2]};
    memcpy(x, r, sizeof r);
}

static void random_axis(random_cases *r, double n[3])
{
    double length;
    do {
        for (int k = 0; k < 3; k++)
            n[k] = random_between(r, -1, 1);
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    } while (length < 0.1 || length > 1);
    for (int k = 0; k < 3; k++)
        n[k] /= length;
}

typedef struct pose {
    double axis[3], angle, middle[3];
} pose;

static sinew_body add_posed_box(sinew_world *world, sinew_solver_kind solver, int n, double size, const pose *p)
{
    sinew_mesh *mesh = make_beam(n, n, n, size, size, size);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (int32_t i = 0; i < count; i++) {
        double y[3];
        for (int k = 0; k < 3; k++)
            y[k] = (double)sinew_mesh_positions(mesh)[3 * i + k];
        rotate(p->axis, p->angle, y);
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = (sinew_real)(y[k] + p->middle[k]);
    }
    const sinew_body body = add_mesh(world, mesh, 1000, x, NULL);
    const bool strain = solver == SINEW_SOLVER_PD || solver == SINEW_SOLVER_PBD || solver == SINEW_SOLVER_XPBD;
    add_material(world, body, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED, 1e5, 0.3);
    sinew_mesh_destroy(mesh);
    free(x);
    return body;
}

/* A cloth of n x n vertices. */
typedef struct cloth_shape {
    double size, height, tilt[2]; /* side length and height in m, slopes of the plane */
    /* Beyond the middle the cloth is folded back over a half circle and sinks to the height `end` (m, along its border
     * from end - slope to end + slope) above the first part. */
    bool folded;
    double end, slope;
} cloth_shape;

#define FOLD_RADIUS 3e-3 /* m */

/* Height above the first part, and place u along it, of a point at distance s beyond the middle of a folded cloth. */
static double fold_height(const cloth_shape *c, double s, double v, double *u)
{
    const double turn = 3.14159265358979 * FOLD_RADIUS, rest = c->size / 2 - turn;
    if (s < turn) {
        *u = c->size / 2 + FOLD_RADIUS * sin(s / FOLD_RADIUS);
        return FOLD_RADIUS * (1 - cos(s / FOLD_RADIUS));
    }
    const double end = c->end + c->slope * (2 * v / c->size - 1);
    *u = c->size / 2 - (s - turn);
    return 2 * FOLD_RADIUS + (end - 2 * FOLD_RADIUS) * (s - turn) / rest;
}

static sinew_body add_shaped_cloth(sinew_world *world, int n, const cloth_shape *s)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = n;
    def.size[0] = def.size[1] = (sinew_real)s->size;
    sinew_mesh *flat = sinew_mesh_cloth(&def, &error);
    must(&error);
    const int32_t count = sinew_mesh_vertex_count(flat);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (size_t i = 0; i < (size_t)count; i++) {
        double u = (double)sinew_mesh_positions(flat)[3 * i], v = (double)sinew_mesh_positions(flat)[3 * i + 1];
        double height = s->height + s->tilt[0] * (u - s->size / 2) + s->tilt[1] * (v - s->size / 2);
        if (s->folded && u > s->size / 2)
            height += fold_height(s, u - s->size / 2, v, &u);
        x[3 * i] = (sinew_real)u;
        x[3 * i + 1] = (sinew_real)height;
        x[3 * i + 2] = (sinew_real)-v;
    }
    const sinew_body body = add_mesh(world, flat, 0.3, x, NULL);
    add_springs(world, body, 200);
    sinew_mesh_destroy(flat);
    free(x);
    return body;
}

static sinew_body random_box(sinew_world *world, sinew_solver_kind solver, random_cases *r, const double middle[3])
{
    pose p = {.angle = random_index(r, 3) ? random_between(r, -3, 3) : 0};
    random_axis(r, p.axis);
    memcpy(p.middle, middle, sizeof p.middle);
    return add_posed_box(world, solver, 1 + random_index(r, 3), SIZE, &p);
}

/* Two boxes, the upper one sunk into a face of the lower by less than a quarter of its side, rotated about the
 * normal of the face, on a floor or in the air. */
static void start_boxes(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    const double depth = random_between(r, 0.01, 0.25) * SIZE;
    const int face = random_index(r, 3);
    const int cells = 1 + random_index(r, 3);
    pose p = {.axis = {1, 0, 0}, .middle = {0, SIZE / 2 + 2 * THICKNESS, 0}};
    if (random_index(r, 2))
        add_floor(world);
    add_posed_box(world, solver, cells, SIZE, &p);
    for (int k = 0; k < 3; k++) {
        p.axis[k] = k == face;
        p.middle[k] += k == face ? SIZE - depth : random_between(r, -0.5, 0.5) * SIZE;
    }
    p.middle[1] = face == 1 ? p.middle[1] : SIZE / 2 + 2 * THICKNESS;
    p.angle = random_index(r, 2) ? 0 : random_between(r, -1, 1);
    add_posed_box(world, solver, 1 + random_index(r, 3), SIZE, &p);
}

/* A corner or an edge of a box in another box. */
static void start_corner(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    const double depth = random_between(r, 0.01, 0.25) * SIZE;
    const bool edge = random_index(r, 2);
    pose p = {.axis = {1, 0, 0}, .middle = {0, SIZE / 2 + 2 * THICKNESS, 0}};
    if (random_index(r, 2))
        add_floor(world);
    add_posed_box(world, solver, 1 + random_index(r, 3), SIZE, &p);
    const double half = edge ? SIZE / sqrt(2) : SIZE * sqrt(3) / 2;
    if (edge) {
        p.angle = 0.25 * 3.14159265358979;
    } else { /* the diagonal becomes vertical */
        p.axis[0] = p.axis[2] = sqrt(0.5);
        p.axis[2] *= -1;
        p.angle = acos(1 / sqrt(3));
    }
    p.middle[1] += SIZE / 2 + half - depth;
    p.middle[0] = random_between(r, -0.3, 0.3) * SIZE;
    p.middle[2] = random_between(r, -0.3, 0.3) * SIZE;
    add_posed_box(world, solver, 1 + random_index(r, 3), SIZE, &p);
}

/* A stack of up to five boxes, each sunk into the one below. */
static void start_stack(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    const int count = 3 + random_index(r, 3);
    double height = random_between(r, -0.1, 0.02) * SIZE;
    add_floor(world);
    for (int k = 0; k < count; k++) {
        const pose p = {.axis = {0, 1, 0},
                        .angle = random_index(r, 2) ? random_between(r, -0.5, 0.5) : 0,
                        .middle = {random_between(r, -0.1, 0.1) * SIZE, height + SIZE / 2, 0}};
        add_posed_box(world, solver, 1 + random_index(r, 2), SIZE, &p);
        height += SIZE * (1 - random_between(r, -0.01, 0.2));
    }
}

/* A box sunk into a collider. */
static void start_collider(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    static const sinew_shape_kind kinds[] = {SINEW_SHAPE_PLANE, SINEW_SHAPE_BOX, SINEW_SHAPE_CYLINDER,
                                             SINEW_SHAPE_SPHERE, SINEW_SHAPE_CAPSULE};
    sinew_collider_def def = sinew_default_collider_def(kinds[random_index(r, 5)]);
    const double depth = random_between(r, 0.01, 0.25) * SIZE;
    double top = 0;
    def.size[0] = def.size[1] = def.size[2] = (sinew_real)0.3;
    def.radius = (sinew_real)0.15;
    def.segments = 16;
    if (def.kind == SINEW_SHAPE_BOX || def.kind == SINEW_SHAPE_CYLINDER || def.kind == SINEW_SHAPE_SPHERE)
        top = 0.15;
    if (def.kind == SINEW_SHAPE_CAPSULE)
        top = 0.3;
    add_collider(world, &def);
    const pose p = {
        .axis = {0, 1, 0},
        .angle = random_between(r, -1, 1),
        .middle = {random_between(r, -0.2, 0.2) * SIZE, top + SIZE / 2 - depth, random_between(r, -0.2, 0.2) * SIZE}};
    add_posed_box(world, solver, 1 + random_index(r, 3), SIZE, &p);
}

/* A cloth that passes through the upper face of a box by less than a quarter of the thickness. */
static void start_cloth_in_box(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    const double depth = random_between(r, 0.02, 0.25) * THICKNESS;
    const pose p = {
        .axis = {0, 1, 0}, .angle = random_between(r, -1, 1), .middle = {0.1, SIZE / 2 + 2 * THICKNESS, -0.1}};
    add_floor(world);
    add_posed_box(world, solver, 1 + random_index(r, 3), SIZE, &p);
    cloth_shape s = {.size = 0.2, .height = p.middle[1] + SIZE / 2 - depth};
    for (int k = 0; k < 2; k++)
        s.tilt[k] = random_index(r, 2) ? random_between(r, -1, 1) * depth / SIZE : 0;
    add_shaped_cloth(world, 5 + random_index(r, 8), &s);
}

/* Two or three cloths that pass through each other by less than a quarter of the thickness. */
static void start_cloths(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    (void)solver;
    const int count = 2 + random_index(r, 2), n = 5 + random_index(r, 8);
    add_floor(world);
    for (int k = 0; k < count; k++) {
        cloth_shape s = {.size = 0.2, .height = 5e-3};
        for (int i = 0; i < 2; i++)
            s.tilt[i] = k ? random_between(r, -0.2, 0.2) * THICKNESS / 0.2 : 0;
        add_shaped_cloth(world, random_index(r, 2) ? n : n + 1, &s);
    }
}

/* A sheet folded back through itself by less than a quarter of the thickness. */
static void start_fold(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    (void)solver;
    const cloth_shape s = {.size = 0.2,
                           .height = 5e-3,
                           .folded = true,
                           .end = random_between(r, -0.25, 0) * THICKNESS,
                           .slope = random_between(r, -1, 1) * THICKNESS};
    add_floor(world);
    add_shaped_cloth(world, 8 + random_index(r, 8), &s);
}

/* A box with a pinned face, and another sunk into it; `both`: its outer face is pinned too. */
static void add_pinned(sinew_world *world, sinew_solver_kind solver, random_cases *r, bool both)
{
    const double depth = random_between(r, 0.01, 0.25) * SIZE;
    pose p = {.axis = {0, 1, 0}, .middle = {0, 0.5, 0}};
    const int cells = 2 + random_index(r, 2);
    for (int k = 0; k < 2; k++) {
        const sinew_body body = add_posed_box(world, solver, cells, SIZE, &p);
        if (k == 0 || both) {
            sinew_mesh *mesh = make_beam(cells, cells, cells, SIZE, SIZE, SIZE);
            int32_t held[64];
            const double outside = (k ? 0.5 : -0.5) * SIZE;
            const int32_t count = vertices_at(mesh, 1, outside, outside, held);
            add_pins(world, body, held, count, NULL);
            sinew_mesh_destroy(mesh);
        }
        p.middle[1] += SIZE - depth;
        p.angle = random_between(r, -0.5, 0.5);
    }
}

static void start_pinned(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    add_pinned(world, solver, r, false);
}

static void start_held(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    add_pinned(world, solver, r, true);
}

/* Boxes at random: deep, nested and through each other. */
static void start_mess(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    if (random_index(r, 2))
        add_floor(world);
    for (int k = 0; k < 3; k++)
        random_box(world, solver, r,
                   (const double[]){random_between(r, -1, 1) * SIZE, random_between(r, 0.2, 2) * SIZE,
                                    random_between(r, -1, 1) * SIZE});
    if (random_index(r, 2)) {
        const pose p = {.axis = {0, 1, 0}, .middle = {0, SIZE, 0}};
        add_posed_box(world, solver, 2, 0.3 * SIZE, &p);
    }
}

typedef struct start_kind {
    const char *name;
    void (*add)(sinew_world *world, sinew_solver_kind solver, random_cases *r);
    bool shallow; /* all must be free within STEPS */
} start_kind;

static const start_kind starts[] = {
    {"boxes", start_boxes, true},
    {"corner", start_corner, true},
    {"stack", start_stack, true},
    {"collider", start_collider, true},
    {"cloth in box", start_cloth_in_box, true},
    {"cloths", start_cloths, true},
    {"fold", start_fold, true},
    {"pinned", start_pinned, true},
    {"held", start_held, false},
    {"mess", start_mess, false},
};

enum {
    STARTS = sizeof starts / sizeof starts[0]
};

/* ---- Measures ----------------------------------------------------------------------------------- */

typedef struct energies {
    double kinetic, work; /* kinetic energy now, and work of gravity along the motion since the start, in J */
    double weight;        /* N */
    /* energy turned over since the start, in J: sum of |work|, and the elastic energy of the start */
    double turnover;
} energies;

/* Kinetic energy, and the work of gravity in the last step: positions that untangling moves do no work. */
static void measure_energies(const sinew_world *world, const double *mass, energies *e)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    sinew_world_get_velocities(world, 0, n, v);
    double work = 0;
    e->kinetic = e->weight = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            e->kinetic += mass[i] * (double)v[3 * i + k] * (double)v[3 * i + k] / 2;
        work -= mass[i] * 9.81 * (double)v[3 * i + 1] * STEP_TIME;
        e->weight += mass[i] * 9.81;
    }
    e->work += work;
    e->turnover += fabs(work);
    free(v);
}

typedef struct outcome {
    int freed;         /* step after which the world was free; -1: never */
    int32_t crossings; /* number of crossings after the last step */
    int32_t again;     /* crossings after the world was free */
    double excess;     /* largest kinetic energy above the bound, as a fraction of the energy turned over */
    bool named;        /* true: the status of every step of a world that is not free has the bit of overlaps */
    bool bad;          /* true: positions are not finite, or the world was not prepared */
} outcome;

static outcome run_case(sinew_world *world)
{
    outcome o = {.freed = -1, .named = true};
    sinew_measures start;
    assert_int_equal(sinew_world_measure(world, &start), SINEW_OK);
    energies e = {.work = start.elastic, .turnover = start.elastic};
    const int32_t n = sinew_world_particle_count(world);
    double *mass = make_array((size_t)n, sizeof *mass);
    sinew_real *m = make_array((size_t)n, sizeof *m);
    assert_int_equal(sinew_world_get_masses(world, 0, n, m), SINEW_OK);
    for (int32_t i = 0; i < n; i++)
        mass[i] = (double)m[i];
    free(m);
    for (int step = 0; step < STEPS && (o.freed < 0 || step <= o.freed + AFTER); step++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        o.bad = o.bad || bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED);
        measure_energies(world, mass, &e);
        const double scale = e.turnover + e.weight * 1e-2 * THICKNESS;
        o.excess = fmax(o.excess, (e.kinetic - fmax(e.work, 0)) / scale);
        o.crossings = count_crossings(world);
        o.named = o.named && (o.crossings == 0 || bits & SINEW_STEP_INTERSECTING);
        if (o.freed < 0 && !(bits & SINEW_STEP_INTERSECTING))
            o.freed = step;
        if (o.freed >= 0)
            o.again += o.crossings;
    }
    free(mass);
    return o;
}

static sinew_world *make_start(const start_kind *start, sinew_solver_kind solver, random_cases *r)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)STEP_TIME;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 20;
    sinew_world *world = make_world(&def);
    set_touch(world, THICKNESS, 0.4);
    start->add(world, solver, r);
    return world;
}

/* Largest kinetic energy above the bound, relative to the energy turned over. Projections of pbd have no energy, and
 * boxes that are held on both sides can only part by deformation. */
static double excess_max(const start_kind *start, sinew_solver_kind solver)
{
    return start->add == start_held || solver == SINEW_SOLVER_PBD ? HUGE_VAL : 0.01;
}

static void overlapping_starts(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("overlapping starts", STARTS, 500);
    int drawn[STARTS] = {0}, freed[STARTS] = {0}, steps[STARTS] = {0}, shallow = 0, stuck = 0;
    double excess[STARTS] = {0};
    const int first = random_index(&r, SOLVERS);
    for (int i = 0; i < r.count; i++) {
        const uint64_t seed = r.state;
        const int k = i % STARTS;
        const sinew_solver_kind solver = solvers[(first + i + i / STARTS) % SOLVERS];
        sinew_world *world = make_start(&starts[k], solver, &r);
        const outcome o = run_case(world);
        sinew_world_destroy(world);
        drawn[k]++;
        freed[k] += o.freed >= 0;
        steps[k] = o.freed > steps[k] ? o.freed : steps[k];
        excess[k] = fmax(excess[k], o.excess);
        shallow += starts[k].shallow;
        stuck += starts[k].shallow && o.freed < 0;
        if (o.bad || o.again > 0 || !o.named || o.excess > excess_max(&starts[k], solver))
            fail_msg("case %d (state %llu), %s, %s: freed %d, crossings %d, again %d, excess %g%s%s", i,
                     (unsigned long long)seed, starts[k].name, sinew_get_solver_info(solver)->name, o.freed,
                     (int)o.crossings, (int)o.again, o.excess, o.named ? "" : ", not named", o.bad ? ", bad" : "");
    }
    for (int k = 0; k < STARTS; k++)
        print_message("%-13s %3d of %3d free, after %3d steps at most; excess %g\n", starts[k].name, freed[k], drawn[k],
                      steps[k], excess[k]);
    if (stuck > shallow / 20)
        fail_msg("%d of %d shallow starts are not free after %d steps", stuck, shallow, (int)STEPS);
}

/* ---- States, threads, settings ------------------------------------------------------------------- */

static sinew_world *make_tangled(sinew_solver_kind solver, int threads, uint64_t seed)
{
    random_cases r = {.state = seed};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.time_step = (sinew_real)STEP_TIME;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 10;
    sinew_world *world = make_world(&def);
    set_touch(world, THICKNESS, 0.4);
    start_boxes(world, solver, &r);
    start_fold(world, solver, &r);
    return world;
}

static void take_steps(sinew_world *world, int count)
{
    for (int k = 0; k < count; k++)
        assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
}

/* A world that is resumed while its bodies overlap, or that has more threads, takes the same steps. */
static void same_bits(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("resumed overlaps", 2, 30);
    for (int i = 0; i < r.count; i++) {
        const uint64_t seed = random_bits(&r);
        const sinew_solver_kind solver = solvers[random_index(&r, SOLVERS)];
        sinew_world *once = make_tangled(solver, 1, seed), *twice = make_tangled(solver, 3, seed);
        take_steps(once, 12);
        take_steps(twice, 2);
        saved between = save(twice);
        sinew_world_destroy(twice);
        twice = make_tangled(solver, 2, seed);
        assert_int_equal(sinew_world_state_load(twice, between.bytes, between.size, NULL), SINEW_OK);
        take_steps(twice, 10);
        sinew_real *a = positions_of(once), *b = positions_of(twice);
        assert_memory_equal(a, b, 3 * (size_t)sinew_world_particle_count(once) * sizeof *a);
        free(a);
        free(b);
        free(between.bytes);
        sinew_world_destroy(once);
        sinew_world_destroy(twice);
    }
}

/* `untangle` false: overlaps stay. Without measures, the status says so as long as they last, and no longer. */
static void switched(void **state)
{
    (void)state;
    for (int untangle = 0; untangle < 2; untangle++) {
        sinew_error error = {0};
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = 1;
        def.time_step = (sinew_real)STEP_TIME;
        def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
        def.solver.measure = SINEW_MEASURE_NOTHING;
        sinew_world *world = make_world(&def);
        sinew_contact_def contact = sinew_default_contact_def();
        assert_true(contact.untangle);
        contact.untangle = untangle;
        assert_int_equal(sinew_world_set_contact(world, &contact, &error), SINEW_OK);
        pose p = {.axis = {0, 1, 0}, .middle = {0, 0.2, 0}};
        add_posed_box(world, SINEW_SOLVER_NEWTON, 2, SIZE, &p);
        p.middle[0] = p.middle[1] = 0.27;
        p.middle[0] = 0.01;
        add_posed_box(world, SINEW_SOLVER_NEWTON, 2, SIZE, &p);
        assert_true(count_crossings(world) > 0);
        for (int step = 0; step < 40; step++) {
            const uint32_t bits = sinew_world_step(world, NULL);
            const int32_t crossings = count_crossings(world);
            if (untangle && (crossings > 0) != !!(bits & SINEW_STEP_INTERSECTING))
                fail_msg("step %d: %d crossings, bits %x", step, (int)crossings, bits);
        }
        assert_int_equal(count_crossings(world) == 0, untangle);
        sinew_world_destroy(world);
    }
}

/* A box inside a larger one has no crossing: it is found, counted, and led out. */
static void nested_box(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    set_touch(world, THICKNESS, 0.4);
    const pose p = {.axis = {0, 1, 0}, .angle = 0.3, .middle = {0.002, 0.001, 0}};
    add_posed_box(world, SINEW_SOLVER_NEWTON, 2, 2 * SIZE, &p);
    add_posed_box(world, SINEW_SOLVER_NEWTON, 1, 0.3 * SIZE, &p);
    assert_int_equal(count_crossings(world), 0);
    sinew_contact_report report;
    uint32_t bits = sinew_world_step(world, NULL);
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    assert_true(bits & SINEW_STEP_INTERSECTING);
    assert_int_equal(report.overlaps, 1);
    assert_true(report.overlap_depth > 0.3 * SIZE);
    for (int step = 0; step < 60 && bits & SINEW_STEP_INTERSECTING; step++)
        bits = sinew_world_step(world, NULL);
    assert_false(bits & SINEW_STEP_INTERSECTING);
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    assert_int_equal(report.overlaps, 0);
    assert_int_equal(count_crossings(world), 0);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_starts),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(switched),
        cmocka_unit_test(nested_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
