/* SPDX-License-Identifier: MIT
 *
 * test_comments.c: every file and every function that a comment names exists; heads of files name their own file.
 *
 * Three forms of names are looked up:
 *     files      words with the ending of a source: the path of a file ends in the word, or a file includes it
 *     functions  words followed by (): identifiers of the code
 *     names      words that begin with sinew_ or SINEW_: identifiers of the code or a build file, or words in strings
 *                (environment variables); a final underscore or star makes the word a prefix
 * Words next to <, > or * are patterns of names and are skipped. Known limit: a name that exists but means something
 * else passes.
 */
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

enum {
    NAME_MAX_LENGTH = 200,
    PATH_LENGTH = 1024
};

/* ---- Sets of names ----------------------------------------------------------------------------- */

typedef struct name_set {
    char **slots; /* [size], NULL: free; open addressing */
    size_t size, count;
} name_set;

static size_t name_set_slot(const name_set *set, const char *name)
{
    uint64_t hash = 14695981039346656037ull; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    size_t slot = (size_t)hash & (set->size - 1);
    while (set->slots[slot] && strcmp(set->slots[slot], name) != 0)
        slot = (slot + 1) & (set->size - 1);
    return slot;
}

static bool name_set_has(const name_set *set, const char *name)
{
    return set->size && set->slots[name_set_slot(set, name)];
}

static void name_set_add(name_set *set, const char *name)
{
    if (name_set_has(set, name))
        return;
    if (2 * (set->count + 1) > set->size) {
        const name_set old = *set;
        set->size = old.size ? 2 * old.size : 1024;
        set->slots = calloc(set->size, sizeof *set->slots);
        assert_non_null(set->slots);
        for (size_t i = 0; i < old.size; i++)
            if (old.slots[i])
                set->slots[name_set_slot(set, old.slots[i])] = old.slots[i];
        free(old.slots);
    }
    set->slots[name_set_slot(set, name)] = strdup(name);
    set->count++;
}

static bool name_set_has_prefix(const name_set *set, const char *prefix)
{
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < set->size; i++)
        if (set->slots[i] && strncmp(set->slots[i], prefix, length) == 0)
            return true;
    return false;
}

static void name_set_release(name_set *set)
{
    for (size_t i = 0; i < set->size; i++)
        free(set->slots[i]);
    free(set->slots);
}

/* ---- The tree ---------------------------------------------------------------------------------- */

typedef struct source_tree {
    name_set files;       /* every path and all its suffixes at folder boundaries */
    name_set identifiers; /* identifiers of code and build files; in strings, words with the project's prefix */
    name_set sources;     /* paths of the files whose comments are checked */
    int found;            /* number of names that do not exist */
} source_tree;

static bool ends_in(const char *text, const char *ending)
{
    const size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

static bool is_source(const char *path)
{
    return ends_in(path, ".c") || ends_in(path, ".h") || ends_in(path, ".cpp") || ends_in(path, ".inl");
}

static bool is_build_file(const char *path)
{
    return ends_in(path, "CMakeLists.txt") || ends_in(path, ".cmake");
}

static void add_path(source_tree *tree, const char *path)
{
    for (const char *c = path; c; c = strchr(c, '/') ? strchr(c, '/') + 1 : NULL)
        name_set_add(&tree->files, c);
}

static void walk_folder(source_tree *tree, const char *folder)
{
    char path[PATH_LENGTH], full[PATH_LENGTH];
    snprintf(full, sizeof full, "%s/%s", SINEW_SOURCE_DIR, folder);
    DIR *list = opendir(full);
    if (!list)
        return;
    for (const struct dirent *entry; (entry = readdir(list));) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "build") == 0)
            continue;
        snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
        if (snprintf(full, sizeof full, "%s/%s", SINEW_SOURCE_DIR, path) >= (int)sizeof full)
            fail_msg("%s: the path is too long", path);
        struct stat kind;
        if (stat(full, &kind) != 0)
            continue;
        if (S_ISDIR(kind.st_mode))
            walk_folder(tree, path);
        else {
            add_path(tree, path);
            if (is_source(path) || is_build_file(path))
                name_set_add(&tree->sources, path);
        }
    }
    closedir(list);
}

static char *read_source(const char *path)
{
    char full[PATH_LENGTH];
    snprintf(full, sizeof full, "%s/%s", SINEW_SOURCE_DIR, path);
    FILE *stream = fopen(full, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    const long size = ftell(stream);
    rewind(stream);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, stream), size);
    text[size] = '\0';
    fclose(stream);
    return text;
}

