#include "bbs/cli/edge/edge_words.h"

#include "models/environment_variables.pb-c.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Digits, and at most one point among them: what strtod takes besides is no number of people. */
static size_t decimal_size(const char *text)
{
    size_t size = strspn(text, "0123456789");
    if (size > 0 && text[size] == '.') {
        size += 1 + strspn(text + size + 1, "0123456789");
    }
    return size;
}

int edge_size_read(const char *what, const char *text, int32_t *ret_mb, struct err *err)
{
    static const char units[] = "KMGT";
    static const double mib[] = {1.0 / 1024, 1, 1024, 1024.0 * 1024};
    size_t digits = decimal_size(text);
    const char *end = text + digits;
    const char *unit = digits && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    bool sound = unit && (!end[1] || strcasecmp(end + 1, "b") == 0 || !strcasecmp(end + 1, "ib"));
    double value = sound ? strtod(text, NULL) * mib[unit - units] : 0;
    if (!(value > 0 && value <= INT32_MAX)) {
        return err_set(err, ERR_INVALID,
                       "--%.40s: \"%.40s\" is no size of at least 1M, like 512M or 1G (K, M, G or "
                       "T)",
                       what, text);
    }
    *ret_mb = (int32_t)value + ((double)(int32_t)value < value);
    return 0;
}

static const char *degrees(const char *text, double *ret)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t size = decimal_size(digits);
    *ret = size ? strtod(text, NULL) : 0;
    return size ? digits + size : NULL;
}

int edge_location_read(const char *text, double *ret_latitude, double *ret_longitude,
                       struct err *err)
{
    double latitude, longitude;
    const char *end = degrees(text, &latitude);
    end = end && *end == ',' ? degrees(end + 1, &longitude) : NULL;
    if (!end || *end) {
        return err_set(err, ERR_INVALID,
                       "--location: \"%.60s\" is no LATITUDE,LONGITUDE in degrees, like 48.85,2.35",
                       text);
    }
    *ret_latitude = latitude;
    *ret_longitude = longitude;
    return 0;
}

int edge_env_read(struct arena *a, const char *const *words,
                  Models__EnvironmentVariable ***ret_list, size_t *ret_count, struct err *err)
{
    size_t count = 0;
    while (words[count]) {
        count++;
    }
    Models__EnvironmentVariable **list = ARENA_ARRAY(a, count, Models__EnvironmentVariable *);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        if (!equals || equals == words[i]) {
            return err_set(err, ERR_INVALID, "--env: \"%.60s\" is no KEY=VALUE", words[i]);
        }
        list[i] = arena_message(a, &models__environment_variable__descriptor);
        list[i]->name = arena_strndup(a, words[i], (size_t)(equals - words[i]));
        list[i]->value = arena_strdup(a, equals + 1);
    }
    *ret_list = list;
    *ret_count = count;
    return 0;
}

Board__EdgeOperation__Override edge_override_read(const char *word)
{
    static const char *const words[] = {NULL, "ignore-errors", "ignore-crm", "ignore-transient",
                                        "ignore-crm-and-transient"};
    for (size_t i = 1; word && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) == 0) {
            return (Board__EdgeOperation__Override)i;
        }
    }
    return BOARD__EDGE_OPERATION__OVERRIDE__NONE;
}
