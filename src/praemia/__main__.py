"""``python -m praemia``: the command ``praemia``."""

from praemia.cli import main

if __name__ == "__main__":  # worker processes import this module too
    main()
