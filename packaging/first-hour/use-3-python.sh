# SPDX-License-Identifier: Apache-2.0
# The Python package, without and with NumPy.
step "python3-calpe: encode, lose four shards, rebuild"
expect 0 "rebuilt 3 of 3 from 10 of 10 shards" /usr/bin/python3 "$here/rebuild.py"
expect 0 "$(dpkg-query -W -f '${source:Upstream-Version}' python3-calpe)" \
  /usr/bin/python3 -c 'import importlib.metadata as m; print(m.version("calpe"))'
step "install NumPy"
quietly apt-get install -y --no-install-recommends python3-numpy
step "python3-calpe: a NumPy array in place"
quietly /usr/bin/python3 - <<'END'
import calpe, numpy

codec = calpe.Codec(4, 2)
stripe = numpy.random.default_rng(1).integers(0, 256, (6, 4096), numpy.uint8)
codec.encode(stripe[:4], stripe[4:])
kept = stripe.copy()
stripe[[1, 4]] = 0
plan = codec.plan_decode([0, 2, 3, 5], wanted=[1, 4])
codec.decode(plan, stripe[list(plan.reads)], [stripe[1], stripe[4]])
assert (stripe == kept).all() and codec.locate(stripe) == ()
END
