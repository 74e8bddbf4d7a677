/* SPDX-License-Identifier: MIT
 *
 * bench_energy.c: nanoseconds per tetrahedron of the kernels, at each SIMD width, on the n = 32 block.
 *
 * Kernels are called as the objective calls them, chunk after chunk over chunk-local positions, on one thread and
 * without the copies between global and local vectors. Prints the fastest of several passes, and ratios to width 1.
 * Elements are not grouped into fans here (energy/batch_layout.h), unlike in bench_gradient.
 * Usage: bench_energy [n] [passes]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "energy/energy.h"
#include "energy/batch_layout.h"

enum {
    CHUNK_TETS = SINEW_CHUNK_ELEMENTS
};

typedef struct chunk {
    int32_t group_count, vertex_count;
    int32_t *vertex;
    sinew_real *data, *x, *p, *g, *tangent, *blocks;
} chunk;

typedef struct block {
    const sinew_mesh *mesh;
    int32_t chunk_count;
    chunk *chunks;
} block;

static void *array(size_t count, size_t size)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    void *memory = sinew_allocate_zero(&allocator, count, size);
    if (!memory) {
        fprintf(stderr, "bench_energy: out of memory; give a smaller n\n");
        exit(1);
    }
    return memory;
}

static void array_free(void *memory)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_release(&allocator, memory);
}

/* Numbers the chunk's vertices by first use and copies their positions with small random displacements. */
static void chunk_vertices(chunk *c, const sinew_mesh *mesh, const int32_t *tets, int32_t tet_count, int W,
                           int32_t *local)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    unsigned seed = 1;
    for (int32_t i = 0; i < 4 * c->group_count * W; i++) {
        const int32_t e = i / 4 < tet_count ? i / 4 : 0, global = tets[4 * e + i % 4];
        if (local[global] < 0) {
            local[global] = c->vertex_count++;
            for (int k = 0; k < 3; k++) {
                seed = seed * 1664525u + 1013904223u;
                c->x[4 * local[global] + k] =
                    X[3 * global + k] + (sinew_real)0.005 * (sinew_real)(seed >> 8) / (1 << 24);
                c->p[4 * local[global] + k] = (sinew_real)(seed >> 16) / 65536;
            }
        }
        c->vertex[(i / 4 / W * 4 + i % 4) * W + i / 4 % W] = SINEW_POINT * local[global];
    }
    for (int32_t i = 0; i < 4 * tet_count; i++)
        local[tets[i]] = -1;
}

static void chunk_data(chunk *c, const sinew_energy_ops *ops, const sinew_mesh *mesh, const int32_t *tets,
                       int32_t tet_count, int W)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real parameters[SINEW_PARAMETER_MAX], rest[12], data[SINEW_DATA_MAX];
    for (int i = 0; i < ops->info.parameter_count; i++)
        parameters[i] = (sinew_real)ops->info.parameters[i].preset;
    for (int32_t e = 0; e < c->group_count * W; e++) {
        const int32_t source = e < tet_count ? e : 0;
        for (int i = 0; i < 12; i++)
            rest[i] = X[3 * tets[4 * source + i / 3] + i % 3];
        const sinew_element element = {.rest = rest, .parameters = parameters};
        ops->prepare(&element, data);
        if (e >= tet_count)
            data[0] = 0;
        for (int i = 0; i < ops->data_count; i++)
            c->data[(e / W * ops->data_count + i) * W + e % W] = data[i];
    }
}

static block block_make(const sinew_mesh *mesh, const sinew_simd_variant *simd, const sinew_energy_ops *ops)
{
    const int W = simd->width;
    const int32_t tet_count = sinew_mesh_tet_count(mesh), vertex_count = sinew_mesh_vertex_count(mesh);
    block b = {.mesh = mesh, .chunk_count = (tet_count + CHUNK_TETS - 1) / CHUNK_TETS};
    b.chunks = array((size_t)b.chunk_count, sizeof *b.chunks);
    int32_t *local = array((size_t)vertex_count, sizeof *local);
    memset(local, -1, sizeof *local * (size_t)vertex_count);
    for (int32_t i = 0; i < b.chunk_count; i++) {
        chunk *c = &b.chunks[i];
        const int32_t *tets = sinew_mesh_tets(mesh) + 4 * CHUNK_TETS * (size_t)i;
        const int32_t count = i + 1 < b.chunk_count ? CHUNK_TETS : tet_count - i * CHUNK_TETS;
        c->group_count = (count + W - 1) / W;
        const size_t elements = (size_t)(c->group_count * W);
        c->vertex = array(4 * elements, sizeof *c->vertex);
        c->data = array((size_t)ops->data_count * elements, sizeof *c->data);
        c->tangent = array((size_t)ops->tangent_count * elements, sizeof *c->tangent);
        c->blocks = array(90 * elements, sizeof *c->blocks);
        c->x = array(16 * elements, sizeof *c->x);
        c->p = array(16 * elements, sizeof *c->p);
        c->g = array(16 * elements, sizeof *c->g);
        chunk_vertices(c, mesh, tets, count, W, local);
        chunk_data(c, ops, mesh, tets, count, W);
    }
    array_free(local);
    return b;
}

