/* What is shown of a message holds no secret; and every text of a record is known to be one or not.
 */
#include "common/codec/json.h"
#include "common/codec/secrets.h"

#include "board.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

static void of_a_url_only_user_and_query_are_hidden(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"", ""},
        {"preloaded:busybox", "preloaded:busybox"},
        {"x@sha256", "x@sha256"},
        {"docker:///library/busybox#latest", "docker:///library/busybox#latest"},
        {"https://cc.internal:9023/tasks/x", "https://cc.internal:9023/tasks/x"},
        {"https://me:geheim@cc/x", "https://(hidden)@cc/x"},
        {"https://token@cc", "https://(hidden)@cc"},
        {"https://me:ge@heim@cc/x@y", "https://(hidden)@cc/x@y"},
        {"https://blobs/a?Signature=abc&x=1", "https://blobs/a?(hidden)"},
        {"https://u:p@blobs/a?s=@b", "https://(hidden)@blobs/a?(hidden)"},
        {"https://cc?to=a@b", "https://cc?(hidden)"},
        {"https://cc#a@b", "https://cc#a@b"},
        {"preloaded+layer:fs?layer=https://u:p@blobs/a", "preloaded+layer:fs?(hidden)"},
        {"?", "?(hidden)"},
        {"://@", "://(hidden)@"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(secrets_hide_url(&f->arena, rows[i][0]), rows[i][1]);
    }
}

/* Decoded from JSON, hidden, and shown again. */
static const char *shown(struct fixture *f, const ProtobufCMessageDescriptor *d, const char *text)
{
    ProtobufCMessage *m;
    buf_clear(&f->out);
    if (json_decode(&f->arena, d, bytes_of(text), CODEC_OWN | CODEC_STRICT, &m, &f->err) < 0) {
        fail_msg("%s\n%s", text, f->err.text);
    }
    secrets_hide(&f->arena, m);
    assert_int_equal(json_encode(m, CODEC_OWN, &f->out, &f->err), 0);
    return buf_string(&f->out);
}