/* ---- Code and comments ------------------------------------------------------------------------- */

/* The end of the comment that begins at c; c itself if no comment begins there. */
static const char *skip_comment(const char *c)
{
    if (c[0] == '/' && c[1] == '*') {
        const char *end = strstr(c + 2, "*/");
        return end ? end + 2 : c + strlen(c);
    }
    if (c[0] == '/' && c[1] == '/')
        return c + strcspn(c, "\n");
    return c;
}

static const char *skip_literal(const char *c)
{
    const char quote = *c++;
    while (*c && *c != quote && *c != '\n')
        c += c[0] == '\\' && c[1] ? 2 : 1;
    return *c ? c + 1 : c;
}

static bool is_ours(const char *word)
{
    return strncmp(word, "sinew_", 6) == 0 || strncmp(word, "SINEW_", 6) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *take_word(const char *c, char word[NAME_MAX_LENGTH])
{
    size_t length = 0;
    for (; is_word(*c); c++)
        if (length + 1 < NAME_MAX_LENGTH)
            word[length++] = *c;
    word[length] = '\0';
    return c;
}

/* Included system headers count as files, as comments name them. */
static const char *take_include(source_tree *tree, const char *c)
{
    char name[NAME_MAX_LENGTH];
    if (sscanf(c, "#include <%199[^>\n]>", name) == 1)
        add_path(tree, name);
    return c + 1;
}

static const char *collect_literal(source_tree *tree, const char *c)
{
    char word[NAME_MAX_LENGTH];
    const char *end = skip_literal(c);
    while (c < end)
        if (is_word(*c)) {
            c = take_word(c, word);
            if (is_ours(word))
                name_set_add(&tree->identifiers, word);
        } else
            c++;
    return end;
}

static void collect_code(source_tree *tree, const char *c)
{
    char word[NAME_MAX_LENGTH];
    while (*c) {
        const char *after = skip_comment(c);
        if (after != c)
            c = after;
        else if (*c == '"' || *c == '\'')
            c = collect_literal(tree, c);
        else if (*c == '#')
            c = take_include(tree, c);
        else if (is_word(*c)) {
            c = take_word(c, word);
            name_set_add(&tree->identifiers, word);
        } else
            c++;
    }
}

/* ---- Names in comments ------------------------------------------------------------------------- */

static bool is_path(char c)
{
    return is_word(c) || c == '/' || c == '.' || c == '-';
}

static void report_name(source_tree *tree, const char *path, const char *kind, const char *name)
{
    print_error("%s: a comment names the %s %s, which does not exist\n", path, kind, name);
    tree->found++;
}

/* Looks up a path with the ending of a source as a file. */
static void check_file(source_tree *tree, const char *path, const char *begin, const char *end)
{
    char name[NAME_MAX_LENGTH];
    while (end > begin && end[-1] == '.')
        end--;
    if (end - begin >= NAME_MAX_LENGTH)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(end - begin), begin);
    if (is_source(name) && *name != '.' && *name != '/' && !name_set_has(&tree->files, name))
        report_name(tree, path, "file", name);
}

/* Looks up a word as an identifier if it has the form of one; `after` is the comment's text behind it. */
static void check_identifier(source_tree *tree, const char *path, const char *word, const char *after)
{
    const bool ours = is_ours(word);
    const bool called = after[0] == '(' && after[1] == ')' && !isdigit((unsigned char)*word);
    if (ours && (*after == '*' || *after == '<' || ends_in(word, "_"))) {
        if (!name_set_has_prefix(&tree->identifiers, word))
            report_name(tree, path, "family", word);
    } else if ((ours && *after != '.' && *after != '-' && *after != '/') || called) {
        if (!name_set_has(&tree->identifiers, word))
            report_name(tree, path, called ? "function" : "name", word);
    }
}

static void check_comment(source_tree *tree, const char *path, const char *c, const char *end)
{
    char word[NAME_MAX_LENGTH];
    while (c < end) {
        if (!is_path(*c)) {
            c++;
            continue;
        }
        const char *begin = c;
        while (c < end && is_path(*c))
            c++;
        const bool pattern = begin[-1] == '*' || begin[-1] == '>' || *c == '*' || *c == '<';
        if (!pattern)
            check_file(tree, path, begin, c);
        for (const char *at = begin; at < c;)
            if (is_word(*at)) {
                const char *after = take_word(at, word);
                check_identifier(tree, path, word, after);
                at = after;
            } else
                at++;
    }
}

