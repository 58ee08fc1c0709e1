/* Each check of the judge against a history that breaks its promise, and the twin that does not. */
#include "test/chaos/judge/report.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of a history, and what the judge makes of them. */
struct trial {
    struct history h;
    struct verdict v;
    struct buf text;
    int lines, result;
    struct err err;
};

static void begin(struct trial *t)
{
    memset(t, 0, sizeof(*t));
    chaos_history_init(&t->h);
    verdict_init(&t->v);
    buf_init(&t->text);
}

static void drop(struct trial *t)
{
    chaos_history_done(&t->h);
    verdict_done(&t->v);
    buf_done(&t->text);
}
#define TRIAL(name)                                                                                \
    struct trial name##_ __attribute__((cleanup(drop))), *name = &name##_;                         \
    begin(name)

__attribute__((format(printf, 2, 3))) static void line(struct trial *t, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) { /* so that the lines here can be read */
        *c = *c == '\'' ? '"' : *c;
    }
    if (t->result == 0) {
        t->result = chaos_history_take(&t->h, (struct place){"trial", ++t->lines}, text,
                                       strlen(text), &t->err);
    }
}

/* Seconds in the history's words. */
#define S(seconds) ((long)((seconds)*1e9))

static void judge(struct trial *t)
{
    struct board b;
    assert_int_equal(t->result, 0);
    chaos_history_close(&t->h);
    chaos_board_init(&b, &t->h);
    chaos_check_calls(&t->h, &t->v);
    chaos_check_containers(&t->h, &b, &t->v);
    chaos_check_orphans(&t->h, &b, &t->v);
    chaos_check_board(&t->h, &b, &t->v);
    chaos_check_rest(&t->h, &b, &t->v);
    struct recovery *r = chaos_check_recoveries(&t->h, &b, &t->v);
    report_table(&t->h, &b, r, &t->text);
    report_drawing(&t->h, &b, r, &t->text);
    report_text(&t->h, &t->v, r, 0, &t->text);
    free(r);
    chaos_board_done(&b);
}

/* Only that promise is broken. */
static void breaks(struct trial *t, enum promise promise)
{
    judge(t);
    for (int i = 0; i < PROMISES; i++) {
        if (i != (int)promise && t->v.found[i]) {
            print_message("%s", buf_string(&t->text));
        }
        assert_true(i == (int)promise || t->v.found[i] == 0);
    }
    assert_true(t->v.found[promise] > 0);
}

static void keeps(struct trial *t)
{
    judge(t);
    if (verdict_count(&t->v)) {
        print_message("%s", buf_string(&t->text));
    }
    assert_int_equal(verdict_count(&t->v), 0);
}

static void work(struct trial *t)
{
    line(t, "{'kind':'work','what':'begin','at':1,'run':'r','apps':{'r-five':1},"
            "'stale_domain':'stale'}");
}

/* ---- Pieces ---- */

static void put(struct trial *t, double at, long revision, const char *key, const char *more)
{
    line(t,
         "{'kind':'event','what':'put','bbs':'b1','at':%ld,'revision':%ld,'made':%ld,'key':'%s',"
         "%s}",
         S(at), revision, revision, key, more);
}

static void instance(struct trial *t, double at, long revision, int presence, const char *state,
                     const char *guid, const char *cell, const char *more)
{
    char text[512], key[64];
    snprintf(key, sizeof(key), "actual/r-five/0000000000/%d", presence);
    snprintf(text, sizeof(text),
             "'record':'actual','process':'r-five','index':0,'presence':%d,'state':'%s',"
             "'instance':'%s','cell':'%s'%s",
             presence, state, guid, cell, more);
    put(t, at, revision, key, text);
}

#define BOX(guid, pid, begun)                                                                      \
    "{'instance':'" guid "','pid':" #pid ",'begun':" #begun "000000000,'process':'r-five',"        \
    "'index':0}"
