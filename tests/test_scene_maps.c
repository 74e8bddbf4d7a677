/* SPDX-License-Identifier: MIT
 *
 * test_scene_maps.c: parameters that vary over a body: random images on random sheets by texture coordinates, and
 * random painted values, for every kind of element that a sheet has. Reference: a direct formula for the parameter of
 * every element. Mistakes are refused by name.
 */
#include "random_cases.h"
#include "skin_fixture.h"

enum {
    SIDE = 4, /* vertices of a sheet along a side */
    COUNT = SIDE * SIDE,
    PIXELS = 12 /* maximum pixels of an image along a side */
};

typedef struct picture {
    int width, height, channels;
    bool floats;
    int max;
    double value[PIXELS][PIXELS][3]; /* [row from above][column][channel] */
} picture;

typedef struct sheet_file {
    double x[COUNT][3], uv[COUNT][2], red[COUNT];
} sheet_file;

/* ---- Files ------------------------------------------------------------------------------------- */

static FILE *open_file(const char *name)
{
    char path[1024];
    mkdir(SINEW_TEST_DIR, 0777);
    snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

/* Images of all formats: bytes, two bytes, floats of either byte order; grey and coloured. */
static void write_picture(picture *p, random_cases *r)
{
    const bool little = random_index(r, 2) == 0;
    FILE *file = open_file("map.image");
    p->width = 1 + random_index(r, PIXELS);
    p->height = 1 + random_index(r, PIXELS);
    p->channels = random_index(r, 2) ? 3 : 1;
    p->floats = random_index(r, 3) == 0;
    p->max = random_index(r, 2) ? 1 + random_index(r, 255) : 256 + random_index(r, 65000);
    fprintf(file, "P%c\n# a comment\n%d %d\n",
            p->floats ? (p->channels == 3 ? 'F' : 'f') : (p->channels == 3 ? '6' : '5'), p->width, p->height);
    if (p->floats)
        fprintf(file, "%s\n", little ? "-1.0" : "1.0");
    else
        fprintf(file, "%d\n", p->max);
    for (int line = 0; line < p->height; line++)
        for (int i = 0; i < p->width * p->channels; i++) {
            const int row = p->floats ? p->height - 1 - line : line;
            double *value = &p->value[row][i / p->channels][i % p->channels];
            if (p->floats) {
                const float number = (float)random_between(r, 0, 2);
                uint32_t bits;
                memcpy(&bits, &number, sizeof bits);
                for (int k = 0; k < 4; k++)
                    fputc((int)(bits >> 8 * (little ? k : 3 - k) & 255), file);
                *value = (double)number;
            } else {
                const int sample = random_index(r, p->max + 1);
                if (p->max > 255)
                    fputc(sample >> 8, file);
                fputc(sample & 255, file);
                *value = (double)sample / p->max;
            }
        }
    assert_int_equal(fclose(file), 0);
}

/* A sheet with a random shape, random texture coordinates (some outside the image) and random painted values. */
static void write_sheet(sheet_file *s, random_cases *r)
{
    FILE *file = open_file("map.obj");
    for (int i = 0; i < COUNT; i++) {
        const double place[3] = {i % SIDE + random_between(r, -0.2, 0.2),
                                 (double)(i / SIDE) + random_between(r, -0.2, 0.2), random_between(r, -0.1, 0.1)};
        s->red[i] = (double)(float)random_between(r, 0, 1);
        for (int c = 0; c < 3; c++)
            s->x[i][c] = place[c];
        for (int c = 0; c < 2; c++)
            s->uv[i][c] = (double)(float)random_between(r, -0.2, 1.2);
        fprintf(file, "v %.17g %.17g %.17g %.9g 0 0\nvt %.9g %.9g\n", place[0], place[1], place[2], s->red[i],
                s->uv[i][0], s->uv[i][1]);
    }
    for (int j = 0; j + 1 < SIDE; j++)
        for (int i = 0; i + 1 < SIDE; i++) {
            const int a = SIDE * j + i + 1, b = a + 1, c = a + SIDE, d = c + 1;
            fprintf(file, "f %d/%d %d/%d %d/%d\nf %d/%d %d/%d %d/%d\n", a, a, b, b, d, d, a, a, d, d, c, c);
        }
    assert_int_equal(fclose(file), 0);
}

/* ---- The direct formula -------------------------------------------------------------------------- */

/* The sum over all pixels of value times the two hat functions around the pixel's centre; beyond the outermost centres
 * the nearest point between them. */
static double look_up(const picture *p, int channel, const double uv[2])
{
    const double x = fmin(fmax(uv[0] * p->width, 0.5), p->width - 0.5);
    const double y = fmin(fmax((1 - uv[1]) * p->height, 0.5), p->height - 0.5);
    double sum = 0;
    for (int row = 0; row < p->height; row++)
        for (int column = 0; column < p->width; column++)
            sum += fmax(0, 1 - fabs(x - column - 0.5)) * fmax(0, 1 - fabs(y - row - 0.5)) *
                   p->value[row][column][p->channels == 3 ? channel : 0];
    return sum;
}

static double mean_of(const double *values, const int32_t *vertices, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[vertices[i]];
    return sum / count;
}

/* ---- Scenes -------------------------------------------------------------------------------------- */

static sinew_scene *read_text(const char *text, sinew_error *error)
{
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

static sinew_scene *try_map(const char *mesh, const char *energy, const char *key, const char *map, sinew_error *error)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"sinew\": 1, \"bodies\": [{\"mesh\": %s, \"density\": 1, \"energies\": [{\"energy\": \"%s\", \"%s\": "
             "%s}]}]}",
             mesh, energy, key, map);
    return read_text(text, error);
}

