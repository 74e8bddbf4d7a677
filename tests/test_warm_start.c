/* SPDX-License-Identifier: MIT
 *
 * test_warm_start.c: what the contacts of a detection pass take over from those of the pass before it, for random lists
 * of contacts, against a search over all pairs: multipliers by key, else by vertex and second object; and the mark of
 * objects whose offset still grows.
 */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collide/contact_list.h"
#include "random_cases.h"

enum {
    CONTACTS_MAX = 24,
    OBJECTS = 3
};

static int order_of_keys(const void *a, const void *b)
{
    const uint64_t x = ((const sinew_contact_constraint *)a)->key, y = ((const sinew_contact_constraint *)b)->key;
    return x < y ? -1 : x > y;
}

/* Draws contacts of four vertices with six features, sorted, each key once; returns their number. */
static int32_t draw_contacts(random_cases *r, bool solved, sinew_contact_constraint *list)
{
    int32_t count = random_index(r, CONTACTS_MAX + 1), kept = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_contact_kind kind = (sinew_contact_kind)random_index(r, SINEW_CONTACT_KIND_COUNT);
        const int32_t v = random_index(r, 4), other = random_index(r, 6);
        list[i] = (sinew_contact_constraint){.key = sinew_contact_key(kind, v, other),
                                             .v = {v},
                                             .first = v % 2,
                                             .second = other % OBJECTS,
                                             .n = {0, 1, 0},
                                             .lambda = solved && random_index(r, 3) ? random_between(r, 1, 2) : 0,
                                             .rising = solved && random_index(r, 6) == 0 ? 1e-3 : 0};
        list[i].lagged_normal_force = 2 * list[i].lambda;
        list[i].yield.updates = solved ? random_between(r, 1, 9) : 0;
        list[i].was_active = list[i].lambda > 0;
    }
    qsort(list, (size_t)count, sizeof *list, order_of_keys);
    for (int32_t i = 0; i < count; i++)
        if (kept == 0 || list[i].key != list[kept - 1].key)
            list[kept++] = list[i];
    return kept;
}

static bool is_of_vertex(const sinew_contact_constraint *t)
{
    return t->key >> 60 != SINEW_CONTACT_EDGE_EDGE && t->key >> 60 != SINEW_CONTACT_SKIN_COLLIDER;
}

/* Index of the contact of `from` that contact t continues by vertex and second object, the first that is not taken; -1:
 * none. */
static int32_t find_continued(const sinew_contact_constraint *t, const sinew_contact_constraint *from, int32_t count,
                              const bool *taken)
{
    for (int32_t k = 0; k < count; k++)
        if (!taken[k] && from[k].lambda > 0 && is_of_vertex(&from[k]) && from[k].v[0] == t->v[0] &&
            from[k].second == t->second)
            return k;
    return -1;
}

static void check_contact(const sinew_contact_constraint *t, const sinew_contact_constraint *source, bool grows)
{
    const sinew_contact_constraint none = {0};
    source = source ? source : &none;
    assert_true(t->lambda == source->lambda && t->lagged_normal_force == source->lagged_normal_force);
    assert_true(t->was_active == source->was_active && t->yield.updates == source->yield.updates);
    assert_true(t->rising == (source->rising > 0 ? source->rising : grows ? DBL_MIN : 0));
}

static void contacts_continue(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("lists of contacts", 300, 20000);
    const sinew_collision_mesh mesh = {.allocator = sinew_allocator_or_system(NULL)};
    int32_t by_key = 0, by_vertex = 0, grown = 0;
    for (int32_t c = 0; c < r.count; c++) {
        sinew_contact_constraint before[CONTACTS_MAX], now[CONTACTS_MAX];
        const sinew_contact_constraint *source[CONTACTS_MAX] = {NULL};
        bool taken[CONTACTS_MAX] = {false};
        sinew_contact_list from = {.list = before}, to = {.list = now};
        from.count = draw_contacts(&r, true, before);
        to.count = draw_contacts(&r, false, now);
        for (int32_t i = 0; i < to.count; i++)
            for (int32_t k = 0; k < from.count; k++)
                if (now[i].key == before[k].key) {
                    source[i] = &before[k];
                    taken[k] = true;
                    by_key++;
                }
        for (int32_t i = 0; i < to.count; i++) {
            const bool free = is_of_vertex(&now[i]) && !(source[i] && source[i]->lambda > 0);
            const int32_t k = free ? find_continued(&now[i], before, from.count, taken) : -1;
            if (k < 0)
                continue;
            source[i] = &before[k];
            taken[k] = true;
            by_vertex++;
        }
        assert_true(sinew_contact_list_warm_start(&to, &from, &mesh));
        for (int32_t i = 0; i < to.count; i++) {
            bool grows = false;
            for (int32_t k = 0; k < from.count; k++)
                grows |= before[k].rising > 0 && before[k].first == now[i].first && before[k].second == now[i].second;
            check_contact(&now[i], source[i], grows);
            grown += grows;
        }
        to.list = NULL;
        sinew_contact_list_release(&to, &mesh.allocator);
    }
    print_message("%d contacts continued by key, %d by vertex; %d of objects with a growing offset\n", (int)by_key,
                  (int)by_vertex, (int)grown);
    assert_true(by_key > r.count / 2 && by_vertex > r.count / 2 && grown > r.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contacts_continue)};
    return cmocka_run_group_tests_name("warm start of contacts", tests, NULL, NULL);
}
