/* SPDX-License-Identifier: MIT
 *
 * peers.cpp: see peers.h.
 */
#include "peers.h"

#ifdef SINEW_PEER_CHOLMOD
#include <cholmod.h>
#endif

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sinew/mesh.h"

#ifdef SINEW_PEER_EIGEN
#include <Eigen/Sparse>
#endif
#ifdef SINEW_PEER_BULLET
#include <BulletSoftBody/btSoftBody.h>
#include <btBulletDynamicsCommon.h>
#endif

extern "C" void openblas_set_num_threads(int count) __attribute__((weak));

namespace
{

double (*seconds_of)(void (*body)(void *context), void *context);

double median(std::function<void()> body)
{
    return seconds_of([](void *context) { (*static_cast<std::function<void()> *>(context))(); }, &body);
}

struct matrix {
    int n = 0;
    std::vector<std::map<int, double>> columns; // lower triangle
};

/* M/h^2 + sum k V D^T D of the strain block, h = 1/60, k = 1e5, density 1000: as the pd row of bench_solvers. */
matrix global_matrix(const sinew_mesh *mesh)
{
    matrix S;
    S.n = sinew_mesh_vertex_count(mesh);
    S.columns.resize(static_cast<size_t>(S.n));
    const sinew_real *x = sinew_mesh_positions(mesh);
    for (int t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        const int32_t *v = sinew_mesh_tets(mesh) + 4 * t;
        double e[3][3], g[4][3] = {};
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                e[a][c] = static_cast<double>(x[3 * v[a + 1] + c]) - static_cast<double>(x[3 * v[0] + c]);
        for (int a = 0; a < 3; a++) // gradients of the barycentric coordinates, times 6 V
            for (int c = 0; c < 3; c++) {
                const double *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];
                g[a + 1][c] = p[(c + 1) % 3] * q[(c + 2) % 3] - p[(c + 2) % 3] * q[(c + 1) % 3];
                g[0][c] -= g[a + 1][c];
            }
        const double volume6 = std::fabs(e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2]);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                double dot = 0;
                for (int c = 0; c < 3; c++)
                    dot += g[a][c] * g[b][c];
                if (v[a] >= v[b])
                    S.columns[static_cast<size_t>(v[b])][v[a]] +=
                        1e5 * dot / (6 * volume6) + (a == b ? 1000 * volume6 / 24 * 3600 : 0);
            }
    }
    return S;
}

#ifdef SINEW_PEER_CHOLMOD
void cholmod_row(const matrix &S, bool supernodal)
{
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = supernodal ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_METIS;
    size_t entries = 0;
    for (const auto &column : S.columns)
        entries += column.size();
    const size_t n = static_cast<size_t>(S.n);
    cholmod_sparse *A = cholmod_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, &common);
    int at = 0;
    for (size_t j = 0; j < n; j++) {
        static_cast<int *>(A->p)[j] = at;
        for (const auto &entry : S.columns[j]) {
            static_cast<int *>(A->i)[at] = entry.first;
            static_cast<double *>(A->x)[at++] = entry.second;
        }
    }
    static_cast<int *>(A->p)[n] = at;
    cholmod_factor *L = cholmod_analyze(A, &common);
    cholmod_factorize(A, L, &common);
    cholmod_dense *b = cholmod_ones(n, 3, CHOLMOD_REAL, &common), *x = nullptr, *y = nullptr, *e = nullptr;
    const double seconds = median([&] { cholmod_solve2(CHOLMOD_A, L, b, nullptr, &x, nullptr, &y, &e, &common); });
    std::printf("%-44s %9.2f ms   %.2f M numbers in L\n",
                supernodal ? "peer: CHOLMOD supernodal" : "peer: CHOLMOD simplicial", 1e3 * seconds,
                1e-6 * (supernodal ? static_cast<double>(L->xsize) : common.lnz));
    cholmod_free_dense(&b, &common);
    cholmod_free_dense(&x, &common);
    cholmod_free_dense(&y, &common);
    cholmod_free_dense(&e, &common);
    cholmod_free_factor(&L, &common);
    cholmod_free_sparse(&A, &common);
    cholmod_finish(&common);
}
#endif

