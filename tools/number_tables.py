#!/usr/bin/env python3
"""Writes csrc/value/number_tables.h: powers of ten to 128 bits, cut (not rounded).

Usage: tools/number_tables.py > csrc/value/number_tables.h
"""

FIRST, LAST = -342, 324


def mantissa(k):
    """The 128 leading bits of 10^k, and whether they are all of it."""
    if k >= 0:
        n = 10**k
        shift = n.bit_length() - 128
        m = n >> shift if shift > 0 else n << -shift
        return m, shift <= 0 or m << shift == n
    n = 10**-k
    # 2^(127 + bits) / n lies in (2^127, 2^128].
    m = (1 << (127 + n.bit_length())) // n
    return (m >> 1 if m >> 128 else m), False


def main():
    exact = [k for k in range(FIRST, LAST + 1) if mantissa(k)[1]]
    assert exact == list(range(exact[0], exact[-1] + 1)) and exact[0] == 0
    print("/* number_tables.h - made by tools/number_tables.py; not edited by hand.")
    print(" *")
    print(" * powers_of_ten[k - POWER_MIN] = the 128 leading bits of 10^k, high half first, rest cut off:")
    print(" * exact for k from 0 to POWER_EXACT_MAX alone. */")
    print("#ifndef VALUE_NUMBER_TABLES_H")
    print("#define VALUE_NUMBER_TABLES_H")
    print()
    print("#include <stdint.h>")
    print()
    print("#define POWER_MIN (%d)" % FIRST)
    print("#define POWER_MAX %d" % LAST)
    print("#define POWER_EXACT_MAX %d" % exact[-1])
    print()
    print("static const uint64_t powers_of_ten[POWER_MAX - POWER_MIN + 1][2] = {")
    for k in range(FIRST, LAST + 1):
        m, _ = mantissa(k)
        assert 1 << 127 <= m < 1 << 128
        print("    {0x%016X, 0x%016X}, /* %d */" % (m >> 64, m & (1 << 64) - 1, k))
    print("};")
    print()
    print("#endif")


main()
