/* SPDX-License-Identifier: MIT
 *
 * usda_file.h: a small reader of USD text files for tests, written from the grammar and not from the writer: prims,
 * attributes with values and time samples, relationships, metadata. Unknown syntax fails the test.
 */
#ifndef SINEW_USDA_FILE_H
#define SINEW_USDA_FILE_H

#include "cache_fixture.h"

enum {
    USDA_ATTRIBUTES = 512,
    USDA_SAMPLES = 64
};

/* Numbers of a value, flat; of texts the last one is kept. */
typedef struct usda_value {
    double *numbers;
    size_t count, capacity;
    int tuples; /* number of tuples, in parentheses */
    char word[128];
} usda_value;

typedef struct usda_attribute {
    char prim[256]; /* /scene/body */
    char prim_type[32], type[32], name[64], interpolation[32];
    bool has_value;
    usda_value value;
    int sample_count;
    double times[USDA_SAMPLES];
    usda_value samples[USDA_SAMPLES];
} usda_attribute;

typedef struct usda_file {
    char *text;
    const char *at;
    usda_attribute *attributes; /* [USDA_ATTRIBUTES] */
    int attribute_count;
    char token[128];
    char kind; /* kind of the token: w word, n number, s text, p path, or the character itself; 0 at the end */
} usda_file;