#ifdef SINEW_PEER_EIGEN
void eigen_row(const matrix &S)
{
    std::vector<Eigen::Triplet<double>> entries;
    for (int j = 0; j < S.n; j++)
        for (const auto &entry : S.columns[static_cast<size_t>(j)])
            entries.emplace_back(entry.first, j, entry.second);
    Eigen::SparseMatrix<double> A(S.n, S.n);
    A.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> solver(A);
    const Eigen::MatrixXd b = Eigen::MatrixXd::Ones(S.n, 3);
    Eigen::MatrixXd x(S.n, 3);
    const double seconds = median([&] { x = solver.solve(b); });
    std::printf("%-44s %9.2f ms\n", "peer: Eigen SimplicialLDLT", 1e3 * seconds);
}
#endif

} // namespace

#ifdef SINEW_PEER_BULLET
struct links {
    btSoftBodyWorldInfo info;
    std::unique_ptr<btSoftBody> body;
};

void *bench_links(const sinew_mesh *mesh)
{
    const int count = sinew_mesh_vertex_count(mesh), edges = sinew_mesh_edge_count(mesh);
    const sinew_real *x = sinew_mesh_positions(mesh);
    std::vector<btVector3> points;
    for (int i = 0; i < count; i++)
        points.emplace_back(static_cast<btScalar>(x[3 * i]), static_cast<btScalar>(x[3 * i + 1]),
                            static_cast<btScalar>(x[3 * i + 2]));
    std::vector<btScalar> masses(points.size(), btScalar(1));
    links *own = new links;
    own->body = std::make_unique<btSoftBody>(&own->info, count, points.data(), masses.data());
    for (int e = 0; e < edges; e++)
        own->body->appendLink(sinew_mesh_edges(mesh)[2 * e], sinew_mesh_edges(mesh)[2 * e + 1]);
    own->body->updateLinkConstants();
    for (int i = 0; i < own->body->m_links.size(); i++) { // what its solver prepares before the iterations
        btSoftBody::Link &l = own->body->m_links[i];
        l.m_c3 = l.m_n[1]->m_q - l.m_n[0]->m_q;
        l.m_c2 = 1 / (l.m_c3.length2() * l.m_c0);
    }
    return own;
}

void bench_links_solve(void *own)
{
    btSoftBody::PSolve_Links(static_cast<links *>(own)->body.get(), 1, 0);
}

void bench_links_destroy(void *own)
{
    delete static_cast<links *>(own);
}

int bench_links_bits(void)
{
    return static_cast<int>(8 * sizeof(btScalar));
}

static void bullet_row(const sinew_mesh *mesh)
{
    sinew_mesh *skeleton = sinew_mesh_skeleton(mesh, nullptr);
    void *own = bench_links(skeleton);
    const double seconds = median([&] { bench_links_solve(own); });
    std::printf("%-44s %9.1f ns   per constraint, %d-bit reals\n", "peer: Bullet PSolve_Links",
                1e9 * seconds / sinew_mesh_edge_count(skeleton), bench_links_bits());
    bench_links_destroy(own);
    sinew_mesh_destroy(skeleton);
}
#else
void *bench_links(const sinew_mesh *)
{
    return nullptr;
}

void bench_links_solve(void *) {}

void bench_links_destroy(void *) {}

int bench_links_bits(void)
{
    return 0;
}
#endif

void bench_peers(int n, double (*seconds)(void (*body)(void *context), void *context))
{
    seconds_of = seconds;
    sinew_box_def box = sinew_default_box_def();
    for (int &count : box.vertices)
        count = n;
    sinew_mesh *mesh = sinew_mesh_box(&box, nullptr);
    const matrix S = global_matrix(mesh);
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
#ifdef SINEW_PEER_CHOLMOD
    cholmod_row(S, false);
    cholmod_row(S, true);
#else
    std::printf("peer: CHOLMOD is left out: install libsuitesparse-dev\n");
#endif
#ifdef SINEW_PEER_EIGEN
    eigen_row(S);
#else
    std::printf("peer: Eigen is left out: install libeigen3-dev\n");
#endif
#ifdef SINEW_PEER_BULLET
    bullet_row(mesh);
#else
    std::printf("peer: Bullet is left out: install libbullet-dev\n");
#endif
    sinew_mesh_destroy(mesh);
}
