"""The entry point of ``python -m rosenblatt``, the command line interface."""

from rosenblatt.cli.main import main

if __name__ == "__main__":
    main()
