# SPDX-License-Identifier: Apache-2.0
# Row-diagonal parity (Corbett et al., FAST 2004) with p = 5: 4 data and 2 parity shards of 4 units.
# Unit 4s + r is row r of shard s. Shard 4 holds the row sums, shard 5 the diagonal sums.
u16 = XOR(u0,u4,u8,u12)
u17 = XOR(u1,u5,u9,u13)
u18 = XOR(u2,u6,u10,u14)
u19 = XOR(u3,u7,u11,u15)
u20 = XOR(u0,u11,u14,u17)
u21 = XOR(u1,u4,u15,u18)
u22 = XOR(u2,u5,u8,u19)
u23 = XOR(u3,u6,u9,u12)
