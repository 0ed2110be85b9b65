"""`python -m tocsin_cli`."""

from tocsin_cli.main import run

if __name__ == "__main__":
    run()
