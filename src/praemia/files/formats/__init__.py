"""Other tools' formats, a module for each; ``praemia.files.load_save`` lists them."""
