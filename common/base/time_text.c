#include "common/base/time_text.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const int64_t second_ns = 1000000000;

const char *wall_text(int64_t wall_ns, char text[WALL_TEXT_BYTES])
{
    struct tm tm = {.tm_year = 0};
    time_t seconds = (time_t)(wall_ns / 1000000000);
    gmtime_r(&seconds, &tm);
    snprintf(text, WALL_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(wall_ns / 1000000 % 1000));
    return text;
}

/* Two or four digits that stand there; -1 otherwise. */
static int digits(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)text[i])) {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970 on; -1: there is no such day. */
static int64_t days_to(int year, int month, int day)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    enum { FIRST_YEAR = 1970, LAST_YEAR = 2261, MONTHS = 12, FEBRUARY = 2 };
    if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > MONTHS || day < 1 ||
        day > lengths[month - 1] + (month == FEBRUARY && is_leap(year))) {
        return -1;
    }
    int64_t days = day - 1;
    for (int y = FIRST_YEAR; y < year; y++) {
        days += 365 + is_leap(y);
    }
    for (int m = 1; m < month; m++) {
        days += lengths[m - 1] + (m == FEBRUARY && is_leap(year));
    }
    return days;
}

/* What follows the point, up to the "Z"; -1: no such thing. */
static int64_t decimals(const char *text)
{
    int64_t value = 0, unit = second_ns;
    size_t count = strspn(text, "0123456789");
    if (count == 0 || count > 9 || strcmp(text + count, "Z") != 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        unit /= 10;
        value += (text[i] - '0') * unit;
    }
    return value;
}

bool wall_parse(const char *text, int64_t *ret_ns)
{
    static const char form[] = "0000-00-00T00:00:00";
    enum { SIZE = sizeof(form) - 1, DAY_S = 86400, HOUR_S = 3600, MINUTE_S = 60 };
    if (strlen(text) <= SIZE) {
        return false;
    }
    for (size_t i = 0; i < SIZE; i++) {
        if (form[i] != '0' && text[i] != form[i]) {
            return false;
        }
    }
    int64_t days = days_to(digits(text, 4), digits(text + 5, 2), digits(text + 8, 2));
    int hour = digits(text + 11, 2), minute = digits(text + 14, 2), second = digits(text + 17, 2);
    int64_t whole = strcmp(text + SIZE, "Z") == 0 ? 0 : -1;
    int64_t rest = text[SIZE] == '.' ? decimals(text + SIZE + 1) : whole;
    if (days < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 59 || rest < 0) {
        return false;
    }
    int64_t seconds = days * DAY_S + hour * HOUR_S + minute * MINUTE_S + second;
    *ret_ns = seconds * second_ns + rest;
    return true;
}

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = {
    {"d", INT64_C(86400000000000)}, {"h", INT64_C(3600000000000)}, {"ms", 1000000},
    {"m", INT64_C(60000000000)},    {"s", 1000000000},             {"", 1000000000},
};

/* The one whose name stands there, as a whole word of letters. */
static const struct unit *unit_at(const char *text)
{
    size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == size && strncmp(units[i].name, text, size) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

bool duration_parse(const char *text, int64_t *ret_ns)
{
    static const int64_t most_ns = INT64_C(315360000000000000);
    int64_t sum = 0, last = INT64_MAX;
    const char *at = text;
    while (*at || at == text) {
        int64_t value = 0;
        size_t count = strspn(at, "0123456789");
        const struct unit *unit = unit_at(at + count);
        if (count == 0 || count > 12 || !unit || unit->ns >= last ||
            (!unit->name[0] && at != text)) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            value = value * 10 + (at[i] - '0');
        }
        if (value > (most_ns - sum) / unit->ns) {
            return false;
        }
        sum += value * unit->ns;
        last = unit->ns;
        at += count + strlen(unit->name);
    }
    *ret_ns = sum;
    return true;
}
