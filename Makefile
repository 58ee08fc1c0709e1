# Builds everything into build/$(VARIANT)/.
#   make                     the programs, in build/release/bin
#   make docs                docs/ as far as programs print it
#   make chaos               build/release/bin/chaos, of the chaos harness (docs/chaos.md)
#   make check               all fast tests (unit, decide, table, sim), under sanitizers
#   make CC=clang ...        with clang (build/release-clang, ...)
#   make V=1 ...             shows the commands
#   make SAN=1 ...           with address and undefined-behaviour sanitizers (build/san, ...)
#   make FUZZ=1 fuzz         build/fuzz/bin/fuzz: the fuzz targets with libFuzzer, by clang
# Sources are found by their place: common/, bbs/, rep/, auctioneer/, converger/, crm/ go to one library
# but for the files main.c; test/*/test_*.c are test programs, other files of test/ their helpers.

CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif
SAN     ?=
FUZZ    ?=
Q       := $(if $(V),,@)
ifneq ($(FUZZ),)
CC      := clang
VARIANT := fuzz
else
VARIANT := $(if $(SAN),san,release)$(if $(filter clang%,$(notdir $(CC))),-clang)
endif
OUT     := build/$(VARIANT)
GEN     := build/gen

PACKAGES := libprotobuf-c libevent libevent_openssl libnghttp2 libcurl libssl libcrypto jansson yaml-0.1 libarchive libnftables libnetfilter_log
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wwrite-strings -Wformat=2 -Wvla -Wundef -Wno-missing-field-initializers
BASE := -std=gnu17 -D_GNU_SOURCE -DPROTOBUF_C__NO_DEPRECATED -I. -isystem $(GEN) -fno-common -ffp-contract=off -g -MMD -MP \
        $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
# A sanitizer's report wants function, file and line: -g1 gives these, and compiles in two thirds of the time.
OPT  := $(if $(SAN),-O1 -g1 -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all \
        -fno-omit-frame-pointer,-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong)

ifneq ($(FUZZ),)
OPT     := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
        -fno-omit-frame-pointer
endif

CFLAGS  := $(BASE) $(OPT) $(EXTRA_CFLAGS)
LDFLAGS := $(if $(SAN),-fsanitize=address -fsanitize=undefined) $(EXTRA_LDFLAGS)
# Gold, of binutils, links a test program in a third of the default linker's time, and a whole test
# run links a thousand.
TEST_LDFLAGS := $(LDFLAGS) $(if $(shell command -v ld.gold 2>/dev/null),-fuse-ld=gold)
# A program loads only what it calls: libarchive is for the courier alone, libnftables for
# rep-network.
LIBS    := -Wl,--as-needed $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lbsd

