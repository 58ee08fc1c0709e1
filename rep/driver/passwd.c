/* Resolving users: lines of colon-separated fields. */
#include "rep/driver/passwd.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Takes the next line off `*text`; false at the end. */
static bool next_line(struct bytes *text, struct bytes *ret)
{
    if (text->size == 0) {
        return false;
    }
    const uint8_t *end = memchr(text->data, '\n', text->size);
    size_t n = end ? (size_t)(end - text->data) : text->size;
    *ret = (struct bytes){text->data, n};
    n += end ? 1 : 0;
    *text = (struct bytes){text->data + n, text->size - n};
    return true;
}

/* Field `index` of a line, from 0, between separators; empty when there is none. */
static struct bytes field(struct bytes line, int index, char separator)
{
    assert(index >= 0);
    const uint8_t *at = line.data, *end = line.data + line.size;
    for (; index > 0; index--) {
        const uint8_t *colon = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
        if (!colon) {
            return (struct bytes){end, 0};
        }
        at = colon + 1;
    }
    const uint8_t *stop = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
    return (struct bytes){at, (size_t)((stop ? stop : end) - at)};
}

static bool number(struct bytes text, uint32_t *ret)
{
    uint64_t n = 0;
    if (text.size == 0 || text.size > 10) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        n = n * 10 + (uint64_t)(text.data[i] - '0');
    }
    if (n >= UINT32_MAX) { /* (uid_t)-1 means "unchanged" */
        return false;
    }
    *ret = (uint32_t)n;
    return true;
}

/* The line whose field `key` (0: the name, 2: the number) is `word`. */
static bool entry(struct bytes file, int key, struct bytes word, struct bytes *ret)
{
    struct bytes line;
    while (next_line(&file, &line)) {
        if (word.size > 0 && bytes_equal(field(line, key, ':'), word)) {
            *ret = line;
            return true;
        }
    }
    return false;
}

static void keep(struct bytes word, char *to, size_t size)
{
    if (word.size < size) {
        memcpy(to, word.data, word.size);
        to[word.size] = '\0';
    }
}

/* The groups that name it as a member. */
static int memberships(struct bytes group, struct bytes name, struct user *u, struct err *err)
{
    struct bytes line;
    uint32_t gid;
    while (name.size > 0 && next_line(&group, &line)) {
        struct bytes members = field(line, 3, ':');
        for (int i = 0; members.size > 0; i++) {
            struct bytes member = field(members, i, ',');
            if (member.data == members.data + members.size) {
                break;
            }
            if (!bytes_equal(member, name) || !number(field(line, 2, ':'), &gid) || gid == u->gid) {
                continue;
            }
            if (u->group_count == USER_GROUPS_MAX) {
                return err_set(err, ERR_TOO_LARGE, "user %.*s is in more than %d groups",
                               (int)name.size, (const char *)name.data, USER_GROUPS_MAX);
            }
            u->groups[u->group_count++] = gid;
        }
    }
    return 0;
}

int user_resolve(const char *words, struct bytes passwd, struct bytes group, struct user *ret,
                 struct err *err)
{
    struct user u = {0};
    struct bytes all = bytes_of(words[0] ? words : "0:0"), line, name = {0};
    struct bytes who = field(all, 0, ':'), gid = field(all, 1, ':');
    bool numeric = number(who, &u.uid);
    bool is_root = bytes_equal(who, bytes_of("root")); /* also where no file says so */
    if (entry(passwd, numeric ? 2 : 0, who, &line)) {
        name = field(line, 0, ':');
        keep(name, u.name, sizeof(u.name));
        keep(field(line, 5, ':'), u.home, sizeof(u.home));
        if (!number(field(line, 2, ':'), &u.uid) || !number(field(line, 3, ':'), &u.gid)) {
            return err_set(err, ERR_INVALID, "the root filesystem's /etc/passwd has no ids for %s",
                           words);
        }
    } else if (!numeric && !is_root) {
        return err_set(err, ERR_NOT_FOUND, "no user \"%.*s\" in the root filesystem's /etc/passwd",
                       (int)who.size, (const char *)who.data);
    }
    if (gid.size > 0 && !number(gid, &u.gid) &&
        (!entry(group, 0, gid, &line) || !number(field(line, 2, ':'), &u.gid))) {
        return err_set(err, ERR_NOT_FOUND, "no group \"%.*s\" in the root filesystem's /etc/group",
                       (int)gid.size, (const char *)gid.data);
    }
    int result = memberships(group, name, &u, err);
    if (result == 0) {
        *ret = u;
    }
    return result;
}
