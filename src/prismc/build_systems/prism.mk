# Rules of prismc for GNU make. A makefile includes them by
#
#   PRISM_SOURCES := kernels/saxpy.prism kernels/softmax.prism
#   PRISM_TARGETS := sm_80 sm_90a
#   include $(shell prismc --make-fragment)
#
#   program: main.o $(PRISM_OBJECTS)
#   main.o: $(PRISM_HEADERS)
#   CPPFLAGS += -I$(PRISM_DIR)
#
# Each source gives an object, a header and a record in PRISM_DIR. All names of sources must differ,
# also where their folders do.

PRISMC ?= prismc
PRISM_TARGETS ?= sm_80
PRISM_DIR ?= build/prism
PRISM_FLAGS ?=

PRISM_STEMS := $(basename $(notdir $(PRISM_SOURCES)))
PRISM_OBJECTS := $(PRISM_STEMS:%=$(PRISM_DIR)/%.o)
PRISM_HEADERS := $(PRISM_STEMS:%=$(PRISM_DIR)/%.h)
PRISM_RECORDS := $(PRISM_STEMS:%=$(PRISM_DIR)/%.json)

# What the outputs are made with: if that changes, they are made anew.
PRISM_SETTINGS := $(PRISMC) $(PRISM_TARGETS) $(PRISM_FLAGS)
ifneq ($(PRISM_SETTINGS),$(shell cat $(PRISM_DIR)/.settings 2>/dev/null))
$(shell mkdir -p $(PRISM_DIR) && printf '%s\n' '$(PRISM_SETTINGS)' > $(PRISM_DIR)/.settings)
endif

# One run of prismc makes all three files of a source (a pattern rule with several targets).
define prism-rule
$(PRISM_DIR)/$(basename $(notdir $(1)))%o $(PRISM_DIR)/$(basename $(notdir $(1)))%h $\
$(PRISM_DIR)/$(basename $(notdir $(1)))%json: $(1) $(PRISM_DIR)/.settings
	$$(PRISMC) build $(1) -o $(PRISM_DIR)/ --emit obj --emit header --emit record $\
	  $(PRISM_TARGETS:%=--target %) --depfile $(PRISM_DIR)/$(basename $(notdir $(1))).d $$(PRISM_FLAGS)
endef
$(foreach source,$(PRISM_SOURCES),$(eval $(call prism-rule,$(source))))

-include $(PRISM_STEMS:%=$(PRISM_DIR)/%.d)
