# The CMake package of prismc.
#
#   find_package(prismc REQUIRED)                  # prismc_DIR is what `prismc --cmake-dir` prints
#   prism_add_library(kernels
#     SOURCES saxpy.prism softmax.prism
#     TARGETS sm_80 sm_90a)
#   target_link_libraries(program PRIVATE kernels)
#
# makes a static library with the images of all kernels, whose users may include `saxpy.h` and
# `softmax.h`. `install(TARGETS kernels)` installs these too.

# What follows is written for CMake 3.20, whatever the project asks for.
cmake_policy(VERSION 3.20)

find_program(PRISMC_EXECUTABLE prismc
  # An environment of Python: lib/python3.x/site-packages/prismc/build_systems beside bin.
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin"
  DOC "The compiler prismc")
if(NOT PRISMC_EXECUTABLE)
  set(prismc_FOUND FALSE)
  set(prismc_NOT_FOUND_MESSAGE "the program prismc is not on PATH; set PRISMC_EXECUTABLE")
  return()
endif()

# The C compiler that objects are made with is that of the project, with what makes it one for its
# target machine.
function(prism_compiler variable)
  set(language C)
  set(kind)
  if(NOT CMAKE_C_COMPILER)
    set(language CXX)
    set(kind " -x c")
  endif()
  set(command "'${CMAKE_${language}_COMPILER}' ${CMAKE_${language}_COMPILER_ARG1}${kind}")
  if(CMAKE_${language}_COMPILER_TARGET)
    string(APPEND command " ${CMAKE_${language}_COMPILE_OPTIONS_TARGET}")
    string(APPEND command "${CMAKE_${language}_COMPILER_TARGET}")
  endif()
  set(${variable} "${command}" PARENT_SCOPE)
endfunction()

# prism_add_library(name SOURCES file.. [TARGETS sm_XX..] [DEFINES NAME=VALUE..] [INCLUDES folder..]
#                   [OPTIONS option..])
#
# TARGETS is sm_80 where none is given. DEFINES gives constants of the sources other values,
# INCLUDES names folders for imports, OPTIONS is passed to `prismc build` as it is. For each source
# the library has a header, and a record `NAME.json` beside it.
function(prism_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TARGETS;DEFINES;INCLUDES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "prism_add_library: what is `${arg_UNPARSED_ARGUMENTS}`?")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "prism_add_library(${name}): name the SOURCES")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS sm_80)
  endif()
  set(options ${arg_OPTIONS})
  if(CMAKE_GENERATOR MATCHES "Ninja")
    list(APPEND options --keep-times) # an output that is the same makes nothing else anew
  else()
    list(APPEND options --always) # make compares times with those of the settings, too
  endif()
  foreach(target IN LISTS arg_TARGETS)
    list(APPEND options --target ${target})
  endforeach()
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND options -D ${define})
  endforeach()
  foreach(folder IN LISTS arg_INCLUDES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND options -I "${folder}")
  endforeach()

  prism_compiler(compiler)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.prism")
  # Makefiles do not notice by themselves that a command has changed.
  file(CONFIGURE OUTPUT "${folder}/settings" CONTENT "${PRISMC_EXECUTABLE} ${options} ${compiler}\n" @ONLY)
  set(objects)
  set(headers)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(path "${source}" ABSOLUTE)
    get_filename_component(stem "${source}" NAME_WLE)
    set(stem "${folder}/${stem}")
    add_custom_command(
      OUTPUT "${stem}.o" "${stem}.h" "${stem}.json"
      COMMAND "${CMAKE_COMMAND}" -E env "CC=${compiler}"
              "${PRISMC_EXECUTABLE}" build "${path}" -o "${folder}/"
              --emit obj --emit header --emit record --depfile "${stem}.d" ${options}
      DEPENDS "${path}" "${folder}/settings"
      DEPFILE "${stem}.d"
      COMMENT "Building kernels of ${source}"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND objects "${stem}.o")
    list(APPEND headers "${stem}.h")
  endforeach()

  add_library(${name} STATIC ${objects} ${headers})
  set_target_properties(${name} PROPERTIES PUBLIC_HEADER "${headers}")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CXX" IN_LIST languages)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  endif()
  target_include_directories(${name} INTERFACE "$<BUILD_INTERFACE:${folder}>")
  target_link_libraries(${name} INTERFACE ${CMAKE_DL_LIBS})
endfunction()
