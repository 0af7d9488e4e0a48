# SPDX-License-Identifier: Apache-2.0
# With CALPE_UNITY several files of a target are compiled as one: the headers, which are most of the
# work, are read once for all of them. CI's machines compile everything from nothing; who changes
# one file and compiles again is better off without.
option(CALPE_UNITY "Compile several files as one, for builds from nothing" OFF)

# Less optimisation saves a quarter of the compiler's time. Nothing that is measured has it, so not
# the library, its benchmarks or counted work. Sanitizers' builds have less anyway; with none at all
# their tests lose more time than the compiler saves. Packages are not run once.
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
  # Private types of a file look as if they were a header's when it is not the main file.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # Memory is there, and looking for what of it is free costs a seventh of the time.
  target_compile_options(
    ${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=1000;--param=ggc-min-heapsize=1048576>")
  cmake_language(EVAL CODE "
    cmake_language(DEFER DIRECTORY \"${PROJECT_SOURCE_DIR}\" CALL calpe_unity_groups ${target})")
endfunction()

# When all sources are known.
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
