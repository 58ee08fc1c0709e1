#include "common/definition/file_name.h"

#include "common/base/bytes.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES_MAX = 512, URL_BYTES_MAX = 1024, COMMIT_DIGITS = 40 };

static bool has_control(const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s <= 0x20 || *s == 0x7f) {
            return true;
        }
    }
    return false;
}

static bool bad_part(const char *part, size_t size)
{
    return size == 0 || *part == '-' || (size == 1 && *part == '.') ||
           (size == 2 && strncmp(part, "..", 2) == 0) ||
           (size == 4 && strncasecmp(part, ".git", 4) == 0);
}

const char *definition_file_name_fault(struct arena *a, const char *file)
{
    if (!*file || strlen(file) > NAME_BYTES_MAX || has_control(file) || strchr(file, ':') ||
        strchr(file, '\\')) {
        return arena_printf(a, "\"%.60s\" is no name of a file in a repository", file);
    }
    for (const char *p = file;;) {
        size_t size = strcspn(p, "/");
        if (bad_part(p, size)) {
            return arena_printf(a,
                                "\"%.60s\": a file's path is relative to the repository, and "
                                "has no .. and no part that begins with -",
                                file);
        }
        if (!p[size]) {
            return NULL;
        }
        p += size + 1;
    }
}

/* What may stand before the path of a URL. */
static bool bad_host(const char *host, size_t size)
{
    if (size == 0 || *host == '-') {
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)host[i]) && !strchr("-._@:[]", host[i])) {
            return true;
        }
    }
    const char *at = memchr(host, '@', size);
    return at && (at == host || at[1] == '-' || (size_t)(at - host) + 1 == size);
}

/* user@host:path */
static bool is_scp(const char *url)
{
    const char *colon = strchr(url, ':'), *at = strchr(url, '@');
    return colon && at && at < colon && colon[1] && colon[1] != '/' && colon[1] != '-' &&
           !bad_host(url, (size_t)(colon - url)) && !memchr(url, '/', (size_t)(colon - url));
}

const char *definition_url_fault(struct arena *a, const char *url, bool allow_file)
{
    if (!*url || strlen(url) > URL_BYTES_MAX || has_control(url) || strstr(url, "::")) {
        return arena_printf(a, "\"%.100s\" is no URL of a git repository", url);
    }
    if (text_begins(url, "file:///")) {
        return allow_file ? NULL
                          : arena_printf(a,
                                         "%.100s: repositories on the converger's disk are not "
                                         "allowed (converger serve --allow-file)",
                                         url);
    }
    const char *rest = text_begins(url, "https://") ? url + strlen("https://")
                       : text_begins(url, "ssh://") ? url + strlen("ssh://")
                                                    : NULL;
    if (rest && !bad_host(rest, strcspn(rest, "/"))) {
        return NULL;
    }
    return !rest && is_scp(url)
               ? NULL
               : arena_printf(a,
                              "\"%.100s\": a git repository is https://, ssh:// or "
                              "user@host:path",
                              url);
}

const char *definition_ref_fault(struct arena *a, const char *ref)
{
    bool bad = !*ref || strlen(ref) > NAME_BYTES_MAX || has_control(ref) || *ref == '-' ||
               *ref == '/' || *ref == '.' || strstr(ref, "..") || strstr(ref, "@{") ||
               strstr(ref, "//") || strpbrk(ref, "~^:?*[\\");
    size_t size = strlen(ref);
    bad = bad || ref[size - 1] == '/' || ref[size - 1] == '.';
    return bad ? arena_printf(a, "\"%.60s\" is no name of a branch or tag", ref) : NULL;
}

const char *definition_commit_fault(struct arena *a, const char *commit)
{
    return strlen(commit) == COMMIT_DIGITS && strspn(commit, "0123456789abcdef") == COMMIT_DIGITS
               ? NULL
               : arena_printf(a, "\"%.60s\" is no commit: 40 hex digits in lower case", commit);
}
