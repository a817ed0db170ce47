"""Values of the activations and their derivatives with 60 digits (mpmath), and the polynomial of `activation.rs`.

    python make_activations.py              # writes activations.txt
    python make_activations.py polynomial   # prints the coefficients of POLYNOMIAL

A line of activations.txt is x, sin x, cos x, GELU(x), GELU'(x): the nearest f64 of each.
"""

import random
import sys

from mpmath import cos, erfc, exp, mp, mpf, pi, sin, sqrt

mp.dps = 60

# erfc(t) = exp(-t^2) s Q(w) with s = 1 / (1 + t / K), for t up to T; w maps the s that occur to -1..1.
K, T = mpf(4), mpf(28)
LOW = 1 / (1 + T / K)
DEGREE = 21


def polynomial():
    """Q by its Chebyshev expansion, cut off where its terms are below 1e-17, in powers of w."""
    count = 48
    points = [cos(pi * (j + mpf(1) / 2) / count) for j in range(count)]

    def q(w):
        s = (1 - LOW) / 2 * w + (1 + LOW) / 2
        t = K * (1 / s - 1)
        return exp(t * t) * erfc(t) / s

    values = [q(w) for w in points]
    angle = [pi * (j + mpf(1) / 2) / count for j in range(count)]
    c = [2 / mpf(count) * sum(v * cos(i * a) for v, a in zip(values, angle)) for i in range(DEGREE + 1)]
    c[0] /= 2
    chebyshev = [[mpf(1)], [mpf(0), mpf(1)]]
    while len(chebyshev) <= DEGREE:
        following = [mpf(0)] + [2 * x for x in chebyshev[-1]]
        for i, x in enumerate(chebyshev[-2]):
            following[i] -= x
        chebyshev.append(following)
    powers = [mpf(0)] * (DEGREE + 1)
    for factor, terms in zip(c, chebyshev):
        for i, x in enumerate(terms):
            powers[i] += factor * x
    return [float(x) for x in powers]


def line(x):
    x = mpf(x)
    below = erfc(-x / sqrt(2)) / 2
    slope = below + x * exp(-x * x / 2) / sqrt(2 * pi)
    return " ".join(repr(float(v)) for v in (x, sin(x), cos(x), x * below, slope))


def main():
    if sys.argv[1:] == ["polynomial"]:
        for x in polynomial():
            print(f"    {x!r},")
        return
    random.seed(0)
    xs = [0.0, 1e-300, -1e-9, 0.5, -1.0, 22.0, 355.0, 710.0, -6381956970095103.0 * 2.0**-40, 1647099.0]
    xs += [float(k * pi / 4) for k in range(-20, 21)] + [k / 16 for k in range(-160, 161)]
    xs += [random.uniform(-5, 5) for _ in range(400)] + [random.uniform(-40, 40) for _ in range(200)]
    xs += [random.uniform(-1.5e6, 1.5e6) for _ in range(200)] + [1e7, -3e9, 1e22]
    # What f32 can represent, so that both precisions are compared on the same numbers.
    import struct

    xs += [struct.unpack("f", struct.pack("f", random.uniform(-30, 30)))[0] for _ in range(400)]
    with open("activations.txt", "w") as file:
        file.writelines(line(x) + "\n" for x in xs)


main()
