"""``python -m rosenblatt``: the command."""

from rosenblatt.cli.main import main

if __name__ == "__main__":
    main()
