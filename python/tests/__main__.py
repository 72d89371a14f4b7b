"""`python python/tests`: runs all tests, or those whose files are named, and counts them in the last line."""
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent


class Counted(unittest.TextTestResult):
    """A result that knows how many have passed."""
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main(names):
    suite = unittest.TestSuite(unittest.TestLoader().discover(str(FOLDER), pattern=f"{name}.py") for name in names or ("test_*",))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Counted).run(suite)
    for test, reason in result.skipped:
        print(f"skip  {test}: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed > 0 or result.passed == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