static void each_secret_is_hidden_wherever_it_stands(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const ProtobufCMessageDescriptor *type;
        const char *text, *kept;
    } rows[] = {
        {&models__desired_lrp__descriptor, "{\"env\":[{\"name\":\"KEY\",\"value\":\"geheim\"}]}",
         "{\"name\":\"KEY\",\"value\":\"(hidden)\"}"},
        {&models__desired_lrp__descriptor, "{\"env\":[{\"name\":\"KEY\",\"value\":\"\"}]}",
         "{\"name\":\"KEY\",\"value\":\"\"}"},
        {&models__desired_lrp__descriptor,
         "{\"image_username\":\"me\",\"image_password\":\"geheim\"}",
         "\"image_username\":\"me\",\"image_password\":\"(hidden)\""},
        {&models__desired_lrp__descriptor,
         "{\"env\":[{\"name\":\"KEY\",\"value\":\"\",\"sealed\":{\"key\":1,"
         "\"name\":\"/a:key\",\"text\":\"geheim12\"}}],"
         "\"sealed_image_password\":{\"name\":\"/:r\"}}",
         "{\"name\":\"KEY\",\"value\":\"(hidden)\",\"sealed\":{\"key\":1,\"name\":\"/a:key\"}}"},
        {&models__task__descriptor,
         "{\"task_guid\":\"t\",\"image_password\":\"\","
         "\"sealed_image_password\":{\"name\":\"/:r\"}}",
         "\"image_password\":\"(hidden)\""},
        {&models__desired_lrp__descriptor,
         "{\"volume_mounts\":[{\"driver\":\"nfs\",\"shared\":{\"volume_id\":\"v\","
         "\"mount_config\":\"{\\\"password\\\":\\\"geheim\\\"}\"}}]}",
         "\"volume_id\":\"v\",\"mount_config\":\"(hidden)\""},
        {&models__desired_lrp__descriptor, "{\"rootfs\":\"docker://me:geheim@registry/x\"}",
         "\"rootfs\":\"docker://(hidden)@registry/x\""},
        {&models__desired_lrp__descriptor,
         "{\"image_layers\":[{\"url\":\"https://blobs/a?sig=geheim\"}]}",
         "\"url\":\"https://blobs/a?(hidden)\""},
        {&models__desired_lrp__descriptor,
         "{\"cached_dependencies\":[{\"from\":\"https://me:geheim@blobs/a\"}]}",
         "\"from\":\"https://(hidden)@blobs/a\""},
        {&models__desired_lrp__descriptor,
         "{\"setup\":{\"serial\":{\"actions\":[{\"try\":{\"action\":{\"download\":{\"from\":"
         "\"https://blobs/a?sig=geheim\",\"to\":\"/x\",\"user\":\"u\"}}}}]}}}",
         "\"from\":\"https://blobs/a?(hidden)\",\"to\":\"/x\""},
        {&models__desired_lrp__descriptor,
         "{\"sidecars\":[{\"action\":{\"timeout\":{\"action\":{\"run\":{\"path\":\"/x\","
         "\"user\":\"u\",\"env\":[{\"name\":\"A\",\"value\":\"geheim\"}]}}}}}]}",
         "{\"name\":\"A\",\"value\":\"(hidden)\"}"},
        {&models__task__descriptor,
         "{\"task_guid\":\"t\",\"completion_callback_url\":\"https://me:geheim@cc/x\","
         "\"action\":{\"upload\":{\"from\":\"/a\",\"to\":\"https://me:geheim@blobs/b\","
         "\"user\":\"u\"}},\"image_password\":\"geheim\",\"rootfs\":\"docker://geheim@r/x\"}",
         "\"completion_callback_url\":\"https://(hidden)@cc/x\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = shown(f, rows[i].type, rows[i].text);
        if (!strstr(text, rows[i].kept) || strstr(text, "geheim")) {
            fail_msg("%s\nis shown as\n%s\nwithout %s", rows[i].text, text, rows[i].kept);
        }
    }
}

/* Texts that are no secret. Whatever is shown of a record is here, or in the table of secrets.c. */
static const struct {
    const char *message, *fields;
} plain[] = {
    {"models.DesiredLRP",
     " process_guid slice domain log_source log_guid metrics_guid annotation legacy_download_user "
     "trusted_system_certificates_path PlacementTags image_username "},
    {"models.EnvironmentVariable", " name "},
    {"models.DownloadAction",
     " artifact to cache_key log_source user checksum_algorithm checksum_value "},
    {"models.UploadAction", " artifact from log_source user "},
    {"models.RunAction", " path args dir user log_source "},
    {"models.TimeoutAction", " log_source "},
    {"models.EmitProgressAction",
     " start_message success_message failure_message_prefix log_source "},
    {"models.TryAction", " log_source "},
    {"models.ParallelAction", " log_source "},
    {"models.SerialAction", " log_source "},
    {"models.CodependentAction", " log_source "},
    {"models.ProtoRoutes.RoutesEntry", " key value "},
    {"models.SecurityGroupRule", " protocol destinations annotations "},
    {"models.ModificationTag", " epoch "},
    {"models.CachedDependency", " name to cache_key log_source checksum_algorithm checksum_value "},
    {"models.VolumeMount", " driver container_dir mode "},
    {"models.SharedDevice", " volume_id "},
    {"models.Network.PropertiesEntry", " key value "},
    {"models.CertificateProperties", " organizational_unit "},
    {"models.HTTPCheck", " path "},
    {"models.CheckDefinition", " log_source "},
    {"models.ImageLayer", " name destination_path digest_value "},
    {"models.DesiredLRP.MetricTagsEntry", " key "},
    {"models.MetricTagValue", " static "},
    {"models.Owner", " kind uid "},
    {"models.Sealed", " name version system uid "},
    {"models.DesiredLRPKey", " process_guid domain log_guid "},
    {"models.DesiredLRPSchedulingInfo", " annotation PlacementTags "},
    {"models.VolumePlacement", " driver_names "},
    {"models.DesiredLRPRunInfo", " log_source metrics_guid legacy_download_user "
                                 "trusted_system_certificates_path image_username "},
    {"models.DesiredLRPRunInfo.MetricTagsEntry", " key "},
    {"models.TaskDefinition",
     " log_source log_guid metrics_guid result_file annotation legacy_download_user "
     "trusted_system_certificates_path placement_tags image_username "},
    {"models.TaskDefinition.MetricTagsEntry", " key "},
    {"models.Task",
     " task_guid domain cell_id result failure_reason rejection_reason attempt ran_on_cell_id "},
    {"models.ActualLRPKey", " process_guid domain "},
    {"models.ActualLRPInstanceKey", " instance_guid cell_id "},
    {"models.ActualLRPNetInfo", " address instance_address "},
    {"models.ActualLRP", " crash_reason state placement_error availability_zone definition_id "},
    {"models.ActualLRPInternalRoute", " hostname "},
    {"models.ActualLRP.MetricTagsEntry", " key value "},
    {"models.CellPresence",
     " cell_id rep_address zone placement_tags optional_placement_tags rep_url "},
    {"models.Provider", " name properties "},
    {"board.CellRecord", " identity admin_url pool "},
    {"board.CellHeartbeat", " cell_id "},
    {"board.DomainRecord", " domain "},
    {"board.LeaderLockRecord", " role holder url "},
};

