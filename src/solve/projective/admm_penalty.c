/* SPDX-License-Identifier: MIT
 *
 * admm_penalty.c: the rule that adapts ADMM's weight factor c (admm_penalty.h). Its constants were tuned on the random
 * scenes of tests/test_admm_spinning.c.
 */
#include "solve/projective/admm_penalty.h"

#include <math.h>

enum {
    BLOCK = 8,          /* iterations of a block: the weight c is reviewed after each block */
    SETTLING = 3,       /* number of ignored iterations after a change of c: they reflect the change, not the weight */
    EARLY_REVIEW = 3,   /* number of iterations after which a weight c that is far too small is raised */
    BLOW_UP_BLOCKS = 8, /* number of first blocks in which a strong growth of the changes raises the weight */
    LONG = 4            /* number of blocks of iterations after which slow convergence counts as long */
};

/* Range of the weight factor c: smaller weights let iterates oscillate too far, larger weights stall. */
static const double min = 0.1, max = 1e4;
/* apart: smallest ratio between c and its limits `low` and `high`. worthwhile: a change of c by a smaller factor is not
 * worth a factorisation. */
static const double apart = 1.1, worthwhile = 1.15;
static const double largest_rise = 2, largest_fall = 0.6, rise_of_cycles = 1.4;

void sinew_weight_start(sinew_weight_rule *rule, double c)
{
    *rule = (sinew_weight_rule){.memory = {.c = c, .high = INFINITY, .ratio = 1}};
}

bool sinew_weight_sane(const sinew_weight_memory *m)
{
    /* A loaded state is valid if squares of c are finite in single precision and the count of changes cannot
     * overflow. */
    const double smallest = 1e-6, largest = 1e12;
    return m->c >= smallest && m->c <= largest && m->low >= 0 && isfinite(m->low) && m->high > 0 && m->firm >= 0 &&
           isfinite(m->firm) && m->rate >= 0 && isfinite(m->rate) && m->ratio > 0 && isfinite(m->ratio) &&
           m->changes >= 0 && m->changes <= INT64_MAX / 2;
}

/* ---- Changes of the weight factor c ---------------------------------------------------------- */

static void restart_observation(sinew_weight_rule *rule, int32_t settling)
{
    rule->since = -settling;
    rule->blocks = 0;
    rule->log_ratio = 0;
}

static double clamp_between_limits(const sinew_weight_memory *m, double c)
{
    if (c >= m->low * apart && c <= m->high / apart)
        return c;
    if (m->low > 0 && isfinite(m->high))
        return sqrt(m->low * m->high);
    return m->low > 0 ? fmax(c, m->low * apart) : fmin(c, m->high / apart);
}

/* Multiplies the weight factor c by about `factor`; the old c becomes a limit. A strong change removes a limit that
 * blocks it. Returns false if c stays. */
static bool change_weight(sinew_weight_rule *rule, double factor)
{
    sinew_weight_memory *m = &rule->memory;
    const double wanted = fmin(fmax(m->c * factor, min), max);
    if (factor > 1) {
        m->low = fmax(m->low, m->c);
        if (factor >= largest_rise && wanted > m->high / apart)
            m->high = INFINITY;
    } else {
        m->high = fmin(m->high, m->c);
        if (factor <= largest_fall && wanted < m->low * apart)
            m->low = fmin(m->low, m->firm);
    }
    double c = clamp_between_limits(m, wanted);
    /* PD's own weight, c = 1, is exact without rotation: an increase from below 0.8 stops there. */
    if (m->c < 0.8 && c > 1)
        c = 1;
    if (c > m->c / worthwhile && c < m->c * worthwhile)
        return false;
    m->c = c;
    m->changes++;
    rule->changes++;
    restart_observation(rule, SETTLING);
    return true;
}

/* Multiplies the weight factor c by about `factor` after a cycle or blow-up; the old c becomes a firm lower limit.
 * Returns false if c stays. */
static bool leave_cycle(sinew_weight_rule *rule, double factor)
{
    sinew_weight_memory *m = &rule->memory;
    m->firm = m->c;
    if (m->high < 1.2 * m->c * factor)
        m->high = INFINITY;
    return change_weight(rule, factor);
}

void sinew_weight_disturb(sinew_weight_rule *rule)
{
    restart_observation(rule, SETTLING);
}

void sinew_weight_restart(sinew_weight_rule *rule)
{
    sinew_weight_memory *m = &rule->memory;
    m->firm = m->low = m->c;
    m->high = INFINITY;
    m->c = fmin(3 * m->c, max);
    m->changes++;
    restart_observation(rule, SETTLING);
}

/* ---- Observation of convergence, review of the weight ---------------------------------------- */

static double wanted_factor(double ratio)
{
    return fmin(fmax(sqrt(ratio), largest_fall), largest_rise);
}

/* Relaxes the limits of c at the start of a step. If the measurements of the whole previous step suggest a change, this
 * step starts with the new weight; a step with fewer than BLOCK iterations measures nothing. Returns true if c has
 * changed. */