#define TASK_BOX(guid, pid, begun)                                                                 \
    "{'instance':'" guid "','pid':" #pid ",'begun':" #begun "000000000,'task':'r-task'}"

static void look(struct trial *t, double at, const char *boxes)
{
    line(t, "{'kind':'truth','at':%ld,'containers':[%s]}", S(at), boxes);
}

static void call(struct trial *t, const char *op, const char *key, double from, double to,
                 const char *more)
{
    line(t,
         "{'kind':'call','client':1,'op':'%s','key':'%s','begin':%ld,'end':%ld,'result':'ok',%s}",
         op, key, S(from), S(to), more);
}

static void answered(struct trial *t, double at, bool ok)
{
    line(t,
         "{'kind':'request','process':'r-five','index':0,'instance':'g','begin':%ld,'end':%ld,"
         "'ok':%s}",
         S(at), S(at + 0.1), ok ? "true" : "false");
}

/* ---- S1 ---- */

static void two_containers(struct trial *t, bool suspect)
{
    work(t);
    instance(t, 2, 10, 0, "CLAIMED", "g1", "c1", "");
    instance(t, 3, 11, 0, "RUNNING", "g1", "c1", "");
    look(t, 5, BOX("g1", 100, 2));
    if (suspect) {
        instance(t, 6, 12, 1, "RUNNING", "g1", "c1", "");
    }
    look(t, 9, BOX("g1", 100, 2) "," BOX("g2", 101, 8));
    look(t, 12, BOX("g1", 100, 2) "," BOX("g2", 101, 8));
}

static void a_double_start_is_found(void **state)
{
    TRIAL(t);
    two_containers(t, false);
    breaks(t, PROMISE_S1);
}

static void a_replacement_of_a_suspect_is_none(void **state)
{
    TRIAL(t);
    two_containers(t, true);
    keeps(t);
}

static void one_after_the_other_is_none(void **state)
{
    TRIAL(t);
    work(t);
    look(t, 5, BOX("g1", 100, 2));
    look(t, 7, "");
    look(t, 9, BOX("g2", 101, 8));
    keeps(t);
}

/* ---- S2, S10 ---- */

static void probe(struct trial *t, const char *result)
{
    line(t, "{'kind':'probe','probe':'deposed','begin':5,'end':6,'result':'%s'}", result);
}

static void a_deposed_leaders_write_is_found(void **state)
{
    TRIAL(t);
    probe(t, "accepted");
    breaks(t, PROMISE_S2);
    TRIAL(nothing); /* it was not held against the term at all */
    probe(nothing, "nothing");
    breaks(nothing, PROMISE_S2);
    TRIAL(good);
    probe(good, "refused"), probe(good, "unknown");
    keeps(good);
}

static void a_lock_written_twice_is_found(void **state)
{
    TRIAL(t);
    put(t, 1, 5, "lead/converger", "'record':'lead','role':'converger'");
    line(t, "{'kind':'event','what':'put','bbs':'b1','at':5,'revision':9,'made':5,"
            "'key':'lead/converger','record':'lead','role':'converger'}");
    breaks(t, PROMISE_S2);
    TRIAL(good);
    put(good, 1, 5, "lead/converger", "'record':'lead','role':'converger'");
    put(good, 2, 9, "lead/converger", "'record':'lead','role':'converger'");
    keeps(good);
}

/* ---- S3, S4 ---- */

static void a_task_run_twice_is_found(void **state)
{
    TRIAL(t);
    look(t, 2, TASK_BOX("g1", 100, 1));
    look(t, 4, "");
    look(t, 6, TASK_BOX("g2", 101, 5));
    breaks(t, PROMISE_S3);
    TRIAL(good);
    look(good, 2, TASK_BOX("g1", 100, 1));
    look(good, 4, TASK_BOX("g1", 100, 1));
    look(good, 6, "");
    keeps(good);
}