static void block_free(block *b)
{
    for (int32_t i = 0; i < b->chunk_count; i++) {
        chunk *c = &b->chunks[i];
        void *arrays[] = {c->vertex, c->data, c->tangent, c->blocks, c->x, c->p, c->g};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            array_free(arrays[k]);
    }
    array_free(b->chunks);
}

enum {
    VALUE,
    GRADIENT,
    EXACT,
    PROJECTED,
    PRODUCT,
    HESSIAN,
    OPERATION_COUNT
};
static const char *const operation_names[] = {"value", "gradient", "exact", "projected", "product", "hessian"};

static void run(const sinew_energy_ops *ops, const sinew_kernel *kernel, int operation)
{
    switch (operation) {
    case VALUE:
        ops->value(kernel);
        break;
    case GRADIENT:
        ops->gradient(kernel);
        break;
    case EXACT:
    case PROJECTED:
        ops->linearise(kernel);
        break;
    case PRODUCT:
        ops->product(kernel);
        break;
    default:
        ops->hessian(kernel);
    }
}

/* Nanoseconds per tetrahedron in the fastest pass. */
static double measure(const block *b, const sinew_energy_ops *ops, int operation, int passes)
{
    double best = 1e300;
    for (int pass = 0; pass < passes; pass++) {
        const double start = sinew_seconds();
        for (int32_t i = 0; i < b->chunk_count; i++) {
            const chunk *c = &b->chunks[i];
            const sinew_kernel kernel = {.groups = {.count = c->group_count, .vertex = c->vertex, .data = c->data},
                                         .x = c->x,
                                         .p = c->p,
                                         .g = c->g,
                                         .tangent = c->tangent,
                                         .blocks = c->blocks,
                                         .project = operation == PROJECTED};
            run(ops, &kernel, operation);
        }
        const double seconds = sinew_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    return best * 1e9 / sinew_mesh_tet_count(b->mesh);
}

static void report(const sinew_mesh *mesh, sinew_energy_kind kind, int passes)
{
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    double ns[8][OPERATION_COUNT] = {{0}};
    for (int32_t v = 0; v < count; v++) {
        const sinew_energy_ops *ops = variants[v]->energies[kind];
        block b = block_make(mesh, variants[v], ops);
        for (int operation = 0; operation < OPERATION_COUNT; operation++)
            ns[v][operation] = measure(&b, ops, operation, passes);
        block_free(&b);
    }
    for (int32_t v = 0; v < count; v++) {
        printf("%-20s %-8s", variants[v]->energies[kind]->info.name, variants[v]->name);
        for (int operation = 0; operation < OPERATION_COUNT; operation++)
            printf(" %7.1f (%4.1fx)", ns[v][operation], ns[count - 1][operation] / ns[v][operation]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 32, passes = argc > 2 ? atoi(argv[2]) : 15;
    sinew_error error;
    sinew_box_def def = sinew_default_box_def();
    def.vertices[0] = def.vertices[1] = def.vertices[2] = n;
    sinew_mesh *mesh = sinew_mesh_box(&def, &error);
    if (!mesh) {
        fprintf(stderr, "bench_energy: %s\n", error.text);
        return 1;
    }
    printf("ns per tet (times faster than width 1), %s precision, one thread, %d tets\n", SINEW_PRECISION,
           sinew_mesh_tet_count(mesh));
    printf("%-20s %-8s", "energy", "lanes");
    for (int operation = 0; operation < OPERATION_COUNT; operation++)
        printf(" %15s", operation_names[operation]);
    printf("\n");
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        if (sinew_get_stencil(sinew_get_energy_info((sinew_energy_kind)kind)->stencil)->fans)
            report(mesh, (sinew_energy_kind)kind, passes);
    sinew_mesh_destroy(mesh);
    return 0;
}
