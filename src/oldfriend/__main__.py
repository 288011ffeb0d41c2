"""Lets ``python -m oldfriend`` do what ``oldfriend`` does."""

from oldfriend.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