static inline void usda_next(usda_file *f)
{
    f->at += strspn(f->at, " \t\r\n");
    const char *begin = f->at;
    size_t length = 1;
    f->kind = *begin;
    if (*begin == '"' || *begin == '<') {
        const char *end = strchr(begin + 1, *begin == '"' ? '"' : '>');
        assert_non_null(end);
        f->kind = *begin == '"' ? 's' : 'p';
        length = (size_t)(end - begin) + 1;
    } else if (strchr("0123456789-+", *begin) && *begin) {
        f->kind = 'n';
        length = strspn(begin, "0123456789+-.eE");
    } else if ((*begin >= 'a' && *begin <= 'z') || (*begin >= 'A' && *begin <= 'Z') || *begin == '_') {
        f->kind = 'w';
        length = strspn(begin, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.");
    }
    if (!*begin)
        return;
    assert_true(length < sizeof f->token);
    memcpy(f->token, begin, length);
    f->token[length] = '\0';
    f->at = begin + length;
}

static inline void usda_expect(usda_file *f, char kind, const char *token)
{
    if (f->kind != kind || (token && strcmp(f->token, token) != 0))
        fail_msg("expected %c %s, found %c %s before: %.40s", kind, token ? token : "", f->kind, f->token, f->at);
    usda_next(f);
}

static inline void usda_add(usda_value *value, double number)
{
    if (value->count == value->capacity) {
        value->capacity = value->capacity ? 2 * value->capacity : 64;
        value->numbers = realloc(value->numbers, value->capacity * sizeof *value->numbers);
        assert_non_null(value->numbers);
    }
    value->numbers[value->count++] = number;
}

/* number | text | path | word | [ list ] | ( tuple ); separated by commas, with no trailing comma except before the
 * bracket. */
static inline void usda_read_value(usda_file *f, usda_value *value)
{
    if (f->kind == '[' || f->kind == '(') {
        const char close = f->kind == '[' ? ']' : ')';
        value->tuples += f->kind == '(';
        usda_next(f);
        while (f->kind != close) {
            usda_read_value(f, value);
            if (f->kind != close)
                usda_expect(f, ',', NULL);
        }
        usda_next(f);
        return;
    }
    if (f->kind == 'n') {
        char *end;
        usda_add(value, strtod(f->token, &end));
        assert_int_equal(*end, 0);
    } else {
        assert_true(f->kind == 's' || f->kind == 'p' || f->kind == 'w');
        snprintf(value->word, sizeof value->word, "%s", f->token);
    }
    usda_next(f);
}

/* ( name = value ... ), as attributes of `prim` with the type "metadata", or of one attribute. */
static inline usda_attribute *usda_attribute_of(usda_file *f, const char *prim, const char *prim_type,
                                                const char *name);

static inline void usda_metadata(usda_file *f, const char *prim, usda_attribute *of)
{
    usda_expect(f, '(', NULL);
    while (f->kind != ')') {
        if (strcmp(f->token, "prepend") == 0)
            usda_next(f);
        char name[64];
        snprintf(name, sizeof name, "%.63s", f->token);
        usda_expect(f, 'w', NULL);
        usda_expect(f, '=', NULL);
        usda_attribute *into = of ? of : usda_attribute_of(f, prim, "", name);
        usda_value scratch = {0}, *value = of ? &scratch : &into->value;
        usda_read_value(f, value);
        if (of) {
            assert_string_equal(name, "interpolation");
            snprintf(of->interpolation, sizeof of->interpolation, "%.31s", scratch.word);
            free(scratch.numbers);
        } else {
            into->has_value = true;
            snprintf(into->type, sizeof into->type, "metadata");
        }
    }
    usda_next(f);
}

/* The attribute of that name; creates it if it is new. */
static inline usda_attribute *usda_attribute_of(usda_file *f, const char *prim, const char *prim_type, const char *name)
{
    for (int i = 0; i < f->attribute_count; i++)
        if (strcmp(f->attributes[i].prim, prim) == 0 && strcmp(f->attributes[i].name, name) == 0)
            return &f->attributes[i];
    assert_true(f->attribute_count < USDA_ATTRIBUTES);
    usda_attribute *made = &f->attributes[f->attribute_count++];
    snprintf(made->prim, sizeof made->prim, "%s", prim);
    snprintf(made->prim_type, sizeof made->prim_type, "%s", prim_type);
    snprintf(made->name, sizeof made->name, "%s", name);
    return made;
}

static inline void usda_samples(usda_file *f, usda_attribute *attribute)
{
    assert_int_equal(attribute->sample_count, 0);
    usda_expect(f, '{', NULL);
    while (f->kind != '}') {
        const int k = attribute->sample_count++;
        assert_true(k < USDA_SAMPLES);
        attribute->times[k] = strtod(f->token, NULL);
        assert_true(k == 0 || attribute->times[k] > attribute->times[k - 1]);
        usda_expect(f, 'n', NULL);
        usda_expect(f, ':', NULL);
        usda_read_value(f, &attribute->samples[k]);
        usda_expect(f, ',', NULL);
    }
    usda_next(f);
}

/* [uniform] type[[]] name[.timeSamples] = value [metadata], or rel name = path. */
static inline void usda_property(usda_file *f, const char *prim, const char *prim_type)
{
    if (strcmp(f->token, "uniform") == 0)
        usda_next(f);
    char type[32], name[64];
    snprintf(type, sizeof type, "%.29s", f->token);
    usda_expect(f, 'w', NULL);
    if (f->kind == '[') {
        usda_next(f);
        usda_expect(f, ']', NULL);
        strcat(type, "[]");
    }
    snprintf(name, sizeof name, "%.63s", f->token);
    usda_expect(f, 'w', NULL);
    char *samples = strstr(name, ".timeSamples");
    if (samples)
        *samples = '\0';
    usda_expect(f, '=', NULL);
    usda_attribute *attribute = usda_attribute_of(f, prim, prim_type, name);
    assert_true(!attribute->type[0] || strcmp(attribute->type, type) == 0);
    snprintf(attribute->type, sizeof attribute->type, "%s", type);
    if (samples) {
        usda_samples(f, attribute);
    } else {
        assert_false(attribute->has_value);
        attribute->has_value = true;
        usda_read_value(f, &attribute->value);
        if (f->kind == '(')
            usda_metadata(f, prim, attribute);
    }
}

/* def Type "name" [metadata] { properties and prims } */
static inline void usda_prim(usda_file *f, const char *parent)
{
    char path[256], type[32];
    usda_expect(f, 'w', "def");
    snprintf(type, sizeof type, "%.31s", f->token);
    usda_expect(f, 'w', NULL);
    assert_true(f->token[1] == '_' || (f->token[1] >= 'A' && f->token[1] <= 'z'));
    assert_int_equal(strspn(f->token + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
                     strlen(f->token) - 2);
    snprintf(path, sizeof path, "%s/%.*s", parent, (int)strlen(f->token) - 2, f->token + 1);
    usda_expect(f, 's', NULL);
    for (int i = 0; i < f->attribute_count; i++)
        assert_string_not_equal(f->attributes[i].prim, path); /* one prim per path */
    usda_attribute_of(f, path, type, "");
    if (f->kind == '(')
        usda_metadata(f, path, NULL);
    usda_expect(f, '{', NULL);
    while (f->kind != '}') {
        if (f->kind == 'w' && strcmp(f->token, "def") == 0)
            usda_prim(f, path);
        else
            usda_property(f, path, type);
    }
    usda_next(f);
}

static inline usda_file usda_read(const char *folder, const char *name)
{
    usda_file f = {0};
    size_t size;
    f.text = slurp(folder, name, &size);
    f.attributes = calloc(USDA_ATTRIBUTES, sizeof *f.attributes);
    assert_non_null(f.attributes);
    assert_int_equal(strncmp(f.text, "#usda 1.0\n", 10), 0);
    f.at = f.text + 10;
    usda_next(&f);
    usda_metadata(&f, "", NULL);
    while (f.kind)
        usda_prim(&f, "");
    assert_int_equal((size_t)(f.at - f.text), size);
    return f;
}

static inline void usda_free(usda_file *f)
{
    for (int i = 0; i < f->attribute_count; i++) {
        free(f->attributes[i].value.numbers);
        for (int k = 0; k < f->attributes[i].sample_count; k++)
            free(f->attributes[i].samples[k].numbers);
    }
    free(f->attributes);
    free(f->text);
}

/* Finds an attribute; NULL if there is none. */
static inline const usda_attribute *usda_find(const usda_file *f, const char *prim, const char *name)
{
    for (int i = 0; i < f->attribute_count; i++)
        if (strcmp(f->attributes[i].prim, prim) == 0 && strcmp(f->attributes[i].name, name) == 0)
            return &f->attributes[i];
    return NULL;
}

static inline const usda_attribute *usda_get(const usda_file *f, const char *prim, const char *name, const char *type)
{
    const usda_attribute *found = usda_find(f, prim, name);
    if (!found || strcmp(found->type, type) != 0)
        fail_msg("%s.%s: no %s", prim, name, type);
    return found;
}

#endif
