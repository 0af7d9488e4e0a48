// SPDX-License-Identifier: Apache-2.0
#include "remote/place/s3_settings.hpp"

#include <map>
#include <optional>
#include <string_view>

#include "base/env.hpp"
#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/settings_file.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::remote {

namespace {

using Section = std::map<std::string, std::string>;

struct Location {
  std::string profile;  // empty: none given
  std::string bucket;
  std::string prefix;
};

bool is_bucket_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

Result<Location> parse_location(const std::string& location) {
  std::string rest = location.substr(std::string_view("s3://").size());
  Location parsed;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (const std::size_t at = rest.find('@'); at < slash) {
    parsed.profile = rest.substr(0, at);
    rest = rest.substr(at + 1);
  }
  const std::size_t end = std::min(rest.find('/'), rest.size());
  parsed.bucket = rest.substr(0, end);
  if (end < rest.size()) parsed.prefix = rest.substr(end + 1);
  while (parsed.prefix.ends_with('/'))
    parsed.prefix.pop_back();
  if (!parsed.prefix.empty()) parsed.prefix += '/';
  for (const char c : parsed.bucket) {
    if (!is_bucket_character(c)) parsed.bucket.clear();
    if (parsed.bucket.empty()) break;
  }
  for (const std::string_view part : {"/./", "/../", "//"}) {
    if (text("/", parsed.prefix).find(part) == std::string::npos) continue;
    return invalid(printable(location),
                   ": the prefix has an empty part, '.' or '..'; expected "
                   "names between the slashes, as HTTP removes these parts");
  }
  if (!parsed.bucket.empty()) return parsed;
  return invalid(printable(location),
                 ": no bucket; expected s3://BUCKET/PREFIX or "
                 "s3://PROFILE@BUCKET/PREFIX");
}

std::string file_path(const char* variable, const char* name) {
  if (const auto path = environment(variable)) return *path;
  const auto home = environment("HOME");
  return home ? text(*home, "/.aws/", name) : "";
}

// The keys of "[heading]". Missing files have no keys. AWS allows nested keys, which are indented;
// their names do not occur at the top.
Section section_of(const std::string& path, std::string_view heading) {
  Section section;
  const Result<std::string> content =
      path.empty() ? Result<std::string>(std::string()) : read_file(path);
  if (!content) return section;
  bool is_inside = false;
  std::string_view rest = *content;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest = rest.substr(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      is_inside = trimmed(line.substr(1, line.size() - 2)) == heading;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!is_inside || equals == std::string_view::npos) continue;
    section[std::string(trimmed(line.substr(0, equals)))] =
        std::string(trimmed(line.substr(equals + 1)));
  }
  return section;
}

std::string value_of(const Section& section, const char* key) {
  const auto found = section.find(key);
  return found == section.end() ? "" : found->second;
}

std::string first_of(std::initializer_list<std::string> values) {
  for (const std::string& value : values) {
    if (!value.empty()) return value;
  }
  return {};
}

Status set_endpoint(const std::string& endpoint, const Location& location, S3Settings& settings) {
  if (endpoint.empty()) {
    settings.scheme = "https";
    const std::string service = text("s3.", settings.region, ".amazonaws.com");
    // The certificate covers one more part of the name only.
    const bool has_dots = location.bucket.find('.') != std::string::npos;
    settings.host = has_dots ? service : text(location.bucket, ".", service);
    settings.bucket_path = has_dots ? "/" + location.bucket : "";
    return Done{};
  }
  const std::size_t end = endpoint.find("://");
  settings.scheme = endpoint.substr(0, std::min(end, endpoint.size()));
  if (settings.scheme != "https" && settings.scheme != "http") {
    return invalid("the endpoint is ", printable(endpoint),
                   "; expected https://HOST[:PORT]; change AWS_ENDPOINT_URL or endpoint_url");
  }
  settings.host = endpoint.substr(end + 3);
  while (settings.host.ends_with('/'))
    settings.host.pop_back();
  if (settings.host.empty() || settings.host.find('/') != std::string::npos) {
    return invalid("the endpoint is ", printable(endpoint),
                   "; expected https://HOST[:PORT] without a path");
  }
  settings.bucket_path = "/" + location.bucket;
  return Done{};
}

}  // namespace

Result<S3Settings> s3_settings(const std::string& location) {
  CALPE_TRY(const Location parsed, parse_location(location));
  const bool is_from_files = !parsed.profile.empty();
  const auto variable = [&](const char* name) {
    return is_from_files ? std::string() : environment(name).value_or("");
  };
  const std::string profile =
      first_of({parsed.profile, environment("AWS_PROFILE").value_or(""), "default"});
  const std::string credentials_path = file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::string config_path = file_path("AWS_CONFIG_FILE", "config");
  const Section credentials = section_of(credentials_path, profile);
  const Section config =
      section_of(config_path, profile == "default" ? profile : text("profile ", profile));
  S3Settings settings;
  settings.prefix = parsed.prefix;
  settings.access_key = variable("AWS_ACCESS_KEY_ID");
  const Section& source = credentials.contains("aws_access_key_id") ? credentials : config;
  if (settings.access_key.empty()) {
    settings.access_key = value_of(source, "aws_access_key_id");
    settings.secret_key = value_of(source, "aws_secret_access_key");
    settings.session_token = value_of(source, "aws_session_token");
  } else {
    settings.secret_key = variable("AWS_SECRET_ACCESS_KEY");
    settings.session_token = variable("AWS_SESSION_TOKEN");
  }
  if (settings.access_key.empty() || settings.secret_key.empty()) {
    return invalid(printable(location),
                   ": no credentials; set AWS_ACCESS_KEY_ID and "
                   "AWS_SECRET_ACCESS_KEY, or add the profile ",
                   printable(profile), " to ", printable(credentials_path));
  }
  settings.region = first_of({variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"),
                              value_of(config, "region"), "us-east-1"});
  const std::string endpoint =
      first_of({variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL"),
                value_of(config, "endpoint_url"), value_of(credentials, "endpoint_url")});
  CALPE_CHECK(set_endpoint(endpoint, parsed, settings));
  return settings;
}

}  // namespace calpe::remote
