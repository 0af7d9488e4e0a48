// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_page.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "calpe/charts/chart_text.hpp"
#include "calpe/report/report_summary.hpp"
#include "calpe/report/report_tables.hpp"

namespace calpe::tools {

namespace {

// Charts are drawn in light colours. In dark mode the page's CSS overrides them by colour. Wide
// charts scroll on small screens.
constexpr std::string_view style = R"css(
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 0 1rem 3rem;
  background: #ffffff; color: #222222; }
h1 { font-size: 1.6rem; margin: 1.5rem 0 0.3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; }
.machine, .note, figcaption { color: #595959; font-size: 0.9rem; }
ul.summary li { margin: 0.4rem 0; }
.wide { overflow-x: auto; }
figure { margin: 1.2rem 0; }
svg { display: block; width: 100%; min-width: 40rem; height: auto; }
table { border-collapse: collapse; font-size: 0.85rem; white-space: nowrap; }
th, td { text-align: right; padding: 0.2rem 0.6rem; border-bottom: 1px solid #dcdcdc; }
th:first-child, td:first-child { text-align: left; }
details summary { cursor: pointer; }
@media (prefers-color-scheme: dark) {
  body { background: #16181b; color: #e4e4e4; }
  .machine, .note, figcaption { color: #a8a8a8; }
  th, td { border-color: #3a3d41; }
  svg [fill="#ffffff"] { fill: #16181b; }
  svg [stroke="#ffffff"] { stroke: #16181b; }
  svg [fill="#222222"] { fill: #e4e4e4; }
  svg [fill="#595959"] { fill: #a8a8a8; }
  svg [stroke="#595959"] { stroke: #a8a8a8; }
  svg [stroke="#dcdcdc"] { stroke: #3a3d41; }
  svg [stroke="#f1f1f1"] { stroke: #26292d; }
  svg [fill="#000000"] { fill: #f2f2f2; }
  svg [stroke="#000000"] { stroke: #f2f2f2; }
  svg text[fill="#00609A"] { fill: #5aaee0; }
  svg text[fill="#A84A00"] { fill: #f08a3c; }
  svg text[fill="#00704F"] { fill: #36c79b; }
  svg text[fill="#A04578"] { fill: #dc94bd; }
  svg text[fill="#8A5F00"] { fill: #e6ad2e; }
  svg text[fill="#1F6F9F"] { fill: #7cc4ee; }
}
@media print { .wide { overflow: visible; } svg { min-width: 0; } }
)css";

std::string machine_text(const Json& run) {
  const Json& machine = object_of(run, "machine");
  return fmt::format(
      "{}, {} CPUs, {}; path {}; {}; Calpe {}; load average {:.2g} at the start; {} run.",
      text_of(machine, "cpu"), number_of(machine, "cpu_count"), text_of(machine, "kernel"),
      text_of(machine, "path"), text_of(machine, "compiler"), text_of(machine, "calpe_version"),
      number_of(machine, "load_average"), text_of(run, "extent"));
}

// HTML implies the SVG namespace; without the attribute the page contains no URL.
std::string inline_svg(const Chart& chart) {
  std::string svg = to_svg(chart);
  constexpr std::string_view name = " xmlns=\"http://www.w3.org/2000/svg\"";
  if (const std::size_t at = svg.find(name); at != std::string::npos) svg.erase(at, name.size());
  return svg;
}

void append_table(std::string& out, const ReportTable& table) {
  out += text("<details open><summary>", escape_xml(table.title),
              "</summary>\n<div class=\"wide\"><table>\n<thead><tr>");
  for (const std::string& head : table.head)
    out += text("<th>", escape_xml(head), "</th>");
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += text("<td>", escape_xml(cell), "</td>");
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.note.empty()) out += text("<p class=\"note\">", escape_xml(table.note), "</p>\n");
  out += "</details>\n";
}

void append_missing(std::string& out, const Json& run) {
  std::string list;
  const Json& sections = object_of(run, "sections");
  for (const auto& item : sections.items()) {
    const Json& section = item.value();
    if (!text_of(section, "reason").empty()) {
      list += text("<li>", escape_xml(text_of(section, "title")), ": ",
                   escape_xml(text_of(section, "status")), ", ",
                   escape_xml(text_of(section, "reason")), "</li>\n");
    }
    for (const Json& reason : list_of(section, "skipped")) {
      if (reason.is_string())
        list += text("<li>", escape_xml(item.key()), ": ", escape_xml(reason.get<std::string>()),
                     "</li>\n");
    }
  }
  if (!run.contains("sections"))
    list += "<li>all sections: the run has only a grid; use calpe bench --quick -o FILE</li>\n";
  if (!list.empty()) out += text("<h2>Not measured</h2>\n<ul>\n", list, "</ul>\n");
}

}  // namespace

std::string report_page(const Json& run, const std::vector<NamedChart>& charts) {
  std::string out = text(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Erasure coding on this machine</title>\n<style>",
      style, "</style>\n</head>\n<body>\n<h1>Erasure coding on this machine</h1>\n",
      "<p class=\"machine\">", escape_xml(machine_text(run)), "</p>\n");
  for (const Json& peer : list_of(run, "peers")) {
    out += text("<p class=\"machine\">Peer: ", escape_xml(peer_title(run, text_of(peer, "name"))),
                " (", escape_xml(text_of(peer, "library")), ")</p>\n");
  }
  out += "<h2>What to use here</h2>\n<ul class=\"summary\">\n";
  for (const std::string& sentence : summarize(run))
    out += text("<li>", escape_xml(sentence), "</li>\n");
  out += "</ul>\n";
  if (!charts.empty()) out += "<h2>Pictures</h2>\n";
  for (const NamedChart& each : charts) {
    out += text("<figure id=\"", each.name.substr(0, each.name.rfind('.')),
                "\"><div class=\"wide\">\n", inline_svg(each.chart), "</div></figure>\n");
  }
  out += "<h2>Figures</h2>\n";
  for (const ReportTable& table : report_tables(run))
    append_table(out, table);
  append_missing(out, run);
  out +=
      "<p class=\"note\">Written by calpe report, which refuses rates that do not match their "
      "bytes and seconds or exceed the measured memory limit.</p>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace calpe::tools
