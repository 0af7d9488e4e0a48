# SPDX-License-Identifier: Apache-2.0
# What `calpe report` makes of a run file, and the charts for it. A list of its own, as sanitizer
# builds test these without the command.
set(report_sources
    axis_scale.cpp chart_files.cpp chart_text.cpp line_chart.cpp report_charts.cpp
    report_charts_more.cpp report_check.cpp report_page.cpp report_rows.cpp report_run.cpp
    report_series.cpp report_summary.cpp report_tables.cpp svg_elements.cpp)
list(TRANSFORM report_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/calpe/")
