# Fenec. `make help` lists what can be made.
#
#   TARGET=aarch64-linux-gnu   cross-builds with that tool prefix
#   SQLITE_DIR=, CJSON_DIR=    compile SQLite's, cJSON's own sources in from a folder
#   ICU=0                      leave ICU out
#   BUILD=                     where everything goes (build)

comma := ,
VERSION := $(shell sed -n 's/^\#define VERSION "\(.*\)"/\1/p' csrc/abi/fenec.c)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
BUILD ?= build
TARGET ?=
ICU ?= 1
PREFIX ?= /usr/local
CONFORMANCE ?= ../shared/conformance

# V=1 shows the commands.
ifneq ($(V),1)
  Q := @
endif
say = @printf '  %-6s %s\n' $(1) $(2)

ifneq ($(TARGET),)
  CC := $(TARGET)-gcc
  AR := $(TARGET)-ar
  LD := $(TARGET)-ld
  OBJCOPY := $(TARGET)-objcopy
  STRIP := $(TARGET)-strip
  OUT := $(BUILD)/$(TARGET)
else
  LD ?= ld
  OBJCOPY ?= objcopy
  STRIP ?= strip
  OUT := $(BUILD)
endif
ifeq ($(origin CC),default)
  CC := gcc
endif

SOURCES := $(sort $(wildcard csrc/*/*.c))
TESTS := $(sort $(wildcard Tests/c/*.c))
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# -ffp-contract=off: distances are the same to the last bit on every machine.
BASE_FLAGS := -std=c11 -D_GNU_SOURCE -Icsrc -Iinclude -DFENEC_ICU=$(ICU) -ffp-contract=off $(WARNINGS)
CFLAGS ?= -O2 -g
LIB_FLAGS := $(BASE_FLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -fno-semantic-interposition -DNDEBUG
LIBS := -lm -lpthread
ifeq ($(ICU),1)
  LIBS := -licui18n -licuuc $(LIBS)
endif
ifdef SQLITE_DIR
  BASE_FLAGS += -I$(SQLITE_DIR)
  OWN_SQLITE := $(OUT)/obj/sqlite3.o
else
  LIBS := -lsqlite3 $(LIBS)
endif
ifdef CJSON_DIR
  BASE_FLAGS += -I$(CJSON_DIR) -DFENEC_OWN_CJSON
  OWN_CJSON := $(OUT)/obj/cJSON.o
else
  LIBS := -lcjson $(LIBS)
endif

OBJECTS := $(SOURCES:csrc/%.c=$(OUT)/obj/%.o) $(OWN_SQLITE) $(OWN_CJSON)
LIBRARY := $(OUT)/libfenec.so

.PHONY: help deps ffi test test-c test-ffi test-swift test-docs test-conformance test-oracle builder-cases check-swift \
	run bench bench-concurrency bench-search bench-swift fuzz sanitize sanitize-swift soak soak-load soak-tests check-layers check-symbols install clean
.DELETE_ON_ERROR:

help:
	@echo "make ffi            $(BUILD)/libfenec.so, libfenec.a, fenec.pc"
	@echo "make test           every test; installs what it needs first"
	@echo "make run            imports a real data set and answers a tour of queries"
	@echo "make builder-cases  what chains of the query builder make (FILE= cases of your own)"
	@echo "make sanitize       C tests under ASan and UBSan, then under TSan"
	@echo "make sanitize-swift Swift tests under TSan"
	@echo "make bench          the engine beside raw SQLite, ratios printed"
	@echo "make bench-concurrency  readers, writers, builds and compactions at once; opens after a kill"
	@echo "make bench-search   words beside FTS5, vectors beside hnswlib (TEXTS= VECTORS= ROWS=)"
	@echo "make bench-swift    the Swift package beside JSONDecoder and the C call"
	@echo "make fuzz           fuzz targets for a minute (FUZZ_SECONDS=)"
	@echo "make soak           kills and faults under load (SOAK_SECONDS=), then every C test at full size"
	@echo "make check-layers   no folder includes from one above it"
	@echo "make install        into PREFIX ($(PREFIX))"
	@echo "make deps clean"

deps:
	@sh tools/deps.sh

# ---- the library for every other language ----

ffi: $(LIBRARY) $(OUT)/libfenec.a $(OUT)/fenec.pc

$(OUT)/obj/%.o: csrc/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(LIB_FLAGS) -MMD -MP -c $< -o $@

$(OUT)/obj/sqlite3.o: $(SQLITE_DIR)/sqlite3.c
	@mkdir -p $(@D)
	$(CC) -O2 -fPIC -fvisibility=hidden -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -w -c $< -o $@

$(OUT)/obj/cJSON.o: $(CJSON_DIR)/cJSON.c
	@mkdir -p $(@D)
	$(CC) -O2 -fPIC -fvisibility=hidden -w -c $< -o $@

$(LIBRARY): $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libfenec.so.$(SOVERSION) -Wl,--no-undefined -Wl,-z,defs -o $@ $^ $(LDFLAGS) $(LIBS)
	@ln -sf libfenec.so $(OUT)/libfenec.so.$(SOVERSION)

# One object whose hidden symbols became local: an app that links the archive sees the ABI alone.
$(OUT)/libfenec.a: $(OBJECTS)
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(OUT)/obj/fenec-all.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(OUT)/obj/fenec-all.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(OUT)/obj/fenec-all.o

$(OUT)/fenec.pc: tools/fenec.pc.in Makefile csrc/abi/fenec.c
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|' $< > $@

install: ffi
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 include/fenec.h $(DESTDIR)$(PREFIX)/include/
	install -m 755 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/libfenec.so.$(VERSION)
	ln -sf libfenec.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libfenec.so.$(SOVERSION)
	ln -sf libfenec.so.$(SOVERSION) $(DESTDIR)$(PREFIX)/lib/libfenec.so
	install -m 644 $(OUT)/libfenec.a $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(OUT)/fenec.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/

# ---- tests ----

test: deps
	@$(MAKE) --no-print-directory check-layers test-c test-ffi test-conformance test-oracle test-docs test-swift

# $(1) folder, $(2) flags: the C unit tests, engine compiled with the same flags.
define TEST_BUILD
$(BUILD)/$(1)/%.o: %.c Makefile
	@mkdir -p $$(@D)
	@printf '  %-6s %s\n' CC '$$< ($(1))'
	$$(Q)$(CC) $(BASE_FLAGS) -ITests/c $(2) -DFENEC_LOCK_ORDER=1 -MMD -MP -c $$< -o $$@
$(BUILD)/$(1)/unit: $(SOURCES:%.c=$(BUILD)/$(1)/%.o) $(TESTS:%.c=$(BUILD)/$(1)/%.o)
	@printf '  %-6s %s\n' LINK '$$@'
	$$(Q)$(CC) $(2) -o $$@ $$^ $(LIBS)
-include $(SOURCES:%.c=$(BUILD)/$(1)/%.d) $(TESTS:%.c=$(BUILD)/$(1)/%.d)
endef
FLAGS_unit := -O1 -g
FLAGS_asan := -O1 -g -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FLAGS_tsan := -O1 -g -fsanitize=thread
$(foreach with,unit asan tsan,$(eval $(call TEST_BUILD,$(with),$(FLAGS_$(with)))))

test-c: $(BUILD)/unit/unit
	$(BUILD)/unit/unit $(ONLY)

$(BUILD)/fenec-ffi-test: $(wildcard Sources/fenec-ffi-test/*.c Sources/fenec-ffi-test/*.h) $(LIBRARY) include/fenec.h
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -g $(WARNINGS) -Iinclude -o $@ $(filter %.c,$^) $(LIBRARY) -Wl,-rpath,'$$ORIGIN' -lpthread

test-ffi: ffi $(BUILD)/fenec-ffi-test check-symbols
	$(BUILD)/fenec-ffi-test

check-symbols: ffi
	@sh tools/check_symbols.sh include/fenec.h $(LIBRARY) $(OUT)/libfenec.a

check-layers:
	@python3 tools/check_layers.py csrc

test-conformance: ffi
	@python3 tools/conformance.py --lib $(LIBRARY) --folder $(CONFORMANCE) --own Tests/cases

ORACLE_STATEMENTS ?= 200000
ORACLE_SCHEMAS ?= 400
test-oracle: ffi
	@python3 Tests/oracle/run.py --lib $(LIBRARY) --statements $(ORACLE_STATEMENTS)
	@python3 Tests/oracle/schemas.py --lib $(LIBRARY) --schemas $(ORACLE_SCHEMAS)

test-docs: ffi
	@python3 tools/check_docs.py --lib $(LIBRARY) README.md docs Sources/Fenec

# FILE: cases of one's own, a file or a folder, besides the conformance suite's.
builder-cases:
	@$(if $(FILE),FENEC_BUILDER_CASES="$(FILE)") swift run fenec-builder-test $(wildcard $(CONFORMANCE)/cases/09-builder.jsonl)

# Both language modes, and what only Apple platforms compile.
check-swift:
	@sh tools/check_swift.sh

test-swift: check-swift ffi
	swift build --build-tests
	LIBDISPATCH_COOPERATIVE_POOL_STRICT=1 swift test --skip-build
	@python3 tools/check_docs.py --lib $(LIBRARY) --fenec .build/debug/fenec README.md docs

sanitize: $(BUILD)/asan/unit $(BUILD)/tsan/unit
	ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 $(BUILD)/asan/unit $(ONLY)
	TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=tools/tsan.supp" $(BUILD)/tsan/unit $(ONLY)

# ONLY= takes a filter of `swift test`. A race ends the run with TSan's exit code.
SWIFT_TSAN := --sanitize thread --scratch-path $(BUILD)/swift-tsan
sanitize-swift:
	swift build --build-tests $(SWIFT_TSAN)
	LIBDISPATCH_COOPERATIVE_POOL_STRICT=1 TSAN_OPTIONS="halt_on_error=1 exitcode=66 suppressions=$(CURDIR)/tools/tsan.supp" \
	  swift test --skip-build $(SWIFT_TSAN) $(if $(ONLY),--filter '$(ONLY)')

# Readers, writers, builds, kills and faults at once for SOAK_SECONDS, and every C test at its full size.
# SOAK_WITH=asan or tsan: the load under that sanitizer.
SOAK_SECONDS ?= 600
SOAK_WITH ?= unit

define SOAK_BUILD
$(BUILD)/soak-$(1): Tests/soak/soak.c $(SOURCES:%.c=$(BUILD)/$(1)/%.o) $(BUILD)/$(1)/Tests/c/sqlite_memory.o
	@printf '  %-6s %s\n' LINK '$$@'
	$$(Q)$(CC) $(BASE_FLAGS) -ITests/c $(2) -DFENEC_LOCK_ORDER=1 -o $$@ $$^ $(LIBS)
endef
$(foreach with,unit asan tsan,$(eval $(call SOAK_BUILD,$(with),$(FLAGS_$(with)))))

soak: soak-load soak-tests

soak-load: $(BUILD)/soak-$(SOAK_WITH)
	TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=tools/tsan.supp" $(BUILD)/soak-$(SOAK_WITH) $(SOAK_SECONDS)

soak-tests: $(BUILD)/unit/unit
	FENEC_SOAK=1 $(BUILD)/unit/unit $(ONLY)

# ---- the main job ----

run: deps
	swift build -c release --product fenec
	@sh tools/tour.sh .build/release/fenec $(BUILD)

# ---- speed ----

$(BUILD)/bench/%: bench/%.c $(LIBRARY) $(wildcard bench/*.h)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 $(WARNINGS) -DFENEC_ICU=$(ICU) -Iinclude -Ibench -o $@ $< $(LIBRARY) -Wl,-rpath,'$$ORIGIN/..' -lsqlite3 $(LIBS)

bench: ffi $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/bench_*.c))
	@for b in $(filter $(BUILD)/bench/%,$^); do $$b $(BENCH) || exit 1; done

bench-concurrency: ffi $(BUILD)/bench/concurrency
	$(BUILD)/bench/concurrency $(BENCH)

# Words beside FTS5, vectors beside hnswlib, what a file with indexes costs. Smaller for a quick look:
# make bench-search TEXTS=10000 VECTORS=10000 ROWS=20000. PARTS= some of those of bench_vectors alone.
TEXTS ?= 100000
VECTORS ?= 100000
ROWS ?= 1000000

$(BUILD)/bench/bench_vectors: bench/bench_vectors.cpp $(LIBRARY) $(wildcard bench/*.h)
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O3 -march=native -Wall -Iinclude -Ibench -o $@ $< $(LIBRARY) -Wl,-rpath,'$$ORIGIN/..' -lsqlite3 -lpthread

bench-search: ffi $(BUILD)/bench/bench_match $(BUILD)/bench/search_file
	@sh tools/deps.sh g++ libhnswlib-dev
	@$(MAKE) --no-print-directory $(BUILD)/bench/bench_vectors
	$(BUILD)/bench/bench_match $(TEXTS)
	$(BUILD)/bench/bench_vectors $(VECTORS) $(PARTS)
	$(BUILD)/bench/search_file $(ROWS) $(VECTORS)

bench-swift:
	swift build -c release --product fenec-swift-bench
	.build/release/fenec-swift-bench

# ---- fuzzing ----

FUZZ_SECONDS ?= 60
FUZZ_CC ?= $(firstword $(wildcard /opt/swift/usr/bin/clang) clang)
FUZZERS := $(patsubst Tests/fuzz/%.c,%,$(wildcard Tests/fuzz/fuzz_*.c))

$(BUILD)/fuzz/%: Tests/fuzz/%.c $(SOURCES)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(FUZZ_CC) $(BASE_FLAGS) -O1 -g -fuse-ld=lld -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS)

fuzz: $(FUZZERS:%=$(BUILD)/fuzz/%)
	@set -e; for f in $(FUZZERS); do \
	  mkdir -p $(BUILD)/fuzz/corpus-$$f; \
	  $(BUILD)/fuzz/$$f -max_total_time=$$(( $(FUZZ_SECONDS) / $(words $(FUZZERS)) + 1 )) -timeout=10 -rss_limit_mb=4096 \
	    -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus-$$f Tests/fuzz/corpus/$${f#fuzz_}; \
	done

clean:
	rm -rf $(BUILD) .build

-include $(OBJECTS:.o=.d)