static void an_outcome_that_changes_is_found(void **state)
{
    TRIAL(t);
    put(t, 1, 5, "task/r-task", "'record':'task','task':'r-task','state':'Completed','result':'a'");
    put(t, 2, 6, "task/r-task", "'record':'task','task':'r-task','state':'Resolving','result':'b'");
    breaks(t, PROMISE_S4);
    TRIAL(good);
    put(good, 1, 5, "task/r-task",
        "'record':'task','task':'r-task','state':'Completed','result':'a'");
    put(good, 2, 6, "task/r-task",
        "'record':'task','task':'r-task','state':'Resolving','result':'a'");
    keeps(good);
}

static void a_task_that_is_forgotten_is_found(void **state)
{
    TRIAL(t);
    call(t, "task_create", "task/r-task", 1, 2, "'saw':null");
    call(t, "task_get", "task/r-task", 3, 4, "'saw':null");
    breaks(t, PROMISE_S4);
    TRIAL(good);
    call(good, "task_create", "task/r-task", 1, 2, "'saw':null");
    call(good, "task_get", "task/r-task", 3, 4, "'saw':'Running'");
    keeps(good);
}

/* ---- S5, S6 ---- */

static void a_lost_write_is_found(void **state)
{
    TRIAL(t);
    call(t, "create", "lrp/r-a", 1, 2, "'value':'x'");
    call(t, "update", "lrp/r-a", 3, 4, "'value':'y'");
    call(t, "get", "lrp/r-a", 5, 6, "'saw':'x'");
    breaks(t, PROMISE_S6);
    TRIAL(good);
    call(good, "create", "lrp/r-a", 1, 2, "'value':'x'");
    call(good, "update", "lrp/r-a", 3, 4, "'value':'y'");
    call(good, "get", "lrp/r-a", 3.5, 6, "'saw':'x'");
    keeps(good);
}

static void list(struct trial *t, const char *saw)
{
    call(t, "create", "lrp/r-register-1", 1, 2, "'value':'x'");
    call(t, "create", "lrp/r-register-2", 3, 4, "'value':'y'");
    line(t,
         "{'kind':'call','op':'list','key':'lrp/r-register-','begin':%ld,'end':%ld,"
         "'result':'ok','saw':{%s}}",
         S(5), S(6), saw);
}

static void a_list_from_the_past_is_found(void **state)
{
    TRIAL(t);
    list(t, "'r-register-1':'x'");
    breaks(t, PROMISE_S6);
    TRIAL(good);
    list(good, "'r-register-1':'x','r-register-2':'y'");
    keeps(good);
}

static void restored(struct trial *t, double from, double to)
{
    line(t,
         "{'kind':'fault','n':1,'fault':'restore','targets':[],'begin':%ld,'there':%ld,"
         "'end':%ld,'bound_ms':99000}",
         S(from), S(from), S(to));
}

static void a_restore_may_lose_writes(void **state)
{
    TRIAL(t);
    call(t, "create", "lrp/r-a", 1, 2, "'value':'x'");
    restored(t, 3, 4);
    call(t, "get", "lrp/r-a", 5, 6, "'saw':null");
    keeps(t);
    TRIAL(bad); /* but what was written after it is kept */
    restored(bad, 3, 4);
    call(bad, "get", "lrp/r-a", 5, 6, "'saw':null");
    call(bad, "create", "lrp/r-a", 7, 8, "'value':'x'");
    call(bad, "get", "lrp/r-a", 9, 10, "'saw':null");
    breaks(bad, PROMISE_S6);
}

/* ---- S8 ---- */

static void stop_in(struct trial *t, const char *domain, bool asked)
{
    char more[80], stopping[100];
    snprintf(more, sizeof(more), ",'domain':'%s'", domain);
    snprintf(stopping, sizeof(stopping), "%s,'stopping':true", more);
    work(t);
    instance(t, 2, 10, 0, "RUNNING", "g1", "c1", more);
    if (asked) {
        line(t, "{'kind':'call','op':'remove','key':'lrp/r-five','begin':%ld,'result':'unknown'}",
             S(3));
    }
    instance(t, 4, 11, 0, "RUNNING", "g1", "c1", stopping);
}

