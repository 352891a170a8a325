# Rules of prismc for GNU make. A makefile uses them like this:
#
#   PRISM_SOURCES := kernels/saxpy.prism kernels/softmax.prism
#   PRISM_TARGETS := sm_80 sm_90a
#   include $(shell prismc --make-fragment)
#
#   CPPFLAGS += -I$(PRISM_DIR)
#   main.o: $(PRISM_HEADERS)
#   program: main.o $(PRISM_OBJECTS)
#   	$(CXX) $^ $(shell prismc --libs) -o $@
#
# Each source gives an object, a header and a record in the folder PRISM_DIR. Files of one name in
# different folders would meet there, and are refused: give sources names of their own.

# The first goal stays that of the makefile.
prism-goal := $(.DEFAULT_GOAL)

PRISMC ?= prismc
PRISM_TARGETS ?= sm_80
PRISM_DIR ?= build/prism
PRISM_FLAGS ?=

prism-stem = $(PRISM_DIR)/$(basename $(notdir $(1)))

PRISM_OBJECTS := $(foreach source,$(PRISM_SOURCES),$(call prism-stem,$(source)).o)
ifneq ($(words $(PRISM_OBJECTS)),$(words $(sort $(PRISM_OBJECTS))))
$(error two of PRISM_SOURCES have one name, and would both make $(PRISM_DIR)/NAME.o: $(PRISM_SOURCES))
endif
PRISM_HEADERS := $(PRISM_OBJECTS:.o=.h)
PRISM_RECORDS := $(PRISM_OBJECTS:.o=.json)

# Objects are made with the C compiler of the makefile, if it names one.
prism-cc := $(if $(filter-out default undefined,$(origin CC)),$(CC))

# This file is written where the settings are not those of the outputs: then all are made anew.
prism-settings := $(strip $(PRISMC) $(PRISM_TARGETS) $(PRISM_FLAGS) $(prism-cc))
ifneq ($(prism-settings),$(shell cat $(PRISM_DIR)/.settings 2>/dev/null))
$(PRISM_DIR)/.settings: prism-other-settings
endif
$(PRISM_DIR)/.settings:
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(prism-settings))' > $@
.PHONY: prism-other-settings

# One run of prismc makes all files of a source: that is what several targets of a pattern rule mean.
# The pattern stands for the dot. Make compares times, so an output that stays the same has a new one.
define prism-rule
$(prism-stem)%o $(prism-stem)%h $(prism-stem)%json: $(1)
	$$(PRISMC) build $(1) -o $(PRISM_DIR)/ --emit obj --emit header --emit record \
	  $(PRISM_TARGETS:%=--target %) --depfile $(prism-stem).d --always $$(PRISM_FLAGS)
endef
$(foreach source,$(PRISM_SOURCES),$(eval $(call prism-rule,$(source))))

# Named here, the outputs are no intermediate files, which make would remove.
$(PRISM_OBJECTS) $(PRISM_HEADERS) $(PRISM_RECORDS): $(PRISM_DIR)/.settings

ifneq ($(prism-cc),)
$(PRISM_OBJECTS) $(PRISM_HEADERS) $(PRISM_RECORDS): export CC := $(prism-cc)
endif

# Made along with the outputs; without a rule make would try its own, and `saxpy%o` makes `saxpy.d.o`.
$(PRISM_OBJECTS:.o=.d): ;
-include $(wildcard $(PRISM_OBJECTS:.o=.d))

.DEFAULT_GOAL := $(prism-goal)
