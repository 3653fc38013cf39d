"""Random strings that use all of Unicode, and many of the characters with rules of their own."""

import random

_SPECIAL = (
    "Iiİı ΣσςΑΩ'’.:\u00ad\u0345ßẞKÅȺȾſﬁﬀŉǅΰ"
    "\u0307\u0301\u200d\u200c\ufe0f👍🏽👩\u00a0\u1680\u2028\u3000\x1c\x1f\x85\x00\t\n\r"
    "_٣²½ⅷ中文字한국ไทยनमस्ते𝔘𝟘𐐀𞤀\U000e0100\U00020000\U0003134f\U00040000\U0010ffff"
)
_ASCII = "abcdeABCDE 0129_-.,  "


def random_texts(n, seed=0, longest=40):
    """Return ``n`` strings of up to ``longest`` characters."""
    source = random.Random(seed)
    return [_text(source, source.randint(0, longest)) for _ in range(n)]


def _text(source, size):
    kinds = source.choices(
        (_any, _special, _plain), source.choice(((1, 1, 1), (0, 1, 4), (0, 0, 1), (1, 0, 0))), k=size
    )
    return "".join(kind(source) for kind in kinds)


def _any(source):
    code = source.randrange(0x110000 - 0x800) if source.random() < 0.5 else source.randrange(0xD800)
    return chr(code + 0x800 if code >= 0xD800 else code)


def _special(source):
    return source.choice(_SPECIAL)


def _plain(source):
    return source.choice(_ASCII)
