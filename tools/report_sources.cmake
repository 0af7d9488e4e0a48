# SPDX-License-Identifier: Apache-2.0
# What `calpe report` makes of a run file, and the charts for it. A list of its own, as sanitizer
# builds test these without the command.
set(report_sources
    charts/axis_scale.cpp charts/chart_files.cpp charts/chart_text.cpp charts/line_chart.cpp
    charts/svg_elements.cpp report/report_charts.cpp report/report_charts_devices.cpp
    report/report_charts_wide.cpp report/report_check.cpp report/report_page.cpp
    report/report_rows.cpp report/report_run.cpp report/report_series.cpp
    report/report_summary.cpp report/report_tables.cpp)
list(TRANSFORM report_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/calpe/")
