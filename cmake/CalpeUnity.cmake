# SPDX-License-Identifier: Apache-2.0
# CALPE_UNITY compiles several files of a target as one, so that their headers, which are most of
# the work, are read once. Use it for clean builds, as in CI. Leave it off for incremental builds.
option(CALPE_UNITY "Compile several files as one, for clean builds" OFF)

# Less optimisation saves a quarter of the compile time. Never used for measured targets: the
# library, its benchmarks and counted work. Sanitizer builds use less optimisation anyway; with none
# their tests lose more time than the compiler saves. Not for packages.
option(CALPE_RUN_ONCE "Optimise the tests and the command less, for builds that are run once" OFF)
function(calpe_run_once target)
  if(CALPE_RUN_ONCE)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  endif()
endfunction()

function(calpe_unity target)
  if(NOT CALPE_UNITY)
    return()
  endif()
  # g++ treats private types of an included source file like those of a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # Garbage collection in the compiler takes a seventh of the time; use more memory instead.
  target_compile_options(
    ${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=1000;--param=ggc-min-heapsize=1048576>")
  cmake_language(EVAL CODE "
    cmake_language(DEFER DIRECTORY \"${PROJECT_SOURCE_DIR}\" CALL calpe_unity_groups ${target})")
endfunction()

# Runs after all sources are known.
function(calpe_unity_groups target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(candidates)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
    get_source_file_property(options "${source}" TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    get_source_file_property(flags "${source}" TARGET_DIRECTORY ${target} COMPILE_FLAGS)
    if(NOT options AND NOT flags)
      list(APPEND candidates "${source}")
    endif()
  endforeach()
  list(LENGTH candidates count)
  if(count LESS 3)
    return()
  endif()
  execute_process(
    COMMAND python3 -B "${PROJECT_SOURCE_DIR}/cmake/unity_groups.py" 12 ${candidates}
    OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "|" groups "${groups}")
  string(REPLACE "\n" ";" groups "${groups}")
  set(number 0)
  foreach(group IN LISTS groups)
    string(REPLACE "|" ";" files "${group}")
    math(EXPR number "${number} + 1")
    list(LENGTH files length)
    if(length GREATER 1)
      set_source_files_properties(
        ${files} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${target}_${number}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