static void a_stop_in_a_stale_domain_is_found(void **state)
{
    TRIAL(t);
    stop_in(t, "stale", false);
    breaks(t, PROMISE_S8);
    TRIAL(asked);
    stop_in(asked, "stale", true);
    keeps(asked);
    TRIAL(fresh);
    stop_in(fresh, "fresh", false);
    keeps(fresh);
}

/* ---- S9 ---- */

static void a_stream_that_falls_is_found(void **state)
{
    TRIAL(t);
    put(t, 1, 9, "domain/a", "'record':'domain'");
    put(t, 2, 8, "domain/b", "'record':'domain'");
    breaks(t, PROMISE_S9);
    TRIAL(good); /* after a snapshot it may */
    put(good, 1, 9, "domain/a", "'record':'domain'");
    line(good, "{'kind':'reset','bbs':'b1','generation':'x','revision':9}");
    put(good, 2, 8, "domain/b", "'record':'domain'");
    keeps(good);
}

static void streams(struct trial *t, bool whole, bool again)
{
    for (int bbs = 1; bbs <= 2; bbs++) {
        line(t, "{'kind':'reset','bbs':'b%d','generation':'x','revision':0}", bbs);
        line(t, "{'kind':'current','bbs':'b%d','generation':'x','revision':5}", bbs);
        for (int revision = 6; revision <= 9; revision++) {
            if (bbs == 2 && revision == 7 && again) {
                line(t, "{'kind':'reset','bbs':'b2','generation':'x','revision':6}");
                line(t, "{'kind':'current','bbs':'b2','generation':'x','revision':7}");
            }
            if (bbs == 1 || revision != 7 || whole) {
                line(t,
                     "{'kind':'event','what':'put','bbs':'b%d','at':%d,'revision':%d,'made':5,"
                     "'key':'domain/a','record':'domain'}",
                     bbs, revision, revision);
            }
        }
    }
}

static void a_gap_that_is_not_told_is_found(void **state)
{
    TRIAL(t);
    streams(t, false, false);
    breaks(t, PROMISE_S9);
    TRIAL(told);
    streams(told, false, true);
    keeps(told);
    TRIAL(whole);
    streams(whole, true, false);
    keeps(whole);
}

/* ---- S12 ---- */

static void a_move_that_no_table_has_is_found(void **state)
{
    TRIAL(t);
    instance(t, 1, 5, 0, "RUNNING", "g1", "c1", "");
    instance(t, 2, 6, 0, "CLAIMED", "g2", "c2", "");
    breaks(t, PROMISE_S12);
    TRIAL(good);
    instance(good, 1, 5, 0, "RUNNING", "g1", "c1", "");
    instance(good, 2, 6, 0, "UNCLAIMED", "", "", "");
    instance(good, 3, 7, 0, "CLAIMED", "g2", "c2", "");
    keeps(good);
}

/* Between two snapshots it may have been UNCLAIMED. */
static void what_a_gap_hides_is_no_move(void **state)
{
    for (int gap = 0; gap <= 1; gap++) {
        TRIAL(t);
        line(t, "{'kind':'reset','bbs':'b1','generation':'x','revision':0}");
        line(t, "{'kind':'current','bbs':'b1','generation':'x','revision':4}");
        instance(t, 1, 5, 0, "RUNNING", "g1", "c1", "");
        if (gap) {
            line(t, "{'kind':'reset','bbs':'b1','generation':'x','revision':5}");
            line(t, "{'kind':'current','bbs':'b1','generation':'x','revision':8}");
        }
        instance(t, 2, 9, 0, "CLAIMED", "g2", "c2", "");
        if (gap) {
            keeps(t);
        } else {
            breaks(t, PROMISE_S12);
        }
    }
}

/* ---- S13, L3, L1 ---- */

