"""``python -m rosenblatt.cli.demo``."""

from rosenblatt.cli.demo import main

if __name__ == "__main__":
    raise SystemExit(main())