typedef struct kind {
    sinew_energy_kind energy;
    const char *key;
} kind;

static const kind kinds[] = {{SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness"},
                             {SINEW_ENERGY_MEMBRANE_STVK, "young"},
                             {SINEW_ENERGY_EDGE_STRAIN, "stiffness"},
                             {SINEW_ENERGY_ISOMETRIC, "rigidity"},
                             {SINEW_ENERGY_HINGE, "rigidity"},
                             {SINEW_ENERGY_MEAN_CURVATURE, "rigidity"},
                             {SINEW_ENERGY_POSITION, "stiffness"}};

/* The number of distinct vertices of an element: unused entries of a ring repeat its first vertex. */
static int size_of(const int32_t *cell, int width)
{
    int size = width;
    while (size > 1 && cell[size - 1] == cell[0])
        size--;
    return size;
}

/* Every element has from + (to - from) times the mean of its vertices. */
static void check_map(const kind *k, const char *map, double from, double to, const double *values)
{
    sinew_error error = {0};
    sinew_scene *scene =
        try_map("{\"file\": \"map.obj\"}", sinew_get_energy_info(k->energy)->name, k->key, map, &error);
    if (!scene)
        fail_msg("%s", error.text);
    sinew_world *world = sinew_scene_world(scene);
    const sinew_energy energy = sinew_world_energy_at(world, 0);
    const int32_t count = sinew_energy_element_count(world, energy);
    const int width = sinew_get_energy_info(k->energy)->vertex_count;
    int32_t *cells = malloc((size_t)count * (size_t)width * sizeof *cells);
    assert_true(cells && count > 0);
    assert_int_equal(sinew_energy_get_elements(world, energy, 0, count, cells, NULL, &error), SINEW_OK);
    for (int32_t i = 0; i < count; i++) {
        const int32_t *cell = cells + (size_t)i * (size_t)width;
        const double expected = from + (to - from) * mean_of(values, cell, size_of(cell, width));
        sinew_real found = 0;
        assert_int_equal(sinew_energy_get_parameter(world, energy, k->key, i, &found, &error), SINEW_OK);
        if (fabs((double)found - expected) > 1e-5 * to)
            fail_msg("%s: element %d has %g, expected %g", map, i, (double)found, expected);
    }
    free(cells);
    sinew_scene_destroy(scene);
}

static void maps_reach_every_element(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("maps", 20, 1000);
    for (int32_t i = 0; i < r.count; i++) {
        static picture p;
        sheet_file s;
        double values[COUNT];
        char map[200];
        const kind *k = &kinds[i % (int)(sizeof kinds / sizeof kinds[0])];
        const int channel = random_index(&r, 3);
        const double from = random_magnitude(&r, 1, 100), to = from * random_magnitude(&r, 1, 100);
        static const char *const channels[] = {"red", "green", "blue"};
        write_picture(&p, &r);
        write_sheet(&s, &r);
        for (int v = 0; v < COUNT; v++)
            values[v] = look_up(&p, channel, s.uv[v]);
        snprintf(map, sizeof map, "{\"image\": \"map.image\", \"channel\": \"%s\", \"from\": %.17g, \"to\": %.17g}",
                 channels[channel], from, to);
        check_map(k, map, from, to, values);
        snprintf(map, sizeof map, "{\"paint\": \"red\", \"from\": %.17g, \"to\": %.17g}", from, to);
        check_map(k, map, from, to, s.red);
    }
}

/* Painted values of a PLY file: a cloth with two coincident layers keeps separate values. */
static void layers_keep_their_own(void **state)
{
    (void)state;
    write_text("map.ply",
               "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float "
               "z\nproperty float stiff\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
               "0 0 0 0.25\n1 0 0 0.25\n0 1 0 0.25\n0 0 0 1\n1 0 0 1\n0 1 0 1\n3 0 1 2\n3 3 4 5\n");
    sinew_error error = {0};
    sinew_scene *scene =
        try_map("{\"file\": \"map.ply\"}", "triangle_strain", "stiffness", "{\"paint\": \"stiff\", \"to\": 8}", &error);
    if (!scene)
        fail_msg("%s", error.text);
    for (int32_t i = 0; i < 2; i++) {
        sinew_real found = 0;
        sinew_world *world = sinew_scene_world(scene);
        sinew_energy_get_parameter(world, sinew_world_energy_at(world, 0), "stiffness", i, &found, NULL);
        assert_true(fabs((double)found - (i ? 8 : 2)) < 1e-6);
    }
    sinew_scene_destroy(scene);
}

/* ---- Mistakes ------------------------------------------------------------------------------------ */

static void assert_refused(const char *mesh, const char *map, const char *expected)
{
    sinew_error error = {0};
    sinew_scene *scene = try_map(mesh, "triangle_strain", "stiffness", map, &error);
    if (scene || !strstr(error.text, expected))
        fail_msg("%s: \"%s\" where \"%s\" was expected", map, scene ? "read" : error.text, expected);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    const char *const own = "{\"file\": \"bare.obj\"}", *const image = "{\"image\": \"bad.pgm\"}";
    write_text("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("half.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3\n");
    write_text("good.pgm", "P5 1 1 255\n!");
    assert_refused(own, "{\"image\": \"good.pgm\"}", "no texture coordinates");
    assert_refused("{\"file\": \"half.obj\"}", "{\"image\": \"good.pgm\"}", "vertex 2 of the surface");
    assert_refused("{\"generator\": \"cloth\"}", "{\"image\": \"good.pgm\"}", "read the mesh from a file");
    assert_refused(own, "{\"image\": \"none.pgm\"}", "none.pgm");
    assert_refused(own, "{\"image\": \"good.pgm\", \"paint\": \"red\"}", "paint");
    assert_refused(own, "{\"paint\": \"red\"}", "no painted values");
    write_text("bad.pgm", "\x89PNG....");
    assert_refused(own, image, "PGM (P5), PPM (P6) and PFM");
    write_text("bad.pgm", "P5 4 4 255\n123");
    assert_refused(own, image, "has 3 bytes of pixels, 4 x 4 pixels need 16");
    write_text("bad.pgm", "P5 0 4 255\n123");
    assert_refused(own, image, "the width");
    write_text("bad.pgm", "P6 2 4 70000\n123");
    assert_refused(own, image, "the largest sample");
    write_text("bad.pgm", "Pf 1 1 1.0\n\x7f\xc0\x01\x01");
    assert_refused(own, image, "not finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_reach_every_element),
        cmocka_unit_test(layers_keep_their_own),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
