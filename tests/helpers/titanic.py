"""A made-up table with everything that everyday tables have: ids, names, gaps, quoted commas, dates, notes."""

import csv
import datetime
import io
import math
import random

LAST = "Allen Braund Cumings Futrelle Heikkinen Johnson McCarthy Moran Nasser Palsson Sandstrom"
FIRST = "Anna Bridget Elizabeth Florence Ingrid Jacques James Karl Laina Mary Owen Patrick Sean William"
WORDS = (
    "band boarding cabin cold crew deck dinner doctor early helpful late letter lost lovely luggage music noisy "
    "refund seasick telegram upgrade window"
)
COLUMNS = "PassengerId Name Sex Age Pclass SibSp Fare Embarked Alone Booked Note Survived"


def titanic_like(n, seed):
    """Return a table of ``n`` rows as CSV, the same for the same seed.

    Who survives depends on sex, age, class and fare, with noise: a good linear model of these is right in about 85 %
    of the rows, and about 61 % did not survive.
    """
    chance = random.Random(seed)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS.split())
    for i in range(n):
        table.writerow(_passenger(chance, i))
    return text.getvalue()


def _passenger(chance, i):
    male = chance.random() < 0.66
    pclass = chance.choices([1, 2, 3], [0.24, 0.27, 0.49])[0]
    age = min(max(chance.gauss(30.0, 14.0), 0.5), 80.0)
    siblings = chance.choices([0, 1, 2, 3], [0.42, 0.28, 0.16, 0.14])[0]
    fare = math.exp(chance.gauss({1: 3.4, 2: 2.8, 3: 2.2}[pclass], 0.5))
    leaning = 5.2 - 5.2 * male - 2.0 * (pclass - 1) - 0.04 * (age - 30.0) + 0.02 * (fare - 18.0)
    survived = leaning + math.log(1.0 / max(chance.random(), 1e-9) - 1.0) > 0.0
    title, last = "Mr." if male else "Mrs.", chance.choice(LAST.split())
    name = f"{last}, {title} {' '.join(chance.choices(FIRST.split(), k=2))} ({i})"
    port = chance.choices(["S", "C", "Q", ""], [0.5, 0.16, 0.15, 0.19])[0]
    booked = datetime.date(1912, 4, 10) + datetime.timedelta(days=chance.randrange(300))
    return [
        i + 1,
        name,
        "male" if male else "female",
        "" if chance.random() < 0.2 else f"{age:.1f}",
        pclass,
        siblings,
        f"{fare:.4f}",
        port,
        "false" if siblings else "true",
        booked.isoformat(),
        _note(chance),
        "yes" if survived else "no",
    ]


def _note(chance):
    """Return three to nine words, now and then with a comma after the first and a word in quotes at the end."""
    words = chance.choices(WORDS.split(), k=chance.randint(3, 9))
    if chance.random() < 0.2:
        words[0] += ","
        words.append('"very"')
    return " ".join(words)
