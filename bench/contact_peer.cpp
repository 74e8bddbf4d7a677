/* SPDX-License-Identifier: MIT
 *
 * contact_peer.cpp: see contact_peer.h. Steps of one Newton iteration with conjugate gradients, as Bullet has them by
 * default; stable Neo-Hookean tets or springs; vertices against rigid bodies by signed distances, and against faces of
 * other soft bodies.
 */
#include "contact_peer.h"

#include <memory>
#include <vector>

#ifdef SINEW_PEER_BULLET
#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableGravityForce.h>
#include <BulletSoftBody/btDeformableMassSpringForce.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btDeformableNeoHookeanForce.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

namespace
{

struct bullet {
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btDeformableBodySolver deformable;
    btDeformableMultiBodyConstraintSolver solver;
    std::unique_ptr<btDeformableMultiBodyDynamicsWorld> world;
    std::vector<std::unique_ptr<btDeformableLagrangianForce>> forces;
    std::vector<std::unique_ptr<btSoftBody>> bodies;
    std::unique_ptr<btCollisionShape> shape;
    std::unique_ptr<btDefaultMotionState> state;
    std::unique_ptr<btRigidBody> collider;
    double h = 0;

    ~bullet()
    {
        for (auto &body : bodies)
            world->removeSoftBody(body.get());
        if (collider)
            world->removeRigidBody(collider.get());
    }
};

void add_collider(bullet &b, const bench_touching &scene)
{
    const btScalar big = 5;
    if (scene.radius < 0)
        return;
    btTransform pose;
    pose.setIdentity();
    if (scene.radius > 0) {
        b.shape = std::make_unique<btSphereShape>(static_cast<btScalar>(scene.radius));
    } else {
        b.shape = std::make_unique<btBoxShape>(btVector3(big, big, big));
        pose.setOrigin(btVector3(0, -big, 0));
    }
    b.state = std::make_unique<btDefaultMotionState>(pose);
    b.collider =
        std::make_unique<btRigidBody>(btRigidBody::btRigidBodyConstructionInfo(0, b.state.get(), b.shape.get()));
    b.collider->setFriction(static_cast<btScalar>(scene.friction));
    b.world->addRigidBody(b.collider.get());
}

void add_cells(btSoftBody &body, const sinew_mesh *mesh)
{
    for (int t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        const int32_t *v = sinew_mesh_tets(mesh) + 4 * t;
        body.appendTetra(v[0], v[1], v[2], v[3]);
        /* Bullet builds its trees of nodes along links, and does not terminate without links. */
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                body.appendLink(v[a], v[b], nullptr, true);
    }
    if (sinew_mesh_tet_count(mesh) > 0) {
        btSoftBodyHelpers::generateBoundaryFaces(&body);
        body.initializeDmInverse();
        body.m_tetraScratches.resize(body.m_tetras.size());
        body.m_tetraScratchesTn.resize(body.m_tetras.size());
        return;
    }
    for (int e = 0; e < sinew_mesh_edge_count(mesh); e++)
        body.appendLink(sinew_mesh_edges(mesh)[2 * e], sinew_mesh_edges(mesh)[2 * e + 1]);
    for (int t = 0; t < sinew_mesh_triangle_count(mesh); t++) {
        const int32_t *v = sinew_mesh_triangles(mesh) + 3 * t;
        body.appendFace(v[0], v[1], v[2]);
    }
}

void add_force(bullet &b, btSoftBody *body, btDeformableLagrangianForce *force)
{
    b.forces.emplace_back(force);
    b.world->addForce(body, force);
}

/* Fixes the vertices at the highest point. */
void hold(btSoftBody &body)
{
    btScalar top = body.m_nodes[0].m_x.y();
    for (int i = 0; i < body.m_nodes.size(); i++)
        top = btMax(top, body.m_nodes[i].m_x.y());
    for (int i = 0; i < body.m_nodes.size(); i++)
        if (body.m_nodes[i].m_x.y() >= top)
            body.setMass(i, 0);
}

void add_body(bullet &b, const bench_touching &scene, int k)
{
    const int n = sinew_mesh_vertex_count(scene.mesh);
    const sinew_real *x = scene.positions + 3 * static_cast<size_t>(n) * static_cast<size_t>(k);
    std::vector<btVector3> points;
    for (int i = 0; i < n; i++)
        points.emplace_back(static_cast<btScalar>(x[3 * i]), static_cast<btScalar>(x[3 * i + 1]),
                            static_cast<btScalar>(x[3 * i + 2]));
    const std::vector<btScalar> masses(points.size(), static_cast<btScalar>(scene.mass / n));
    auto own = std::make_unique<btSoftBody>(&b.world->getWorldInfo(), n, points.data(), masses.data());
    btSoftBody *body = own.get();
    b.bodies.push_back(std::move(own));
    add_cells(*body, scene.mesh);
    body->getCollisionShape()->setMargin(static_cast<btScalar>(scene.thickness));
    body->m_cfg.kDF = static_cast<btScalar>(scene.friction);
    body->m_cfg.kKHR = body->m_cfg.kCHR = 1;
    body->m_cfg.collisions =
        btSoftBody::fCollision::SDF_RD | btSoftBody::fCollision::SDF_RDN | btSoftBody::fCollision::VF_DD;
    body->setSelfCollision(false);
    body->m_sleepingThreshold = 0;
    if (scene.hangs && k == 0)
        hold(*body);
    b.world->addSoftBody(body);
    if (sinew_mesh_tet_count(scene.mesh) > 0) {
        const double mu = scene.young / (2 * (1 + scene.poisson));
        const double lambda = scene.young * scene.poisson / ((1 + scene.poisson) * (1 - 2 * scene.poisson));
        add_force(b, body,
                  new btDeformableNeoHookeanForce(static_cast<btScalar>(4 * mu / 3),
                                                  static_cast<btScalar>(lambda + 5 * mu / 6),
                                                  static_cast<btScalar>(scene.damping)));
    } else {
        add_force(b, body,
                  new btDeformableMassSpringForce(static_cast<btScalar>(scene.spring),
                                                  static_cast<btScalar>(scene.damping * scene.spring), false));
    }
    add_force(b, body, new btDeformableGravityForce(b.world->getGravity()));
}

} // namespace