static void an_orphan_is_found(void **state)
{
    TRIAL(t);
    work(t);
    instance(t, 2, 10, 0, "RUNNING", "other", "c1", "");
    look(t, 3, BOX("other", 99, 2) "," BOX("g1", 100, 2));
    look(t, 3.5, BOX("g1", 100, 2));
    look(t, 90, BOX("g1", 100, 2));
    judge(t);
    assert_true(t->v.found[PROMISE_S13] > 0);
    TRIAL(good);
    work(good);
    instance(good, 2, 10, 0, "RUNNING", "g1", "c1", "");
    look(good, 3, BOX("g1", 100, 2));
    look(good, 90, BOX("g1", 100, 2));
    keeps(good);
}

static void a_phantom_is_found(void **state)
{
    TRIAL(t);
    work(t);
    instance(t, 2, 10, 0, "RUNNING", "g1", "c1", "");
    look(t, 3, "");
    look(t, 90, "");
    breaks(t, PROMISE_S13);
    /* The workload ends: it takes its apps away, and nobody records the board any more. */
    TRIAL(good);
    work(good);
    instance(good, 2, 10, 0, "RUNNING", "g1", "c1", "");
    look(good, 3, BOX("g1", 100, 2));
    look(good, 89, BOX("g1", 100, 2));
    line(good, "{'kind':'work','what':'end','at':%ld,'run':'r','stale_domain':'stale'}", S(89.5));
    look(good, 90, "");
    keeps(good);
}

static void removed(struct trial *t, double until)
{
    work(t);
    instance(t, 2, 10, 0, "RUNNING", "g1", "c1", "");
    look(t, 3, BOX("g1", 100, 2));
    call(t, "create", "lrp/r-five", 1, 2, "'value':'x'");
    call(t, "remove", "lrp/r-five", 4, 5, "'saw':null");
    look(t, until, BOX("g1", 100, 2));
}

static void what_does_not_stop_is_found(void **state)
{
    TRIAL(t);
    removed(t, 30);
    breaks(t, PROMISE_L3);
    TRIAL(good);
    removed(good, 15);
    keeps(good);
}

static void at_rest(struct trial *t, const char *what)
{
    work(t);
    instance(t, 2, 10, 0, what, "g1", "c1", "");
    line(t, "{'kind':'work','what':'rest','at':%ld,'run':'r','stale_domain':'stale'}", S(5));
    line(t, "{'kind':'work','what':'end','at':%ld,'run':'r','stale_domain':'stale'}", S(9));
}

static void what_never_runs_is_found(void **state)
{
    TRIAL(t);
    at_rest(t, "UNCLAIMED");
    breaks(t, PROMISE_L1);
    TRIAL(good);
    at_rest(good, "RUNNING");
    keeps(good);
}

/* ---- Bounds and faults ---- */

static void fault(struct trial *t, const char *kind, const char *more)
{
    line(t,
         "{'kind':'%s','n':1,'fault':'kill_cell','targets':['rep-1'],'begin':%ld,'there':%ld,"
         "'end':%ld,'bound_ms':12000%s}",
         kind, S(10), S(11), S(30), more);
}

/* An index that answers until 10 s and again from `again` on. */
static void visited(struct trial *t, double again)
{
    for (double at = 1; at < 60; at += 0.5) {
        answered(t, at, at < 10 || at >= again);
    }
    for (double at = 1; at < 60; at += 0.5) {
        call(t, "get", "lrp/r-x", at, at + 0.1, "'saw':null");
    }
}

/* Calls of this op that are answered until 10 s and again from `again` on, and fail meanwhile. */
static void asked(struct trial *t, const char *op, double again)
{
    const char *ok = strcmp(op, "list") == 0 ? "{}" : "null";
    for (double at = 1; at < 60; at += 0.5) {
        bool well = at < 10 || at >= again;
        line(t,
             "{'kind':'call','op':'%s','key':'lrp/r-x','begin':%ld,'end':%ld,'result':'%s',"
             "'saw':%s}",
             op, S(at), S(at + 0.1), well ? "ok" : "failed", well ? ok : "'error'");
    }
}

