#include "test/chaos/judge/report.h"

#include <string.h>

enum { LANES_MAX = 128, LANE_PX = 22, LEFT_PX = 170, WIDTH_PX = 1400, TOP_PX = 40, TICKS = 12 };

struct drawing {
    const struct history *h;
    const char *lanes[LANES_MAX];
    int lane_count;
    struct buf *out;
};

static double x_of(const struct drawing *d, int64_t at)
{
    int64_t span = d->h->last - d->h->first;
    return LEFT_PX + (span > 0 ? (double)(at - d->h->first) / (double)span * WIDTH_PX : 0);
}

static int y_of(int lane)
{
    return TOP_PX + lane * LANE_PX;
}

static int lane_of(struct drawing *d, const char *name)
{
    int i = 0;
    while (i < d->lane_count && strcmp(d->lanes[i], name) != 0) {
        i++;
    }
    if (i == d->lane_count && i < LANES_MAX) {
        d->lanes[d->lane_count++] = name;
    }
    return i < LANES_MAX ? i : LANES_MAX - 1;
}

/* What stands in a text of the drawing is no markup. */
static void escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>&\"'", *text)) {
            buf_printf(out, "&#%d;", *text);
        } else {
            buf_append(out, text, 1);
        }
    }
}

static void bar(struct drawing *d, int lane, int64_t from, int64_t to, const char *colour,
                const char *title)
{
    double x = x_of(d, from), width = x_of(d, to) - x;
    buf_printf(d->out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>",
               x, y_of(lane) + 3, width < 2 ? 2 : width, LANE_PX - 6, colour);
    escaped(d->out, title);
    buf_append_string(d->out, "</title></rect>\n");
}

/* A strip at the foot of the fault's bar, as long as it took until all was well again. */
static void recovery_bar(struct drawing *d, int lane, const struct recovery *r, int64_t from,
                         const char *colour)
{
    double x = x_of(d, from), width = x_of(d, from + r->worst_ns) - x;
    if (r->worst_ns > 0) {
        buf_printf(d->out,
                   "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"5\" fill=\"%s\">"
                   "<title>%.1f s: ",
                   x, y_of(lane) + LANE_PX - 6, width < 2 ? 2 : width, colour,
                   (double)r->worst_ns / 1e9);
        escaped(d->out, r->what);
        buf_append_string(d->out, "</title></rect>\n");
    }
}

static void draw_fault(struct drawing *d, const struct recovery *r)
{
    const struct befallen *f = r->fault;
    int64_t end = f->end ? f->end : d->h->last;
    int64_t from = f->bound_from_end ? end : f->begin;
    const char *colour = r->worst_ns > r->bound_ns ? "#e74c3c" : "#f1c40f";
    for (int i = 0; i < (f->target_count ? f->target_count : 1); i++) {
        int lane = lane_of(d, f->target_count ? f->targets[i] : "everybody");
        bar(d, lane, f->begin, end, f->was_there ? "#e8a49c" : "#bbbbbb", f->kind);
        recovery_bar(d, lane, r, from, colour);
        buf_printf(d->out, "<text x=\"%.1f\" y=\"%d\" class=\"k\">%d ", x_of(d, f->begin) + 3,
                   y_of(lane) + LANE_PX - 7, f->number);
        escaped(d->out, f->kind);
        buf_append_string(d->out, "</text>\n");
    }
}

static void draw_cells(struct drawing *d, const struct board *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct event *e = b->changes[i].event;
        bool cell = strcmp(e->record, "cell") == 0;
        if (!cell && strcmp(e->record, "lead") != 0) {
            continue;
        }
        bool lost = strcmp(e->state, "LOST") == 0 || e->what == EVENT_GONE;
        int lane = lane_of(d, cell ? (e->cell[0] ? e->cell : e->key) : e->key);
        bar(d, lane, b->changes[i].at, b->changes[i].at, lost ? "#8e44ad" : "#27ae60",
            lost ? "lost or gone" : "there");
    }
}

static bool is_steady(const struct history *h, const char *process)
{
    for (size_t i = 0; i < h->steadies_count; i++) {
        if (h->steadies[i].process == process) {
            return true;
        }
    }
    return false;
}

/* Of the apps that are always desired; others lose some as they are scaled down. A pixel of the
 * lane has one tick, however many were lost there. */
static void draw_lost(struct drawing *d)
{
    int lane = lane_of(d, "lost requests"), last = -1;
    for (size_t i = 0; i < d->h->visits_count; i++) {
        int x = (int)x_of(d, d->h->visits[i].begin);
        if (!d->h->visits[i].ok && x != last && is_steady(d->h, d->h->visits[i].process)) {
            buf_printf(d->out, "<path d=\"M%d %dv%d\" stroke=\"#000\"/>\n", x, y_of(lane) + 3,
                       LANE_PX - 6);
            last = x;
        }
    }
}

static void draw_scale(struct drawing *d)
{
    int bottom = y_of(d->lane_count);
    for (int i = 0; i <= TICKS; i++) {
        int64_t at = d->h->first + (d->h->last - d->h->first) / TICKS * i;
        buf_printf(d->out,
                   "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\">%.0f s"
                   "</text>\n",
                   x_of(d, at), TOP_PX - 6, bottom, x_of(d, at), TOP_PX - 12,
                   (double)(at - d->h->first) / 1e9);
    }
    for (int i = 0; i < d->lane_count; i++) {
        buf_printf(d->out, "<text x=\"6\" y=\"%d\">", y_of(i) + LANE_PX - 7);
        escaped(d->out, d->lanes[i]);
        buf_append_string(d->out, "</text>\n");
    }
}

void report_drawing(const struct history *h, const struct board *b,
                    const struct recovery *recoveries, struct buf *out)
{
    struct buf inside = buf_empty();
    struct drawing d = {.h = h, .out = &inside};
    draw_cells(&d, b);
    for (size_t i = 0; i < h->faults_count; i++) {
        draw_fault(&d, &recoveries[i]);
    }
    draw_lost(&d);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
               "<style>text{font:12px sans-serif}.k{font-size:10px}</style>\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               LEFT_PX + WIDTH_PX + 60, y_of(d.lane_count) + 10);
    d.out = out;
    draw_scale(&d);
    buf_append(out, inside.data, inside.size);
    buf_append_string(out, "</svg>\n");
    buf_done(&inside);
}
