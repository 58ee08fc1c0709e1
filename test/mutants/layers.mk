# One program of all test programs of a layer, so that a planted bug needs one link a layer, not a
# hundred: build/release/layer/unit test_model runs test/unit/common/model/test_model.c. It is read after the
# Makefile of the tree:
#   make -f Makefile -f test/mutants/layers.mk build/release/layer/unit
LAYERS           := unit decide lifecycles table stories
LAYER_unit       := $(sort $(shell find test/unit -name 'test_*.c'))
LAYER_decide     := $(sort $(wildcard test/decide/test_*.c))
LAYER_lifecycles := $(sort $(wildcard test/table/test_lifecycle_*.c))
LAYER_table      := $(filter-out $(LAYER_lifecycles),$(sort $(wildcard test/table/test_*.c)))
LAYER_stories    := $(patsubst %,test/sim/test_%.c,tour loss_bounds scenarios)

# What else a program is linked from. A lifecycle is read by dozens of files; its own table needs none
# of them.
LAYER_LIBRARIES            := $(OUT)/libtest.a $(OUT)/libcorkboard.a
LAYER_LIBRARIES_lifecycles := $(filter $(OUT)/common/base/% $(OUT)/common/lifecycle/%,$(LIB_O)) \
                              $(OUT)/common/model/keys.o $(OUT)/common/model/record.o \
                              $(OUT)/common/codec/scan.o $(GEN_O) \
                              $(OUT)/test/table/lifecycles.o $(OUT)/test/tool/page.o

# The object of a test program: its main gets a name of its own, all else in it stays its own.
$(OUT)/layer/objects/%.o: $(OUT)/test/%.o
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym main=$(*F)_main --keep-global-symbol=$(*F)_main $< $@

# Calls the main that the first argument names.
define LAYER
$(OUT)/layer/$(1).c: test/mutants/layers.mk $$(LAYER_$(1))
	@mkdir -p $$(@D)
	@{ echo '#include <string.h>'; \
	for t in $$(notdir $$(LAYER_$(1):.c=)); do echo "int $$$${t}_main(int argc, char **argv);"; done; \
	echo 'int main(int argc, char **argv) {'; \
	for t in $$(notdir $$(LAYER_$(1):.c=)); do \
	echo "if (argc > 1 && !strcmp(argv[1], \"$$$$t\")) return $$$${t}_main(argc - 1, argv + 1);"; done; \
	echo 'return 2; }'; } >$$@
$(OUT)/layer/$(1): $(OUT)/layer/$(1).c $$(LAYER_$(1):test/%.c=$(OUT)/layer/objects/%.o) \
        $$(or $$(LAYER_LIBRARIES_$(1)),$$(LAYER_LIBRARIES))
	@echo '  $$@'
	$(Q)$(CC) $(LDFLAGS) -o $$@ $$^ $$(if $$(LAYER_LIBRARIES_$(1)),,$(LAYER_LIBRARIES)) $(LIBS) -lcmocka -lm
endef
$(foreach layer,$(LAYERS),$(eval $(call LAYER,$(layer))))
