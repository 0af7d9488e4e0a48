# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant in tags."""
from mutation import Mutation

TAGGER = "unit_backend/*Tagger*"
TAGS = "unit_engine/CodecTags*"
FAILOVER = "unit_engine/Failover*"

TAG_MUTATIONS = [
    Mutation("tags: a segment never ends", "src/backend/cpu/tagger.cpp",
             "    if (state.position == segment_bytes) end_segment(state);\n",
             "    if (state.position == segment_bytes) state.position = 0;\n", (TAGGER,)),
    Mutation("tags: the oldest digit is the first", "src/backend/cpu/tagger.cpp",
             "digits % tag_state_digits,", "digits < tag_state_digits ? digits : 0,", (TAGGER,)),
    Mutation("tags: a block of encode_tagged is tagged from its stripe's start",
             "src/engine/codec_tags.cpp",
             "tagger->take(states[i], stripe.inputs[i] + begin, batch.geometry.unit_bytes);",
             "tagger->take(states[i], stripe.inputs[i], batch.geometry.unit_bytes);", (TAGS,)),
    Mutation("tags: tags may overlap shards", "src/engine/codec_tags.cpp",
             "engine::check_overlap(shards, {&output, 1}, {\"shards\", \"tags\"})",
             "engine::check_overlap({}, {&output, 1}, {\"shards\", \"tags\"})", (TAGS,)),
    Mutation("tags: a device with wrong tags is trusted",
             "src/engine/devices/sample_check.cpp", "if (is_right) return Done{};",
             "if (is_right || found != nullptr) return Done{};", (FAILOVER,)),
    Mutation("tags: those of earlier outputs do not count", "src/engine/devices/sample_check.cpp",
             "  tagger.tag(shards, expected);\n", "", (FAILOVER,)),
]