static bool is_plain(struct arena *a, const char *message, const char *field)
{
    const char *word = arena_printf(a, " %s ", field);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (strcmp(plain[i].message, message) == 0 && strstr(plain[i].fields, word)) {
            return true;
        }
    }
    return false;
}

struct walk {
    struct arena *arena;
    const ProtobufCMessageDescriptor *seen[128];
    size_t seen_count, secret_count, unknown;
};

static void walk(struct walk *w, const ProtobufCMessageDescriptor *d)
{
    for (size_t i = 0; i < w->seen_count; i++) {
        if (w->seen[i] == d) {
            return;
        }
    }
    assert_true(w->seen_count < sizeof(w->seen) / sizeof(w->seen[0]));
    w->seen[w->seen_count++] = d;
    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        bool text = f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            walk(w, f->descriptor);
        } else if (text && secrets_hold(d->name, f->name)) {
            assert_false(is_plain(w->arena, d->name, f->name));
            w->secret_count++;
        } else if (text && !is_plain(w->arena, d->name, f->name)) {
            print_error("%s.%s: is it secret? See common/codec/secrets.c\n", d->name, f->name);
            w->unknown++;
        }
    }
}

static void every_text_of_a_record_is_known_to_be_secret_or_not(void **state)
{
    struct fixture *f = *state;
    const ProtobufCMessageDescriptor *const shown_types[] = {
        &models__desired_lrp__descriptor,         &models__desired_lrpscheduling_info__descriptor,
        &models__desired_lrprun_info__descriptor, &models__task__descriptor,
        &models__actual_lrp__descriptor,          &board__cell_record__descriptor,
        &board__limiter_record__descriptor,         &board__domain_record__descriptor,
        &board__leader_lock_record__descriptor,
    };
    struct walk w = {.arena = &f->arena};
    for (size_t i = 0; i < sizeof(shown_types) / sizeof(shown_types[0]); i++) {
        walk(&w, shown_types[i]);
    }
    assert_int_equal(w.unknown, 0);
    assert_int_equal(w.secret_count, 14); /* all rows of the table are about fields that exist */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(of_a_url_only_user_and_query_are_hidden),
        TEST(each_secret_is_hidden_wherever_it_stands),
        TEST(every_text_of_a_record_is_known_to_be_secret_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
