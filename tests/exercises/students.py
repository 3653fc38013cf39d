"""Functions as students write them: right ones of different shape, and one for each planted mistake."""

import textwrap

PERCEPTRON = """
def perceptron_train(D, max_iter):
    w, b = [0] * len(D[0][0]), 0
    for _ in range(max_iter):
        for x, y in D:
            a = sum(w_d * x_d for w_d, x_d in zip(w, x)) + b
            if y * a <= 0:
                w = [w_d + y * x_d for w_d, x_d in zip(w, x)]
                b = b + y
    return w, b
"""
AVERAGED = """
def averaged_perceptron_train(D, max_iter):
    w, u = [0] * len(D[0][0]), [0] * len(D[0][0])
    b, beta, c, updates = 0, 0, 1, 0
    for _ in range(max_iter):
        for x, y in D:
            if y * (sum(w_d * x_d for w_d, x_d in zip(w, x)) + b) <= 0:
                w = [w_d + y * x_d for w_d, x_d in zip(w, x)]
                b = b + y
                u = [u_d + y * c * x_d for u_d, x_d in zip(u, x)]
                beta = beta + y * c
                updates = updates + 1
            c = c + 1
    return [w_d - u_d / c for w_d, u_d in zip(w, u)], b - beta / c
"""
MISTAKES = {
    "algorithm-5": {
        "< for <=": ("y * a <= 0", "y * a < 0"),
        "the bias never updated": ("b = b + y", "pass"),
        "rows in reverse": ("for x, y in D:", "for x, y in reversed(D):"),
        "the prediction added": ("w_d + y * x_d", "w_d + (1 if a > 0 else -1) * x_d"),
        "w -= y x": ("w_d + y * x_d", "w_d - y * x_d"),
        "a break after the first update": ("b = b + y", "b = b + y\n                break"),
        "one pass too few": ("range(max_iter)", "range(max_iter - 1)"),
        "rows sorted by label": ("for x, y in D:", "for x, y in sorted(D, key=lambda row: row[1]):"),
        "the update applied to a copy": ("w = [w_d + y", "v = list(w); v[:] = [w_d + y"),
        "labels 0 and 1": ("y * a <= 0", "(a > 0) != (y == 1)"),
        "labels 0 and 1 in the update": ("w_d + y * x_d", "w_d + (2 * y - 1) * x_d"),
        "the input changed": ("for x, y in D:", "D.reverse()\n        for x, y in D:"),
        "rows scaled in place": (
            "a = sum",
            "x[0] = x[0] * 2 // 2; x.append(0); x.pop(); x[:] = [2 * v for v in x]; a = sum",
        ),
        "a constant": ("return w, b", "return [0] * len(w), 0"),
        "the right result for one data set": ("return w, b", "return [1], -2"),
        "weights and bias in one list": ("return w, b", "return [*w, b]"),
        "no bias returned": ("return w, b", "return w"),
        "an index too far": ("a = sum", "x[len(w)]; a = sum"),
        "no end": ("a = sum", "\n            while y * b < 0: pass\n            a = sum"),
        "until nothing is wrong": (
            "for _ in range(max_iter):",
            "while any(y * sum(v * u for v, u in zip(w, x)) <= 0 for x, y in D):",
        ),
        "the end of the process": ("a = sum", "__import__('sys').exit(); a = sum"),
        "the end of the process at once": ("a = sum", "__import__('os')._exit(3); a = sum"),
        "a question": ("a = sum", "input('?'); a = sum"),
        "not a number": ("return w, b", "return w, float('nan')"),
        "nothing returned": ("return w, b", "pass"),
    },
    "algorithm-7": {
        "the counter started at 0": ("c, updates = 0, 0, 1, 0", "c, updates = 0, 0, 0, 0"),
        "the counter incremented at mistakes": ("            c = c + 1", "                c = c + 1"),
        "u without y": ("u_d + y * c * x_d", "u_d + c * x_d"),
        "division by the number of updates": ("u_d / c", "u_d / updates"),
        "division of the bias by the number of updates": ("beta / c", "beta / updates"),
        "u returned": ("[w_d - u_d / c for", "[u_d / c for"),
        "the average of one pass": ("u_d / c for", "u_d / min(c, len(D) + 1) for"),
    },
}
"""For each algorithm the planted mistakes: a part of the right source, and what stands there instead."""
SOURCES = {"algorithm-5": PERCEPTRON, "algorithm-7": AVERAGED}


def function_of(source):
    """Return the function that a source defines."""
    names = {}
    exec(compile(textwrap.dedent(source), "student.py", "exec"), names)
    return next(value for name, value in names.items() if name.endswith(("_train", "_test")))


def with_mistake(algorithm, mistake):
    """Return the function of a student who makes one mistake."""
    old, new = MISTAKES[algorithm][mistake]
    source = SOURCES[algorithm]
    assert source.count(old) == 1, mistake
    return function_of(source.replace(old, new))