static void a_failed_call_is_no_answer_whatever_it_asked_for(void **state)
{
    static const char *const ops[] = {"get", "list"};
    for (int i = 0; i < 2; i++) {
        TRIAL(t);
        work(t), asked(t, ops[i], 24), fault(t, "fault", "");
        breaks(t, PROMISE_BOUND);
        TRIAL(good);
        work(good), asked(good, ops[i], 21), fault(good, "fault", "");
        keeps(good);
    }
}

static void a_late_recovery_is_found(void **state)
{
    TRIAL(t); /* 12 s from when the fault began, not from when it was there */
    work(t), visited(t, 22.5), fault(t, "fault", "");
    breaks(t, PROMISE_BOUND);
    TRIAL(good);
    work(good), visited(good, 21.5), fault(good, "fault", "");
    keeps(good);
    TRIAL(never);
    work(never), visited(never, 1000), fault(never, "fault", "");
    breaks(never, PROMISE_BOUND);
}

static void a_board_that_does_not_answer_is_found(void **state)
{
    for (int late = 0; late < 2; late++) {
        TRIAL(t);
        work(t), fault(t, "fault", "");
        for (double at = 1; at < 60; at += 0.5) {
            bool away = at >= 10 && at < (late ? 22.5 : 21);
            line(t,
                 "{'kind':'call','op':'get','key':'lrp/r-x','begin':%ld,'end':%ld,'result':'%s'}",
                 S(at), S(at + 0.1), away ? "unknown" : "ok");
        }
        if (late) {
            breaks(t, PROMISE_BOUND);
        } else {
            keeps(t);
        }
    }
}

static void a_fault_that_was_not_there_is_found(void **state)
{
    TRIAL(t);
    work(t), visited(t, 10), fault(t, "not_there", "");
    breaks(t, PROMISE_THERE);
    TRIAL(unhealed);
    work(unhealed), visited(unhealed, 10), fault(unhealed, "fault", ",'healed':false");
    breaks(unhealed, PROMISE_THERE);
}

static void lost_requests_are_counted(void **state)
{
    TRIAL(t);
    work(t), visited(t, 15), fault(t, "fault", "");
    keeps(t);
    assert_non_null(strstr(buf_string(&t->text), "lost 10 of 74 (five)"));
    assert_non_null(strstr(buf_string(&t->text), "<svg "));
}

/* ---- What is no history ---- */

static void what_is_malformed_is_an_error(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"", "trial:1: no whole JSON object"},
        {"{'kind':'truth','at':1,'containers':[", "trial:1: no whole JSON object"},
        {"[]", "trial:1: no whole JSON object"},
        {"{}", "trial:1: \"kind\" is missing"},
        {"{'kind':5}", "trial:1: \"kind\" is no text"},
        {"{'kind':'other'}", "\"kind\" is none that the judge knows"},
        {"{'kind':'call','op':'get','key':'a','begin':5,'end':4,'result':'ok'}",
         "\"end\" is before"},
        {"{'kind':'call','op':'get','key':'a','begin':-5,'end':4,'result':'ok'}", "\"end\" is"},
        {"{'kind':'call','op':'get','key':'a','begin':5,'result':'ok'}", "\"end\" is missing"},
        {"{'kind':'call','op':'get','begin':5,'end':6,'result':'ok'}", "\"key\" is missing"},
        {"{'kind':'call','op':'get','key':'a','begin':'x','result':'ok'}", "no whole number"},
        {"{'kind':'call','op':'get','key':'a','begin':1.5,'result':'ok'}", "no whole number"},
        {"{'kind':'call','op':'get','key':'a','begin':1,'end':2,'result':'so'}", "is not ok"},
        {"{'kind':'call','op':'create','key':'a','begin':1,'end':2,'result':'ok'}", "\"value\""},
        {"{'kind':'call','op':'list','key':'a','begin':1,'end':2,'result':'ok','saw':'x'}",
         "\"saw\" is no object"},
        {"{'kind':'truth','at':1}", "\"containers\" is no list"},
        {"{'kind':'truth','at':1,'containers':[5]}", "\"instance\" is missing"},
        {"{'kind':'event','what':'x','bbs':'b','at':1,'revision':1,'made':1,'key':'a',"
         "'record':'cell'}",
         "\"what\" is not"},
        {"{'kind':'fault','n':1,'fault':'kill','targets':'x','begin':1}", "\"targets\" is no list"},
        {"{'kind':'fault','n':1,'fault':'kill','targets':[5],'begin':1}", "is no text"},
        {"{'kind':'fault','n':1,'fault':'kill','targets':[],'begin':5,'end':3}", "\"end\" is"},
        {"{'kind':'request','process':'p','index':0,'begin':1,'end':2,'ok':1}", "neither true"},
        {"{'kind':'request','process':'p','index':99999999999,'begin':1,'end':2,'ok':true}",
         "out of range"},
        {"{'kind':'work','what':'begin','at':1,'apps':5}", "\"apps\" is no object"},
        {"{'kind':'gap','kind':'gap','bbs':'b'}", "no whole JSON object"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        TRIAL(t);
        line(t, "%s", rows[i].line);
        assert_int_equal(t->result, -ERR_INVALID);
        if (!strstr(t->err.text, rows[i].says)) {
            fail_msg("%s: %s", rows[i].line, t->err.text);
        }
    }
}

