"""`python -m empirisk`: the command, by the interpreter that has the library."""

from empirisk.cli.main import main

if __name__ == "__main__":
    main()
