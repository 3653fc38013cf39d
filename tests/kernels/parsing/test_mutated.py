"""Mutated text: kernels and twins agree on what is a row and what is a fault."""

import random

import pytest

from helpers.text_twins import svmlight, vw


@pytest.mark.parametrize(
    ("parse", "seed_lines"),
    [
        (svmlight, b"1 1:0.5 3:2 # c\n-1 qid:3 2:1e-3 12345678:7\n+1 1:12345678901234567890 2:1e400\n"),
        (vw, b"1 2.5 'tag |f:0.5 a:1 12 b |g 7:12345678901234567890 :3\n-1 |f abcdefgh:0.25 a\n"),
    ],
)
def test_mutated_bytes_never_part_kernel_and_twin(parse, seed_lines):
    source = random.Random(11)
    letters = b"0123456789.:eE+-|#' \t\r\n\x00\xffaqid,"
    for _ in range(150):
        lines = bytearray(seed_lines * 2)
        for _ in range(source.randrange(1, 6)):
            place = source.randrange(len(lines))
            letter = bytes([source.choice(letters) if source.random() < 0.9 else source.randrange(256)])
            action = source.randrange(3)
            lines[place : place + (action > 0)] = letter if action < 2 else b""
        lines = bytes(lines) + b"\n"
        parse(lines, pad=bytes([source.choice(letters)]), unlabelled=source.random() < 0.5)
