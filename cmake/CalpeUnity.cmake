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

set(calpe_grouped_by COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES)

# Runs after all sources are known. CMake's own UNITY_BUILD leaves out files with options of their
# own, which are a third of the library: coverage for fuzzing, full type information.
function(calpe_unity_groups target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(option_sets)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
    set(values)
    foreach(property IN ITEMS ${calpe_grouped_by} SKIP_PRECOMPILE_HEADERS)
      get_source_file_property(value "${source}" TARGET_DIRECTORY ${target} ${property})
      string(APPEND values "${value}|")
    endforeach()
    # Kernel files stay alone: they have no header in common, and each takes long.
    if(NOT values MATCHES "NOTFOUND\\|$")
      continue()
    endif()
    string(SHA1 key "${values}")
    list(APPEND option_sets ${key})
    list(APPEND files_${key} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES option_sets)
  set(number 0)
  foreach(key IN LISTS option_sets)
    execute_process(
      COMMAND python3 -B "${PROJECT_SOURCE_DIR}/cmake/unity_groups.py" 12 ${files_${key}}
      OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE ";" "|" groups "${groups}")
    string(REPLACE "\n" ";" groups "${groups}")
    foreach(group IN LISTS groups)
      string(REPLACE "|" ";" files "${group}")
      list(LENGTH files length)
      if(length GREATER 1)
        math(EXPR number "${number} + 1")
        calpe_unity_group(${target} ${number} ${files})
      endif()
    endforeach()
  endforeach()
endfunction()

# calpe_unity_group(<target> <number> <file>...): compiles files of equal options as one. They are
# taken from the target, as properties of a file would also apply to other targets of its directory.
function(calpe_unity_group target number)
  list(GET ARGN 0 first)
  set(text)
  foreach(file IN LISTS ARGN)
    string(APPEND text "#include \"${file}\"\n")
  endforeach()
  set(together "${PROJECT_BINARY_DIR}/unity/${target}_${number}.cpp")
  file(CONFIGURE OUTPUT "${together}" CONTENT "${text}" @ONLY)
  foreach(property IN LISTS calpe_grouped_by)
    get_source_file_property(value "${first}" TARGET_DIRECTORY ${target} ${property})
    if(value)
      set_source_files_properties(
        "${together}" TARGET_DIRECTORY ${target} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(left "${together}")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE absolute)
    if(NOT absolute IN_LIST ARGN)
      list(APPEND left "${source}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${left}")
endfunction()