bool sinew_weight_begin(sinew_weight_rule *rule)
{
    const double yield = 0.85, slow = 0.65, far_off = 4;
    sinew_weight_memory *m = &rule->memory;
    m->low *= yield;
    m->firm *= yield;
    m->high /= yield;
    rule->changes = 0;
    const bool wanted = m->rate > slow && (m->ratio > far_off || m->ratio < 1 / far_off);
    const bool changed = wanted && change_weight(rule, wanted_factor(m->ratio));
    m->rate = 0;
    m->ratio = 1;
    restart_observation(rule, 2);
    return changed;
}

/* Factor of the size of changes per iteration (rate_since), and geometric mean of the residual ratio R (ratio_since),
 * since the end of block `from`. */
static double rate_since(const sinew_weight_rule *rule, int32_t from)
{
    return pow(rule->sizes[rule->blocks] / rule->sizes[from], 1.0 / (BLOCK * (rule->blocks - from)));
}

static double ratio_since(const sinew_weight_rule *rule, int32_t from)
{
    return exp((rule->log_ratios[rule->blocks] - rule->log_ratios[from]) / (BLOCK * (rule->blocks - from)));
}

/* Factor by which the mean residual ratio R must differ from one to change c: smaller for longer averages. */
static double ratio_uncertainty(int32_t blocks)
{
    return blocks == 1 ? 3 : blocks == 2 ? 2.2 : blocks <= 4 ? 1.8 : 1.5;
}

/* Changes the weight factor c after long slow convergence, also if R is near one. If R is clearly above or below one, a
 * limit of c in this direction is removed, because early iterations have set it. Returns true if c has changed. */
static bool change_after_slow_progress(sinew_weight_rule *rule, double ratio)
{
    const double off = 1.15, step = 1.3, far_off = 2;
    sinew_weight_memory *m = &rule->memory;
    if (ratio < 1 / far_off && m->low > 0)
        m->low = m->firm = 0;
    if (ratio > far_off)
        m->high = INFINITY;
    return (ratio > off && change_weight(rule, fmax(wanted_factor(ratio), step))) ||
           (ratio < 1 / off && change_weight(rule, fmin(wanted_factor(ratio), 1 / step)));
}

static bool review_weight(sinew_weight_rule *rule)
{
    const double standing = 0.99, growing = 1.05, slow = 0.88, crawling = 0.97;
    const int32_t half = rule->blocks / 2, last = rule->blocks - 1;
    const double rate = rate_since(rule, half), ratio = ratio_since(rule, half);
    const double rate_now = rate_since(rule, last), ratio_now = ratio_since(rule, last);
    rule->memory.rate = rate_since(rule, 0);
    rule->memory.ratio = rule->changes > 0 ? 1 : ratio_since(rule, 0);
    if ((rate_now > standing && ratio_now > 0.8) || rate_now > growing)
        return leave_cycle(rule, fmin(fmax(sqrt(ratio_now), rise_of_cycles), 2.5));
    const double far_off = ratio_uncertainty(rule->blocks - half);
    if (rule->changes >= SINEW_WEIGHT_CHANGES || rule->blocks < 1 + 2 * rule->changes || fmin(rate, rate_now) < slow)
        return false;
    if (rule->blocks - half >= LONG && rate > crawling)
        return change_after_slow_progress(rule, ratio);
    /* If the last block contradicts the average, the residual ratio R oscillates, and c is kept. */
    return (ratio > far_off || ratio < 1 / far_off) && (ratio > 1) == (ratio_now > 1) &&
           change_weight(rule, wanted_factor(ratio));
}

/* Raises c after EARLY_REVIEW iterations if c is below PD's weight (c = 1), the mean residual ratio R is large, and
 * convergence is slow. Returns true if c has changed. */
static bool review_weight_early(sinew_weight_rule *rule, double size)
{
    const double slow = 0.5, far_off = 5;
    const double ratio = exp(rule->log_ratio / EARLY_REVIEW), rate = pow(size / rule->sizes[0], 1.0 / EARLY_REVIEW);
    return rule->changes == 0 && rule->memory.c < 0.9 && ratio > far_off && rate > slow &&
           change_weight(rule, fmin(sqrt(ratio), 2.5));
}

bool sinew_weight_observe(sinew_weight_rule *rule, double size, double ratio)
{
    const double blow_up = 30, smallest = 1e-100, swing = 10;
    size = fmax(size, smallest);
    rule->since++;
    if (rule->since == 0) {
        rule->sizes[0] = size;
        rule->log_ratios[0] = 0;
    }
    if (rule->since <= 0)
        return false;
    rule->log_ratio += log(fmin(fmax(ratio, 1 / swing), swing));
    if (size > blow_up * rule->sizes[0] && rule->blocks < BLOW_UP_BLOCKS)
        return leave_cycle(rule, rise_of_cycles);
    if (rule->since == EARLY_REVIEW && review_weight_early(rule, size))
        return true;
    if (rule->since % BLOCK != 0 || rule->blocks + 1 >= SINEW_WEIGHT_BLOCKS)
        return false;
    rule->blocks++;
    rule->sizes[rule->blocks] = size;
    rule->log_ratios[rule->blocks] = rule->log_ratio;
    return review_weight(rule);
}