void *bench_bullet(const bench_touching *scene)
{
    auto *b = new bullet;
    b->solver.setDeformableSolver(&b->deformable);
    b->world = std::make_unique<btDeformableMultiBodyDynamicsWorld>(&b->dispatcher, &b->broadphase, &b->solver,
                                                                    &b->configuration, &b->deformable);
    b->h = scene->h;
    b->world->setGravity(btVector3(0, static_cast<btScalar>(-9.81), 0));
    b->world->getWorldInfo().m_gravity = b->world->getGravity();
    b->world->getWorldInfo().m_sparsesdf.setDefaultVoxelsz(static_cast<btScalar>(0.02));
    b->world->getWorldInfo().m_sparsesdf.Reset();
    b->world->setImplicit(scene->damping <= 0);
    b->world->setUseProjection(scene->damping <= 0);
    add_collider(*b, *scene);
    for (int k = 0; k < scene->body_count; k++)
        add_body(*b, *scene, k);
    return b;
}

void bench_bullet_step(void *own)
{
    auto *b = static_cast<bullet *>(own);
    b->world->stepSimulation(static_cast<btScalar>(b->h), 1, static_cast<btScalar>(b->h));
}

void bench_bullet_positions(void *own, double *x)
{
    for (const auto &body : static_cast<bullet *>(own)->bodies)
        for (int i = 0; i < body->m_nodes.size(); i++)
            for (int c = 0; c < 3; c++)
                *x++ = static_cast<double>(body->m_nodes[i].m_x[c]);
}

void bench_bullet_destroy(void *own)
{
    delete static_cast<bullet *>(own);
}
#else
void *bench_bullet(const bench_touching *)
{
    return nullptr;
}

void bench_bullet_step(void *) {}

void bench_bullet_positions(void *, double *) {}

void bench_bullet_destroy(void *) {}
#endif