PROTO   := $(wildcard proto/*.proto) $(wildcard proto/models/*.proto)
GEN_C   := $(PROTO:proto/%.proto=$(GEN)/%.pb-c.c)
ROLES   := bbs rep auctioneer converger crm
LIB_C   := $(sort $(shell find common $(ROLES) -name '*.c' -not -name main.c -not -path 'rep/shim/*' -not -path 'rep/hook/*' 2>/dev/null))
# Pure, and tested here too: what rep-hook reads.
LIB_C   += rep/hook/answer.c
MAINS   := $(wildcard $(ROLES:%=%/main.c))
PROGS   := $(MAINS:%/main.c=$(OUT)/bin/%)
TEST_C  := $(sort $(shell find test -name 'test_*.c' 2>/dev/null))
# The programs of the chaos harness: main.c of test/chaos and those of test/chaos/tool, a file each.
CHAOS_C := test/chaos/main.c $(wildcard test/chaos/tool/*.c)
# Programs that trials put into containers, a file each: static, as a root filesystem may have nothing.
INSIDE_C := $(wildcard test/e2e/inside/*.c)
HELP_C  := $(filter-out $(CHAOS_C) $(INSIDE_C),$(sort $(shell find test -name '*.c' -not -name 'test_*.c' 2>/dev/null)))
TESTS   := $(TEST_C:%.c=$(OUT)/%)
INSIDE  := $(INSIDE_C:%.c=$(OUT)/%)
FAST    := $(filter $(OUT)/test/unit/% $(OUT)/test/decide/% $(OUT)/test/table/% $(OUT)/test/sim/%,$(TESTS))

LIB_O   := $(LIB_C:%.c=$(OUT)/%.o)
GEN_O   := $(GEN_C:$(GEN)/%.c=$(OUT)/gen/%.o)
HELP_O  := $(HELP_C:%.c=$(OUT)/%.o)

.PHONY: all check docs tests clean gen shim chaos
.SECONDARY:
all: $(PROGS) shim $(OUT)/bin/rep-hook $(OUT)/bin/rep-courier $(OUT)/bin/rep-network
tests: $(TESTS) $(INSIDE) chaos

gen: $(GEN)/done
$(GEN)/done: $(PROTO) Makefile
	@mkdir -p $(GEN)
	@echo '  $@'
	$(Q)protoc-c -Iproto --c_out=$(GEN) $(PROTO:proto/%=%)
	$(Q)printf '#include "%s"\n' $(PROTO:proto/%.proto=%.pb-c.h) >$(GEN)/messages.h
	@touch $@
$(GEN_C): $(GEN)/done ;

$(OUT)/gen/%.o: $(GEN)/%.c $(GEN)/done
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(CFLAGS) -w -c $< -o $@
# cmocka gives each test a state, and most want none.
$(OUT)/test/%.o: WARN += -Wno-unused-parameter
$(OUT)/%.o: %.c $(GEN)/done
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(CFLAGS) $(WARN) -c $< -o $@

$(OUT)/libcorkboard.a: $(LIB_O) $(GEN_O)
	@rm -f $@
	$(Q)ar rcs $@ $^
$(OUT)/libtest.a: $(HELP_O)
	@mkdir -p $(@D); rm -f $@
	$(Q)ar rcs $@ $^

$(OUT)/bin/%: $(OUT)/%/main.o $(OUT)/libcorkboard.a
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)
$(OUT)/bin/rep-courier: $(OUT)/rep/courier/main.o $(OUT)/libcorkboard.a
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)
$(OUT)/bin/rep-network: $(OUT)/rep/network/main.o $(OUT)/libcorkboard.a
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)
$(OUT)/test/%: $(OUT)/test/%.o $(OUT)/libtest.a $(OUT)/libcorkboard.a
	@echo '  $@'
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $^ $(OUT)/libtest.a $(OUT)/libcorkboard.a $(LIBS) -lcmocka -lm

chaos: $(addprefix $(OUT)/bin/chaos,-clock-shift.so -fsync-gate -wire) $(OUT)/bin/chaos
# They are put into, or in front of, programs of the release, and are never sanitized.
$(OUT)/bin/chaos-clock-shift.so: test/chaos/tool/clock_shift.c
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(BASE) -O2 $(WARN) -shared -fPIC -o $@ $< -ldl
$(OUT)/bin/chaos-wire: test/chaos/tool/wire.c
$(OUT)/bin/chaos-fsync-gate: test/chaos/tool/fsync_gate.c
$(OUT)/bin/chaos-wire $(OUT)/bin/chaos-fsync-gate:
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(BASE) -O2 $(WARN) -o $@ $< -pthread
$(OUT)/bin/chaos: $(OUT)/test/chaos/main.o $(OUT)/libtest.a $(OUT)/libcorkboard.a
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -lm

.PHONY: fuzz
fuzz: $(OUT)/bin/fuzz
$(OUT)/bin/fuzz: $(OUT)/test/fuzz/fuzz_main.o $(OUT)/libtest.a $(OUT)/libcorkboard.a
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(OUT)/libtest.a $(OUT)/libcorkboard.a $(LIBS) -lcmocka -lm

# The shim is linked statically against musl: it runs once a container, so every page counts.
SHIM_C := $(sort $(wildcard rep/shim/*.c))
shim: $(if $(SHIM_C),$(OUT)/bin/rep-shim)
$(OUT)/bin/rep-shim: $(SHIM_C) $(wildcard rep/shim/*.h)
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)musl-gcc -std=gnu17 -D_GNU_SOURCE -I. -Os -static $(WARN) -o $@ $(SHIM_C)

# So is what runs hooks: containers have it, whatever else they have.
HOOK_C := $(sort $(wildcard rep/hook/*.c))
$(OUT)/bin/rep-hook: $(HOOK_C) $(wildcard rep/hook/*.h)
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)musl-gcc -std=gnu17 -D_GNU_SOURCE -I. -Os -static $(WARN) -o $@ $(HOOK_C)

$(INSIDE): $(OUT)/%: %.c
	@mkdir -p $(@D)
	@echo '  $@'
	$(Q)musl-gcc -std=gnu17 -D_GNU_SOURCE -O1 -static $(WARN) -o $@ $<

check: $(FAST)
	@failed=0; for t in $(FAST); do echo "== $$t"; $$t || failed=1; done; exit $$failed

# Pages, or parts of them, that are made from what they tell of; tests hold them there.
docs: $(OUT)/test/table/test_lifecycle_docs $(OUT)/test/table/test_certificates $(OUT)/test/sim/test_tour \
    $(OUT)/test/unit/common/appfile/test_app_keys $(OUT)/test/unit/bbs/cli/test_cli_tables
	$(Q)$(OUT)/test/table/test_lifecycle_docs print >build/page && cp build/page docs/lifecycles.md
	$(Q)$(OUT)/test/table/test_certificates print >build/page && cp build/page docs/certificates.md
	$(Q)$(OUT)/test/sim/test_tour print docs/tour.md >build/page && cp build/page docs/tour.md
	$(Q)$(OUT)/test/sim/test_tour print docs/units.md >build/page && cp build/page docs/units.md
	$(Q)$(OUT)/test/unit/common/appfile/test_app_keys print >build/page && cp build/page docs/app-file.md
	$(Q)$(OUT)/test/unit/common/appfile/test_app_keys print-readme >build/page && cp build/page README.md
	$(Q)$(OUT)/test/unit/bbs/cli/test_cli_tables print-readme >build/page && cp build/page README.md

clean:
	rm -rf build

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