static void bounds_are_errors(void **state)
{
    TRIAL(t);
    char *text = calloc(1, HISTORY_LINE_MAX + 2);
    memset(text, ' ', HISTORY_LINE_MAX + 1);
    int r =
        chaos_history_take(&t->h, (struct place){"trial", 1}, text, HISTORY_LINE_MAX + 1, &t->err);
    assert_int_equal(r, -ERR_TOO_LARGE);
    free(text);
    for (int i = 0; i < 65; i++) {
        line(t, "{'kind':'gap','bbs':'b%d'}", i);
        assert_int_equal(t->result, i < 64 ? 0 : -ERR_INVALID);
    }
}

static void nothing_at_all_is_judged(void **state)
{
    TRIAL(t);
    keeps(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_double_start_is_found),
        cmocka_unit_test(a_replacement_of_a_suspect_is_none),
        cmocka_unit_test(one_after_the_other_is_none),
        cmocka_unit_test(a_deposed_leaders_write_is_found),
        cmocka_unit_test(a_lock_written_twice_is_found),
        cmocka_unit_test(a_task_run_twice_is_found),
        cmocka_unit_test(an_outcome_that_changes_is_found),
        cmocka_unit_test(a_task_that_is_forgotten_is_found),
        cmocka_unit_test(a_lost_write_is_found),
        cmocka_unit_test(a_list_from_the_past_is_found),
        cmocka_unit_test(a_restore_may_lose_writes),
        cmocka_unit_test(a_stop_in_a_stale_domain_is_found),
        cmocka_unit_test(a_stream_that_falls_is_found),
        cmocka_unit_test(a_gap_that_is_not_told_is_found),
        cmocka_unit_test(a_move_that_no_table_has_is_found),
        cmocka_unit_test(what_a_gap_hides_is_no_move),
        cmocka_unit_test(an_orphan_is_found),
        cmocka_unit_test(a_phantom_is_found),
        cmocka_unit_test(what_does_not_stop_is_found),
        cmocka_unit_test(what_never_runs_is_found),
        cmocka_unit_test(a_late_recovery_is_found),
        cmocka_unit_test(a_failed_call_is_no_answer_whatever_it_asked_for),
        cmocka_unit_test(a_board_that_does_not_answer_is_found),
        cmocka_unit_test(a_fault_that_was_not_there_is_found),
        cmocka_unit_test(lost_requests_are_counted),
        cmocka_unit_test(what_is_malformed_is_an_error),
        cmocka_unit_test(bounds_are_errors),
        cmocka_unit_test(nothing_at_all_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
