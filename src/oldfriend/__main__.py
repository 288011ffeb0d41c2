"""Module entry point: ``python -m oldfriend`` runs the ``oldfriend`` command."""

from oldfriend.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