static void check_comments(source_tree *tree, const char *path, const char *text)
{
    for (const char *c = text; *c;) {
        const char *after = skip_comment(c);
        if (after != c)
            check_comment(tree, path, c + 2, after);
        c = after != c ? after : *c == '"' || *c == '\'' ? skip_literal(c) : c + 1;
    }
}

static source_tree *collect_tree(void)
{
    source_tree *tree = calloc(1, sizeof *tree);
    assert_non_null(tree);
    walk_folder(tree, "");
    for (size_t i = 0; i < tree->sources.size; i++)
        if (tree->sources.slots[i]) {
            char *text = read_source(tree->sources.slots[i]);
            collect_code(tree, text);
            free(text);
        }
    return tree;
}

static void release_tree(source_tree *tree)
{
    name_set_release(&tree->files);
    name_set_release(&tree->identifiers);
    name_set_release(&tree->sources);
    free(tree);
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void names_in_comments_exist(void **state)
{
    (void)state;
    static const char *const folders[] = {"src/",      "include/", "app/",   "render/", "experiments/",
                                          "examples/", "tests/",   "bench/", "tools/"};
    source_tree *tree = collect_tree();
    assert_true(tree->identifiers.count > 10000);
    int read = 0;
    for (size_t i = 0; i < tree->sources.size; i++)
        for (size_t f = 0; tree->sources.slots[i] && f < sizeof folders / sizeof *folders; f++)
            if (is_source(tree->sources.slots[i]) &&
                strncmp(tree->sources.slots[i], folders[f], strlen(folders[f])) == 0) {
                char *text = read_source(tree->sources.slots[i]);
                check_comments(tree, tree->sources.slots[i], text);
                free(text);
                read++;
            }
    assert_true(read > 500);
    assert_int_equal(tree->found, 0);
    release_tree(tree);
}

/* The first comment of a file begins with the name of the file. */
static void heads_name_their_files(void **state)
{
    (void)state;
    source_tree *tree = collect_tree();
    for (size_t i = 0; i < tree->sources.size; i++) {
        const char *path = tree->sources.slots[i];
        if (!path || !is_source(path))
            continue;
        char *text = read_source(path), name[NAME_MAX_LENGTH] = "";
        const bool named = sscanf(text, "/* SPDX-License-Identifier: MIT\n *\n * %199[^: \n]:", name) == 1;
        if (named && is_source(name) && !ends_in(path, name))
            report_name(tree, path, "file itself", name);
        free(text);
    }
    assert_int_equal(tree->found, 0);
    release_tree(tree);
}

static int found_in(source_tree *tree, const char *text)
{
    tree->found = 0;
    check_comments(tree, "a made comment", text);
    return tree->found;
}

/* # stands for an underscore, since words of this file's own strings would count as existing names. */
static int found_in_wrong(source_tree *tree, const char *text)
{
    char *wrong = strdup(text);
    assert_non_null(wrong);
    for (char *c = wrong; *c; c++)
        *c = *c == '#' ? '_' : *c;
    const int found = found_in(tree, wrong);
    free(wrong);
    return found;
}

static void wrong_names_are_found(void **state)
{
    (void)state;
    source_tree *tree = collect_tree();
    assert_int_equal(found_in(tree, "/* See sinew/sinew.h, math.h and sinew_world_step(); test_comments.c. */"), 0);
    assert_int_equal(found_in(tree, "/* Any of sinew_world_*, test_*.c, <name>.c, sinew_body_ and x()'s */"), 0);
    assert_int_equal(found_in_wrong(tree, "/* See gone#away.c. */"), 1);
    assert_int_equal(found_in_wrong(tree, "/* See other/sinew.h */ // and gone#away.h"), 2);
    assert_int_equal(found_in_wrong(tree, "int x; /* gone#away() */"), 1);
    assert_int_equal(found_in_wrong(tree, "/* sinew#gone#away, SINEW#GONE#AWAY, sinew#gone#* */"), 3);
    assert_int_equal(found_in_wrong(tree, "\"/* gone#away.c */\""), 0);
    release_tree(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_comments_exist),
        cmocka_unit_test(heads_name_their_files),
        cmocka_unit_test(wrong_names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
