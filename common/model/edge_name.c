#include "common/model/edge_name.h"

#include <stdlib.h>
#include <string.h>

/* What a kind's names are made of. */
static const struct edge_kind {
    enum record_type type;
    const char *const *parts; /* what each is for people; ends with NULL */
    unsigned site_parts;      /* the first ones, of a cloudlet */
} kinds[] = {
#define PARTS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define SITE "cloudlet organization", "cloudlet name"
#define APP "app organization", "app name", "app version"
    {RECORD_FLAVOR, PARTS("flavor name"), 0},
    {RECORD_APP, PARTS(APP), 0},
    {RECORD_CLOUDLET, PARTS(SITE), 2},
    {RECORD_CLOUDLETINFO, PARTS(SITE), 2},
    {RECORD_MAINTENANCE, PARTS(SITE), 2},
    {RECORD_REFS, PARTS(SITE), 2},
    {RECORD_CLUSTERINST, PARTS(SITE, "cluster organization", "cluster name"), 2},
    {RECORD_APPINST, PARTS(SITE, "cluster organization", "cluster name", APP), 2},
#undef APP
#undef SITE
#undef PARTS
};

static const struct edge_kind *kind_of(enum record_type type)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].type == type) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static const char *part_fault(struct arena *a, const char *what, const char *part, size_t size,
                              size_t most)
{
    const char *shown = arena_strndup(a, part, size < most ? size : most);
    bool plain = size > 0 && is_letter_or_digit(part[0]);
    for (size_t i = 0; i < size && plain; i++) {
        plain = is_letter_or_digit(part[i]) || strchr("-_.", part[i]);
    }
    if (size > most) {
        return arena_printf(a, "%s: %s... has %zu characters: at most %zu", what, shown, size,
                            most);
    }
    return plain ? NULL
                 : arena_printf(a,
                                "%s: \"%s\" must begin with a letter or digit, and have letters, "
                                "digits, -, _ and . alone",
                                what, shown);
}

static const char *shape(struct arena *a, const struct edge_kind *k)
{
    const char *all = NULL;
    for (unsigned n = 0; k->parts[n]; n++) {
        all = all ? arena_printf(a, "%s/<%s>", all, k->parts[n])
                  : arena_printf(a, "<%s>", k->parts[n]);
    }
    return all;
}

const char *edge_name_fault(struct arena *a, enum record_type type, const char *name)
{
    const struct edge_kind *k = kind_of(type);
    if (!k) {
        return "a record of this kind has no such name";
    }
    const char *part = name;
    for (unsigned n = 0; k->parts[n]; n++) {
        size_t size = strcspn(part, "/");
        bool last = !k->parts[n + 1];
        const char *fault = part_fault(a, k->parts[n], part, size,
                                       n < k->site_parts ? EDGE_SITE_NAME_MAX : EDGE_NAME_MAX);
        if (fault) {
            return fault;
        }
        if (last != !part[size]) {
            return arena_printf(a, "name: it must be %s", shape(a, k));
        }
        part += size + !last;
    }
    return NULL;
}

const char *edge_name_parts(struct arena *a, const char *name, unsigned first, unsigned end)
{
    const char *from = name;
    for (unsigned n = 0; n < first && from; n++) {
        from = strchr(from, '/');
        from = from ? from + 1 : NULL;
    }
    const char *to = from;
    for (unsigned n = first; n < end && to; n++) {
        to += strcspn(to, "/");
        to += n + 1 < end && *to ? 1 : 0;
    }
    return from ? arena_strndup(a, from, (size_t)(to - from)) : "";
}

const char *edge_cloudlet_of(struct arena *a, const char *name)
{
    return edge_name_parts(a, name, 0, 2);
}

const char *edge_cluster_of(struct arena *a, const char *instance)
{
    return edge_name_parts(a, instance, 0, 4);
}

const char *edge_app_of(struct arena *a, const char *instance)
{
    return edge_name_parts(a, instance, 4, 7);
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

bool edge_cluster_is_automatic(const char *cluster)
{
    return strncmp(last_part(cluster), "autocluster", strlen("autocluster")) == 0;
}

static bool is_reservable(const char *part)
{
    size_t prefix = strlen("reservable");
    return strncmp(part, "reservable", prefix) == 0 && part[prefix] &&
           strspn(part + prefix, "0123456789") == strlen(part + prefix);
}

const char *edge_cluster_fault(struct arena *a, const char *name)
{
    const char *fault = edge_name_fault(a, RECORD_CLUSTERINST, name), *part = last_part(name);
    if (fault) {
        return fault;
    }
    return is_reservable(part) || edge_cluster_is_automatic(name) ||
                   strcmp(part, "defaultclust") == 0
               ? arena_printf(
                     a, "cluster name: %s is kept for clusters that are made for app instances",
                     part)
               : NULL;
}

const char *edge_reservable_name(struct arena *a, const char *cloudlet, unsigned id)
{
    return arena_printf(a, "%s/" EDGE_OWN_ORGANIZATION "/reservable%u", cloudlet, id);
}

/* A part as a label: neither end is a -. */
static const char *label(struct arena *a, const char *part)
{
    char *out = arena_strdup(a, part);
    size_t size = 0;
    for (const char *c = part; *c; c++) {
        char lower = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        out[size++] = is_letter_or_digit(lower) ? lower : '-';
    }
    while (size > 1 && out[size - 1] == '-') {
        size--;
    }
    out[size] = 0;
    return out;
}

const char *edge_dns_name(struct arena *a, const char *instance)
{
    /* The version, the app, its organization; the cluster; the cloudlet. */
    static const unsigned order[] = {6, 5, 4, 3, 2, 1, 0};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        const char *part = label(a, edge_name_parts(a, instance, order[i], order[i] + 1));
        name = name ? arena_printf(a, "%s.%s", name, part) : part;
    }
    return strlen(name) <= EDGE_DNS_NAME_MAX ? name : NULL;
}

static int part_order(const char *left, size_t left_size, const char *right, size_t right_size)
{
    static const char digits[] = "0123456789";
    bool numbers = strspn(left, digits) >= left_size && strspn(right, digits) >= right_size;
    while (numbers && left_size > 1 && *left == '0') {
        left++, left_size--;
    }
    while (numbers && right_size > 1 && *right == '0') {
        right++, right_size--;
    }
    if (numbers && left_size != right_size) {
        return left_size < right_size ? -1 : 1;
    }
    int order = memcmp(left, right, left_size < right_size ? left_size : right_size);
    return order ? order : (left_size > right_size) - (left_size < right_size);
}

int edge_version_order(const char *left, const char *right)
{
    while (*left && *right) {
        size_t left_size = strcspn(left, "."), right_size = strcspn(right, ".");
        int order = part_order(left, left_size, right, right_size);
        if (order) {
            return order;
        }
        left += left_size + (left[left_size] == '.');
        right += right_size + (right[right_size] == '.');
    }
    return (*left != 0) - (*right != 0);
}
